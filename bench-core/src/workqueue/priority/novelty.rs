//! Which priority a notification deserves.

use crate::{
    api::KubeObject,
    cache::{AddOrigin, Notification},
};

/// The priority of work that nobody waits for: objects of the initial list and repeated states.
pub const LOW_PRIORITY: i32 = -100;

/// Whether a notification tells something new (`WithLowPriorityWhenUnchanged` of controller-runtime's `pkg/handler`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Novelty {
    /// A change.
    News,
    /// An object of the initial list, or a state that was told before: a resync, or an unchanged object of a relist.
    Known,
}

impl Novelty {
    /// Of an addition.
    pub fn of_addition(origin: AddOrigin) -> Self {
        match origin {
            AddOrigin::InitialList => Self::Known,
            AddOrigin::Live => Self::News,
        }
    }

    /// Of an update, by its versions.
    pub fn of_update<T: KubeObject>(old: &T, new: &T) -> Self {
        if old.resource_version() == new.resource_version() {
            Self::Known
        } else {
            Self::News
        }
    }

    /// Of any notification; a deletion is news.
    pub fn of<T: KubeObject>(notification: &Notification<T>) -> Self {
        match notification {
            Notification::Added { origin, .. } => Self::of_addition(*origin),
            Notification::Updated { old, new } => Self::of_update(&**old, &**new),
            Notification::Deleted { .. } => Self::News,
        }
    }

    /// The priority with which to add the object's key.
    pub fn priority(self) -> i32 {
        match self {
            Self::News => 0,
            Self::Known => LOW_PRIORITY,
        }
    }
}
