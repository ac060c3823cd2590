//! What a reflector's lists ask for; cases of client-go's `tools/cache/reflector_test.go` and `tools/pager/pager_test.go`.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use bench_core::{
    api::{
        KubeObject, ListOptions, ListPage, Object, ResourceVersion, ResourceVersionMatch, Status,
        StatusReason, WatchEvent,
    },
    cache::{ReflectorError, ReflectorSettings},
    list_watch::{ApiError, PageList, PagedList, Pager, Paging},
};

use crate::{
    reflector::{Rig, drain, ended, rig_with},
    scripted::{Answer, expired, object, page},
};

/// Runs one cycle for each list that the answers hold; the watches between end at once and so lead to the next list.
async fn run_cycles(answers: Vec<Answer>, page_size: u64, cycles: usize) -> (Vec<String>, usize) {
    let settings = ReflectorSettings {
        page_size,
        ..ReflectorSettings::client_go(7)
    };
    let Rig {
        server,
        queue,
        mut reflector,
    } = rig_with(answers, settings, None);
    for _ in 0..cycles {
        reflector
            .list_and_watch()
            .await
            .expect("no cycle of these fails");
    }
    let lists = server.requests();
    let lists = lists.into_iter().filter(|it| it.starts_with("LIST"));
    let replaced = drain(&queue)
        .iter()
        .filter(|pop| pop.starts_with('R'))
        .count();
    (lists.collect(), replaced)
}

fn objects(names: std::ops::Range<u64>) -> Vec<Arc<Object>> {
    names.map(|name| object(&format!("o{name}"), 1)).collect()
}

fn paged(version: u64, names: std::ops::Range<u64>, continue_token: &'static str) -> Answer {
    Answer::Page {
        version,
        items: objects(names),
        continue_token,
    }
}

fn fails(status: Status) -> Answer {
    Answer::ListFails(ApiError::Status(Box::new(status)))
}

/// A watch that ends at once, so that a list follows.
fn short() -> Answer {
    ended(vec![])
}

/// `TestReflectorWatchListPageSize`.
#[tokio::test(start_paused = true)]
async fn a_page_size_that_was_asked_for_is_sent_with_every_list() {
    let answers = vec![
        page(10, vec![]),
        short(),
        paged(10, 0..4, "C1"),
        paged(10, 4..8, "C2"),
        paged(10, 8..10, ""),
        short(),
    ];
    let (lists, replaced) = run_cycles(answers, 4, 2).await;
    let expected = [
        "LIST limit=4&resourceVersion=0",
        "LIST limit=4&resourceVersion=10",
        "LIST continue=C1&limit=4",
        "LIST continue=C2&limit=4",
    ];
    assert_eq!(
        (lists.as_slice(), replaced),
        (&expected.map(String::from)[..], 10)
    );
}

/// `TestReflectorNotPaginatingNotConsistentReads`.
#[tokio::test(start_paused = true)]
async fn a_relist_at_a_version_has_no_limit_so_that_the_servers_cache_may_answer() {
    let answers = vec![page(10, vec![]), short(), page(10, objects(0..10)), short()];
    let (lists, replaced) = run_cycles(answers, 0, 2).await;
    assert_eq!(lists[1], "LIST resourceVersion=10");
    assert_eq!(replaced, 10);
}

/// `TestReflectorPaginatingNonConsistentReadsIfWatchCacheDisabled`.
#[tokio::test(start_paused = true)]
async fn once_a_list_at_zero_came_in_pages_every_relist_asks_for_pages() {
    let answers = vec![
        paged(10, 0..4, "C1"),
        paged(10, 4..10, ""),
        short(),
        page(10, objects(0..10)),
        short(),
        page(10, objects(0..10)),
        short(),
    ];
    let (lists, _) = run_cycles(answers, 0, 3).await;
    let expected = [
        "LIST limit=500&resourceVersion=0",
        "LIST continue=C1&limit=500",
        "LIST limit=500&resourceVersion=10",
        "LIST limit=500&resourceVersion=10",
    ];
    assert_eq!(lists, expected);
}

#[tokio::test(start_paused = true)]
async fn pages_of_a_list_without_version_do_not_make_later_lists_ask_for_pages() {
    let answers = vec![
        page(10, vec![]),
        short(),
        fails(expired()),
        paged(20, 0..4, "C1"),
        paged(20, 4..10, ""),
        short(),
        page(30, objects(0..10)),
        short(),
    ];
    let (lists, _) = run_cycles(answers, 0, 3).await;
    // The page size of the failed list is kept for the one without a version: it asks for no pages, and gets them.
    assert_eq!(
        lists[2..],
        ["LIST ", "LIST continue=C1", "LIST resourceVersion=20"]
    );
}

