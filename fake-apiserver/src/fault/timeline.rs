//! What befalls the whole server, and when.

use std::time::Duration;

use serde::Deserialize;

use super::quantity::{duration, optional_duration, positive};

/// One entry of a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimedAction {
    /// When.
    #[serde(deserialize_with = "duration")]
    pub at: Duration,
    /// Again after each such time; absent means once.
    #[serde(default, deserialize_with = "optional_duration")]
    pub every: Option<Duration>,
    /// So often at most, the first time counted.
    #[serde(default, deserialize_with = "positive")]
    pub times: Option<u64>,
    /// What.
    pub action: Action,
}

/// What can befall the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Every open watch ends cleanly at once.
    CloseWatches,
    /// The history is forgotten: versions before the present one are expired.
    Compact,
    /// The version counter falls, as when a cluster is restored from a copy: every object keeps its content and uid and gets a
    /// new, low version, the history is empty, and every open watch ends.
    ResetVersions,
}

/// The entries that are still to come.
#[derive(Debug, Clone)]
pub struct Timeline {
    pending: Vec<(TimedAction, u64)>,
}

impl Timeline {
    /// From the script.
    pub fn new(actions: &[TimedAction]) -> Self {
        Self {
            pending: actions.iter().map(|action| (*action, 0)).collect(),
        }
    }

    /// When the next one is due.
    pub fn next_due(&self) -> Option<Duration> {
        self.pending.iter().map(|(action, _)| action.at).min()
    }

    /// Takes what is due at `now`, in order of time, entries for the same instant in order of the script. Of an entry that was
    /// missed several times, every occurrence counts.
    pub fn take_due(&mut self, now: Duration) -> Vec<Action> {
        let mut due = Vec::new();
        while let Some(index) = self.first_due(now) {
            let (entry, done) = &mut self.pending[index];
            due.push(entry.action);
            *done += 1;
            let is_over = entry.times.is_some_and(|times| *done >= times);
            match entry.every.filter(|every| !every.is_zero() && !is_over) {
                Some(every) => entry.at += every,
                None => drop(self.pending.remove(index)),
            }
        }
        due
    }

    fn first_due(&self, now: Duration) -> Option<usize> {
        let due = self.pending.iter().enumerate();
        let due = due.filter(|(_, (entry, _))| entry.at <= now);
        due.min_by_key(|(index, (entry, _))| (entry.at, *index))
            .map(|(index, _)| index)
    }
}

#[cfg(test)]
mod tests {
    use super::{Action::*, *};

    fn entry(at: u64, every: Option<u64>, times: Option<u64>, action: Action) -> TimedAction {
        TimedAction {
            at: Duration::from_secs(at),
            every: every.map(Duration::from_secs),
            times,
            action,
        }
    }

    #[test]
    fn entries_come_in_order_of_time_and_repeat_as_often_as_they_may() {
        let mut timeline = Timeline::new(&[
            entry(5, Some(5), Some(2), CloseWatches),
            entry(7, None, None, Compact),
            entry(5, Some(100), None, ResetVersions),
        ]);
        let mut at = |second| {
            let due = timeline.take_due(Duration::from_secs(second));
            (due, timeline.next_due().map(|due| due.as_secs()))
        };
        assert_eq!(at(4), (vec![], Some(5)));
        assert_eq!(at(5), (vec![CloseWatches, ResetVersions], Some(7)));
        assert_eq!(at(60), (vec![Compact, CloseWatches], Some(105)));
        assert_eq!(at(205), (vec![ResetVersions, ResetVersions], Some(305)));
    }
}
