//! What can be wrong, each as a sentence that names the key and both values.

use crate::api::{ContentHash, ResourceVersion};

/// Something that a correct informer never does.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// An add of a key that the handler already had.
    #[error("{key} was added at version {version} while present at version {last_seen}")]
    AddedWhilePresent {
        /// The key.
        key: String,
        /// Version of the add.
        version: ResourceVersion,
        /// Version that the handler had.
        last_seen: ResourceVersion,
    },
    /// An update of a key that the handler did not have.
    #[error("{key} was updated to version {version} while absent")]
    UpdatedWhileAbsent {
        /// The key.
        key: String,
        /// Version of the update.
        version: ResourceVersion,
    },
    /// A deletion of a key that the handler did not have.
    #[error("{key} was deleted at version {version} while absent")]
    DeletedWhileAbsent {
        /// The key.
        key: String,
        /// Version of the deletion.
        version: ResourceVersion,
    },
    /// An update whose old state is not the one last seen: a notification between the two is missing.
    #[error("{key} was updated from version {old_version}, but last seen at version {last_seen}")]
    WrongOldVersion {
        /// The key.
        key: String,
        /// Version that the update says it replaces.
        old_version: ResourceVersion,
        /// Version that the handler had.
        last_seen: ResourceVersion,
    },
    /// The version of one object went down without a relist.
    #[error("{key} (uid {uid}) went from version {last_seen} down to version {version}")]
    WentBack {
        /// The key.
        key: String,
        /// Uid of the object.
        uid: String,
        /// Version that the handler had, or that the object was deleted at.
        last_seen: ResourceVersion,
        /// Version that came.
        version: ResourceVersion,
    },
    /// The server has an object and the cache has not.
    #[error("{key} is missing from the cache; the server has it at version {version}")]
    MissingFromCache {
        /// The key.
        key: String,
        /// The server's version.
        version: ResourceVersion,
    },
    /// The cache has an object and the server has not.
    #[error("{key} is in the cache at version {version}, but not on the server")]
    NotOnServer {
        /// The key.
        key: String,
        /// The cache's version.
        version: ResourceVersion,
    },
    /// Another object under the same key.
    #[error("{key} has uid {server} on the server and uid {cache} in the cache")]
    DifferentUid {
        /// The key.
        key: String,
        /// The server's.
        server: String,
        /// The cache's.
        cache: String,
    },
    /// Another state of the same object.
    #[error("{key} is at version {server} on the server and at version {cache} in the cache")]
    DifferentVersion {
        /// The key.
        key: String,
        /// The server's.
        server: ResourceVersion,
        /// The cache's.
        cache: ResourceVersion,
    },
    /// The same version with other bytes.
    #[error(
        "{key} has content hash {:016x} on the server and {:016x} in the cache, both at version {version}",
        server.0,
        cache.0
    )]
    DifferentContent {
        /// The key.
        key: String,
        /// The version of both.
        version: ResourceVersion,
        /// The server's.
        server: ContentHash,
        /// The cache's.
        cache: ContentHash,
    },
    /// Two sides of a balance differ.
    #[error("{left_name} is {left}, but {right_name} is {right}")]
    Unbalanced {
        /// What is on the left.
        left_name: &'static str,
        /// Its value.
        left: u64,
        /// What is on the right, such as `enqueued + skipped_pending + missing`.
        right_name: &'static str,
        /// Its value.
        right: u64,
    },
    /// Something was still under way after convergence.
    #[error("{count} {what} pending after convergence")]
    StillPending {
        /// Of what.
        what: &'static str,
        /// How many.
        count: u64,
    },
    /// More were found than are listed; always the last.
    #[error("and {count} more violations")]
    More {
        /// How many.
        count: u64,
    },
}

/// Violations of a list that is read by a person: the first ones and a count of the others.
#[derive(Debug, Clone, Default)]
pub(super) struct CappedViolations {
    listed: Vec<Violation>,
    more: u64,
}

impl CappedViolations {
    /// A broken trial can break every one of a million notifications; these many show the pattern.
    const LISTED: usize = 20;

    pub(super) fn push(&mut self, violation: Violation) {
        if self.listed.len() < Self::LISTED {
            self.listed.push(violation);
        } else {
            self.more += 1;
        }
    }

    pub(super) fn to_vec(&self) -> Vec<Violation> {
        let more = (self.more > 0).then_some(Violation::More { count: self.more });
        self.listed.iter().cloned().chain(more).collect()
    }
}
