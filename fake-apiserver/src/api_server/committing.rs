//! The one way in which anything is written: into the storage, to the watchers, into the record of commits.

use std::{sync::Arc, time::Duration};

use bench_core::{api::ObjectKey, measure::clock::MonotonicTime};

use super::{ApiServer, State};
use crate::{
    churn::Write,
    control::{CommitRecord, WriteKind},
    storage::{ResourceId, Storage, WriteError},
    stored_object::{ObjectDraft, StoredObject},
};

#[derive(Debug)]
pub(super) struct Commit {
    resource_version: u64,
    kind: WriteKind,
    key: ObjectKey,
    scheduled: MonotonicTime,
    committed: MonotonicTime,
}

impl ApiServer {
    /// Commits one write, which was due at `scheduled`. Watchers see it before this returns.
    ///
    /// # Errors
    /// [`WriteError`] if the object is not as the write expects it; nothing has changed then.
    pub fn commit(
        &self,
        id: ResourceId,
        write: &Write,
        scheduled: MonotonicTime,
    ) -> Result<CommitRecord, WriteError> {
        let draft = match write {
            Write::Create { key, uid, sibling } => {
                Some(self.make_object(id, key, *uid, sibling.as_ref()))
            }
            Write::Update { .. } | Write::Delete { .. } => None,
        };
        let now = self.now();
        let mut state = self.state.lock();
        let storage = &mut state.storage;
        let resource_version = match (write, &draft) {
            (Write::Update { key }, _) => storage.update(id, key, now)?,
            (Write::Delete { key }, _) => storage.delete(id, key, now)?,
            (Write::Create { .. }, Some(draft)) => storage.create(id, draft, now)?,
            (Write::Create { .. }, None) => unreachable!("a create has a draft"),
        };
        let commit = Commit {
            resource_version,
            kind: write.kind(),
            key: write.key().clone(),
            scheduled,
            committed: scheduled,
        };
        Ok(self.announce(&mut state, id, now, commit))
    }

    /// Puts an object in place, whether or not it was there.
    pub(crate) fn put(
        &self,
        id: ResourceId,
        draft: &ObjectDraft,
        scheduled: MonotonicTime,
    ) -> CommitRecord {
        let now = self.now();
        let mut state = self.state.lock();
        let was_there = state.storage.store(id).objects().contains_key(draft.key());
        let commit = Commit {
            resource_version: state.storage.put(id, draft, now),
            kind: if was_there {
                WriteKind::Update
            } else {
                WriteKind::Create
            },
            key: draft.key().clone(),
            scheduled,
            committed: scheduled,
        };
        self.announce(&mut state, id, now, commit)
    }

    /// Lets watchers see a write that was just stored, and notes when they could.
    fn announce(
        &self,
        state: &mut State,
        id: ResourceId,
        now: Duration,
        mut commit: Commit,
    ) -> CommitRecord {
        let head = state.storage.store(id).cache().head();
        state.watchers.event_recorded(id, head, now);
        commit.committed = MonotonicTime::now();
        let record = commit.record();
        state.commits.push(commit);
        // Senders are told inside the lock, so that the numbers they hold never fall but by a reset.
        state.heads[id.index()].send_replace(head);
        self.revision.send_replace(record.resource_version);
        record
    }

    /// Commits a whole object in the place of one at version `expected`, or where none is. Watchers see it before this returns.
    ///
    /// # Errors
    /// [`WriteError`] if the object is not as expected; nothing has changed then.
    pub(crate) fn commit_object(
        &self,
        id: ResourceId,
        draft: &ObjectDraft,
        expected: Option<u64>,
    ) -> Result<Arc<StoredObject>, WriteError> {
        let kind = match expected {
            Some(_) => WriteKind::Update,
            None => WriteKind::Create,
        };
        self.commit_now((id, draft.key()), kind, |storage, now| {
            storage.put_at(id, draft, expected, now)
        })
    }

    /// Commits the removal of an object at version `expected`. Watchers see it before this returns.
    ///
    /// # Errors
    /// [`WriteError`] if the object is not as expected; nothing has changed then.
    pub(crate) fn commit_removal(
        &self,
        id: ResourceId,
        key: &ObjectKey,
        expected: u64,
    ) -> Result<Arc<StoredObject>, WriteError> {
        self.commit_now((id, key), WriteKind::Delete, |storage, now| {
            storage.remove(id, key, expected, now)
        })
    }

    fn commit_now(
        &self,
        (id, key): (ResourceId, &ObjectKey),
        kind: WriteKind,
        write: impl FnOnce(&mut Storage, Duration) -> Result<Arc<StoredObject>, WriteError>,
    ) -> Result<Arc<StoredObject>, WriteError> {
        let scheduled = MonotonicTime::now();
        let now = self.now();
        let mut state = self.state.lock();
        let object = write(&mut state.storage, now)?;
        let commit = Commit {
            resource_version: object.revision(),
            kind,
            key: key.clone(),
            scheduled,
            committed: scheduled,
        };
        self.announce(&mut state, id, now, commit);
        drop(state);
        Ok(object)
    }

    /// Writes since a version, oldest first; those of churn and of the control API alike.
    pub fn commits_since(&self, resource_version: u64) -> Vec<CommitRecord> {
        let state = self.state.lock();
        let first = state
            .commits
            .partition_point(|commit| commit.resource_version <= resource_version);
        state.commits[first..].iter().map(Commit::record).collect()
    }
}

impl Commit {
    fn record(&self) -> CommitRecord {
        CommitRecord {
            resource_version: self.resource_version,
            kind: self.kind,
            key: self.key.as_str().to_owned(),
            scheduled_ns: self.scheduled.nanoseconds,
            committed_ns: self.committed.nanoseconds,
        }
    }
}
