//! Fault scripts as they are written, and the control API's side of them.

use std::process::Command;

use fake_apiserver::fault::script::FaultScript;
use serde_json::json;

use crate::client::Client;

const FAULTS: &str = "/informer-bench/v1/faults";

#[track_caller]
fn assert_refused(text: &str, expected: &str) {
    let error = FaultScript::parse("f.yaml", text).unwrap_err();
    assert_eq!(error.to_string(), expected, "{text}");
}

#[test]
fn a_script_that_cannot_be_used_is_refused_with_line_and_field() {
    assert_refused(
        "seed: 1\nfaults:\n  - match: {verbs: [list]}\n    fault: {error: {code: 200}}\n",
        "f.yaml:4: faults[0].fault.error.code: 200 is not an error: expected 400 to 599",
    );
    assert_refused(
        "faults:\n  - fault: {delay: {base: soon}}\n",
        "f.yaml:2: faults[0].fault.delay.base: \"soon\" is not a duration such as 250ms, 1s or 1m",
    );
    assert_refused(
        "faults:\n  - match: {probability: 1.5}\n    fault: no_end_mark\n",
        "f.yaml:2: faults[0].match.probability: 1.5 is not between 0 and 1",
    );
    assert_refused(
        "faults:\n  - match: {nth: 0}\n    fault: no_end_mark\n",
        "f.yaml:2: faults[0].match.nth: counts begin at 1",
    );
    for (text, line, field, word) in [
        (
            "timeline:\n  - at: 1s\n    action: explode\n",
            3,
            "timeline[0].action",
            "explode",
        ),
        ("limits:\n  histroy: 3\n", 2, "limits.histroy", "histroy"),
        (
            "faults:\n  - match: {verb: [list]}\n    fault: no_end_mark\n",
            2,
            "faults[0].match.verb",
            "verb",
        ),
        (
            "faults:\n  - fault: {cut: {after: -1s}}\n",
            2,
            "faults[0].fault.cut.after",
            "-1s",
        ),
        (
            "faults:\n  - match: {remote: here}\n    fault: no_end_mark\n",
            2,
            "faults[0].match.remote",
            "IP address",
        ),
        ("faults: [\n", 1, "faults", ""),
        ("faults:\n  - name: x\n", 2, "faults[0]", "fault"),
    ] {
        let error = FaultScript::parse("f.yaml", text).unwrap_err();
        assert_eq!((error.line, &*error.field), (line, field), "{error}");
        assert!(error.message.contains(word), "{error}");
    }
}

#[test]
fn the_program_refuses_a_wrong_script_with_exit_code_2_before_it_listens() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(
        file.path(),
        "faults:\n  - fault: {slow_drip: {bytes: 0, every: 1s}}\n",
    )
    .unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_fake-apiserver"))
        .arg("--faults")
        .arg(file.path())
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    let begin = format!(
        "error: {}:2: faults[0].fault.slow_drip.bytes: ",
        file.path().display()
    );
    assert!(message.starts_with(&begin), "{message}");
    assert_eq!((output.status.code(), &*output.stdout), (Some(2), &b""[..]));
}

#[tokio::test(start_paused = true)]
async fn a_script_can_be_put_in_force_counted_and_removed_while_the_server_runs() {
    let client = Client::with_pods(&["a/x"]);
    let control = async |method, body| client.send_as(method, FAULTS, "", body).await;
    let list = async || client.get("/api/v1/pods").await.code;
    assert_eq!(list().await, 200);
    assert_eq!(control("GET", "").await.json(), json!([]));
    let script = "faults:\n  - name: down\n    match: {first: 2}\n    fault: {error: {code: 503}}\n  - fault: no_end_mark\n";
    assert_eq!(control("PUT", script).await.code, 204);
    assert_eq!([list().await, list().await, list().await], [503, 503, 200]);
    assert_eq!(
        control("GET", "").await.json(),
        json!([
            {"name": "down", "matched": 3, "applied": 2},
            {"name": "faults[1]", "matched": 0, "applied": 0},
        ])
    );
    let refused = control("PUT", r#"{"faults": [{"fault": "explode"}]}"#).await;
    assert_eq!(refused.code, 400);
    let message = refused.json()["error"].as_str().unwrap().to_owned();
    assert!(
        message.starts_with("script:1: faults[0].fault: "),
        "{message}"
    );
    assert_eq!(list().await, 200, "the script before stays");
    assert_eq!(
        control(
            "PUT",
            r#"{"faults": [{"fault": {"error": {"code": 500}}}]}"#
        )
        .await
        .code,
        204
    );
    assert_eq!(list().await, 500, "JSON is YAML, and counting begins anew");
    assert_eq!(control("DELETE", "").await.code, 204);
    assert_eq!(list().await, 200);
}
