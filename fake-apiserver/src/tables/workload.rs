//! Kinds that own pods.

use serde_json::Value;

use super::{
    ages,
    cells::{self, Printed, number, or},
};

const CONTAINERS: &str = "/spec/template/spec/containers";

pub(super) fn deployment(printed: &Printed<'_>) -> Vec<Value> {
    let [names, images] = printed.containers(CONTAINERS);
    vec![
        printed.name(),
        ready(printed).into(),
        printed.number("/status/updatedReplicas").into(),
        printed.number("/status/availableReplicas").into(),
        printed.age(),
        names,
        images,
        selector(printed),
    ]
}

/// A replica set or a replication controller.
pub(super) fn replicas(printed: &Printed<'_>) -> Vec<Value> {
    let [names, images] = printed.containers(CONTAINERS);
    let selector = if printed.object["kind"] == "ReplicationController" {
        cells::labels(printed.at("/spec/selector")).into()
    } else {
        selector(printed)
    };
    vec![
        printed.name(),
        desired(printed).into(),
        printed.number("/status/replicas").into(),
        printed.number("/status/readyReplicas").into(),
        printed.age(),
        names,
        images,
        selector,
    ]
}

pub(super) fn stateful_set(printed: &Printed<'_>) -> Vec<Value> {
    let [names, images] = printed.containers(CONTAINERS);
    vec![
        printed.name(),
        ready(printed).into(),
        printed.age(),
        names,
        images,
    ]
}

pub(super) fn daemon_set(printed: &Printed<'_>) -> Vec<Value> {
    let [names, images] = printed.containers(CONTAINERS);
    let status = |field: &str| Value::from(printed.number(&format!("/status/{field}")));
    vec![
        printed.name(),
        status("desiredNumberScheduled"),
        status("currentNumberScheduled"),
        status("numberReady"),
        status("updatedNumberScheduled"),
        status("numberAvailable"),
        cells::labels(printed.at("/spec/template/spec/nodeSelector")).into(),
        printed.age(),
        names,
        images,
        selector(printed),
    ]
}

pub(super) fn job(printed: &Printed<'_>) -> Vec<Value> {
    let succeeded = printed.number("/status/succeeded");
    let completions = match (
        printed.at("/spec/completions").as_i64(),
        printed.number("/spec/parallelism"),
    ) {
        (Some(wanted), _) => format!("{succeeded}/{wanted}"),
        (None, parallelism @ 2..) => format!("{succeeded}/1 of {parallelism}"),
        (None, _) => format!("{succeeded}/1"),
    };
    let started = ages::seconds(printed.text("/status/startTime"));
    let ended = ages::seconds(printed.text("/status/completionTime"));
    let duration = started.map_or_else(String::new, |started| {
        ages::span(ended.unwrap_or(printed.now) - started)
    });
    let [names, images] = printed.containers(CONTAINERS);
    vec![
        printed.name(),
        job_status(printed).into(),
        completions.into(),
        duration.into(),
        printed.age(),
        names,
        images,
        selector(printed),
    ]
}

fn job_status(printed: &Printed<'_>) -> &'static str {
    let first = |candidates: &[(&str, &'static str)]| {
        let mut candidates = candidates.iter();
        let found = candidates.find(|(condition, _)| printed.has_condition(condition));
        found.map(|(_, status)| *status)
    };
    if let Some(status) = first(&[("Complete", "Complete"), ("Failed", "Failed")]) {
        return status;
    }
    if !printed.text("/metadata/deletionTimestamp").is_empty() {
        return "Terminating";
    }
    let waiting = [
        ("Suspended", "Suspended"),
        ("FailureTarget", "FailureTarget"),
        ("SuccessCriteriaMet", "SuccessCriteriaMet"),
    ];
    first(&waiting).unwrap_or("Running")
}

pub(super) fn cron_job(printed: &Printed<'_>) -> Vec<Value> {
    let template = "/spec/jobTemplate/spec";
    let [names, images] = printed.containers(&format!("{template}/template/spec/containers"));
    let last = match printed.text("/status/lastScheduleTime") {
        "" => "<none>".to_owned(),
        _ => printed.since("/status/lastScheduleTime"),
    };
    let suspended = match printed.at("/spec/suspend").as_bool() {
        Some(true) => "True",
        Some(false) => "False",
        None => "<unset>",
    };
    vec![
        printed.name(),
        printed.text("/spec/schedule").into(),
        or(printed.text("/spec/timeZone"), "<none>").into(),
        suspended.into(),
        printed.list("/status/active").len().into(),
        last.into(),
        printed.age(),
        names,
        images,
        cells::selector(printed.at(&format!("{template}/selector"))).into(),
    ]
}

pub(super) fn disruption_budget(printed: &Printed<'_>) -> Vec<Value> {
    let limit = |field: &str| match printed.at(&format!("/spec/{field}")) {
        Value::Null => "N/A".to_owned(),
        Value::String(share) => share.clone(),
        count => count.to_string(),
    };
    vec![
        printed.name(),
        limit("minAvailable").into(),
        limit("maxUnavailable").into(),
        printed.number("/status/disruptionsAllowed").into(),
        printed.age(),
    ]
}

/// One is wanted where nothing is said.
fn desired(printed: &Printed<'_>) -> i64 {
    let replicas = printed.at("/spec/replicas");
    if replicas.is_null() {
        1
    } else {
        number(replicas, "")
    }
}

fn ready(printed: &Printed<'_>) -> String {
    let ready = printed.number("/status/readyReplicas");
    format!("{ready}/{}", desired(printed))
}

fn selector(printed: &Printed<'_>) -> Value {
    cells::selector(printed.at("/spec/selector")).into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_deployment_shows_what_is_ready_of_what_is_wanted() {
        let object = json!({
            "metadata": {"name": "d"},
            "spec": {
                "replicas": 3,
                "selector": {"matchLabels": {"b": "2"}, "matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["y", "x"]}]},
                "template": {"spec": {"containers": [{"name": "c", "image": "i"}, {"name": "e", "image": "j"}]}},
            },
            "status": {"readyReplicas": 2, "updatedReplicas": 1},
        });
        assert_eq!(
            Value::from(deployment(&Printed {
                object: &object,
                now: 0
            })),
            json!([
                "d",
                "2/3",
                1,
                0,
                "<unknown>",
                "c,e",
                "i,j",
                "a notin (x,y),b=2"
            ])
        );
    }

    #[test]
    fn a_job_shows_progress_and_duration() {
        let mut object = json!({
            "metadata": {"name": "j"},
            "spec": {"completions": 5, "parallelism": 2},
            "status": {"succeeded": 1, "startTime": "2026-01-01T00:00:00Z"},
        });
        let row = |object: &Value| {
            let cells = job(&Printed {
                object,
                now: 1_767_225_690,
            });
            Value::from(cells[1..4].to_vec())
        };
        assert_eq!(row(&object), json!(["Running", "1/5", "90s"]));
        object["status"]["completionTime"] = "2026-01-01T00:00:30Z".into();
        object["status"]["conditions"] = json!([{"type": "Complete", "status": "True"}]);
        assert_eq!(row(&object), json!(["Complete", "1/5", "30s"]));
        object["spec"]["completions"] = Value::Null;
        assert_eq!(row(&object), json!(["Complete", "1/1 of 2", "30s"]));
    }
}
