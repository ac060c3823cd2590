//! In what client-go's lines of reflectors differ, and the waits and retries of all; cases of `tools/cache/reflector_test.go`.

use std::time::Duration;

use bench_core::{
    api::{ResourceVersion, Status, WatchEvent},
    cache::{BackoffReset, BackoffSettings, ReflectorSettings, StreamingList},
    list_watch::ApiError,
};
use tokio::{sync::mpsc, time::Instant};

use crate::{
    reflector::{Rig, ended, error_event, rig_with, run_to_the_end_of_the_script},
    scripted::{Answer, object, page},
};

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Without the random part of the waits.
fn exact(settings: ReflectorSettings) -> ReflectorSettings {
    ReflectorSettings {
        backoff: BackoffSettings {
            jitter: 0.0,
            ..settings.backoff
        },
        ..settings
    }
}

fn refused() -> Answer {
    Answer::WatchFails(ApiError::ConnectionRefused)
}

fn too_many_requests() -> Status {
    Status::failure(429, "TooManyRequests", "slow down")
}

/// When each request came, in milliseconds.
async fn instants(settings: ReflectorSettings, answers: Vec<Answer>) -> Vec<u128> {
    let rig = rig_with(answers, settings, None);
    let server = rig.server.clone();
    run_to_the_end_of_the_script(rig).await;
    let requests = server.requests_in_full();
    requests.iter().map(|it| it.at.as_millis()).collect()
}

#[tokio::test(start_paused = true)]
async fn in_0_27_refused_watches_do_not_delay_relists_and_from_0_28_they_do() {
    let answers = || {
        vec![
            page(10, vec![]),
            refused(),
            refused(),
            refused(),
            ended(vec![]),
        ]
    };
    let watches = [0, 0, 800, 2_400, 5_600];
    for (settings, relist) in [
        (ReflectorSettings::client_go_0_27(7), 5_600 + 800),
        (ReflectorSettings::client_go_0_28(7), 5_600 + 6_400),
    ] {
        let instants = instants(exact(settings), answers()).await;
        assert_eq!(instants[..5], watches);
        assert_eq!(instants[5], relist);
    }
}

