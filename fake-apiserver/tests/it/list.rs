//! LIST and GET.

use std::time::Duration;

use bench_core::api::content_hash;
use fake_apiserver::{
    config::{WatchConfig, WindowConfig},
    control::WriteKind::{Create, Delete, Update},
    storage::Storage,
};
use futures_util::FutureExt as _;
use serde_json::Value;

use crate::client::{Client, load, load_pods};

const PODS: &str = "/api/v1/pods";

/// Pods x, y, z at 2, 3, 4; then w is created at 5 and x deleted at 6.
fn after_two_writes() -> Client {
    let client = Client::with_pods(&["a/x", "a/y", "a/z"]);
    assert_eq!(client.write(Create, "a/w"), 5);
    assert_eq!(client.write(Delete, "a/x"), 6);
    client
}

#[tokio::test]
async fn a_list_holds_untyped_items_in_the_byte_order_of_their_keys() {
    let client = Client::with_pods(&["a/p", "a-b/q"]);
    let answer = client.get(PODS).await;
    assert_eq!(answer.code, 200);
    assert_eq!(answer.headers["content-type"], "application/json");
    assert_eq!(
        answer.text.trim_end(),
        r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"3"},"items":[{"metadata":{"name":"q","namespace":"a-b","uid":"uid-of-q","resourceVersion":"3","creationTimestamp":"2026-01-01T00:00:00Z"}},{"metadata":{"name":"p","namespace":"a","uid":"uid-of-p","resourceVersion":"2","creationTimestamp":"2026-01-01T00:00:00Z"}}]}"#
    );
    assert_eq!(
        answer.headers["content-length"],
        (answer.text.len() + 1).to_string()
    );
}

#[tokio::test]
async fn an_empty_list_has_an_empty_array_of_items() {
    let answer = Client::with_pods(&[]).get("/api/v1/nodes").await;
    assert_eq!(
        answer.text.trim_end(),
        r#"{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}"#
    );
}

#[tokio::test]
async fn version_match_and_limit_decide_what_is_listed() {
    let client = after_two_writes();
    let now = "a/w@5 a/y@3 a/z@4";
    for (query, version, items, remaining) in [
        ("", "6", now, None),
        ("limit=0", "6", now, None),
        ("limit=2", "6", "a/w@5 a/y@3", Some(1)),
        ("limit=3", "6", now, None),
        ("resourceVersion=0", "6", now, None),
        ("resourceVersion=0&limit=1", "6", now, None),
        (
            "resourceVersion=0&resourceVersionMatch=NotOlderThan&limit=1",
            "6",
            now,
            None,
        ),
        ("resourceVersion=4", "6", now, None),
        ("resourceVersion=4&limit=2", "4", "a/x@2 a/y@3", Some(1)),
        ("resourceVersion=5&limit=1", "5", "a/w@5", Some(3)),
        (
            "resourceVersion=5&resourceVersionMatch=NotOlderThan",
            "6",
            now,
            None,
        ),
        (
            "resourceVersion=4&resourceVersionMatch=NotOlderThan&limit=1",
            "6",
            "a/w@5",
            Some(2),
        ),
        (
            "resourceVersion=5&resourceVersionMatch=Exact",
            "5",
            "a/w@5 a/x@2 a/y@3 a/z@4",
            None,
        ),
        (
            "resourceVersion=4&resourceVersionMatch=Exact&limit=2",
            "4",
            "a/x@2 a/y@3",
            Some(1),
        ),
        (
            "resourceVersion=006&resourceVersionMatch=Exact",
            "6",
            now,
            None,
        ),
    ] {
        let answer = client.get(&format!("{PODS}?{query}")).await;
        assert_eq!(answer.code, 200, "{query}: {}", answer.text);
        let metadata = answer.json()["metadata"].clone();
        assert_eq!(metadata["resourceVersion"], version, "{query}");
        assert_eq!(answer.items().join(" "), items, "{query}");
        assert_eq!(
            metadata["remainingItemCount"].as_u64(),
            remaining,
            "{query}"
        );
        assert_eq!(
            metadata["continue"].is_string(),
            remaining.is_some(),
            "{query}"
        );
    }
}

