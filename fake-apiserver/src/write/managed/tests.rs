use bench_core::api::{Resource, Scope};

use super::*;
use crate::failure::Failure;

fn deployments() -> ServedResource {
    ServedResource {
        resource: Resource::named("apps", "v1", "deployments", "Deployment", Scope::Namespaced),
        custom: None,
    }
}

fn author(manager: &str, seconds: i64) -> Author<'_> {
    Author {
        manager,
        part: Part::Main,
        now: Timestamp::from_unix_seconds(seconds),
    }
}

fn config(spec: &Value) -> Value {
    json!({"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "d"}, "spec": spec})
}

/// Manager and fields of each entry.
fn owners(object: &Value) -> Vec<(String, String)> {
    let entries = entries::read(object).into_iter();
    entries
        .map(|entry| (entry.manager, entry.fields.paths().join(" ")))
        .collect()
}

fn applied(current: Option<&Value>, spec: &Value, manager: &str) -> Result<Value, Failure> {
    apply(
        &deployments(),
        current,
        &config(spec),
        &author(manager, 1),
        Force::No,
    )
}

#[test]
fn a_create_notes_what_was_set_as_a_server_writes_it() {
    let mut object = config(&json!({
        "replicas": 1,
        "selector": {"matchLabels": {"a": "b"}},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}},
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 80}], "command": ["x"]}]},
        },
    }));
    record_update(
        &deployments(),
        None,
        &mut object,
        &author("kubectl-create", 0),
    );
    assert_eq!(
        object["metadata"]["managedFields"],
        json!([{
            "manager": "kubectl-create",
            "operation": "Update",
            "apiVersion": "apps/v1",
            "time": "1970-01-01T00:00:00Z",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:spec": {
                "f:replicas": {},
                "f:selector": {},
                "f:strategy": {"f:rollingUpdate": {".": {}, "f:maxSurge": {}}, "f:type": {}},
                "f:template": {
                    "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
                    "f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {
                        ".": {},
                        "f:command": {},
                        "f:image": {},
                        "f:name": {},
                        "f:ports": {".": {}, "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}}},
                    }}},
                },
            }},
        }])
    );
}

#[test]
fn an_update_takes_what_it_changes_and_touches_no_time_otherwise() {
    let mut object = config(&json!({"replicas": 1, "paused": true}));
    record_update(&deployments(), None, &mut object, &author("a", 0));
    let before = object.clone();
    record_update(&deployments(), Some(&before), &mut object, &author("b", 5));
    assert_eq!(object, before);
    object["spec"]["replicas"] = 2.into();
    record_update(&deployments(), Some(&before), &mut object, &author("b", 5));
    assert_eq!(
        owners(&object),
        [
            ("a".to_owned(), ".spec.paused".to_owned()),
            ("b".to_owned(), ".spec.replicas".to_owned())
        ]
    );
    assert_eq!(
        object["metadata"]["managedFields"][1]["time"],
        "1970-01-01T00:00:05Z"
    );
    let before = object.clone();
    object["spec"] = json!({"replicas": 2});
    record_update(&deployments(), Some(&before), &mut object, &author("c", 9));
    assert_eq!(
        owners(&object),
        [("b".to_owned(), ".spec.replicas".to_owned())]
    );
}

#[test]
fn objects_without_a_record_are_not_tracked_and_an_empty_entry_resets_it() {
    let current = config(&json!({"replicas": 1}));
    let mut new = config(&json!({"replicas": 2}));
    record_update(&deployments(), Some(&current), &mut new, &author("a", 0));
    assert_eq!(owners(&new), []);
    let mut tracked = config(&json!({"replicas": 1}));
    record_update(&deployments(), None, &mut tracked, &author("a", 0));
    let mut reset = tracked.clone();
    reset["metadata"]["managedFields"] = json!([{}]);
    record_update(&deployments(), Some(&tracked), &mut reset, &author("a", 0));
    assert_eq!(owners(&reset), []);
}

