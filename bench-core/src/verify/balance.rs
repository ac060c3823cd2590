//! Do the counts balance, to the unit?

use crate::measure::record::{Accounting, ResyncTick};

use super::Violation;

/// Whether everything under way should have arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Convergence {
    /// Churn and resyncs have stopped and the client has caught up: nothing may be pending.
    Converged,
    /// Not yet; what is pending is only counted.
    UnderWay,
}

/// Sync notifications of a whole trial: `enqueued = delivered + pending`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SyncBalance {
    /// Sync deltas that all resyncs put into the queue.
    pub enqueued: u64,
    /// Sync notifications that the handler handled.
    pub delivered: u64,
    /// Those still in the queue or in the listener's buffer.
    pub pending: u64,
}

/// Checks `sent = delivered + superseded + lost_on_purpose + pending`, and that nothing is pending once converged.
pub fn check_accounting(accounting: &Accounting, convergence: Convergence) -> Vec<Violation> {
    let Accounting {
        sent,
        delivered,
        superseded,
        lost_on_purpose,
        pending,
    } = *accounting;
    let balance = balance(
        ("sent", sent),
        "delivered + superseded + lost_on_purpose + pending",
        &[delivered, superseded, lost_on_purpose, pending],
    );
    let leftover = leftover("commits", pending, convergence);
    balance.into_iter().chain(leftover).collect()
}

/// Checks `known = enqueued + skipped_pending + missing` of one resync.
pub fn check_resync(tick: &ResyncTick) -> Vec<Violation> {
    let skipped = tick.skipped_pending.values().sum();
    let balance = balance(
        ("known", tick.known),
        "enqueued + skipped_pending + missing",
        &[tick.enqueued, skipped, tick.missing],
    );
    balance.into_iter().collect()
}

/// Checks `enqueued = delivered + pending`, and that nothing is pending once converged.
pub fn check_sync(sync: &SyncBalance, convergence: Convergence) -> Vec<Violation> {
    let balance = balance(
        ("sync enqueued", sync.enqueued),
        "sync delivered + pending",
        &[sync.delivered, sync.pending],
    );
    let leftover = leftover("sync notifications", sync.pending, convergence);
    balance.into_iter().chain(leftover).collect()
}

fn balance(
    (left_name, left): (&'static str, u64),
    right_name: &'static str,
    parts: &[u64],
) -> Option<Violation> {
    let right = parts.iter().sum();
    (left != right).then_some(Violation::Unbalanced {
        left_name,
        left,
        right_name,
        right,
    })
}

fn leftover(what: &'static str, count: u64, convergence: Convergence) -> Option<Violation> {
    (convergence == Convergence::Converged && count > 0)
        .then_some(Violation::StillPending { what, count })
}
