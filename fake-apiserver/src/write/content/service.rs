//! Services.

use serde_json::{Value, json};

use crate::write::{
    content::{changed, is_blank, items, or_insert},
    field_error::FieldError,
    metadata,
};

/// First of the ports that nodes open for services, and how many there are.
const NODE_PORTS: (u64, u64) = (30_000, 2768);

pub(super) fn set_defaults(service: &mut Value) {
    let spec = &mut service["spec"];
    or_insert(spec, "type", "ClusterIP".into());
    or_insert(spec, "sessionAffinity", "None".into());
    for port in items(spec.get_mut("ports")) {
        or_insert(port, "protocol", "TCP".into());
        let number = port["port"].clone();
        or_insert(port, "targetPort", number);
    }
    if spec["type"] != "ExternalName" {
        or_insert(spec, "internalTrafficPolicy", "Cluster".into());
    }
    if matches!(spec["type"].as_str(), Some("LoadBalancer" | "NodePort")) {
        or_insert(spec, "externalTrafficPolicy", "Cluster".into());
    }
}

/// Gives addresses and ports out. They follow from the uid, so that no ledger is kept; two services may get the same.
pub(super) fn prepare_new(service: &mut Value) {
    service["status"] = json!({"loadBalancer": {}});
    let bits = uid_bits(service);
    let spec = &mut service["spec"];
    if spec["type"] == "ExternalName" {
        return;
    }
    let address = format!(
        "10.{}.{}.{}",
        96 + bits % 16,
        bits >> 8 & 255,
        1 + (bits >> 16) % 254
    );
    or_insert(spec, "clusterIP", address.into());
    let address = spec["clusterIP"].clone();
    or_insert(spec, "clusterIPs", json!([address]));
    or_insert(spec, "ipFamilies", json!(["IPv4"]));
    or_insert(spec, "ipFamilyPolicy", "SingleStack".into());
    give_node_ports(spec, bits);
}

/// A PUT without addresses keeps those of the present service.
pub(super) fn keep_addresses(current: &Value, service: &mut Value) {
    if service["spec"]["type"] == "ExternalName" {
        return;
    }
    for name in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        if is_blank(service["spec"].get(name))
            && let Some(value) = current["spec"].get(name)
        {
            service["spec"][name] = value.clone();
        }
    }
    for index in 0..current["spec"]["ports"].as_array().map_or(0, Vec::len) {
        let (old, new) = (&current["spec"]["ports"][index], &service["spec"]["ports"]);
        let is_same_port = new.get(index).is_some_and(|new| new["port"] == old["port"]);
        if is_same_port && new[index]["nodePort"].is_null() && !old["nodePort"].is_null() {
            service["spec"]["ports"][index]["nodePort"] = old["nodePort"].clone();
        }
    }
    give_node_ports(&mut service["spec"], uid_bits(current));
}

fn uid_bits(service: &Value) -> u64 {
    let uid = metadata::text(service, "uid").replace('-', "");
    u64::from_str_radix(uid.get(..12).unwrap_or("0"), 16).unwrap_or(0)
}

fn give_node_ports(spec: &mut Value, bits: u64) {
    if !matches!(spec["type"].as_str(), Some("LoadBalancer" | "NodePort")) {
        return;
    }
    let (first, count) = NODE_PORTS;
    for (index, port) in (0..).zip(items(spec.get_mut("ports"))) {
        or_insert(port, "nodePort", (first + (bits + index) % count).into());
    }
}

pub(super) fn faults(service: &Value) -> Vec<FieldError> {
    let spec = &service["spec"];
    let mut errors = Vec::new();
    let needs_ports = spec["type"] != "ExternalName" && spec["clusterIP"] != "None";
    if needs_ports && is_blank(spec.get("ports")) {
        errors.push(FieldError::required("spec.ports", ""));
    }
    if spec["type"] == "ExternalName" && is_blank(spec.get("externalName")) {
        errors.push(FieldError::required("spec.externalName", ""));
    }
    let ports = spec["ports"].as_array();
    let several = ports.is_some_and(|ports| ports.len() > 1);
    for (index, port) in ports.into_iter().flatten().enumerate() {
        if several && is_blank(port.get("name")) {
            errors.push(FieldError::required(
                format!("spec.ports[{index}].name"),
                "",
            ));
        }
        let number = port["port"].as_i64().unwrap_or(0);
        if !(1..=65_535).contains(&number) {
            let field = format!("spec.ports[{index}].port");
            let why = "must be between 1 and 65535, inclusive";
            errors.push(FieldError::invalid(field, &number.into(), why));
        }
    }
    let supported = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
    if !supported.contains(&spec["type"].as_str().unwrap_or("")) {
        errors.push(FieldError::not_supported(
            "spec.type",
            &spec["type"],
            &supported,
        ));
    }
    errors
}

pub(super) fn faults_of_update(current: &Value, service: &Value) -> Vec<FieldError> {
    let has_address = |service: &Value| {
        service["spec"]["type"] != "ExternalName" && !is_blank(service["spec"].get("clusterIP"))
    };
    if has_address(current) && has_address(service) {
        changed(current, service, &["/spec/clusterIP"])
    } else {
        Vec::new()
    }
}
