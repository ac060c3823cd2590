//! The columns of each kind.

use serde_json::{Value, json};

/// One column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    name: &'static str,
    kind: &'static str,
    format: &'static str,
    description: &'static str,
    /// Above 0: only in wide output.
    priority: u8,
}

impl Column {
    pub(super) fn definition(&self) -> Value {
        json!({
            "name": self.name,
            "type": self.kind,
            "format": self.format,
            "description": self.description,
            "priority": self.priority,
        })
    }
}

const fn text(name: &'static str, description: &'static str) -> Column {
    Column {
        name,
        kind: "string",
        format: "",
        description,
        priority: 0,
    }
}

const fn wide(name: &'static str, description: &'static str) -> Column {
    Column {
        priority: 1,
        ..text(name, description)
    }
}

const fn integer(name: &'static str, description: &'static str) -> Column {
    Column {
        kind: "integer",
        ..text(name, description)
    }
}

pub(super) const NAME: Column = Column {
    format: "name",
    ..text("Name", "Name of the object.")
};
const AGE: Column = text("Age", "Time since the object was created.");
const CONTAINERS: Column = wide("Containers", "Names of the template's containers.");
const IMAGES: Column = wide("Images", "Images of the template's containers.");
const SELECTOR: Column = wide("Selector", "Labels of the pods that belong to the object.");

pub(super) const NAME_AND_AGE: &[Column] = &[NAME, AGE];

pub(super) const NAME_AND_CREATION: &[Column] = &[
    NAME,
    Column {
        kind: "date",
        ..text("Created At", "When the object was created.")
    },
];

pub(super) const PODS: &[Column] = &[
    NAME,
    text("Ready", "Containers that are ready, of all."),
    text("Status", "What the pod is doing, in one word."),
    text(
        "Restarts",
        "How often containers were restarted, and when last.",
    ),
    AGE,
    wide("IP", "The pod's address."),
    wide("Node", "The node that it runs on."),
    wide(
        "Nominated Node",
        "The node on which room is being made for it.",
    ),
    wide("Readiness Gates", "Readiness gates that are open, of all."),
];

pub(super) const NODES: &[Column] = &[
    NAME,
    text("Status", "Whether the node is ready."),
    text("Roles", "The node's roles."),
    AGE,
    text("Version", "Version of the kubelet."),
    wide("Internal-IP", "Address inside the cluster."),
    wide("External-IP", "Address outside the cluster."),
    wide("OS-Image", "Operating system."),
    wide("Kernel-Version", "Kernel and architecture."),
    wide("Container-Runtime", "Container runtime and its version."),
];

pub(super) const NAMESPACES: &[Column] = &[NAME, text("Status", "Phase of the namespace."), AGE];

pub(super) const EVENTS: &[Column] = &[
    text("Last Seen", "Time since the event was last observed."),
    text("Type", "Normal or Warning."),
    text("Reason", "Why, in one word."),
    text("Object", "What the event is about."),
    wide("Subobject", "The part of that object."),
    wide("Source", "Who reported it."),
    text("Message", "What happened."),
    wide("First Seen", "Time since the event was first observed."),
    wide("Count", "How often it was observed."),
    Column {
        format: "name",
        ..wide("Name", "Name of the object.")
    },
];

pub(super) const LEASES: &[Column] = &[NAME, text("Holder", "Who holds the lease."), AGE];

pub(super) const SECRETS: &[Column] = &[
    NAME,
    text("Type", "What the secret is for."),
    text("Data", "How many entries it has."),
    AGE,
];

pub(super) const CONFIG_MAPS: &[Column] = &[NAME, text("Data", "How many entries it has."), AGE];

pub(super) const SERVICES: &[Column] = &[
    NAME,
    text("Type", "How the service is exposed."),
    text("Cluster-IP", "Address inside the cluster."),
    text("External-IP", "Addresses outside the cluster."),
    text("Port(s)", "Ports and protocols."),
    AGE,
    wide("Selector", "Labels of the pods behind it."),
];

