//! How deep the queue and the listener's buffer were over time.

use super::record::TimelinePoint;

/// Depths at one instant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Depths {
    /// Keys in the queue.
    pub queue_keys: u64,
    /// Deltas in the queue.
    pub queue_deltas: u64,
    /// Notifications in the listener's buffer; absent for a plain informer.
    pub listener: Option<u64>,
}

/// Collects depths, and the peak of each. Reads no clock: the caller says when.
#[derive(Debug, Clone, Default)]
pub struct DepthSampler {
    points: Vec<(u64, Depths)>,
    peaks: Depths,
}

impl DepthSampler {
    /// Without points; peaks are zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a point at `at_ns` from the start of the window. Points come in the order of time.
    pub fn sample(&mut self, at_ns: u64, depths: Depths) {
        debug_assert!(
            self.points.last().is_none_or(|&(last, _)| last <= at_ns),
            "a point before the last one"
        );
        self.observe(depths);
        self.points.push((at_ns, depths));
    }

    /// Raises the peaks without a point, for a depth seen between two points.
    pub fn observe(&mut self, depths: Depths) {
        self.peaks = Depths {
            queue_keys: self.peaks.queue_keys.max(depths.queue_keys),
            queue_deltas: self.peaks.queue_deltas.max(depths.queue_deltas),
            listener: self.peaks.listener.max(depths.listener),
        };
    }

    /// The highest value of each depth, each at its own instant.
    pub fn peaks(&self) -> Depths {
        self.peaks
    }

    /// The points as a timeline's, with everything but time and depths left at its default.
    pub fn to_points(&self) -> Vec<TimelinePoint> {
        self.points
            .iter()
            .map(|&(at_ns, depths)| TimelinePoint {
                at_ns,
                queue_keys: depths.queue_keys,
                queue_deltas: depths.queue_deltas,
                listener: depths.listener,
                ..TimelinePoint::default()
            })
            .collect()
    }
}
