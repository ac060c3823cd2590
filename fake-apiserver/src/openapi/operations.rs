//! The paths of resources and what can be done at them.

use bench_core::api::{Resource, Scope};
use serde_json::{Map, Value, json};

use super::components;

/// Which `OpenAPI`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Version2,
    Version3,
}

/// Every path of the resources.
pub(super) fn paths(resources: &[Resource], format: Format) -> Value {
    let mut paths = Map::new();
    for resource in resources {
        let writer = Writer { resource, format };
        let namespace = match resource.scope {
            Scope::Cluster => None,
            Scope::Namespaced => {
                let all = resource.collection_path(None);
                paths.insert(all, json!({"get": writer.operation("list", &[])}));
                Some("{namespace}")
            }
        };
        let collection = resource.collection_path(namespace);
        let named = format!("{collection}/{{name}}");
        let scope = namespace.map(|_| "namespace");
        paths.insert(collection, writer.collection(scope));
        paths.insert(named, writer.named(scope));
    }
    paths.into()
}

struct Writer<'a> {
    resource: &'a Resource,
    format: Format,
}

impl Writer<'_> {
    fn collection(&self, scope: Option<&'static str>) -> Value {
        let mut item = Map::new();
        item.insert("get".to_owned(), self.operation("list", &[]));
        item.insert(
            "post".to_owned(),
            self.operation("post", &["dryRun", "fieldManager", "fieldValidation"]),
        );
        item.insert(
            "delete".to_owned(),
            self.operation("deletecollection", &["dryRun"]),
        );
        self.with_path_parameters(item, scope.into_iter())
    }

    fn named(&self, scope: Option<&'static str>) -> Value {
        let mut item = Map::new();
        item.insert("get".to_owned(), self.operation("get", &[]));
        let writes = ["dryRun", "fieldManager", "fieldValidation"];
        item.insert("put".to_owned(), self.operation("put", &writes));
        item.insert(
            "patch".to_owned(),
            self.operation(
                "patch",
                &["dryRun", "fieldManager", "fieldValidation", "force"],
            ),
        );
        item.insert("delete".to_owned(), self.operation("delete", &["dryRun"]));
        self.with_path_parameters(item, ["name"].into_iter().chain(scope))
    }

    fn operation(&self, action: &str, query: &[&str]) -> Value {
        let resource = self.resource;
        let parameters: Vec<Value> = query
            .iter()
            .map(|name| self.parameter(name, "query"))
            .collect();
        let reference =
            json!({"$ref": format!("{}{}", self.references(), components::name(resource))});
        let answer = match self.format {
            Format::Version2 => json!({"description": "OK", "schema": reference}),
            Format::Version3 => {
                json!({"description": "OK", "content": {"application/json": {"schema": reference}}})
            }
        };
        let mut operation = json!({
            "operationId": format!("{action}{}", resource.kind),
            "parameters": parameters,
            "responses": {"200": answer},
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": components::group_version_kind(resource),
        });
        if action == "patch" && self.format == Format::Version3 {
            let schema = json!({"schema": {"type": "object"}});
            operation["requestBody"] = json!({"content": {
                "application/apply-patch+yaml": schema,
                "application/json-patch+json": {"schema": {"type": "array", "items": {"type": "object"}}},
                "application/merge-patch+json": schema,
                "application/strategic-merge-patch+json": schema,
            }});
        }
        operation
    }

    fn with_path_parameters(
        &self,
        mut item: Map<String, Value>,
        names: impl Iterator<Item = &'static str>,
    ) -> Value {
        let parameters: Vec<Value> = names.map(|name| self.parameter(name, "path")).collect();
        if !parameters.is_empty() {
            item.insert("parameters".to_owned(), parameters.into());
        }
        item.into()
    }

    fn parameter(&self, name: &str, place: &str) -> Value {
        let mut parameter = json!({"name": name, "in": place});
        if place == "path" {
            parameter["required"] = true.into();
        }
        match self.format {
            Format::Version2 => parameter["type"] = "string".into(),
            Format::Version3 => parameter["schema"] = json!({"type": "string"}),
        }
        parameter
    }

    fn references(&self) -> &'static str {
        match self.format {
            Format::Version2 => "#/definitions/",
            Format::Version3 => "#/components/schemas/",
        }
    }
}
