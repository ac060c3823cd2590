use super::*;

fn pod(version: u64) -> Arc<Object> {
    let json = format!(
        r#"{{"metadata":{{"namespace":"t","name":"a","uid":"u","resourceVersion":"{version}"}}}}"#
    );
    Arc::new(Object::decode(json.as_bytes()).unwrap())
}

fn updated(old: u64, new: u64) -> Notification<Object> {
    Notification::Updated {
        old: pod(old),
        new: pod(new),
    }
}

fn recorder() -> Recorder {
    let losses = Losses {
        adds_and_updates: 1.0,
        deletes: 0.0,
    };
    Recorder::new(losses, 1)
}

#[test]
fn a_replayed_event_and_a_relist_are_no_live_events_in_either_informer() {
    for (delta_type, notification, expected) in [
        (DeltaType::Updated, updated(5, 6), Cause::Live),
        (DeltaType::Updated, updated(6, 6), Cause::Replay),
        (DeltaType::Sync, updated(6, 6), Cause::Resync),
        (DeltaType::Replaced, updated(6, 6), Cause::Relist),
        (DeltaType::Replaced, updated(6, 9), Cause::Relist),
    ] {
        let recorder = recorder();
        recorder.delivering(delta_type, &notification);
        assert_eq!(recorder.cause_of_inline_call(), expected);
        assert_eq!(recorder.cause_of_buffered_call(&notification), expected);
    }
}

#[test]
fn a_buffered_call_is_told_by_its_own_version_and_once_only() {
    let recorder = recorder();
    recorder.delivering(DeltaType::Replaced, &updated(6, 9));
    recorder.delivering(DeltaType::Sync, &updated(8, 8));
    assert_eq!(
        recorder.cause_of_buffered_call(&updated(8, 8)),
        Cause::Resync
    );
    assert_eq!(
        recorder.cause_of_buffered_call(&updated(6, 9)),
        Cause::Relist
    );
    assert_eq!(
        recorder.cause_of_buffered_call(&updated(9, 9)),
        Cause::Resync
    );
}

#[test]
fn an_event_that_is_still_under_way_is_not_taken_for_its_replay() {
    let recorder = recorder();
    recorder.delivering(DeltaType::Updated, &updated(5, 6));
    recorder.delivering(DeltaType::Updated, &updated(6, 6));
    assert_eq!(recorder.cause_of_buffered_call(&updated(5, 6)), Cause::Live);
    assert_eq!(
        recorder.cause_of_buffered_call(&updated(6, 6)),
        Cause::Replay
    );
}

#[test]
fn only_live_calls_are_lost() {
    let recorder = recorder();
    let fate = |cause| recorder.loses(&updated(5, 6), cause);
    assert_eq!(fate(Cause::Live), Fate::Lost);
    for cause in [Cause::Initial, Cause::Relist, Cause::Replay, Cause::Resync] {
        assert_eq!(fate(cause), Fate::Handled);
    }
}