pub(super) const ENDPOINTS: &[Column] = &[NAME, text("Endpoints", "Addresses and ports."), AGE];

pub(super) const ENDPOINT_SLICES: &[Column] = &[
    NAME,
    text("AddressType", "Kind of the addresses."),
    text("Ports", "Ports of every endpoint."),
    text("Endpoints", "Addresses."),
    AGE,
];

pub(super) const DEPLOYMENTS: &[Column] = &[
    NAME,
    text("Ready", "Pods that are ready, of those wanted."),
    text("Up-to-date", "Pods of the newest template."),
    text("Available", "Pods that are available."),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

pub(super) const REPLICA_SETS: &[Column] = &[
    NAME,
    integer("Desired", "Pods wanted."),
    integer("Current", "Pods that exist."),
    integer("Ready", "Pods that are ready."),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

pub(super) const STATEFUL_SETS: &[Column] = &[
    NAME,
    text("Ready", "Pods that are ready, of those wanted."),
    AGE,
    CONTAINERS,
    IMAGES,
];

pub(super) const DAEMON_SETS: &[Column] = &[
    NAME,
    integer("Desired", "Nodes that should run a pod."),
    integer("Current", "Nodes that run one."),
    integer("Ready", "Nodes whose pod is ready."),
    integer("Up-to-date", "Nodes whose pod is of the newest template."),
    integer("Available", "Nodes whose pod is available."),
    text("Node Selector", "Labels of the nodes."),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

pub(super) const JOBS: &[Column] = &[
    NAME,
    text("Status", "What the job is doing, in one word."),
    text("Completions", "Pods that succeeded, of those wanted."),
    text("Duration", "How long it took, or has taken so far."),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

pub(super) const CRON_JOBS: &[Column] = &[
    NAME,
    text("Schedule", "When jobs are made."),
    text("Timezone", "Time zone of the schedule."),
    Column {
        kind: "boolean",
        ..text("Suspend", "Whether it pauses.")
    },
    integer("Active", "Jobs that run."),
    text("Last Schedule", "Time since a job was last made."),
    AGE,
    CONTAINERS,
    IMAGES,
    SELECTOR,
];

pub(super) const DISRUPTION_BUDGETS: &[Column] = &[
    NAME,
    text("Min Available", "Pods that must stay available."),
    text("Max Unavailable", "Pods that may be unavailable."),
    integer("Allowed Disruptions", "Pods that may be disrupted now."),
    AGE,
];

pub(super) const VOLUMES: &[Column] = &[
    NAME,
    text("Capacity", "Size of the volume."),
    text("Access Modes", "How it can be mounted."),
    text("Reclaim Policy", "What happens when it is released."),
    text("Status", "Phase of the volume."),
    text("Claim", "The claim that it is bound to."),
    text("StorageClass", "Its storage class."),
    text("VolumeAttributesClass", "Its class of attributes."),
    text("Reason", "Why it is in this phase."),
    AGE,
    wide("VolumeMode", "Filesystem or Block."),
];

pub(super) const CLAIMS: &[Column] = &[
    NAME,
    text("Status", "Phase of the claim."),
    text("Volume", "The volume that it is bound to."),
    text("Capacity", "Size of that volume."),
    text("Access Modes", "How it can be mounted."),
    text("StorageClass", "Its storage class."),
    text("VolumeAttributesClass", "Its class of attributes."),
    AGE,
    wide("VolumeMode", "Filesystem or Block."),
];

pub(super) const CLASSES: &[Column] = &[
    NAME,
    text("Provisioner", "Who makes the volumes."),
    text(
        "ReclaimPolicy",
        "What happens to volumes when they are released.",
    ),
    text("VolumeBindingMode", "When volumes are bound."),
    text("AllowVolumeExpansion", "Whether volumes can grow."),
    AGE,
];
