//! Pods.

use serde_json::{Value, json};

use super::{
    ages,
    cells::{Printed, list, number, or, text},
};

/// The condition of a row whose pod has ended.
pub(super) fn completion(pod: &Value) -> Option<Value> {
    let (phase, message) = match text(pod, "/status/phase") {
        "Succeeded" => ("Succeeded", "The pod has completed successfully."),
        "Failed" => ("Failed", "The pod failed."),
        _ => return None,
    };
    Some(json!([{"type": "Completed", "status": "True", "reason": phase, "message": message}]))
}

/// What the containers say of a pod.
#[derive(Default)]
struct Summary {
    /// One word.
    status: String,
    ready: usize,
    restarts: i64,
    /// Seconds since 1970.
    last_restart: Option<i64>,
}

pub(super) fn pod(printed: &Printed<'_>) -> Vec<Value> {
    let pod = printed.object;
    let summary = summarise(pod);
    let sidecars = list(pod, "/spec/initContainers")
        .iter()
        .filter(|container| is_sidecar(container));
    let total = list(pod, "/spec/containers").len() + sidecars.count();
    let is_going = !printed.text("/metadata/deletionTimestamp").is_empty();
    let has_ended = matches!(printed.text("/status/phase"), "Succeeded" | "Failed");
    let status = if is_going && printed.text("/status/reason") == "NodeLost" {
        "Unknown"
    } else if is_going && !has_ended {
        "Terminating"
    } else {
        &summary.status
    };
    let restarts = match (summary.restarts, summary.last_restart) {
        (restarts @ 1.., Some(last)) => {
            format!("{restarts} ({} ago)", ages::span(printed.now - last))
        }
        (restarts, _) => restarts.to_string(),
    };
    let gates = list(pod, "/spec/readinessGates");
    let open = gates
        .iter()
        .filter(|gate| printed.has_condition(text(gate, "/conditionType")));
    let gates = match gates.len() {
        0 => "<none>".to_owned(),
        count => format!("{}/{count}", open.count()),
    };
    let address = or(
        printed.text("/status/podIPs/0/ip"),
        printed.text("/status/podIP"),
    );
    vec![
        printed.name(),
        format!("{}/{total}", summary.ready).into(),
        status.into(),
        restarts.into(),
        printed.age(),
        or(address, "<none>").into(),
        or(printed.text("/spec/nodeName"), "<none>").into(),
        or(printed.text("/status/nominatedNodeName"), "<none>").into(),
        gates.into(),
    ]
}

fn summarise(pod: &Value) -> Summary {
    let status = or(text(pod, "/status/reason"), text(pod, "/status/phase"));
    let mut summary = Summary {
        status: status.to_owned(),
        ..Summary::default()
    };
    let conditions = list(pod, "/status/conditions");
    let is_gated = conditions.iter().any(|condition| {
        text(condition, "/type") == "PodScheduled"
            && text(condition, "/reason") == "SchedulingGated"
    });
    if is_gated {
        "SchedulingGated".clone_into(&mut summary.status);
    }
    let sidecars = Summary::default();
    let is_initializing = summary.add_init_containers(pod, sidecars);
    let initialized = conditions
        .iter()
        .find(|condition| text(condition, "/type") == "Initialized");
    let is_initialized = initialized.is_some_and(|condition| text(condition, "/status") == "True");
    if !is_initializing || is_initialized {
        summary.add_containers(pod);
    }
    summary
}

impl Summary {
    /// Whether some init container has not done its work. What the restarts of sidecars add up to stays for the main containers.
    fn add_init_containers(&mut self, pod: &Value, mut sidecars: Self) -> bool {
        let specs = list(pod, "/spec/initContainers");
        let mut is_initializing = false;
        for (index, container) in list(pod, "/status/initContainerStatuses")
            .iter()
            .enumerate()
        {
            let name = text(container, "/name");
            let spec = specs.iter().find(|spec| text(spec, "/name") == name);
            let is_sidecar = spec.is_some_and(is_sidecar);
            self.count_restarts(container);
            if is_sidecar {
                sidecars.count_restarts(container);
            }
            let ended = container.pointer("/state/terminated");
            if ended.is_some_and(|ended| number(ended, "/exitCode") == 0) {
                continue;
            }
            if is_sidecar && container["started"] == true {
                self.ready += usize::from(container["ready"] == true);
                continue;
            }
            let waiting = text(container, "/state/waiting/reason");
            self.status = match ended {
                Some(ended) => format!("Init:{}", end_of(ended)),
                None if !matches!(waiting, "" | "PodInitializing") => format!("Init:{waiting}"),
                None => format!("Init:{index}/{}", specs.len()),
            };
            is_initializing = true;
            break;
        }
        let is_initialized = list(pod, "/status/conditions").iter().any(|condition| {
            text(condition, "/type") == "Initialized" && text(condition, "/status") == "True"
        });
        if !is_initializing || is_initialized {
            (self.restarts, self.last_restart) = (sidecars.restarts, sidecars.last_restart);
        }
        is_initializing
    }

