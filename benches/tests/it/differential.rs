//! What client-go made of the recorded traces, ours makes of them too. Needs no Go: see `benches/peers/client-go/check`.

use std::path::Path;

use informer_benches::differential::{
    corpus::{Recorded, corpus_files, first_difference},
    generate::generate,
    replay::replay,
    shrink::shrink,
    trace::{Operation, Preset},
};

#[test]
fn every_recorded_trace_has_the_outcomes_of_client_go() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/client-go/corpus");
    let files = corpus_files(&corpus).unwrap();
    let mut operations = 0;
    for path in &files {
        for recorded in Recorded::read(path).unwrap() {
            operations += recorded.trace.operations.len();
            let ours = replay(&recorded.trace);
            if let Some((place, ours, theirs)) = first_difference(&ours, &recorded.outcomes) {
                panic!(
                    "{}, {}, operation {place}:\n{}\nours      {ours}\nclient-go {theirs}",
                    path.display(),
                    recorded.trace.header.trace,
                    recorded.trace.lines().nth(place + 1).unwrap()
                );
            }
        }
    }
    assert!(operations >= 400, "only {operations} operations were found");
}

#[test]
fn a_changed_outcome_is_noticed_with_its_place() {
    assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
    assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some((1, "b", "c")));
    assert_eq!(first_difference("a\n", "a\nc\n"), Some((1, "", "c")));
}

#[test]
fn a_trace_is_the_same_for_the_same_seed_and_survives_writing() {
    let trace = generate(Preset::DeltaFifo, 7);
    assert_eq!(trace, generate(Preset::DeltaFifo, 7));
    assert_ne!(trace, generate(Preset::DeltaFifo, 8));
    for (line, operation) in trace.lines().skip(1).zip(&trace.operations) {
        assert_eq!(
            serde_json::from_str::<Operation>(&line).unwrap(),
            *operation
        );
    }
}

#[test]
fn a_trace_shrinks_to_what_shows_the_fault() {
    let shows = |trace: &informer_benches::differential::trace::Trace| {
        let count = |wanted: fn(&Operation) -> bool| {
            trace.operations.iter().filter(|it| wanted(it)).count()
        };
        let resyncs = count(|it| matches!(it, Operation::Resync));
        let lists =
            count(|it| matches!(it, Operation::Replace { objects, .. } if !objects.is_empty()));
        Ok::<_, ()>(resyncs >= 2 && lists >= 1)
    };
    let trace = (1..100)
        .map(|seed| generate(Preset::DeltaFifo, seed))
        .find(|trace| shows(trace) == Ok(true))
        .unwrap();
    let small = shrink(trace, shows).unwrap();
    assert_eq!(small.operations.len(), 3);
    assert!(small.header.options.is_empty());
    let one_object =
        |it: &Operation| matches!(it, Operation::Replace { objects, .. } if objects.len() == 1);
    assert!(small.operations.iter().any(one_object));
}
