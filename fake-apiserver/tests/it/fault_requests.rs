//! Faults of requests: what they strike, and what they leave alone.

use std::time::Duration;

use fake_apiserver::{ApiServer, control::WriteKind, fault::script::FaultScript};
use serde_json::json;
use tokio::time::{Instant, advance};

use crate::client::{Answer, Client};

const PODS: &str = "/api/v1/pods";

pub(crate) fn set_faults(server: &ApiServer, script: &str) {
    server.set_faults(Some(&FaultScript::parse("script", script).unwrap()));
}

fn client_with(script: &str) -> Client {
    let client = Client::with_pods(&["a/x", "a/y", "b/z"]);
    set_faults(&client.server, script);
    client
}

/// How the one client meets the faults, and how another that the script does not mean is served.
async fn victim_and_control(client: &Client, path: &str) -> (Answer, Answer) {
    (
        client.send_as("GET", path, "victim/1.0", "").await,
        client.send_as("GET", path, "control/1.0", "").await,
    )
}

#[tokio::test(start_paused = true)]
async fn an_error_comes_with_and_without_a_retry_after_and_only_to_whom_it_is_meant_for() {
    let script =
        "faults: [{match: {user_agent: victim}, fault: {error: {code: 429, retry_after: 1500ms}}}]";
    let (victim, control) = victim_and_control(&client_with(script), PODS).await;
    assert_eq!((victim.code, control.code), (429, 200));
    assert_eq!(
        victim.headers["retry-after"], "2",
        "rounded up to whole seconds"
    );
    assert_eq!(victim.headers["content-type"], "application/json");
    assert_eq!(
        victim.json(),
        json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": "Too Many Requests (injected)", "reason": "TooManyRequests",
            "details": {"retryAfterSeconds": 2}, "code": 429,
        })
    );
    let script = "faults: [{match: {user_agent: victim}, fault: {error: {code: 500, message: boom, body: text}}}]";
    let (victim, control) = victim_and_control(&client_with(script), PODS).await;
    assert_eq!(
        (victim.code, &*victim.text, control.code),
        (500, "boom\n", 200)
    );
    assert!(!victim.headers.contains_key("retry-after"));
    let script =
        "faults: [{match: {user_agent: victim}, fault: {error: {code: 503, body: empty}}}]";
    let (victim, _) = victim_and_control(&client_with(script), PODS).await;
    assert_eq!((victim.code, &*victim.text), (503, ""));
}

#[tokio::test(start_paused = true)]
async fn requests_are_told_apart_by_verb_resource_namespace_and_path() {
    let struck = async |condition: &str, path: &str| {
        let script =
            format!("faults: [{{match: {{{condition}}}, fault: {{error: {{code: 418}}}}}}]");
        client_with(&script).get(path).await.code == 418
    };
    for (condition, strikes, spares) in [
        ("verbs: [list]", PODS, "/api/v1/namespaces/a/pods/x"),
        ("verbs: [get]", "/api/v1/namespaces/a/pods/x", PODS),
        ("verbs: [watch, get]", "/version", PODS),
        ("resources: [pods]", PODS, "/api/v1/nodes"),
        (
            "resources: [leases.coordination.k8s.io]",
            "/apis/coordination.k8s.io/v1/leases",
            PODS,
        ),
        (
            "resources: [nodes, leases]",
            "/apis/coordination.k8s.io/v1/leases",
            "/api",
        ),
        (
            "namespace: a",
            "/api/v1/namespaces/a/pods",
            "/api/v1/namespaces/b/pods",
        ),
        ("path: /apis", "/apis", "/api"),
    ] {
        assert!(struck(condition, strikes).await, "{condition} {strikes}");
        assert!(!struck(condition, spares).await, "{condition} {spares}");
    }
    assert!(
        !struck("remote: 127.0.0.1", PODS).await,
        "in process there is no address"
    );
    assert!(
        !struck("", "/informer-bench/v1/state").await,
        "the control API is spared"
    );
}

#[tokio::test(start_paused = true)]
async fn counts_are_of_the_requests_that_fulfil_the_other_conditions() {
    let struck = async |condition: &str| {
        let script = format!(
            "faults: [{{match: {{verbs: [list], {condition}}}, fault: {{error: {{code: 500}}}}}}]"
        );
        let client = client_with(&script);
        let mut struck = Vec::new();
        for number in 1..=6 {
            assert_eq!(client.get("/version").await.code, 200);
            if client.get(PODS).await.code == 500 {
                struck.push(number);
            }
        }
        struck
    };
    assert_eq!(struck("nth: 3").await, [3]);
    assert_eq!(struck("first: 2").await, [1, 2]);
    assert_eq!(struck("every: 3").await, [3, 6]);
    assert_eq!(struck("every: 2, first: 4").await, [2, 4]);
}

