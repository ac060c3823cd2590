//! Finds cached objects that somebody changes: for tests. Mirrors client-go's `tools/cache/mutation_detector.go`.

use std::{fmt, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::time::{Instant, sleep};

use super::{DeltaType, InformerObserver, Notification};

/// How often every object is looked at.
const PERIOD: Duration = Duration::from_secs(1);

/// Each object is looked at for at least this and at most twice this.
const RETENTION: Duration = Duration::from_mins(2);

/// Keeps a fingerprint of each object that an informer tells its handlers of, and compares it again and again.
///
/// An object is shared, as `Arc`, by the cache and every handler, and must not change. Rust sees to that for
/// [`crate::api::Object`] and for the types of `k8s_openapi`, so there is nothing to detect there; it is for object types
/// with interior mutability (`Mutex`, `Cell`, atomics). Upstream keeps a deep copy in place of a fingerprint.
///
/// It is an observer: give the informer an `Arc` of it and let [`MutationDetector::run`] run beside. Objects are kept in memory
/// for minutes, so it is not for measurements.
pub struct MutationDetector<T, F> {
    fingerprint: F,
    generations: Mutex<Generations<T>>,
}

struct Generations<T> {
    current: Vec<Seen<T>>,
    // Kept until the next rotation.
    previous: Vec<Seen<T>>,
}

struct Seen<T> {
    object: Arc<T>,
    fingerprint: u64,
}

impl<T, F: Fn(&T) -> u64> MutationDetector<T, F> {
    /// `fingerprint` must depend on everything that must not change, and on nothing else.
    pub fn new(fingerprint: F) -> Self {
        Self {
            fingerprint,
            generations: Mutex::new(Generations {
                current: Vec::new(),
                previous: Vec::new(),
            }),
        }
    }

    /// Looks at every object kept and returns those that have changed since they were first seen, oldest first. They are
    /// returned again each time.
    pub fn altered(&self) -> Vec<Arc<T>> {
        let generations = self.generations.lock();
        let seen = generations.previous.iter().chain(&generations.current);
        let altered = seen.filter(|seen| (self.fingerprint)(&seen.object) != seen.fingerprint);
        altered.map(|seen| Arc::clone(&seen.object)).collect()
    }

    /// Looks once a second, and returns as soon as objects have changed; they are not empty. Upstream panics. Dropping the call
    /// ends the looking.
    pub async fn run(&self) -> Vec<Arc<T>> {
        let mut rotated = Instant::now();
        loop {
            if rotated.elapsed() > RETENTION {
                self.rotate();
                rotated = Instant::now();
            }
            let altered = self.altered();
            if !altered.is_empty() {
                return altered;
            }
            sleep(PERIOD).await;
        }
    }

    fn rotate(&self) {
        let mut generations = self.generations.lock();
        generations.previous = std::mem::take(&mut generations.current);
    }
}

impl<T, F> InformerObserver<T> for MutationDetector<T, F>
where
    T: Send + Sync + 'static,
    F: Fn(&T) -> u64 + Send + Sync + 'static,
{
    fn delivering(&self, _: DeltaType, notification: &Notification<T>) {
        let (Notification::Added { object, .. } | Notification::Updated { new: object, .. }) =
            notification
        else {
            return;
        };
        let seen = Seen {
            object: Arc::clone(object),
            fingerprint: (self.fingerprint)(object),
        };
        self.generations.lock().current.push(seen);
    }
}

impl<T, F> fmt::Debug for MutationDetector<T, F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("MutationDetector")
            .finish_non_exhaustive()
    }
}