async fn assert_refused(client: &Client, code: u16, query: &str, message: &str) {
    let answer = client.get(&format!("{PODS}?{query}")).await;
    let status = answer.json();
    assert_eq!(
        (answer.code, status["code"].as_u64()),
        (code, Some(code.into())),
        "{query}"
    );
    let reason = if code == 422 { "Invalid" } else { "BadRequest" };
    assert_eq!(status["reason"], reason, "{query}");
    assert!(
        status["message"].as_str().unwrap().starts_with(message),
        "{query}: {status}"
    );
    assert_eq!(status["details"].is_null(), code == 400, "{query}");
}

async fn token_of_a_page(client: &Client) -> String {
    let page = client.get(&format!("{PODS}?limit=1")).await.json();
    page["metadata"]["continue"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn options_that_contradict_each_other_are_invalid() {
    let client = after_two_writes();
    let token = token_of_a_page(&client).await;
    for (query, field) in [
        (
            "resourceVersionMatch=Exact",
            "resourceVersionMatch: Forbidden: ",
        ),
        (
            "resourceVersion=0&resourceVersionMatch=Exact",
            "resourceVersionMatch: Forbidden: ",
        ),
        (
            "resourceVersion=5&resourceVersionMatch=Newest",
            r#"resourceVersionMatch: Unsupported value: "Newest""#,
        ),
        (
            &format!("limit=1&continue={token}&resourceVersion=5&resourceVersionMatch=Exact"),
            "resourceVersionMatch: Forbidden: ",
        ),
        ("sendInitialEvents=true", "sendInitialEvents: Forbidden: "),
    ] {
        let message = format!(r#"ListOptions.meta.k8s.io "" is invalid: {field}"#);
        assert_refused(&client, 422, query, &message).await;
    }
}

#[tokio::test]
async fn parameters_that_cannot_be_understood_are_bad_requests() {
    let client = after_two_writes();
    let token = token_of_a_page(&client).await;
    let version = |text: &str, problem: &str| {
        format!(
            r#"invalid resource version: resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": {problem}"#
        )
    };
    for (query, message) in [
        (
            &*format!("limit=1&continue={token}&resourceVersion=5"),
            "specifying resource version is not allowed when using continue",
        ),
        (
            "continue=%21%21",
            "invalid continue token: continue key is not valid: illegal base64 data at input byte 0",
        ),
        (
            "continue=abc",
            "invalid continue token: continue key is not valid: invalid character 'i' looking for beginning of value",
        ),
        (
            "continue=e30",
            "invalid continue token: continue key is not valid: server does not recognize this encoded version ",
        ),
        (
            "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MCwic3RhcnQiOiJhXHUwMDAwIn0",
            "invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
        ),
        ("limit=", r#"strconv.ParseInt: parsing "": invalid syntax"#),
        ("resourceVersion=abc", &*version("abc", "invalid syntax")),
        (
            "resourceVersion=99999999999999999999",
            &*version("99999999999999999999", "value out of range"),
        ),
        (
            "limit=abc",
            r#"strconv.ParseInt: parsing "abc": invalid syntax"#,
        ),
        (
            "timeoutSeconds=0.1s",
            r#"strconv.ParseInt: parsing "0.1s": invalid syntax"#,
        ),
        (
            "timeout=10",
            r#"invalid timeout specified in the request URL - time: missing unit in duration "10""#,
        ),
    ] {
        assert_refused(&client, 400, query, message).await;
    }
}

#[tokio::test]
async fn an_invalid_option_names_its_field_and_kind() {
    let answer = after_two_writes()
        .get(&format!("{PODS}?sendInitialEvents=1"))
        .await;
    assert_eq!(
        answer.text,
        r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list","reason":"Invalid","details":{"group":"meta.k8s.io","kind":"ListOptions","causes":[{"reason":"FieldValueForbidden","message":"Forbidden: sendInitialEvents is forbidden for list","field":"sendInitialEvents"}]},"code":422}"#
    );
}

#[tokio::test]
async fn pages_are_of_one_version_whatever_is_written_between_them() {
    let client = Client::with_pods(&["a/x", "a/y", "a/z", "b/x"]);
    let mut path = format!("{PODS}?limit=1");
    let mut seen = Vec::new();
    for (written, op) in [
        ("a/a", Create),
        ("a/y", Delete),
        ("a/z", Update),
        ("c/c", Create),
    ] {
        let answer = client.get(&path).await;
        let metadata = answer.json()["metadata"].clone();
        assert_eq!(metadata["resourceVersion"], "5");
        seen.extend(answer.items());
        client.write(op, written);
        match metadata["continue"].as_str() {
            Some(token) => path = format!("{PODS}?limit=1&resourceVersion=0&continue={token}"),
            None => break,
        }
    }
    assert_eq!(seen, ["a/x@2", "a/y@3", "a/z@4", "b/x@5"]);
}

#[tokio::test]
async fn pages_stay_inside_a_namespace() {
    let client = Client::with_pods(&["a/x", "a/y", "a-b/x", "b/x"]);
    let path = "/api/v1/namespaces/a/pods";
    let first = client.get(&format!("{path}?limit=1")).await;
    assert_eq!(first.items(), ["a/x@2"]);
    let metadata = first.json()["metadata"].clone();
    assert_eq!(metadata["remainingItemCount"], 1);
    let token = metadata["continue"].as_str().unwrap();
    let second = client
        .get(&format!("{path}?limit=1&continue={token}"))
        .await;
    assert_eq!(second.items(), ["a/y@3"]);
    assert_eq!(
        second.json()["metadata"],
        serde_json::json!({"resourceVersion": "5"})
    );
    assert_eq!(
        client.get("/api/v1/namespaces/none/pods").await.json()["items"],
        Value::Array(Vec::new())
    );
}

#[tokio::test]
async fn an_expired_continuation_offers_a_token_that_goes_on_at_the_present_version() {
    let client = Client::with_pods(&["a/x", "a/y", "a/z"]);
    let page = client.get(&format!("{PODS}?limit=1")).await.json();
    let token = page["metadata"]["continue"].as_str().unwrap();
    client.write(Delete, "a/y");
    assert_eq!(
        client.send("POST", "/informer-bench/v1/compact").await.code,
        204
    );
    let expired = client
        .get(&format!("{PODS}?limit=1&continue={token}"))
        .await;
    assert_eq!(expired.code, 410);
    let status = expired.json();
    assert_eq!(status["reason"], "Expired");
    assert!(status["message"].as_str().unwrap().starts_with(
        "The provided continue parameter is too old to display a consistent list result"
    ));
    let replacement = status["metadata"]["continue"].as_str().unwrap();
    let rest = client
        .get(&format!("{PODS}?limit=5&continue={replacement}"))
        .await;
    assert_eq!(rest.items(), ["a/z@4"]);
    assert_eq!(rest.json()["metadata"]["resourceVersion"], "5");
}

#[tokio::test]
async fn an_exact_version_outside_the_window_is_expired_and_not_older_than_never_is() {
    let client = after_two_writes();
    client.server.compact();
    let expired = client
        .get(&format!(
            "{PODS}?resourceVersion=5&resourceVersionMatch=Exact"
        ))
        .await;
    assert_eq!(
        (expired.code, &*expired.text),
        (
            410,
            r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"The resourceVersion for the provided list is too old.","reason":"Expired","code":410}"#
        )
    );
    assert_eq!(
        client.get(&format!("{PODS}?resourceVersion=1")).await.code,
        200
    );
}

#[tokio::test(start_paused = true)]
async fn a_version_from_the_future_is_waited_for_three_seconds() {
    let client = after_two_writes();
    let path = format!("{PODS}?resourceVersion=8");
    let mut answer = Box::pin(client.get(&path));
    assert!(answer.as_mut().now_or_never().is_none());
    tokio::time::advance(Duration::from_millis(2999)).await;
    assert!(answer.as_mut().now_or_never().is_none());
    tokio::time::advance(Duration::from_millis(2)).await;
    let answer = answer.as_mut().now_or_never().unwrap();
    assert_eq!(answer.code, 504);
    assert_eq!(answer.headers["retry-after"], "1");
    assert_eq!(
        answer.text,
        r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Timeout: Too large resource version: 8, current: 6","reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}],"retryAfterSeconds":1},"code":504}"#
    );
}

