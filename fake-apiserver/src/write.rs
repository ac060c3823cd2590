//! Writes by Kubernetes' own verbs: POST, PUT, PATCH and DELETE.
//!
//! Pure rules: `create`, `update`, `delete`, `patch` say what becomes of an object; `rules` and `content` what its kind adds;
//! `metadata`, `names` and `field_error` judge it. The drivers: `driver` commits what the rules decide, again if the object has
//! changed meanwhile; `routes` reads requests and writes answers.
//!
//! What a cluster does behind its server is done here as far as deletions need it: `kubelets` removes pods whose grace is given,
//! `sweep` empties namespaces, `definitions` establishes custom resources and takes them away. There is no scheduler, no
//! controller that makes pods, and no garbage collector: the finalizers `orphan` and `foregroundDeletion` are set and wait for one.
//!
//! Namespaces: objects are created only in a namespace that exists. `default`, `kube-system`, `kube-public` and `kube-node-lease`
//! exist from the start, and so do the namespaces of all objects that were loaded or made up; churn and the control API do not ask.
//!
//! Where a kube-apiserver does more or otherwise:
//!
//! - Its validation of single kinds is far larger than `content`'s; custom resources are checked in their metadata only, and
//!   neither pruned nor defaulted by their schema.
//! - It converts custom resources between versions; here only the storage version of a definition is served.
//! - It admits through plugins; here `NamespaceLifecycle`, default tolerations and the default priority are all there is.
//! - It counts disruption budgets before an eviction, and gives each service an address that no other has.
//! - It reads protobuf, which is refused here with 415.
//! - Its controllers act later, on their own; what is done in their place here happens within the write that causes it.

mod actions;
mod body;
mod collection;
mod content;
mod create;
mod decode;
mod definitions;
mod delete;
mod delete_options;
mod deleting;
mod driver;
mod failures;
mod field_error;
mod kubelets;
mod managed;
mod metadata;
mod names;
mod namespaces;
mod parameters;
mod parts;
mod patch;
mod routes;
mod rules;
mod scale;
mod strategic;
mod sweep;
mod timestamp;
mod update;

pub(crate) use body::json_type;
pub(crate) use definitions::{complete_loaded as complete_definition, register_loaded};
pub(crate) use kubelets::StoppingPod;
pub(crate) use namespaces::load_namespaces;
pub(crate) use parts::{Part, parts_of};
pub(crate) use routes::{answer, get_part};
pub(crate) use timestamp::Timestamp;
