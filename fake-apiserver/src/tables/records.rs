//! Small kinds: events, leases, secrets, config maps, and those without columns of their own.

use serde_json::Value;

use super::cells::{Printed, or};

pub(super) fn event(printed: &Printed<'_>) -> Vec<Value> {
    let first_seen = match printed.text("/firstTimestamp") {
        "" => printed.since("/eventTime"),
        _ => printed.since("/firstTimestamp"),
    };
    let (last_seen, count) = match (printed.at("/series"), printed.text("/lastTimestamp")) {
        (Value::Object(_), _) => (
            printed.since("/series/lastObservedTime"),
            printed.number("/series/count"),
        ),
        (_, "") => (first_seen.clone(), printed.number("/count").max(1)),
        _ => (
            printed.since("/lastTimestamp"),
            printed.number("/count").max(1),
        ),
    };
    let kind = printed.text("/involvedObject/kind").to_lowercase();
    let target = match printed.text("/involvedObject/name") {
        "" => kind,
        name => format!("{kind}/{name}"),
    };
    let component = or(
        printed.text("/source/component"),
        printed.text("/reportingComponent"),
    );
    let instance = or(
        printed.text("/source/host"),
        printed.text("/reportingInstance"),
    );
    let source = match instance {
        "" => component.to_owned(),
        instance => format!("{component}, {instance}"),
    };
    vec![
        last_seen.into(),
        printed.text("/type").into(),
        printed.text("/reason").into(),
        target.into(),
        printed.text("/involvedObject/fieldPath").into(),
        source.into(),
        printed.text("/message").trim().into(),
        first_seen.into(),
        count.into(),
        printed.name(),
    ]
}

pub(super) fn lease(printed: &Printed<'_>) -> Vec<Value> {
    let holder = printed.text("/spec/holderIdentity");
    vec![printed.name(), holder.into(), printed.age()]
}

pub(super) fn secret(printed: &Printed<'_>) -> Vec<Value> {
    vec![
        printed.name(),
        printed.text("/type").into(),
        printed.entries("/data").into(),
        printed.age(),
    ]
}

pub(super) fn config_map(printed: &Printed<'_>) -> Vec<Value> {
    let entries = printed.entries("/data") + printed.entries("/binaryData");
    vec![printed.name(), entries.into(), printed.age()]
}

pub(super) fn name_and_age(printed: &Printed<'_>) -> Vec<Value> {
    vec![printed.name(), printed.age()]
}

pub(super) fn name_and_creation(printed: &Printed<'_>) -> Vec<Value> {
    let created = or(
        printed.text("/metadata/creationTimestamp"),
        // Go's zero time.
        "0001-01-01T00:00:00Z",
    );
    vec![printed.name(), created.into()]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_of_both_generations_show_when_and_how_often() {
        let now = 1_767_225_600;
        let old = json!({
            "metadata": {"name": "e"}, "type": "Normal", "reason": "Pulled", "message": " got it\n",
            "involvedObject": {"kind": "Pod", "name": "p", "fieldPath": "spec.containers{c}"},
            "source": {"component": "kubelet", "host": "n"}, "count": 3,
            "firstTimestamp": "2025-12-31T23:58:00Z", "lastTimestamp": "2025-12-31T23:59:00Z",
        });
        assert_eq!(
            Value::from(event(&Printed { object: &old, now })),
            json!([
                "60s",
                "Normal",
                "Pulled",
                "pod/p",
                "spec.containers{c}",
                "kubelet, n",
                "got it",
                "2m",
                3,
                "e"
            ])
        );
        let new = json!({
            "metadata": {"name": "e"}, "involvedObject": {"kind": "Node"}, "reportingComponent": "x",
            "eventTime": "2025-12-31T23:59:30.000000Z",
        });
        assert_eq!(
            Value::from(event(&Printed { object: &new, now })),
            json!(["30s", "", "", "node", "", "x", "", "30s", 1, "e"])
        );
    }
}
