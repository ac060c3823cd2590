//! Histograms, depth, memory and environment.

use std::time::Duration;

use bench_core::measure::{
    allocations::AllocationCount,
    depth::{DepthSampler, Depths},
    environment::{allowed_cores, capture, pin_to_core, utc_now},
    latency::{HIGHEST_NS, LatencyRecorder, merge_series, series_percentile},
    process::{reset_resident_memory_peak, resident_memory},
    record::LatencySeries,
};

fn recorded(latencies_ns: impl IntoIterator<Item = u64>) -> LatencyRecorder {
    let mut recorder = LatencyRecorder::new();
    for latency in latencies_ns {
        recorder.record(Duration::from_nanos(latency));
    }
    recorder
}

#[test]
fn no_samples_give_no_values() {
    let series = LatencyRecorder::new().to_series();
    assert_eq!(series, LatencySeries::default());
    assert_eq!(series.p99_ns, None);
    assert_eq!(series_percentile(&series, 0.5), None);
    assert_eq!(merge_series(&[&series, &series]), LatencySeries::default());
    assert_eq!(merge_series(&[]), LatencySeries::default());
}

#[test]
fn the_percentiles_of_one_sample_are_that_sample() {
    let series = recorded([682_123]).to_series();
    let all = [
        series.min_ns,
        series.p50_ns,
        series.p90_ns,
        series.p99_ns,
        series.p999_ns,
        series.max_ns,
    ];
    assert_eq!(all, [Some(682_123); 6]);
    assert_eq!(series.mean_ns, Some(682_123.0));
}

#[test]
fn no_percentile_lies_outside_the_smallest_and_largest_sample() {
    // Both in one bucket, whose highest value is above either.
    let series = recorded([1_000_100, 1_000_200]).to_series();
    assert_eq!(series.buckets.len(), 1);
    assert!(series.buckets[0].0 > 1_000_200);
    assert_eq!(series.p99_ns, Some(1_000_200));
    assert!(series.p50_ns <= series.max_ns);
}

#[test]
fn percentiles_are_the_nearest_ranks() {
    let series = recorded(1..=1000).to_series();
    assert_eq!(series.p50_ns, Some(500));
    assert_eq!(series.p90_ns, Some(900));
    assert_eq!(series.p99_ns, Some(990));
    assert_eq!(series.p999_ns, Some(999));
    assert_eq!(series.mean_ns, Some(500.5));
    let hundred = recorded(1..=100).to_series();
    assert_eq!(series_percentile(&hundred, 0.07), Some(7));
    assert_eq!(series_percentile(&hundred, 0.0), Some(1));
    assert_eq!(series_percentile(&hundred, 1.0), Some(100));
}

#[test]
fn a_value_is_kept_to_three_digits() {
    let mut recorder = recorded([1, 1_000_000_000]);
    recorder.record(Duration::from_nanos(123_456_789));
    let median = recorder.to_series().p50_ns.expect("there are samples");
    assert!((123_456_789..123_600_000).contains(&median), "{median}");
}

#[test]
fn a_negative_latency_is_counted_apart_and_never_clamped() {
    let mut recorder = LatencyRecorder::new();
    recorder.record_between(10, 9);
    recorder.record_between(u64::MAX, 0);
    let series = recorder.to_series();
    assert_eq!((series.count, series.negative), (0, 2));
    assert_eq!(series.min_ns, None);
    recorder.record_between(10, 10);
    let series = recorder.to_series();
    assert_eq!((series.count, series.negative), (1, 2));
    assert_eq!(series.max_ns, Some(0));
}

#[test]
fn a_latency_above_the_range_is_counted_as_saturated() {
    let series = recorded([HIGHEST_NS, HIGHEST_NS + 1, u64::MAX]).to_series();
    assert_eq!((series.count, series.saturated), (3, 2));
    assert_eq!(series.max_ns, Some(u64::MAX));
    assert_eq!(series.buckets.iter().map(|bucket| bucket.1).sum::<u64>(), 3);
}

#[test]
fn merged_recorders_and_merged_series_equal_one_recording_of_all() {
    let fast = || (1..5000).map(|sample| sample * 37);
    let slow = || (1..300).map(|sample| sample * 7_000_003);
    let together = recorded(fast().chain(slow())).to_series();

    let mut merged = recorded(fast());
    merged.merge(&recorded(slow()));
    merged.merge(&LatencyRecorder::new());
    assert_eq!(merged.to_series(), together);

    let mut series = merge_series(&[&recorded(fast()).to_series(), &recorded(slow()).to_series()]);
    let (mean, expected) = (
        series.mean_ns.expect("samples"),
        together.mean_ns.expect("samples"),
    );
    assert!((mean / expected - 1.0).abs() < 1e-12, "{mean} {expected}");
    series.mean_ns = together.mean_ns;
    assert_eq!(series, together);
}

