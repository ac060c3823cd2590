//! How long an item waits before it is tried again.
//!
//! Mirrors `default_rate_limiters.go` of client-go's `util/workqueue`. Time is an argument: time since the queue's start.

use std::{collections::HashMap, fmt, hash::Hash, time::Duration};

/// Says how long an item waits.
pub trait RateLimiter<T>: fmt::Debug + Send {
    /// How long the item waits from now, and counts this failure of it.
    fn when(&mut self, item: &T, now: Duration) -> Duration;

    /// Forgets the failures of an item, because it succeeded or is given up.
    fn forget(&mut self, item: &T);

    /// Failures of an item since it was last forgotten; 0 from limiters that do not tell items apart.
    fn num_requeues(&self, item: &T) -> u32;
}

/// `base * 2^failures`, at most `max`, for each item. Delays beyond 584 years become `max`.
#[derive(Debug)]
pub struct ItemExponentialFailureRateLimiter<T> {
    failures: HashMap<T, u32>,
    base: Duration,
    max: Duration,
}

impl<T: Hash + Eq + Clone> ItemExponentialFailureRateLimiter<T> {
    /// The first failure waits `base`.
    pub fn new(base: Duration, max: Duration) -> Self {
        Self {
            failures: HashMap::new(),
            base,
            max,
        }
    }
}

impl<T: Hash + Eq + Clone + fmt::Debug + Send> RateLimiter<T>
    for ItemExponentialFailureRateLimiter<T>
{
    fn when(&mut self, item: &T, _now: Duration) -> Duration {
        let failures = self.failures.entry(item.clone()).or_insert(0);
        // 2^127 ns is longer than any `max`, so the exponent need not grow further.
        let factor = 1_u128 << (*failures).min(127);
        *failures = failures.saturating_add(1);
        let delay_ns = self.base.as_nanos().saturating_mul(factor);
        u64::try_from(delay_ns).map_or(self.max, |delay| Duration::from_nanos(delay).min(self.max))
    }

    fn forget(&mut self, item: &T) {
        self.failures.remove(item);
    }

    fn num_requeues(&self, item: &T) -> u32 {
        self.failures.get(item).copied().unwrap_or(0)
    }
}

/// A fast delay for the first failures of each item, then a slow one.
#[derive(Debug)]
pub struct ItemFastSlowRateLimiter<T> {
    failures: HashMap<T, u32>,
    fast: Duration,
    slow: Duration,
    max_fast_attempts: u32,
}

impl<T: Hash + Eq + Clone> ItemFastSlowRateLimiter<T> {
    /// `max_fast_attempts` failures wait `fast`, all further ones `slow`.
    pub fn new(fast: Duration, slow: Duration, max_fast_attempts: u32) -> Self {
        Self {
            failures: HashMap::new(),
            fast,
            slow,
            max_fast_attempts,
        }
    }
}

impl<T: Hash + Eq + Clone + fmt::Debug + Send> RateLimiter<T> for ItemFastSlowRateLimiter<T> {
    fn when(&mut self, item: &T, _now: Duration) -> Duration {
        let failures = self.failures.entry(item.clone()).or_insert(0);
        *failures = failures.saturating_add(1);
        if *failures <= self.max_fast_attempts {
            self.fast
        } else {
            self.slow
        }
    }

    fn forget(&mut self, item: &T) {
        self.failures.remove(item);
    }

    fn num_requeues(&self, item: &T) -> u32 {
        self.failures.get(item).copied().unwrap_or(0)
    }
}

/// A token bucket over all items together, as `Reserve` of `golang.org/x/time/rate`: each call takes a token, and one that
/// finds none waits until its own token is there.
#[derive(Debug)]
pub struct BucketRateLimiter {
    tokens_per_second: f64,
    burst: f64,
    // Invariant: at most `burst`; below zero by the tokens that are promised.
    tokens: f64,
    last: Duration,
}

