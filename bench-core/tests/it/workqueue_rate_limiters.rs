//! Cases of `default_rate_limiters_test.go` of client-go's `util/workqueue`, and the token bucket's.

use std::time::Duration;

use bench_core::workqueue::{
    BucketRateLimiter, ItemExponentialFailureRateLimiter, ItemFastSlowRateLimiter,
    MaxOfRateLimiter, RateLimiter, WithMaxWaitRateLimiter, default_controller_rate_limiter,
    default_item_based_rate_limiter,
};

const ZERO: Duration = Duration::ZERO;

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

#[track_caller]
fn check(limiter: &mut impl RateLimiter<&'static str>, item: &'static str, delays_ms: &[u64]) {
    let waits: Vec<_> = delays_ms
        .iter()
        .map(|_| limiter.when(&item, ZERO))
        .collect();
    let expected: Vec<_> = delays_ms.iter().map(|&delay| ms(delay)).collect();
    assert_eq!(waits, expected);
}

#[test]
fn the_exponential_limiter_doubles_for_each_item_until_it_is_forgotten() {
    let mut limiter = ItemExponentialFailureRateLimiter::new(ms(1), ms(1000));
    check(&mut limiter, "one", &[1, 2, 4, 8, 16]);
    assert_eq!(limiter.num_requeues(&"one"), 5);
    check(&mut limiter, "two", &[1, 2]);
    assert_eq!(limiter.num_requeues(&"two"), 2);
    limiter.forget(&"one");
    assert_eq!(limiter.num_requeues(&"one"), 0);
    check(&mut limiter, "one", &[1]);
}

#[test]
fn the_exponential_limiter_stays_at_its_maximum_however_often_it_is_asked() {
    let hour = 3_600_000;
    for (base, max, nth, expected) in [(1, 1_000_000, 6, 32), (60_000, 1000 * hour, 3, 240_000)] {
        let mut limiter = ItemExponentialFailureRateLimiter::new(ms(base), ms(max));
        let delays: Vec<_> = (0..1000).map(|_| limiter.when(&"one", ZERO)).collect();
        assert_eq!(delays[nth - 1], ms(expected));
        assert!(delays.is_sorted());
        assert_eq!(limiter.when(&"one", ZERO), ms(max));
    }
}

#[test]
fn the_fast_slow_limiter_is_fast_a_few_times() {
    let mut limiter = ItemFastSlowRateLimiter::new(ms(5), ms(10_000), 3);
    check(&mut limiter, "one", &[5, 5, 5, 10_000, 10_000]);
    assert_eq!(limiter.num_requeues(&"one"), 5);
    check(&mut limiter, "two", &[5, 5]);
    assert_eq!(limiter.num_requeues(&"two"), 2);
    limiter.forget(&"one");
    assert_eq!(limiter.num_requeues(&"one"), 0);
    check(&mut limiter, "one", &[5]);
}

#[test]
fn the_longest_delay_of_several_limiters_counts_and_all_advance() {
    let mut limiter = MaxOfRateLimiter::new(vec![
        Box::new(ItemFastSlowRateLimiter::new(ms(5), ms(3000), 3)),
        Box::new(ItemExponentialFailureRateLimiter::new(ms(1), ms(1000))),
    ]);
    check(&mut limiter, "one", &[5, 5, 5, 3000, 3000]);
    assert_eq!(limiter.num_requeues(&"one"), 5);
    check(&mut limiter, "two", &[5, 5]);
    assert_eq!(limiter.num_requeues(&"two"), 2);
    limiter.forget(&"one");
    assert_eq!(limiter.num_requeues(&"one"), 0);
    check(&mut limiter, "one", &[5]);
    let mut none = MaxOfRateLimiter::new(Vec::new());
    check(&mut none, "one", &[0]);
}

#[test]
fn a_maximum_wait_caps_another_limiter() {
    let slow_later = ItemFastSlowRateLimiter::new(ms(5), ms(1_000_000), 100);
    let mut limiter = WithMaxWaitRateLimiter::new(slow_later, ms(500_000));
    check(&mut limiter, "one", &[5; 100]);
    check(&mut limiter, "one", &[500_000; 100]);
    assert_eq!(limiter.num_requeues(&"one"), 200);
    limiter.forget(&"one");
    check(&mut limiter, "one", &[5]);
}

#[test]
fn the_bucket_lets_a_burst_through_and_then_reserves_tokens_to_come() {
    let mut bucket = BucketRateLimiter::new(10.0, 3);
    check(&mut bucket, "one", &[0, 0, 0, 100, 200, 300]);
    // Three tokens are promised; a second brings ten, of which seven are left and three fit.
    assert_eq!(bucket.when(&"two", ms(1000)), ZERO);
    assert_eq!(bucket.when(&"two", ms(1000)), ZERO);
    assert_eq!(bucket.when(&"two", ms(1000)), ZERO);
    assert_eq!(bucket.when(&"two", ms(1050)), ms(50));
    assert_eq!(RateLimiter::<&str>::num_requeues(&bucket, &"two"), 0);
}

#[test]
fn the_default_controller_limiter_is_the_longer_of_doubling_and_bucket() {
    let mut limiter = default_controller_rate_limiter();
    check(&mut limiter, "one", &[5, 10, 20, 40, 80]);
    let mut fresh = default_controller_rate_limiter();
    for item in 0..100 {
        assert_eq!(fresh.when(&item, ZERO), ms(5));
    }
    assert_eq!(fresh.when(&100, ZERO), ms(100));
    assert_eq!(fresh.when(&101, ZERO), ms(200));
    assert_eq!(fresh.num_requeues(&100), 1);
    let mut item_based = default_item_based_rate_limiter();
    check(&mut item_based, "one", &[1, 2, 4]);
    for _ in 0..40 {
        item_based.when(&"one", ZERO);
    }
    check(&mut item_based, "one", &[1_000_000]);
}