#[tokio::test(start_paused = true)]
async fn a_version_that_comes_within_the_wait_is_served_when_it_comes() {
    let client = after_two_writes();
    let path = format!("{PODS}?resourceVersion=7");
    let mut answer = Box::pin(client.get(&path));
    assert!(answer.as_mut().now_or_never().is_none());
    client.write(Create, "a/new");
    let answer = answer.as_mut().now_or_never().unwrap();
    assert_eq!(answer.json()["metadata"]["resourceVersion"], "7");
}

#[tokio::test]
async fn one_object_is_found_by_name_or_not_at_all() {
    let client = Client::with_pods(&["a/x"]);
    let found = client.get("/api/v1/namespaces/a/pods/x?watch=true").await;
    assert_eq!(
        (found.code, &*found.text),
        (
            200,
            r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x","namespace":"a","uid":"uid-of-x","resourceVersion":"2","creationTimestamp":"2026-01-01T00:00:00Z"}}"#
        )
    );
    let absent = client
        .get("/apis/coordination.k8s.io/v1/namespaces/a/leases/y")
        .await;
    assert_eq!(
        (absent.code, &*absent.text),
        (
            404,
            r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"leases.coordination.k8s.io \"y\" not found","reason":"NotFound","details":{"name":"y","group":"coordination.k8s.io","kind":"leases"},"code":404}"#
        )
    );
    let unparsable = client
        .get("/api/v1/namespaces/a/pods/x?resourceVersion=new")
        .await;
    assert_eq!(
        (unparsable.code, unparsable.json()["reason"].is_null()),
        (500, true)
    );
}

