//! Kubernetes' words as types.

mod content_hash;
mod key;
mod object;
mod options;
mod resource;
mod resource_version;
mod status;
mod watch_event;

pub use content_hash::{ContentHash, content_hash};
pub use key::{KeyError, ObjectKey};
pub use object::{DecodeError, KubeObject, Object};
pub use options::{ListOptions, ResourceVersionMatch, WatchOptions};
pub use resource::{Resource, Scope};
pub use resource_version::ResourceVersion;
pub use status::{Status, StatusCause, StatusDetails, StatusReason};
pub use watch_event::{ListPage, WatchEvent};
