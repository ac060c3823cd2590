//! Nodes and namespaces.

use std::collections::BTreeSet;

use serde_json::Value;

use super::cells::{Printed, or, text};

pub(super) fn node(printed: &Printed<'_>) -> Vec<Value> {
    let mut conditions = printed.list("/status/conditions").iter().rev();
    let ready = conditions.find(|condition| text(condition, "/type") == "Ready");
    let mut status = match ready.map(|condition| text(condition, "/status")) {
        Some("True") => "Ready".to_owned(),
        Some(_) => "NotReady".to_owned(),
        None => "Unknown".to_owned(),
    };
    if *printed.at("/spec/unschedulable") == true {
        status.push_str(",SchedulingDisabled");
    }
    let info = |field: &str| printed.text(&format!("/status/nodeInfo/{field}"));
    let address = |kind: &str| {
        let mut addresses = printed.list("/status/addresses").iter();
        let found = addresses.find(|address| text(address, "/type") == kind);
        found.map_or("<none>", |address| text(address, "/address"))
    };
    let kernel = match (or(info("kernelVersion"), "<unknown>"), info("architecture")) {
        (kernel, "") => kernel.to_owned(),
        (kernel, architecture) => format!("{kernel} ({architecture})"),
    };
    vec![
        printed.name(),
        status.into(),
        or(&roles(printed).join(","), "<none>").into(),
        printed.age(),
        info("kubeletVersion").into(),
        address("InternalIP").into(),
        address("ExternalIP").into(),
        or(info("osImage"), "<unknown>").into(),
        kernel.into(),
        or(info("containerRuntimeVersion"), "<unknown>").into(),
    ]
}

fn roles(printed: &Printed<'_>) -> Vec<String> {
    let Some(labels) = printed.at("/metadata/labels").as_object() else {
        return Vec::new();
    };
    let roles: BTreeSet<&str> = labels
        .iter()
        .filter_map(|(key, value)| match key.as_str() {
            "kubernetes.io/role" => value.as_str(),
            key => key.strip_prefix("node-role.kubernetes.io/"),
        })
        .filter(|role| !role.is_empty())
        .collect();
    roles.into_iter().map(str::to_owned).collect()
}

pub(super) fn namespace(printed: &Printed<'_>) -> Vec<Value> {
    let phase = printed.text("/status/phase");
    vec![printed.name(), phase.into(), printed.age()]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_node_shows_readiness_cordon_and_roles() {
        let node = json!({
            "metadata": {"name": "n", "labels": {
                "node-role.kubernetes.io/worker": "",
                "kubernetes.io/role": "edge",
                "node-role.kubernetes.io/control-plane": "",
            }},
            "spec": {"unschedulable": true},
            "status": {
                "conditions": [{"type": "Ready", "status": "Unknown"}],
                "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
                "nodeInfo": {"kubeletVersion": "v1", "kernelVersion": "6.1", "architecture": "arm64"},
            },
        });
        let cells = super::node(&Printed {
            object: &node,
            now: 0,
        });
        assert_eq!(
            Value::from(cells),
            json!([
                "n",
                "NotReady,SchedulingDisabled",
                "control-plane,edge,worker",
                "<unknown>",
                "v1",
                "10.0.0.1",
                "<none>",
                "<unknown>",
                "6.1 (arm64)",
                "<unknown>"
            ])
        );
    }
}