#[tokio::test(start_paused = true)]
async fn a_fault_strikes_from_a_time_until_before_another() {
    let client =
        client_with("faults: [{match: {from: 10s, until: 20s}, fault: {error: {code: 500}}}]");
    let mut codes = Vec::new();
    for wait in [9_999, 1, 9_999, 1] {
        advance(Duration::from_millis(wait)).await;
        codes.push(client.get(PODS).await.code);
    }
    assert_eq!(codes, [200, 500, 500, 200]);
    set_faults(
        &client.server,
        "faults: [{match: {until: 1s}, fault: {error: {code: 500}}}]",
    );
    assert_eq!(
        client.get(PODS).await.code,
        500,
        "a script's time begins when it is put in force"
    );
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_strikes_the_same_requests_and_another_seed_others() {
    let struck = async |seed: u64| {
        let script = format!(
            "seed: {seed}\nfaults: [{{match: {{probability: 0.5}}, fault: {{error: {{code: 500}}}}}}]"
        );
        let client = client_with(&script);
        let mut struck = Vec::new();
        for _ in 0..64 {
            struck.push(client.get(PODS).await.code == 500);
        }
        struck
    };
    let first = struck(7).await;
    assert_eq!(struck(7).await, first);
    assert_ne!(struck(8).await, first);
    let count = first.iter().filter(|struck| **struck).count();
    assert!((16..=48).contains(&count), "{count} of 64 by even chances");
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_late_by_its_delay_and_a_jitter_that_the_seed_decides() {
    let lateness = async |script: &str, agent: &str| {
        let client = client_with(script);
        let mut times = Vec::new();
        for _ in 0..4 {
            let begin = Instant::now();
            assert_eq!(
                client.send_as("GET", PODS, agent, "").await.items().len(),
                3
            );
            times.push(begin.elapsed());
        }
        times
    };
    let script = "faults: [{match: {user_agent: victim}, fault: {delay: {base: 2s}}}]";
    assert_eq!(
        lateness(script, "victim").await,
        [Duration::from_secs(2); 4]
    );
    assert_eq!(lateness(script, "control").await, [Duration::ZERO; 4]);
    let script = "seed: 3\nfaults: [{fault: {delay: {base: 1s, jitter: 1s}}}]";
    let times = lateness(script, "").await;
    let (least, most) = (*times.iter().min().unwrap(), *times.iter().max().unwrap());
    assert!(
        least >= Duration::from_secs(1) && most < Duration::from_secs(2),
        "{times:?}"
    );
    assert_ne!(least, most);
    assert_eq!(lateness(script, "").await, times);
}

#[tokio::test(start_paused = true)]
async fn an_expired_version_is_a_410_for_a_list_and_an_error_event_for_a_watch() {
    let script = "faults: [{match: {user_agent: victim}, fault: {expired: {}}}]";
    let client = client_with(script);
    let path = format!("{PODS}?resourceVersion=3&resourceVersionMatch=NotOlderThan");
    let (victim, control) = victim_and_control(&client, &path).await;
    assert_eq!((victim.code, control.code), (410, 200));
    assert_eq!(victim.json()["reason"], "Expired");
    let path = format!("{PODS}?watch=1&resourceVersion=4");
    let mut victim = client.watch_as(&path, "victim").await;
    assert_eq!(
        victim.next_line().await.unwrap(),
        r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"The resourceVersion for the provided watch is too old.","reason":"Expired","code":410}}"#
    );
    assert_eq!(victim.next_line().await, None);
    let mut control = client.watch_as(&path, "control").await;
    client.write(WriteKind::Update, "b/z");
    assert_eq!(control.ready(), ["MODIFIED b/z@5"]);
}

#[tokio::test(start_paused = true)]
async fn a_continue_token_expires_and_its_replacement_goes_on_at_the_newest_version() {
    let client =
        client_with("faults: [{match: {user_agent: victim, first: 1}, fault: expired_continue}]");
    let first = client
        .send_as("GET", &format!("{PODS}?limit=1"), "victim", "")
        .await;
    assert_eq!(first.items(), ["a/x@2"], "the first page is healthy");
    let token = first.json()["metadata"]["continue"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("{PODS}?limit=1&continue={token}");
    let (victim, control) = victim_and_control(&client, &path).await;
    assert_eq!(control.items(), ["a/y@3"]);
    assert_eq!(
        (victim.code, &victim.json()["reason"]),
        (410, &json!("Expired"))
    );
    let replacement = victim.json()["metadata"]["continue"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("{PODS}?continue={replacement}");
    let rest = client.send_as("GET", &path, "victim", "").await;
    assert_eq!(rest.items(), ["a/y@3", "b/z@4"]);
}
