//! The handlers of a shared informer and who of them is told what (`sharedProcessor` upstream).

use std::{collections::BTreeMap, future::Future, pin::Pin, time::Duration};

use tokio::task::JoinSet;

use crate::api::KubeObject;

use super::{
    super::{DeltaType, InformerWarning, Notification},
    listener::{Listener, ListenerId},
    periods::{ListenerPeriod, at_least_minimum},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    New,
    Started,
    Stopped,
}

pub(super) struct Processor<T> {
    pub(super) phase: Phase,
    pub(super) check_period: Duration,
    pub(super) listeners: BTreeMap<ListenerId, Listener<T>>,
    pub(super) tasks: JoinSet<()>,
    // Tasks of handlers that were added before the start.
    pub(super) waiting_tasks: Vec<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl<T: KubeObject> Processor<T> {
    pub(super) fn new(check_period: Duration) -> Self {
        Self {
            phase: Phase::New,
            check_period,
            listeners: BTreeMap::new(),
            tasks: JoinSet::new(),
            waiting_tasks: Vec::new(),
        }
    }

    /// Settles a new handler's period, and tells what it does not get; before the start a shorter one shortens the check
    /// period of all.
    pub(super) fn admit(
        &mut self,
        asked: Duration,
        now: Duration,
    ) -> (ListenerPeriod, Vec<InformerWarning>) {
        let mut requested = at_least_minimum(asked);
        let mut warnings = Vec::new();
        if !requested.is_zero() && self.check_period.is_zero() {
            warnings.push(InformerWarning::HandlerWithoutResync { requested: asked });
        } else if requested > asked {
            warnings.push(InformerWarning::HandlerPeriodBelowMinimum { requested: asked });
        }
        if !requested.is_zero() && requested < self.check_period {
            if self.phase == Phase::Started {
                tracing::warn!(?requested, check_period = ?self.check_period, "the informer runs already: the handler's period is raised");
                warnings.push(InformerWarning::HandlerPeriodRaised {
                    requested,
                    effective: self.check_period,
                });
                requested = self.check_period;
            } else {
                self.check_period = requested;
                for listener in self.listeners.values_mut() {
                    listener.period.recheck(requested, now);
                }
            }
        }
        let period = ListenerPeriod::new(requested, self.check_period, now);
        if self.phase == Phase::Started {
            warnings.extend(rounded(&period, self.check_period));
        }
        (period, warnings)
    }

    /// Lets the handlers be called. The check period is final now, so this tells what it makes of their periods.
    pub(super) fn start(&mut self) -> Vec<InformerWarning> {
        self.phase = Phase::Started;
        for task in self.waiting_tasks.drain(..) {
            self.tasks.spawn(task);
        }
        let periods = self.listeners.values().map(|listener| &listener.period);
        periods
            .filter_map(|period| rounded(period, self.check_period))
            .collect()
    }

    /// Takes no further handler and ends those that there are.
    pub(super) fn close(&mut self) {
        self.phase = Phase::Stopped;
        for listener in self.listeners.values() {
            listener.close();
        }
        self.waiting_tasks.clear();
    }

    /// Closes, and returns the tasks to wait for.
    pub(super) fn stop(&mut self) -> JoinSet<()> {
        self.close();
        std::mem::take(&mut self.tasks)
    }

    /// Asks every handler, since each keeps its own mark; true if any is due.
    pub(super) fn should_resync(&mut self, now: Duration) -> bool {
        let due = self
            .listeners
            .values_mut()
            .filter_map(|listener| listener.period.ask(now).then_some(()));
        due.count() > 0
    }

    /// Passes a notification to every handler that it is for; a warning if that leaves out a change that upstream takes for
    /// a resync.
    pub(super) fn distribute(
        &self,
        delta_type: DeltaType,
        notification: &Notification<T>,
    ) -> Option<InformerWarning> {
        // Equal versions mean a resync or an unchanged item of a relist, whatever the delta's type was.
        let unchanged = match notification {
            Notification::Updated { old, new } => old.resource_version() == new.resource_version(),
            Notification::Added { .. } | Notification::Deleted { .. } => false,
        };
        let mut withheld = None;
        for listener in self.listeners.values() {
            if !unchanged || listener.period.is_syncing() {
                listener.push(notification.clone());
            } else if delta_type != DeltaType::Sync {
                withheld = Some(InformerWarning::UnchangedUpdateWithheld);
            }
        }
        withheld
    }
}

/// What a handler's period becomes where it is no multiple of the check period.
fn rounded(period: &ListenerPeriod, check_period: Duration) -> Option<InformerWarning> {
    let effective = period.between_due_rounds(check_period);
    (effective != period.effective()).then(|| InformerWarning::HandlerPeriodRounded {
        requested: period.requested(),
        check_period,
        effective,
    })
}