#[test]
fn an_apply_owns_what_it_names_and_gives_up_what_it_names_no_more() {
    let first = applied(None, &json!({"replicas": 1, "paused": true}), "a").unwrap();
    assert_eq!(
        owners(&first),
        [("a".to_owned(), ".spec.paused .spec.replicas".to_owned())]
    );
    let second = applied(Some(&first), &json!({"replicas": 1}), "a").unwrap();
    assert_eq!(second["spec"], json!({"replicas": 1}));
    assert_eq!(
        owners(&second),
        [("a".to_owned(), ".spec.replicas".to_owned())]
    );
    // The same again changes nothing, not even a time.
    assert_eq!(
        applied(Some(&second), &json!({"replicas": 1}), "a").unwrap(),
        second
    );
    // What another owns as well stays.
    let shared = applied(Some(&second), &json!({"replicas": 1}), "b").unwrap();
    let left = applied(Some(&shared), &json!({}), "a").unwrap();
    assert_eq!(left["spec"], json!({"replicas": 1}));
    assert_eq!(
        owners(&left),
        [
            ("a".to_owned(), ".spec".to_owned()),
            ("b".to_owned(), ".spec.replicas".to_owned()),
        ]
    );
}

#[test]
fn items_of_lists_have_owners_of_their_own() {
    let with =
        |name: &str| json!({"template": {"spec": {"containers": [{"name": name, "image": "i"}]}}});
    let first = applied(None, &with("x"), "a").unwrap();
    let both = applied(Some(&first), &with("y"), "b").unwrap();
    let names = |object: &Value| -> Vec<String> {
        let containers = object["spec"]["template"]["spec"]["containers"]
            .as_array()
            .unwrap();
        containers
            .iter()
            .map(|container| container["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&both), ["x", "y"]);
    let one = applied(Some(&both), &json!({"replicas": 1}), "a").unwrap();
    assert_eq!(names(&one), ["y"]);
}

#[test]
fn a_conflict_names_manager_and_field_unless_forced() {
    let mut object = config(&json!({"replicas": 1, "paused": true}));
    record_update(
        &deployments(),
        None,
        &mut object,
        &author("kubectl-create", 0),
    );
    let failure = applied(Some(&object), &json!({"replicas": 3}), "me").unwrap_err();
    assert_eq!(
        serde_json::to_value(&failure.status).unwrap(),
        json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": "Apply failed with 1 conflict: conflict with \"kubectl-create\" using apps/v1: .spec.replicas",
            "reason": "Conflict",
            "details": {"causes": [{
                "reason": "FieldManagerConflict",
                "message": "conflict with \"kubectl-create\" using apps/v1",
                "field": ".spec.replicas",
            }]},
            "code": 409,
        })
    );
    let failure = applied(
        Some(&object),
        &json!({"replicas": 3, "paused": false}),
        "me",
    )
    .unwrap_err();
    assert_eq!(
        failure.status.message,
        "Apply failed with 2 conflicts: conflicts with \"kubectl-create\" using apps/v1:\n- .spec.paused\n- .spec.replicas"
    );
    let wanted = config(&json!({"replicas": 3}));
    let forced = apply(
        &deployments(),
        Some(&object),
        &wanted,
        &author("me", 1),
        Force::Yes,
    )
    .unwrap();
    assert_eq!(
        owners(&forced),
        [
            ("me".to_owned(), ".spec.replicas".to_owned()),
            ("kubectl-create".to_owned(), ".spec.paused".to_owned())
        ]
    );
    // The same value is shared and no conflict.
    let shared = applied(Some(&object), &json!({"replicas": 1}), "me").unwrap();
    assert_eq!(owners(&shared).len(), 2);
}

#[test]
fn what_an_object_held_before_its_first_apply_has_an_owner_then() {
    let object = config(&json!({"replicas": 1, "paused": true}));
    let failure = applied(Some(&object), &json!({"replicas": 3}), "me").unwrap_err();
    assert_eq!(
        failure.status.message,
        "Apply failed with 1 conflict: conflict with \"before-first-apply\" using apps/v1: .spec.replicas"
    );
}

#[test]
fn a_configuration_must_be_one_of_the_kind() {
    let message = |config: Value| {
        let refused = apply(&deployments(), None, &config, &author("a", 0), Force::No);
        refused.unwrap_err().status.message
    };
    let mut wrong = config(&json!({"replica": 1}));
    assert_eq!(
        message(wrong.clone()),
        "failed to create typed patch object (/d; apps/v1, Kind=Deployment): .spec.replica: field not declared in schema"
    );
    wrong["apiVersion"] = "v1".into();
    assert_eq!(
        message(wrong),
        "Incorrect version specified in apply patch. Specified patch version: v1, expected: apps/v1"
    );
    let mut recorded = config(&json!({}));
    recorded["metadata"]["managedFields"] = json!([]);
    assert_eq!(message(recorded), "metadata.managedFields must be nil");
}
