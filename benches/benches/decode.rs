//! The wire: frames out of chunks, events and lists out of JSON, raw and typed, of pods of realistic content.

use std::{fmt::Write as _, hint::black_box};

use bench_core::{
    api::{KubeObject, Object, WatchEvent},
    list_watch::{FrameSplitter, decode_event, decode_list},
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use fake_apiserver::profiles::{Profile, ProfileKind};
use informer_benches::{pods_json, settings};
use k8s_openapi::api::core::v1::Pod;

const EVENTS: usize = 1_000;
/// As hyper hands out bodies.
const CHUNK_BYTES: usize = 16 * 1024;

fn frames() -> String {
    let profile = Profile::new(ProfileKind::Pod6k);
    let mut frames = String::new();
    for pod in pods_json(&profile, EVENTS) {
        writeln!(frames, r#"{{"type":"MODIFIED","object":{pod}}}"#).expect("text");
    }
    frames
}

fn split(criterion: &mut Criterion) {
    let frames = frames();
    let mut group = criterion.benchmark_group("frames");
    group.throughput(Throughput::Bytes(frames.len() as u64));
    group.bench_function("split_pure", |bencher| {
        bencher.iter(|| {
            let mut splitter = FrameSplitter::default();
            let mut lines = 0;
            for chunk in frames.as_bytes().chunks(CHUNK_BYTES) {
                splitter.push(chunk).expect("no line is too long");
                while splitter.next_line().is_some() {
                    lines += 1;
                }
            }
            assert_eq!(lines, EVENTS);
        });
    });
    group.finish();
}

fn events<T: KubeObject>(frames: &str) -> usize {
    let mut modified = 0;
    for line in frames.lines() {
        let event = decode_event::<T>(line.as_bytes()).expect("an event");
        modified += usize::from(matches!(black_box(event), WatchEvent::Modified(_)));
    }
    modified
}

fn decode_events(criterion: &mut Criterion) {
    let frames = frames();
    let mut group = criterion.benchmark_group("decode_event");
    group.throughput(Throughput::Elements(EVENTS as u64));
    group.bench_function("raw_pure", |bencher| {
        bencher.iter(|| assert_eq!(events::<Object>(&frames), EVENTS));
    });
    group.bench_function("typed_pure", |bencher| {
        bencher.iter(|| assert_eq!(events::<Pod>(&frames), EVENTS));
    });
    group.finish();
}

fn decode_lists(criterion: &mut Criterion) {
    let profile = Profile::new(ProfileKind::Pod6k);
    let items = pods_json(&profile, EVENTS).join(",");
    let list = format!(
        r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"9"}},"items":[{items}]}}"#
    );
    let mut group = criterion.benchmark_group("decode_list");
    group.throughput(Throughput::Elements(EVENTS as u64));
    group.bench_function("raw_pure", |bencher| {
        bencher.iter(|| {
            let page = decode_list::<Object>(list.as_bytes()).expect("a list");
            assert_eq!(black_box(page).items.len(), EVENTS);
        });
    });
    group.bench_function("typed_pure", |bencher| {
        bencher.iter(|| {
            let page = decode_list::<Pod>(list.as_bytes()).expect("a list");
            assert_eq!(black_box(page).items.len(), EVENTS);
        });
    });
    group.finish();
}

criterion_group!(name = benches; config = settings(); targets = split, decode_events, decode_lists);
criterion_main!(benches);
