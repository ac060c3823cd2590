//! Objects as rows of a `Table`: what kubectl shows, printed by the server.
//!
//! Columns and cells are those of kubernetes/pkg/printers/internalversion/printers.go; the descriptions of columns are in our own
//! words.

mod ages;
mod cells;
mod columns;
mod custom;
mod network;
mod node;
mod pod;
mod records;
mod storage;
mod workload;

use bench_core::api::Resource;
use serde_json::Value;

pub(crate) use self::custom::CustomColumn;
use self::{cells::Printed, columns::Column};

/// How objects of one resource are printed.
#[derive(Debug, Clone)]
pub(crate) enum Printer {
    BuiltIn {
        columns: &'static [Column],
        cells: fn(&Printed<'_>) -> Vec<Value>,
    },
    Custom(Vec<CustomColumn>),
}

/// A row of a table, without its object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) cells: Vec<Value>,
    /// Set for what has run to its end.
    pub(crate) conditions: Option<Value>,
}

impl Printer {
    /// The printer of a resource of Kubernetes itself; one without columns of its own shows name and age.
    pub(crate) fn built_in(resource: &Resource) -> Option<Self> {
        let (columns, cells): (_, fn(&Printed<'_>) -> Vec<Value>) =
            match (&*resource.group, &*resource.kind) {
                ("", "ConfigMap") => (columns::CONFIG_MAPS, records::config_map),
                ("", "Endpoints") => (columns::ENDPOINTS, network::endpoints),
                ("", "Event") => (columns::EVENTS, records::event),
                ("", "Namespace") => (columns::NAMESPACES, node::namespace),
                ("", "Node") => (columns::NODES, node::node),
                ("", "PersistentVolume") => (columns::VOLUMES, storage::volume),
                ("", "PersistentVolumeClaim") => (columns::CLAIMS, storage::claim),
                ("", "Pod") => (columns::PODS, pod::pod),
                ("", "Secret") => (columns::SECRETS, records::secret),
                ("", "Service") => (columns::SERVICES, network::service),
                ("", "ServiceAccount") => (columns::NAME_AND_AGE, records::name_and_age),
                ("apps", "DaemonSet") => (columns::DAEMON_SETS, workload::daemon_set),
                ("apps", "Deployment") => (columns::DEPLOYMENTS, workload::deployment),
                ("", "ReplicationController") | ("apps", "ReplicaSet") => {
                    (columns::REPLICA_SETS, workload::replicas)
                }
                ("apps", "StatefulSet") => (columns::STATEFUL_SETS, workload::stateful_set),
                ("batch", "CronJob") => (columns::CRON_JOBS, workload::cron_job),
                ("batch", "Job") => (columns::JOBS, workload::job),
                ("coordination.k8s.io", "Lease") => (columns::LEASES, records::lease),
                ("discovery.k8s.io", "EndpointSlice") => {
                    (columns::ENDPOINT_SLICES, network::endpoint_slice)
                }
                ("policy", "PodDisruptionBudget") => {
                    (columns::DISRUPTION_BUDGETS, workload::disruption_budget)
                }
                ("storage.k8s.io", "StorageClass") => (columns::CLASSES, storage::class),
                (group, kind) if crate::known_kinds::is_built_in(group, kind) => {
                    (columns::NAME_AND_CREATION, records::name_and_creation)
                }
                _ => return None,
            };
        Some(Self::BuiltIn { columns, cells })
    }

    /// `columnDefinitions`.
    pub(crate) fn column_definitions(&self) -> Value {
        match self {
            Self::BuiltIn { columns, .. } => columns.iter().map(Column::definition).collect(),
            Self::Custom(columns) => std::iter::once(columns::NAME.definition())
                .chain(columns.iter().map(CustomColumn::definition))
                .collect(),
        }
    }

    /// Prints an object at a time in seconds since 1970.
    pub(crate) fn row(&self, object: &Value, now: i64) -> Row {
        let printed = Printed { object, now };
        match self {
            Self::BuiltIn { cells, .. } => Row {
                cells: cells(&printed),
                conditions: (object["kind"] == "Pod")
                    .then(|| pod::completion(object))
                    .flatten(),
            },
            Self::Custom(columns) => {
                let name = Value::from(printed.text("/metadata/name"));
                let cells = columns.iter().map(|column| column.cell(&printed));
                Row {
                    cells: std::iter::once(name).chain(cells).collect(),
                    conditions: None,
                }
            }
        }
    }
}
