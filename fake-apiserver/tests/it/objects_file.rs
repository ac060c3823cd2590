//! Files of real objects.

use std::io::Write as _;

use fake_apiserver::objects_file::{self, interpret};
use serde_json::{Value, json};

#[track_caller]
fn problem(documents: Value) -> String {
    let Value::Array(documents) = documents else {
        panic!("documents are an array")
    };
    interpret(documents).unwrap_err().to_string()
}

fn read_text(text: &str) -> Result<Vec<String>, String> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let objects = objects_file::read(file.path()).map_err(|error| error.to_string())?;
    Ok(objects
        .iter()
        .map(|(resource, draft)| format!("{} {}", resource.collection_path(None), draft.key()))
        .collect())
}

#[test]
fn a_broken_item_is_named_with_its_field() {
    let pod = |metadata: Value| json!({"kind": "Pod", "apiVersion": "v1", "metadata": metadata});
    let good = pod(json!({"name": "good"}));
    for (documents, expected) in [
        (
            json!([good, pod(json!({"namespace": "kube-system"}))]),
            "item 1 (Pod kube-system/?): metadata.name is missing",
        ),
        (
            json!([good, pod(json!({"name": ""}))]),
            "item 1 (Pod ): metadata.name is missing",
        ),
        (
            json!([{"apiVersion": "v1", "metadata": {"name": "a"}}]),
            "item 0: kind is missing",
        ),
        (
            json!([{"kind": "Pod", "metadata": {"name": "a"}}]),
            "item 0 (Pod a): apiVersion is missing",
        ),
        (
            json!([{"kind": "Pod", "apiVersion": "v1"}]),
            "item 0 (Pod): metadata is missing",
        ),
        (
            json!([pod(json!({"name": 5}))]),
            "item 0 (Pod): metadata.name is not a string",
        ),
        (
            json!([pod(json!({"name": "a/b"}))]),
            "item 0 (Pod a/b): metadata.name must not contain \"/\"",
        ),
        (
            json!([pod(json!({"name": "a", "namespace": []}))]),
            "item 0 (Pod a): metadata.namespace is not a string",
        ),
        (json!(["text"]), "item 0: the item is not an object"),
        (
            json!([good, {"kind": "PodList", "apiVersion": "v1", "items": [{"metadata": {"name": "good", "namespace": "default"}}]}]),
            "item 1 (Pod default/good): same object as item 0",
        ),
        (
            json!([{"kind": "List", "apiVersion": "v1", "items": {}}]),
            "item 0 (List): items is not an array",
        ),
    ] {
        assert_eq!(problem(documents), expected);
    }
}

#[test]
fn json_lists_of_mixed_kinds_are_read_with_missing_kinds_from_the_list() {
    let text = r#"{"kind":"List","apiVersion":"v1","items":[
        {"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"n"}},
        {"kind":"Node","apiVersion":"v1","metadata":{"name":"node"}},
        {"kind":"NetworkPolicy","apiVersion":"networking.k8s.io/v1","metadata":{"name":"deny"}},
        {"kind":"Gizmo","apiVersion":"example.com/v1beta1","metadata":{"name":"g"}}]}"#;
    assert_eq!(
        read_text(text).unwrap(),
        [
            "/api/v1/pods n/p",
            "/api/v1/nodes node",
            "/apis/networking.k8s.io/v1/networkpolicies default/deny",
            "/apis/example.com/v1beta1/gizmos g",
        ]
    );
    let text = r#"{"kind":"LeaseList","apiVersion":"coordination.k8s.io/v1","items":[{"metadata":{"name":"l"}}]}"#;
    assert_eq!(
        read_text(text).unwrap(),
        ["/apis/coordination.k8s.io/v1/leases default/l"]
    );
}

#[test]
fn yaml_of_several_documents_is_read() {
    let text = "kind: Pod\napiVersion: v1\nmetadata: {name: a}\n---\nkind: List\napiVersion: v1\nitems:\n- kind: Node\n  apiVersion: v1\n  metadata:\n    name: b\n---\n";
    assert_eq!(
        read_text(text).unwrap(),
        ["/api/v1/pods default/a", "/api/v1/nodes b"]
    );
}

#[test]
fn a_file_that_is_no_json_or_yaml_says_which_it_was_taken_for() {
    assert!(
        read_text("{\"kind\":")
            .unwrap_err()
            .ends_with("is not valid JSON")
    );
    assert!(
        read_text("kind: [")
            .unwrap_err()
            .ends_with("is not valid YAML")
    );
    let absent = objects_file::read("no/such/file".as_ref()).unwrap_err();
    assert_eq!(absent.to_string(), "cannot read no/such/file");
}

#[test]
fn a_yaml_file_may_be_as_large_as_a_cluster() {
    use std::fmt::Write as _;
    let mut text = String::new();
    for index in 0..2000 {
        write!(
            text,
            "kind: Pod\napiVersion: v1\nmetadata: {{name: p{index}}}\nspec: ["
        )
        .unwrap();
        text.push_str(&"1, ".repeat(150));
        text.push_str("1]\n---\n");
    }
    assert_eq!(read_text(&text).unwrap().len(), 2000);
}