/// `TestReflectorResyncWithResourceVersion`.
#[tokio::test(start_paused = true)]
async fn a_relist_asks_for_no_less_than_the_last_version() {
    let answers = vec![
        page(10, objects(0..4)),
        short(),
        page(10, objects(0..8)),
        short(),
    ];
    let (lists, _) = run_cycles(answers, 0, 2).await;
    assert_eq!(
        lists,
        [
            "LIST limit=500&resourceVersion=0",
            "LIST resourceVersion=10"
        ]
    );
}

/// `TestReflectorExpiredExactResourceVersion`.
#[tokio::test(start_paused = true)]
async fn a_relist_that_is_expired_is_made_once_more_without_a_version() {
    let answers = vec![
        page(10, objects(0..4)),
        short(),
        fails(expired()),
        page(11, objects(0..8)),
        short(),
        page(12, objects(0..8)),
        short(),
    ];
    let (lists, _) = run_cycles(answers, 0, 3).await;
    let expected = [
        "LIST limit=500&resourceVersion=0",
        "LIST resourceVersion=10",
        "LIST ",
        "LIST resourceVersion=11",
    ];
    assert_eq!(lists, expected);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_fails_twice_is_an_error_and_the_next_one_asks_without_a_version() {
    let answers = vec![
        page(10, vec![]),
        short(),
        fails(expired()),
        fails(expired()),
        page(20, vec![]),
        short(),
    ];
    let mut rig = rig_with(answers, ReflectorSettings::client_go(7), None);
    rig.reflector.list_and_watch().await.expect("the first");
    let error = rig.reflector.list_and_watch().await.expect_err("twice");
    assert_eq!(error.reason(), Some(StatusReason::Expired));
    rig.reflector.list_and_watch().await.expect("the third");
    // Without a version the limit is the default one.
    assert_eq!(rig.server.requests()[4], "LIST limit=500");
}

/// `TestReflectorFullListIfExpired`.
#[tokio::test(start_paused = true)]
async fn an_expired_token_leads_to_a_full_list_at_the_version_that_was_asked_for() {
    let answers = vec![
        page(10, objects(0..4)),
        short(),
        paged(10, 0..4, "C1"),
        fails(expired()),
        page(10, objects(0..8)),
        short(),
    ];
    let (lists, replaced) = run_cycles(answers, 4, 2).await;
    let expected = [
        "LIST limit=4&resourceVersion=0",
        "LIST limit=4&resourceVersion=10",
        "LIST continue=C1&limit=4",
        "LIST resourceVersion=10",
    ];
    assert_eq!(lists, expected);
    assert_eq!(replaced, 8);
}

/// `TestReflectorFullListIfTooLarge`.
#[tokio::test(start_paused = true)]
async fn a_relist_from_the_future_in_any_encoding_is_made_once_more_without_a_version() {
    let too_large = |causes: &str, message: &str| {
        let json = format!(
            r#"{{"reason":"Timeout","message":"Timeout: {message}","details":{{"causes":[{causes}],"retryAfterSeconds":1}},"code":504}}"#
        );
        fails(serde_json::from_str(&json).expect("literal JSON"))
    };
    let answers = vec![
        page(20, vec![]),
        short(),
        too_large(
            r#"{"reason":"ResourceVersionTooLarge"}"#,
            "too large resource version",
        ),
        page(30, vec![]),
        short(),
        too_large(
            r#"{"message":"Too large resource version"}"#,
            "too large resource version",
        ),
        page(40, vec![]),
        short(),
        too_large("", "Too large resource version"),
        page(50, vec![]),
        short(),
    ];
    let (lists, _) = run_cycles(answers, 0, 4).await;
    let expected = [
        "LIST limit=500&resourceVersion=0",
        "LIST resourceVersion=20",
        "LIST ",
        "LIST resourceVersion=30",
        "LIST ",
        "LIST resourceVersion=40",
        "LIST ",
    ];
    assert_eq!(lists, expected);
}

#[tokio::test(start_paused = true)]
async fn a_list_without_a_version_leaves_the_next_one_at_zero() {
    let answers = vec![
        Answer::Versionless(vec![]),
        short(),
        page(10, vec![]),
        short(),
    ];
    let (lists, _) = run_cycles(answers, 0, 2).await;
    assert_eq!(lists, ["LIST limit=500&resourceVersion=0"; 2]);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_the_queue_refuses_is_an_error_and_no_watch_is_opened() {
    let nameless = Object::decode(br#"{"metadata":{"resourceVersion":"3"}}"#).expect("JSON");
    let answers = vec![page(10, vec![Arc::new(nameless)])];
    let mut rig = rig_with(answers, ReflectorSettings::client_go(7), None);
    let error = rig.reflector.list_and_watch().await.expect_err("refused");
    assert!(matches!(error, ReflectorError::Replace(_)), "{error}");
    assert_eq!(rig.server.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_event_that_is_not_of_the_expected_kind_neither_counts_nor_moves_the_version() {
    let pod = object("a", 12);
    let json = std::str::from_utf8(pod.json()).expect("JSON");
    let service = Object::decode(json.replace("Pod", "Service").as_bytes()).expect("JSON");
    let nameless = Object::decode(br#"{"kind":"Pod","metadata":{"resourceVersion":"13"}}"#);
    let events = vec![
        WatchEvent::Added(Arc::new(service)),
        WatchEvent::Added(Arc::new(nameless.expect("JSON"))),
        WatchEvent::Bookmark {
            kind: "Service".into(),
            resource_version: ResourceVersion::from(14),
            initial_events_end: None,
        },
    ];
    let settings = ReflectorSettings {
        expected_kind: Some("Pod".to_owned()),
        ..ReflectorSettings::client_go(7)
    };
    let answers = vec![page(10, vec![]), ended(events)];
    let mut rig = rig_with(answers, settings, None);
    rig.reflector
        .list_and_watch()
        .await
        .expect("a very short watch");
    assert_eq!(drain(&rig.queue), ["D †known:1"]);
    assert_eq!(
        *rig.reflector.last_sync_resource_version().borrow(),
        ResourceVersion::from(10)
    );
}

/// Pages of numbered objects from a script, for the pager alone.
#[derive(Default)]
struct Pages {
    answers: Mutex<VecDeque<Result<ListPage<Object>, ApiError>>>,
    asked: Mutex<Vec<String>>,
}

impl PageList<Object> for Pages {
    async fn page(&self, options: &ListOptions) -> Result<ListPage<Object>, ApiError> {
        self.asked
            .lock()
            .expect("not poisoned")
            .push(options.query());
        let answer = self.answers.lock().expect("not poisoned").pop_front();
        answer.expect("the script holds an answer")
    }
}

/// A server of so many objects, in pages of ten.
fn pages_of(count: u64) -> Pages {
    let starts = (0..count.max(1)).step_by(10);
    let answers = starts.map(|start| {
        let end = (start + 10).min(count);
        Ok(ListPage {
            resource_version: ResourceVersion::from(5),
            continue_token: if end < count {
                format!("T{end}")
            } else {
                String::new()
            },
            items: objects(start..end),
        })
    });
    Pages {
        answers: Mutex::new(answers.collect()),
        ..Pages::default()
    }
}

async fn list(pages: &Pages, options: &ListOptions) -> Result<PagedList<Object>, ApiError> {
    Pager { page_size: 10 }.list(pages, options).await
}

/// `TestListPager_List`: the counts.
#[tokio::test]
async fn a_list_is_paginated_if_a_second_page_was_asked_for() {
    for (count, paging) in [
        (0, Paging::Whole),
        (9, Paging::Whole),
        (10, Paging::Whole),
        (11, Paging::Paginated),
        (21, Paging::Paginated),
    ] {
        let listed = list(&pages_of(count), &ListOptions::most_recent()).await;
        let listed = listed.expect("no page fails");
        assert_eq!((listed.items.len() as u64, listed.paging), (count, paging));
    }
}

/// `TestListPager_List`: the fallback.
#[tokio::test]
async fn only_the_reason_expired_on_a_later_page_leads_to_a_full_list() {
    let gone = Status {
        reason: "Gone".to_owned(),
        ..expired()
    };
    let full = || ListPage {
        resource_version: ResourceVersion::from(6),
        continue_token: String::new(),
        items: objects(0..21),
    };
    let script = |first: Option<u64>, status: Status| {
        let pages = pages_of(first.unwrap_or(0));
        let mut answers = pages.answers.into_inner().expect("not poisoned");
        answers.truncate(usize::from(first.is_some()));
        answers.push_back(Err(ApiError::Status(Box::new(status))));
        answers.push_back(Ok(full()));
        Pages {
            answers: Mutex::new(answers),
            ..Pages::default()
        }
    };
    let options = ListOptions::most_recent();
    let listed = list(&script(Some(21), expired()), &options).await;
    let listed = listed.expect("the full list");
    assert_eq!(
        (listed.items.len(), listed.paging, listed.resource_version),
        (21, Paging::Paginated, ResourceVersion::from(6))
    );
    list(&script(Some(21), gone), &options)
        .await
        .expect_err("another reason");
    list(&script(None, expired()), &options)
        .await
        .expect_err("the first page");
}

/// `TestListPager_List`: version and match.
#[tokio::test]
async fn follow_up_pages_carry_neither_version_nor_match() {
    let pages = pages_of(21);
    let options = ListOptions {
        resource_version: ResourceVersion::from(3),
        resource_version_match: Some(ResourceVersionMatch::NotOlderThan),
        ..ListOptions::most_recent()
    };
    list(&pages, &options).await.expect("no page fails");
    assert_eq!(
        *pages.asked.lock().unwrap(),
        [
            "limit=10&resourceVersion=3&resourceVersionMatch=NotOlderThan",
            "continue=T10&limit=10",
            "continue=T20&limit=10"
        ]
    );
}