#[test]
fn merging_adds_what_was_saturated_and_negative() {
    let mut odd = recorded([HIGHEST_NS + 1]);
    odd.record_between(1, 0);
    let mut merged = odd.clone();
    merged.merge(&odd);
    let series = merged.to_series();
    assert_eq!((series.saturated, series.negative), (2, 2));
    let merged = merge_series(&[&series, &series]);
    assert_eq!((merged.saturated, merged.negative), (4, 4));
    odd.reset();
    assert_eq!(odd.to_series(), LatencySeries::default());
}

#[test]
fn peaks_hold_what_was_seen_between_points_too() {
    let mut sampler = DepthSampler::new();
    let depths = |queue_keys, queue_deltas, listener| Depths {
        queue_keys,
        queue_deltas,
        listener,
    };
    sampler.sample(0, depths(1, 9, None));
    sampler.observe(depths(7, 7, None));
    sampler.sample(5, depths(2, 2, Some(3)));
    assert_eq!(sampler.peaks(), depths(7, 9, Some(3)));
    let points = sampler.to_points();
    assert_eq!(points.len(), 2);
    assert_eq!(
        (points[1].at_ns, points[1].queue_keys, points[1].listener),
        (5, 2, Some(3))
    );
}

#[test]
fn resident_memory_grows_with_what_is_touched_and_its_peak_can_start_again() {
    const SIZE: u64 = 64 << 20;
    let before = resident_memory().expect("procfs");
    let bytes = vec![1_u8; usize::try_from(SIZE).expect("fits")];
    let with = resident_memory().expect("procfs");
    assert_eq!(bytes[bytes.len() / 2], 1);
    drop(bytes);
    // Other tests of this process allocate meanwhile, hence the margin.
    assert!(
        with.now_bytes > before.now_bytes + SIZE / 2,
        "{before:?} {with:?}"
    );
    let freed = resident_memory().expect("procfs");
    assert!(
        freed.peak_bytes >= before.now_bytes + SIZE / 2,
        "{with:?} {freed:?}"
    );
    reset_resident_memory_peak().expect("a process may reset its own peak");
    let after = resident_memory().expect("procfs");
    assert!(after.peak_bytes < with.peak_bytes, "{with:?} {after:?}");
}

#[test]
fn a_program_without_the_counting_allocator_has_no_count() {
    assert_eq!(AllocationCount::now(), None);
}

#[test]
fn an_allocation_count_since_an_earlier_one_is_the_difference() {
    let count = |allocations, allocated_bytes| AllocationCount {
        allocations,
        allocated_bytes,
    };
    assert_eq!(count(5, 500).since(count(2, 100)), count(3, 400));
}

#[test]
fn the_environment_is_told_in_full() {
    let environment = capture("one process, no pinning").expect("affinity is readable");
    assert!(environment.rustc.starts_with("rustc 1."), "{environment:?}");
    assert!(environment.memory_bytes > 64 << 20, "{environment:?}");
    assert!(environment.cores >= 1);
    assert_eq!(environment.placement, "one process, no pinning");
    assert!(environment.commit == "unknown" || environment.commit.len() >= 40);
    for text in [&environment.cpu, &environment.kernel, &environment.commit] {
        assert!(!text.is_empty() && !text.contains('\n'), "{environment:?}");
    }
}

#[test]
fn the_date_is_utc_in_rfc_3339_to_the_second() {
    let now = utc_now();
    assert_eq!(now.len(), "2026-01-02T03:04:05Z".len(), "{now}");
    assert!(now.ends_with('Z') && now.as_bytes()[10] == b'T', "{now}");
}

#[test]
fn a_pinned_thread_and_its_children_have_one_core() {
    std::thread::spawn(|| {
        let core = *allowed_cores()
            .expect("readable")
            .last()
            .expect("at least one");
        pin_to_core(core).expect("an allowed core");
        assert_eq!(allowed_cores().expect("readable"), [core]);
        let child = std::thread::spawn(|| allowed_cores().expect("readable"));
        assert_eq!(child.join().expect("no panic"), [core]);
        let error = pin_to_core(usize::MAX).expect_err("no such core");
        assert!(error.to_string().starts_with("cannot pin to core"));
        assert_eq!(allowed_cores().expect("readable"), [core]);
    })
    .join()
    .expect("the thread's assertions hold");
}