impl BucketRateLimiter {
    /// A full bucket of `burst` tokens.
    ///
    /// # Panics
    /// If the rate is not positive and finite, or the bucket holds no token: nothing would ever be let through.
    pub fn new(tokens_per_second: f64, burst: u32) -> Self {
        assert!(tokens_per_second.is_finite() && tokens_per_second > 0.0);
        assert!(burst > 0);
        Self {
            tokens_per_second,
            burst: f64::from(burst),
            tokens: f64::from(burst),
            last: Duration::ZERO,
        }
    }
}

impl<T> RateLimiter<T> for BucketRateLimiter {
    fn when(&mut self, _item: &T, now: Duration) -> Duration {
        let refill = now.saturating_sub(self.last).as_secs_f64() * self.tokens_per_second;
        self.last = now;
        self.tokens = (self.tokens + refill).min(self.burst) - 1.0;
        if self.tokens >= 0.0 {
            return Duration::ZERO;
        }
        // Upstream cuts off parts of a nanosecond; so do we, before the conversion, which rounds.
        let nanoseconds = (-self.tokens / self.tokens_per_second * 1e9).floor();
        Duration::try_from_secs_f64(nanoseconds / 1e9).unwrap_or(Duration::MAX)
    }

    fn forget(&mut self, _item: &T) {}

    fn num_requeues(&self, _item: &T) -> u32 {
        0
    }
}

/// The longest delay of several limiters. Every one of them counts every failure.
#[derive(Debug)]
pub struct MaxOfRateLimiter<T> {
    limiters: Vec<Box<dyn RateLimiter<T>>>,
}

impl<T> MaxOfRateLimiter<T> {
    /// Without limiters there is no delay.
    pub fn new(limiters: Vec<Box<dyn RateLimiter<T>>>) -> Self {
        Self { limiters }
    }
}

impl<T: fmt::Debug> RateLimiter<T> for MaxOfRateLimiter<T> {
    fn when(&mut self, item: &T, now: Duration) -> Duration {
        let delays = self.limiters.iter_mut().map(|it| it.when(item, now));
        delays.max().unwrap_or(Duration::ZERO)
    }

    fn forget(&mut self, item: &T) {
        for limiter in &mut self.limiters {
            limiter.forget(item);
        }
    }

    fn num_requeues(&self, item: &T) -> u32 {
        let counts = self.limiters.iter().map(|it| it.num_requeues(item));
        counts.max().unwrap_or(0)
    }
}

/// Another limiter's delay, but at most `max`.
#[derive(Debug)]
pub struct WithMaxWaitRateLimiter<L> {
    limiter: L,
    max: Duration,
}

impl<L> WithMaxWaitRateLimiter<L> {
    /// Caps the delays of `limiter`.
    pub fn new(limiter: L, max: Duration) -> Self {
        Self { limiter, max }
    }
}

impl<T, L: RateLimiter<T>> RateLimiter<T> for WithMaxWaitRateLimiter<L> {
    fn when(&mut self, item: &T, now: Duration) -> Duration {
        self.limiter.when(item, now).min(self.max)
    }

    fn forget(&mut self, item: &T) {
        self.limiter.forget(item);
    }

    fn num_requeues(&self, item: &T) -> u32 {
        self.limiter.num_requeues(item)
    }
}

/// `DefaultControllerRateLimiter`: the longer of 5 ms doubled up to 1000 s for each item, and 10 a second with a burst of 100
/// for all.
pub fn default_controller_rate_limiter<T>() -> MaxOfRateLimiter<T>
where
    T: Hash + Eq + Clone + fmt::Debug + Send + 'static,
{
    MaxOfRateLimiter::new(vec![
        Box::new(ItemExponentialFailureRateLimiter::new(
            Duration::from_millis(5),
            Duration::from_secs(1000),
        )),
        Box::new(BucketRateLimiter::new(10.0, 100)),
    ])
}

/// `DefaultItemBasedRateLimiter`: 1 ms doubled up to 1000 s for each item.
pub fn default_item_based_rate_limiter<T>() -> ItemExponentialFailureRateLimiter<T>
where
    T: Hash + Eq + Clone,
{
    ItemExponentialFailureRateLimiter::new(Duration::from_millis(1), Duration::from_secs(1000))
}