#[tokio::test]
async fn paths_that_are_not_served_are_told_apart() {
    let client = Client::with_pods(&[]);
    let unknown_resource = client.get("/api/v1/gizmos").await;
    assert_eq!(
        (unknown_resource.code, &*unknown_resource.text),
        (
            404,
            r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the server could not find the requested resource","reason":"NotFound","details":{},"code":404}"#
        )
    );
    assert_eq!(client.get("/api/v1/namespaces/a/nodes").await.code, 404);
    let unknown_version = client.get("/apis/coordination.k8s.io/v9/leases").await;
    assert_eq!(unknown_version.json()["reason"], "NotFound");
    let unknown_group = client.get("/apis/example.com/v1/gizmos").await;
    assert_eq!(
        (unknown_group.code, unknown_group.text.trim_end()),
        (404, "404 page not found")
    );
    assert_eq!(client.send("DELETE", PODS).await.code, 405);
    assert_eq!(client.get("/readyz").await.text, "ok");
}

#[tokio::test]
async fn items_of_a_custom_resource_carry_kind_and_version() {
    let mut storage = Storage::new(WindowConfig::kube_apiserver());
    load(&mut storage, "Gizmo", &["a/g"]);
    let client = Client::new(storage, WatchConfig::kube_apiserver());
    let answer = client.get("/api/v1/gizmos").await;
    assert_eq!(
        answer.text.trim_end(),
        r#"{"kind":"GizmoList","apiVersion":"v1","metadata":{"resourceVersion":"2"},"items":[{"kind":"Gizmo","apiVersion":"v1","metadata":{"name":"g","namespace":"a","uid":"uid-of-g","resourceVersion":"2","creationTimestamp":"2026-01-01T00:00:00Z"}}]}"#
    );
}

#[tokio::test]
async fn an_object_has_the_same_content_hash_in_a_list_and_in_a_watch() {
    let mut storage = Storage::new(WindowConfig::kube_apiserver());
    load_pods(&mut storage, &["a/x"]);
    let client = Client::new(storage, WatchConfig::kube_apiserver());
    let mut watch = client
        .watch(&format!("{PODS}?watch=1&resourceVersion=2"))
        .await;
    client.write(Update, "a/x");
    let event = watch.next_line().await.unwrap();
    let watched = event
        .strip_prefix(r#"{"type":"MODIFIED","object":"#)
        .unwrap()
        .strip_suffix('}')
        .unwrap();
    let list = client.get(PODS).await.text;
    let (_, items) = list.trim_end().split_once(r#""items":["#).unwrap();
    let listed = items.strip_suffix("]}").unwrap();
    assert_ne!(watched, listed);
    assert_eq!(
        content_hash(watched.as_bytes()),
        content_hash(listed.as_bytes())
    );
}