    fn add_containers(&mut self, pod: &Value) {
        let mut has_running = false;
        let mut error = None;
        for container in list(pod, "/status/containerStatuses").iter().rev() {
            self.count_restarts(container);
            let waiting = text(container, "/state/waiting/reason");
            if !waiting.is_empty() {
                waiting.clone_into(&mut self.status);
            } else if let Some(ended) = container.pointer("/state/terminated") {
                self.status = end_of(ended);
                if number(ended, "/exitCode") != 0 {
                    error = Some(self.status.clone());
                }
            } else if container["ready"] == true && container.pointer("/state/running").is_some() {
                has_running = true;
                self.ready += 1;
            }
        }
        if self.status != "Completed" {
            return;
        }
        let is_ready = list(pod, "/status/conditions").iter().any(|condition| {
            text(condition, "/type") == "Ready" && text(condition, "/status") == "True"
        });
        if has_running && is_ready {
            "Running".clone_into(&mut self.status);
        } else if let Some(error) = error {
            self.status = error;
        } else if has_running {
            "NotReady".clone_into(&mut self.status);
        }
    }

    fn count_restarts(&mut self, container: &Value) {
        self.restarts += number(container, "/restartCount");
        let last = ages::seconds(text(container, "/lastState/terminated/finishedAt"));
        self.last_restart = self.last_restart.max(last);
    }
}

fn is_sidecar(init_container: &Value) -> bool {
    text(init_container, "/restartPolicy") == "Always"
}

/// How a container ended: its reason, signal or exit code.
fn end_of(terminated: &Value) -> String {
    match (text(terminated, "/reason"), number(terminated, "/signal")) {
        ("", 0) => format!("ExitCode:{}", number(terminated, "/exitCode")),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(pod: &Value) -> String {
        let cells = super::pod(&Printed {
            object: pod,
            now: 1_767_225_600,
        });
        let cells = cells[1..4].iter().map(|cell| cell.as_str().unwrap());
        cells.collect::<Vec<_>>().join(" ")
    }

    /// A pod with statuses of its containers, and other fields by JSON pointer.
    fn pod_of(phase: &str, containers: &Value, others: &Value) -> Value {
        let count = containers.as_array().unwrap().len();
        let mut pod = json!({
            "metadata": {"name": "p"},
            "spec": {"containers": vec![json!({}); count]},
            "status": {"phase": phase, "containerStatuses": containers},
        });
        for (pointer, value) in others.as_object().unwrap() {
            let (parent, field) = pointer.rsplit_once('/').unwrap();
            pod.pointer_mut(parent).unwrap()[field] = value.clone();
        }
        pod
    }

    fn running() -> Value {
        json!({"ready": true, "restartCount": 2, "state": {"running": {}}, "lastState": {"terminated": {"finishedAt": "2025-12-31T23:59:00Z"}}})
    }

    fn waiting() -> Value {
        json!({"restartCount": 7, "state": {"waiting": {"reason": "CrashLoopBackOff"}}})
    }

    #[test]
    fn the_status_is_that_of_the_container_that_holds_the_pod_up() {
        let (running, waiting) = (running(), waiting());
        let ended = json!({"restartCount": 0, "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}});
        let failed = json!({"restartCount": 1, "state": {"terminated": {"exitCode": 3}}});
        let ready = json!({"/status/conditions": [{"type": "Ready", "status": "True"}]});
        let none = json!({});
        for (phase, containers, others, expected) in [
            ("Pending", json!([]), &none, "0/0 Pending 0"),
            (
                "Running",
                json!([running]),
                &none,
                "1/1 Running 2 (60s ago)",
            ),
            (
                "Running",
                json!([running, waiting]),
                &none,
                "1/2 CrashLoopBackOff 9 (60s ago)",
            ),
            (
                "Running",
                json!([running, ended]),
                &ready,
                "1/2 Running 2 (60s ago)",
            ),
            (
                "Running",
                json!([running, ended]),
                &none,
                "1/2 NotReady 2 (60s ago)",
            ),
            ("Succeeded", json!([ended]), &none, "0/1 Completed 0"),
            ("Failed", json!([failed]), &none, "0/1 ExitCode:3 1"),
            ("Failed", json!([ended, failed]), &none, "0/2 ExitCode:3 1"),
        ] {
            let pod = pod_of(phase, &containers, others);
            assert_eq!(row(&pod), expected, "{pod}");
        }
    }

    #[test]
    fn the_status_says_what_is_special_about_the_pod_or_its_init_containers() {
        let init = |status: Value| {
            json!({
                "/spec/initContainers": [{"name": "i"}, {"name": "side", "restartPolicy": "Always"}],
                "/status/initContainerStatuses": [status],
            })
        };
        let gated =
            json!([{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]);
        for (phase, containers, others, expected) in [
            (
                "Failed",
                json!([]),
                json!({"/status/reason": "Evicted"}),
                "0/0 Evicted 0",
            ),
            (
                "Running",
                json!([running()]),
                json!({"/metadata/deletionTimestamp": "2026-01-01T00:00:00Z"}),
                "1/1 Terminating 2 (60s ago)",
            ),
            (
                "Pending",
                json!([waiting()]),
                init(json!({"name": "i", "restartCount": 1, "state": {"running": {}}})),
                "0/2 Init:0/2 1",
            ),
            (
                "Pending",
                json!([waiting()]),
                init(
                    json!({"name": "i", "restartCount": 0, "state": {"terminated": {"exitCode": 2, "reason": "Error"}}}),
                ),
                "0/2 Init:Error 0",
            ),
            (
                "Running",
                json!([running()]),
                init(
                    json!({"name": "side", "restartCount": 4, "started": true, "ready": true, "state": {"running": {}}}),
                ),
                "2/2 Running 6 (60s ago)",
            ),
            (
                "Pending",
                json!([]),
                json!({"/status/conditions": gated}),
                "0/0 SchedulingGated 0",
            ),
        ] {
            let pod = pod_of(phase, &containers, &others);
            assert_eq!(row(&pod), expected, "{pod}");
        }
    }
}
