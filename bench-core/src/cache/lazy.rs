//! A value that is computed when it is asked for and something has changed. Mirrors client-go's
//! `tools/cache/synctrack/lazy.go`.

use std::{fmt, sync::Arc};

use parking_lot::Mutex;

/// A value computed from what an informer's cache holds, say, and computed anew only after [`Lazy::notify`].
///
/// - [`Lazy::get`] never returns a value whose computation began before the last `notify` that ended before the call.
/// - Each `notify` leads to one computation at most; calls that come together share it. Failures are not kept.
/// - A slow computation for an older `notify` does not replace the value of a newer one.
pub struct Lazy<T, F> {
    evaluate: F,
    current: Mutex<Arc<Slot<T>>>,
}

// The result of the one computation that this slot is for; locked while it goes on.
type Slot<T> = Mutex<Option<T>>;

impl<T: Clone, E, F: Fn() -> Result<T, E>> Lazy<T, F> {
    /// Computes nothing yet.
    pub fn new(evaluate: F) -> Self {
        Self {
            evaluate,
            current: Mutex::new(Arc::default()),
        }
    }

    /// What the value is computed from has changed. Never waits for a computation.
    pub fn notify(&self) {
        *self.current.lock() = Arc::default();
    }

    /// The value; computes it, or waits for the computation under way, if it is not there.
    ///
    /// # Errors
    /// The computation's; the next call computes again.
    pub fn get(&self) -> Result<T, E> {
        let slot = Arc::clone(&self.current.lock());
        let mut result = slot.lock();
        if let Some(value) = &*result {
            return Ok(value.clone());
        }
        let value = (self.evaluate)()?;
        *result = Some(value.clone());
        Ok(value)
    }
}

impl<T, F> fmt::Debug for Lazy<T, F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Lazy").finish_non_exhaustive()
    }
}
