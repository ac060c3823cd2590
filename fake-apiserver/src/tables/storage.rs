//! Volumes, claims and classes.

use serde_json::Value;

use super::cells::{Printed, or};

const CLASS_ANNOTATION: &str = "/metadata/annotations/volume.beta.kubernetes.io~1storage-class";

pub(super) fn volume(printed: &Printed<'_>) -> Vec<Value> {
    let claim = match printed.at("/spec/claimRef") {
        Value::Object(_) => format!(
            "{}/{}",
            printed.text("/spec/claimRef/namespace"),
            printed.text("/spec/claimRef/name")
        ),
        _ => String::new(),
    };
    vec![
        printed.name(),
        or(printed.text("/spec/capacity/storage"), "0").into(),
        access_modes(printed.list("/spec/accessModes")).into(),
        printed.text("/spec/persistentVolumeReclaimPolicy").into(),
        phase(printed).into(),
        claim.into(),
        class_name(printed).into(),
        or(printed.text("/spec/volumeAttributesClassName"), "<unset>").into(),
        printed.text("/status/reason").into(),
        printed.age(),
        or(printed.text("/spec/volumeMode"), "<unset>").into(),
    ]
}

pub(super) fn claim(printed: &Printed<'_>) -> Vec<Value> {
    let volume = printed.text("/spec/volumeName");
    let (capacity, modes) = match volume {
        "" => ("", String::new()),
        _ => (
            or(printed.text("/status/capacity/storage"), "0"),
            access_modes(printed.list("/status/accessModes")),
        ),
    };
    vec![
        printed.name(),
        phase(printed).into(),
        volume.into(),
        capacity.into(),
        modes.into(),
        class_name(printed).into(),
        or(printed.text("/spec/volumeAttributesClassName"), "<unset>").into(),
        printed.age(),
        or(printed.text("/spec/volumeMode"), "<unset>").into(),
    ]
}

pub(super) fn class(printed: &Printed<'_>) -> Vec<Value> {
    let default = "/metadata/annotations/storageclass.kubernetes.io~1is-default-class";
    let name = match printed.text(default) {
        "true" => format!("{} (default)", printed.text("/metadata/name")),
        _ => printed.text("/metadata/name").to_owned(),
    };
    let can_grow = printed.at("/allowVolumeExpansion").as_bool() == Some(true);
    vec![
        name.into(),
        printed.text("/provisioner").into(),
        or(printed.text("/reclaimPolicy"), "Delete").into(),
        or(printed.text("/volumeBindingMode"), "Immediate").into(),
        can_grow.into(),
        printed.age(),
    ]
}

fn phase<'a>(printed: &Printed<'a>) -> &'a str {
    match printed.text("/metadata/deletionTimestamp") {
        "" => printed.text("/status/phase"),
        _ => "Terminating",
    }
}

fn class_name<'a>(printed: &Printed<'a>) -> &'a str {
    or(
        printed.text(CLASS_ANNOTATION),
        printed.text("/spec/storageClassName"),
    )
}

fn access_modes(modes: &[Value]) -> String {
    let known = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let present = known
        .iter()
        .filter(|(mode, _)| modes.iter().any(|given| given == mode));
    let short: Vec<&str> = present.map(|(_, short)| *short).collect();
    short.join(",")
}
