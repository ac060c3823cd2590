use serde_json::json;

use super::*;

fn patched(mut pod: Value, patch: &Value) -> Value {
    let schema = Schema::built_in();
    let root = schema.kind("v1", "Pod").unwrap();
    merge(schema, root, &mut pod, patch).unwrap();
    pod
}

fn refused(mut pod: Value, patch: &Value) -> StrategicError {
    let schema = Schema::built_in();
    let root = schema.kind("v1", "Pod").unwrap();
    merge(schema, root, &mut pod, patch).unwrap_err()
}

fn containers(names: &[&str]) -> Value {
    let items: Vec<Value> = names
        .iter()
        .map(|name| json!({"name": name, "image": "old"}))
        .collect();
    json!({"spec": {"containers": items}})
}

fn names(pod: &Value) -> Vec<&str> {
    let items = pod["spec"]["containers"].as_array().unwrap().iter();
    items.map(|item| item["name"].as_str().unwrap()).collect()
}

#[test]
fn items_with_a_known_key_are_merged_and_others_appended() {
    let pod = patched(
        containers(&["a", "b"]),
        &json!({"spec": {"containers": [{"name": "b", "image": "new"}, {"name": "c", "image": "new"}]}}),
    );
    assert_eq!(
        pod,
        json!({"spec": {"containers": [
            {"name": "a", "image": "old"}, {"name": "b", "image": "new"}, {"name": "c", "image": "new"},
        ]}})
    );
}

#[test]
fn a_null_removes_a_field_and_maps_are_merged() {
    let pod = json!({"metadata": {"labels": {"a": "1", "b": "2"}}, "spec": {"nodeName": "n"}});
    assert_eq!(
        patched(
            pod,
            &json!({"metadata": {"labels": {"b": null, "c": "3"}}, "spec": {"nodeName": null}})
        ),
        json!({"metadata": {"labels": {"a": "1", "c": "3"}}, "spec": {}})
    );
}

#[test]
fn lists_without_a_merge_rule_are_replaced_and_primitive_ones_united() {
    let pod = json!({
        "metadata": {"finalizers": ["x/a", "x/b"]},
        "spec": {"containers": [{"name": "a", "command": ["sh", "-c"]}]},
    });
    let patch = json!({
        "metadata": {"finalizers": ["x/b", "x/c"]},
        "spec": {"containers": [{"name": "a", "command": ["true"]}]},
    });
    assert_eq!(
        patched(pod, &patch),
        json!({
            "metadata": {"finalizers": ["x/a", "x/b", "x/c"]},
            "spec": {"containers": [{"name": "a", "command": ["true"]}]},
        })
    );
}

#[test]
fn directives_delete_and_replace() {
    let deleted = patched(
        containers(&["a", "b"]),
        &json!({"spec": {"containers": [{"name": "a", "$patch": "delete"}, {"name": "z", "$patch": "delete"}]}}),
    );
    assert_eq!(names(&deleted), ["b"]);
    let replaced = patched(
        containers(&["a", "b"]),
        &json!({"spec": {"containers": [{"name": "c"}, {"$patch": "replace"}]}}),
    );
    assert_eq!(names(&replaced), ["c"]);
    let map = patched(
        json!({"metadata": {"labels": {"a": "1"}, "annotations": {"x": "y"}}}),
        &json!({"metadata": {"labels": {"$patch": "replace", "b": "2"}, "annotations": {"$patch": "delete"}}}),
    );
    assert_eq!(map, json!({"metadata": {"labels": {"b": "2"}}}));
    let values = patched(
        json!({"metadata": {"finalizers": ["x/a", "x/b"]}}),
        &json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["x/a"]}}),
    );
    assert_eq!(values, json!({"metadata": {"finalizers": ["x/b"]}}));
}

#[test]
fn retained_keys_are_all_that_stays() {
    let pod = json!({"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}});
    let patch = json!({"spec": {"volumes": [
        {"name": "v", "configMap": {"name": "c"}, "$retainKeys": ["name", "configMap"]},
    ]}});
    assert_eq!(
        patched(pod.clone(), &patch),
        json!({"spec": {"volumes": [{"name": "v", "configMap": {"name": "c"}}]}})
    );
    let bad =
        json!({"spec": {"volumes": [{"name": "v", "configMap": {}, "$retainKeys": ["name"]}]}});
    assert!(matches!(refused(pod, &bad), StrategicError::Format(_)));
}

#[test]
fn the_given_order_counts_and_items_it_does_not_name_keep_their_place() {
    let order =
        |names: &[&str]| -> Value { names.iter().map(|name| json!({"name": name})).collect() };
    let reordered = patched(
        containers(&["a", "b", "c"]),
        &json!({"spec": {"$setElementOrder/containers": order(&["c", "a", "b"])}}),
    );
    assert_eq!(names(&reordered), ["c", "a", "b"]);
    // b was added by someone else: it stays between a and c.
    let kept = patched(
        containers(&["a", "b", "c"]),
        &json!({"spec": {
            "$setElementOrder/containers": order(&["a", "d", "c"]),
            "containers": [{"name": "d"}],
        }}),
    );
    assert_eq!(names(&kept), ["a", "d", "b", "c"]);
}

#[test]
fn an_item_without_its_merge_key_and_an_unknown_directive_are_refused() {
    assert_eq!(
        refused(
            containers(&["a"]),
            &json!({"spec": {"containers": [{"image": "i"}]}})
        ),
        StrategicError::NoMergeKey {
            item: r#"{"image":"i"}"#.to_owned(),
            key: "name".to_owned()
        }
    );
    assert_eq!(
        refused(containers(&["a"]), &json!({"spec": {"$patch": "explode"}})),
        StrategicError::Format("Unknown patch type: \"explode\"".to_owned())
    );
}
