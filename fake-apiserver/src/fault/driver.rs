//! The script in force, and the task that follows its timeline.

use std::{convert::Infallible, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{sync::watch, time::sleep_until};
use tracing::info;

use super::{
    plan::{FaultPlan, RequestFacts, RuleCount, Verdict},
    script::FaultScript,
    timeline::{Action, Timeline},
};
use crate::ApiServer;

/// Holds the script in force. Without one, every request is left alone.
#[derive(Debug)]
pub(crate) struct FaultDriver {
    seed: u64,
    active: Mutex<Option<Active>>,
    // Counts the scripts so far.
    scripts: watch::Sender<u64>,
}

#[derive(Debug)]
struct Active {
    // Server time at which the script's time begins.
    begin: Duration,
    plan: FaultPlan,
    timeline: Timeline,
    watch_buffer: Option<u64>,
}

impl FaultDriver {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            active: Mutex::new(None),
            scripts: watch::Sender::new(0),
        }
    }

    /// Puts a script in force at `now`, or none.
    pub(crate) fn replace(&self, script: Option<&FaultScript>, now: Duration) {
        *self.active.lock() = script.map(|script| Active {
            begin: now,
            plan: FaultPlan::new(script, self.seed),
            timeline: Timeline::new(&script.timeline),
            watch_buffer: script.limits.watch_buffer_events,
        });
        self.scripts.send_modify(|count| *count += 1);
    }

    /// Whether no request can meet a fault, so that nobody needs to ask.
    pub(super) fn is_idle(&self) -> bool {
        let active = self.active.lock();
        active.as_ref().is_none_or(|active| active.plan.is_empty())
    }

    pub(super) fn decide(&self, request: &RequestFacts, now: Duration) -> Option<Verdict> {
        let mut active = self.active.lock();
        let active = active.as_mut()?;
        let since_begin = now.saturating_sub(active.begin);
        Some(active.plan.decide(request, since_begin))
    }

    pub(crate) fn counts(&self) -> Vec<RuleCount> {
        let active = self.active.lock();
        active
            .as_ref()
            .map_or_else(Vec::new, |active| active.plan.counts())
    }

    /// The watch buffer that the script sets.
    pub(crate) fn watch_buffer(&self) -> Option<u64> {
        self.active.lock().as_ref()?.watch_buffer
    }

    /// Server time of the next entry of the timeline.
    fn next_due(&self) -> Option<Duration> {
        let active = self.active.lock();
        let active = active.as_ref()?;
        Some(active.begin + active.timeline.next_due()?)
    }

    fn take_due(&self, now: Duration) -> Vec<Action> {
        let mut active = self.active.lock();
        let active = active.as_mut();
        active.map_or_else(Vec::new, |active| {
            active.timeline.take_due(now.saturating_sub(active.begin))
        })
    }
}

/// Carries out the timeline of whatever script is in force, for ever. Cancel safe.
pub(crate) async fn follow_timeline(server: Arc<ApiServer>) -> Infallible {
    let faults = server.faults();
    let mut scripts = faults.scripts.subscribe();
    loop {
        scripts.borrow_and_update();
        let due = faults.next_due().map(|due| server.instant_of(due));
        let due_now = async {
            match due {
                Some(due) => sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            // The sender lives in the server, which this task holds.
            _ = scripts.changed() => continue,
            () = due_now => {}
        }
        for action in faults.take_due(server.now()) {
            info!(?action, "the fault script's time has come");
            match action {
                Action::CloseWatches => server.close_watches(),
                Action::Compact => server.compact(),
                Action::ResetVersions => server.reset_versions(),
            }
        }
    }
}
