//! Services and what is behind them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::cells::{self, Printed, first_three, list, number, or, text};

pub(super) fn service(printed: &Printed<'_>) -> Vec<Value> {
    let ports: Vec<String> = printed.list("/spec/ports").iter().map(port).collect();
    let address = or(
        printed.text("/spec/clusterIPs/0"),
        printed.text("/spec/clusterIP"),
    );
    vec![
        printed.name(),
        printed.text("/spec/type").into(),
        or(address, "<none>").into(),
        external_address(printed).into(),
        or(&ports.join(","), "<none>").into(),
        printed.age(),
        cells::labels(printed.at("/spec/selector")).into(),
    ]
}

fn port(port: &Value) -> String {
    let (number_inside, protocol) = (number(port, "/port"), text(port, "/protocol"));
    match number(port, "/nodePort") {
        0 => format!("{number_inside}/{protocol}"),
        on_node => format!("{number_inside}:{on_node}/{protocol}"),
    }
}

fn external_address(printed: &Printed<'_>) -> String {
    let fixed = printed.list("/spec/externalIPs").iter();
    let fixed: Vec<&str> = fixed.filter_map(Value::as_str).collect();
    match printed.text("/spec/type") {
        "ClusterIP" | "NodePort" => or(&fixed.join(","), "<none>").to_owned(),
        "LoadBalancer" => {
            let ingress = printed.list("/status/loadBalancer/ingress").iter();
            let given: BTreeSet<&str> = ingress
                .map(|ingress| or(text(ingress, "/ip"), text(ingress, "/hostname")))
                .filter(|address| !address.is_empty())
                .collect();
            let all: Vec<&str> = given.into_iter().chain(fixed).collect();
            or(&all.join(","), "<pending>").to_owned()
        }
        "ExternalName" => printed.text("/spec/externalName").to_owned(),
        _ => "<unknown>".to_owned(),
    }
}

pub(super) fn endpoint_slice(printed: &Printed<'_>) -> Vec<Value> {
    let ports = printed.list("/ports").iter().map(|port| {
        let name = port.get("name").and_then(Value::as_str);
        match port.get("port").and_then(Value::as_i64) {
            Some(port) => port.to_string(),
            None => name.unwrap_or("*").to_owned(),
        }
    });
    let ports: Vec<String> = ports.collect();
    let endpoints = printed.list("/endpoints").iter();
    let addresses = endpoints.flat_map(|endpoint| list(endpoint, "/addresses"));
    let addresses: Vec<String> = addresses
        .filter_map(|address| Some(address.as_str()?.to_owned()))
        .collect();
    vec![
        printed.name(),
        printed.text("/addressType").into(),
        or(&first_three(&ports), "<unset>").into(),
        or(&first_three(&addresses), "<unset>").into(),
        printed.age(),
    ]
}

pub(super) fn endpoints(printed: &Printed<'_>) -> Vec<Value> {
    let mut all = Vec::new();
    for subset in printed.list("/subsets") {
        let addresses = || list(subset, "/addresses").iter();
        let ports = list(subset, "/ports");
        if ports.is_empty() {
            all.extend(addresses().map(|address| text(address, "/ip").to_owned()));
        }
        for port in ports {
            let port = number(port, "/port");
            all.extend(addresses().map(|address| match text(address, "/ip") {
                ip if ip.contains(':') => format!("[{ip}]:{port}"),
                ip => format!("{ip}:{port}"),
            }));
        }
    }
    let text = match printed.list("/subsets") {
        [] => "<none>".to_owned(),
        _ => first_three(&all),
    };
    vec![printed.name(), text.into(), printed.age()]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cells(print: fn(&Printed<'_>) -> Vec<Value>, object: &Value) -> Value {
        Value::from(print(&Printed { object, now: 0 }))
    }

    #[test]
    fn a_service_shows_where_it_is_reached() {
        let service = json!({
            "metadata": {"name": "s"},
            "spec": {
                "type": "LoadBalancer", "clusterIP": "10.0.0.1", "externalIPs": ["1.2.3.4"], "selector": {"b": "2", "a": "1"},
                "ports": [{"port": 80, "protocol": "TCP"}, {"port": 443, "nodePort": 30443, "protocol": "TCP"}],
            },
            "status": {"loadBalancer": {"ingress": [{"hostname": "h"}, {"ip": "5.6.7.8"}]}},
        });
        assert_eq!(
            cells(super::service, &service),
            json!([
                "s",
                "LoadBalancer",
                "10.0.0.1",
                "5.6.7.8,h,1.2.3.4",
                "80/TCP,443:30443/TCP",
                "<unknown>",
                "a=1,b=2"
            ])
        );
    }

    #[test]
    fn long_lists_are_cut_after_three() {
        let slice = json!({
            "metadata": {"name": "s"},
            "addressType": "IPv4",
            "ports": [{"port": 80}, {"name": "any"}, {}],
            "endpoints": [{"addresses": ["a", "b"]}, {"addresses": ["c"]}, {"addresses": ["d", "e"]}],
        });
        assert_eq!(
            cells(endpoint_slice, &slice),
            json!(["s", "IPv4", "80,any,*", "a,b,c + 2 more...", "<unknown>"])
        );
        let endpoints = json!({
            "metadata": {"name": "e"},
            "subsets": [{"addresses": [{"ip": "a"}, {"ip": "b"}], "ports": [{"port": 1}, {"port": 2}]}],
        });
        assert_eq!(
            cells(super::endpoints, &endpoints),
            json!(["e", "a:1,b:1,a:2 + 1 more...", "<unknown>"])
        );
    }
}