#[tokio::test(start_paused = true)]
async fn in_0_27_failed_lists_do_not_delay_watches_and_from_0_28_they_do() {
    let fails = || {
        Answer::ListFails(ApiError::Status(Box::new(Status::failure(
            403,
            "Forbidden",
            "no",
        ))))
    };
    let answers = || vec![fails(), fails(), page(10, vec![]), refused()];
    for (settings, watch) in [
        (ReflectorSettings::client_go_0_27(7), 2_400 + 800),
        (ReflectorSettings::client_go_0_28(7), 2_400 + 3_200),
    ] {
        let instants = instants(exact(settings), answers()).await;
        assert_eq!(instants, [0, 800, 2_400, 2_400, watch]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stays_down_is_asked_quickly_again_after_two_minutes_only_from_0_36() {
    let answers = || (0..12).map(|_| refused()).collect::<Vec<_>>();
    let gaps = async |settings| {
        let mut script = vec![page(10, vec![])];
        script.extend(answers());
        let instants = instants(exact(settings), script).await;
        let gaps = instants.windows(2).map(|pair| pair[1] - pair[0]);
        gaps.skip(1).collect::<Vec<_>>()
    };
    let rise = [
        800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000, 30_000,
    ];
    let old = gaps(ReflectorSettings::client_go_0_28(7)).await;
    assert_eq!((&old[..9], &old[9..]), (&rise[..], &[30_000; 3][..]));
    let new = gaps(ReflectorSettings {
        streaming_list: StreamingList::Off,
        ..ReflectorSettings::client_go_0_36(7)
    })
    .await;
    assert_eq!(
        (&new[..9], &new[9..]),
        (&rise[..], &[800, 1_600, 3_200][..])
    );
}

/// `TestReflectorListAndWatchInitConnBackoff`: its settings; the bounds are the sums of the delays', since no fake clock is
/// stepped here.
#[tokio::test(start_paused = true)]
async fn watches_that_are_refused_wait_longer_each_time_up_to_the_cap() {
    for (failures, least, most) in [(5, 31, 2 * 31), (40, 63 + 34 * 50, 2 * (63 + 34 * 50))] {
        let mut answers = vec![page(1, vec![])];
        answers.extend((0..failures).map(|_| refused()));
        answers.push(ended(vec![]));
        let settings = ReflectorSettings {
            backoff: BackoffSettings {
                initial: ms(1),
                cap: ms(50),
                factor: 2.0,
                jitter: 1.0,
                reset: BackoffReset::AfterQuiet(ms(100)),
            },
            ..ReflectorSettings::client_go_0_27(7)
        };
        let mut rig = rig_with(answers, settings, None);
        let began = Instant::now();
        rig.reflector.list_and_watch().await.expect("no error");
        let elapsed = u64::try_from(began.elapsed().as_millis()).expect("short");
        // A timer fires at the next whole millisecond.
        let most = most + failures;
        assert!(
            (least..=most).contains(&elapsed),
            "{elapsed} ms for {failures}"
        );
    }
}

/// `TestNewReflectorWithCustomBackoff`.
#[tokio::test(start_paused = true)]
async fn a_backoff_of_ones_own_is_used_for_watches() {
    let mut answers = vec![page(1, vec![])];
    answers.extend((0..5).map(|_| refused()));
    answers.push(ended(vec![]));
    let settings = ReflectorSettings {
        backoff: BackoffSettings {
            initial: ms(10),
            cap: ms(100),
            factor: 2.0,
            jitter: 0.0,
            reset: BackoffReset::Every(Duration::from_mins(2)),
        },
        streaming_list: StreamingList::Off,
        ..ReflectorSettings::client_go_0_36(7)
    };
    let mut rig = rig_with(answers, settings, None);
    let began = Instant::now();
    rig.reflector.list_and_watch().await.expect("no error");
    assert_eq!(began.elapsed(), ms(10 + 20 + 40 + 80 + 100));
}

/// `TestBackoffOnTooManyRequests`.
#[tokio::test(start_paused = true)]
async fn too_many_requests_on_the_call_and_in_the_stream_are_each_waited_for_once() {
    let answers = vec![
        page(1, vec![]),
        Answer::WatchFails(ApiError::Status(Box::new(too_many_requests()))),
        error_event(too_many_requests()),
        ended(vec![]),
    ];
    let settings = exact(ReflectorSettings::client_go_0_27(7));
    let instants = instants(settings, answers).await;
    assert_eq!(instants[..4], [0, 0, 800, 2_400]);
}

/// `TestNoRelistOnTooManyRequests`.
#[tokio::test(start_paused = true)]
async fn too_many_requests_lead_to_no_relist_and_a_wait_named_in_the_body_has_no_effect() {
    let body = r#"{"reason":"TooManyRequests","details":{"retryAfterSeconds":60},"code":429}"#;
    let answer = || {
        let status = serde_json::from_str(body).expect("literal JSON");
        Answer::WatchFails(ApiError::Status(Box::new(status)))
    };
    let mut answers = vec![page(1, vec![])];
    answers.extend((0..4).map(|_| answer()));
    answers.push(ended(vec![]));
    let settings = exact(ReflectorSettings::client_go_0_27(7));
    let mut rig = rig_with(answers, settings, None);
    rig.reflector.list_and_watch().await.expect("no error");
    let requests = rig.server.requests_in_full();
    let lists = requests.iter().filter(|it| it.text.starts_with("LIST"));
    assert_eq!((lists.count(), requests.len()), (1, 6));
    assert_eq!(requests[5].at, ms(800 + 1_600 + 3_200 + 6_400));
}

/// `TestWatchTimeout`.
#[tokio::test(start_paused = true)]
async fn watches_are_asked_to_last_between_the_minimum_and_twice_that_and_never_below_five_minutes()
{
    for (minimum, least) in [(0, 300), (1, 300), (300, 300), (1_800, 1_800)] {
        let mut answers = vec![page(1, vec![])];
        answers.extend((0..200).map(|_| ended(vec![WatchEvent::Added(object("a", 2))])));
        let settings = ReflectorSettings {
            min_watch_timeout: Duration::from_secs(minimum),
            ..ReflectorSettings::client_go_0_27(7)
        };
        let rig = rig_with(answers, settings, None);
        let server = rig.server.clone();
        run_to_the_end_of_the_script(rig).await;
        let requests = server.requests_in_full();
        let timeouts: Vec<_> = requests
            .iter()
            .filter_map(|it| it.timeout_seconds)
            .collect();
        let (shortest, longest) = (timeouts.iter().min(), timeouts.iter().max());
        assert!(shortest.is_some_and(|it| (least..least + least / 20).contains(it)));
        assert!(longest.is_some_and(|it| (2 * least - least / 20..2 * least).contains(it)));
    }
}

/// What the reflector says is the last version after each event of a watch from a list without a version.
async fn versions_after(settings: ReflectorSettings) -> Vec<String> {
    let (feed, stream) = mpsc::unbounded_channel();
    let answers = vec![Answer::Versionless(vec![]), Answer::Fed(stream)];
    let settings = ReflectorSettings {
        streaming_list: StreamingList::Off,
        ..settings
    };
    let Rig { mut reflector, .. } = rig_with(answers, settings, None);
    let version = reflector.last_sync_resource_version();
    let told = async {
        let mut versions = Vec::new();
        for event in [
            WatchEvent::Added(object("a", 9)),
            WatchEvent::Added(object("b", 3)),
            WatchEvent::Modified(object("a", 11)),
            WatchEvent::Added(object("c", 12)),
        ] {
            feed.send(Ok(event)).expect("the reflector listens");
            for _ in 0..4 {
                tokio::task::yield_now().await;
            }
            versions.push(version.borrow().to_string());
        }
        versions
    };
    tokio::select! {
        biased;
        _ = reflector.list_and_watch() => panic!("the watch stays open"),
        versions = told => versions,
    }
}

#[tokio::test(start_paused = true)]
async fn from_0_36_versions_of_additions_that_may_be_in_no_order_are_not_followed() {
    assert_eq!(
        versions_after(ReflectorSettings::client_go_0_35(7)).await,
        ["9", "3", "11", "12"]
    );
    assert_eq!(
        versions_after(ReflectorSettings::client_go_0_36(7)).await,
        ["", "", "11", "12"]
    );
}

/// `TestReflectorResourceVersionUpdate` and `TestReflectorWatchHandler`: the last version is that of the last event.
#[tokio::test(start_paused = true)]
async fn the_last_version_is_that_of_the_last_event_of_any_kind() {
    let bookmark = WatchEvent::Bookmark {
        kind: "Pod".into(),
        resource_version: ResourceVersion::from(30),
        initial_events_end: None,
    };
    let events = [
        WatchEvent::Deleted(object("foo", 54)),
        WatchEvent::Modified(object("bar", 55)),
        WatchEvent::Added(object("baz", 32)),
        bookmark,
    ];
    for settings in [
        ReflectorSettings::client_go_0_27(7),
        ReflectorSettings {
            streaming_list: StreamingList::Off,
            ..ReflectorSettings::client_go_0_36(7)
        },
    ] {
        for (count, version) in [(1, 54), (2, 55), (3, 32), (4, 30)] {
            let answers = vec![page(10, vec![]), ended(events[..count].to_vec())];
            let rig = rig_with(answers, settings.clone(), None);
            let (requests, _) = run_to_the_end_of_the_script(rig).await;
            assert!(requests[2].contains(&format!("resourceVersion={version}&")));
        }
    }
}
