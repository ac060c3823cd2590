//! Storage and window against the model, over random sequences of writes and compactions.

use std::{collections::BTreeMap, time::Duration};

use bench_core::api::{ObjectKey, ResourceVersion, WatchOptions};
use fake_apiserver::{
    config::WindowConfig,
    list::ListRequest,
    objects_file,
    query::Query,
    selectors::Selectors,
    storage::{ResourceId, Storage},
    stored_object::ObjectDraft,
    watch::WatchRequest,
};
use proptest::{collection::vec, prelude::*};
use serde_json::json;

use crate::model::{Model, ModelEvent, ModelObjects};

const KINDS: [&str; 2] = ["Pod", "ConfigMap"];
const NAMES: [&str; 3] = ["a", "b", "c"];

#[derive(Debug, Clone, Copy)]
enum Op {
    Compact,
    Create { resource: usize, name: usize },
    Delete { resource: usize, name: usize },
    Update { resource: usize, name: usize },
}

fn op() -> impl Strategy<Value = Op> {
    // Mostly pods, so that their window overflows.
    let resource = || prop_oneof![3 => Just(0_usize), 1 => Just(1_usize)];
    prop_oneof![
        1 => Just(Op::Compact),
        6 => (resource(), 0..NAMES.len()).prop_map(|(resource, name)| Op::Create { resource, name }),
        3 => (resource(), 0..NAMES.len()).prop_map(|(resource, name)| Op::Delete { resource, name }),
        6 => (resource(), 0..NAMES.len()).prop_map(|(resource, name)| Op::Update { resource, name }),
    ]
}

/// A storage with both resources.
struct Subject {
    storage: Storage,
    ids: [ResourceId; 2],
    drafts: [Vec<ObjectDraft>; 2],
}

impl Subject {
    fn new(capacity: usize) -> Self {
        let mut storage = Storage::new(WindowConfig::fixed(capacity));
        let mut register = |kind: &str| {
            let items = NAMES.map(|name| {
                json!({
                    "kind": kind,
                    "apiVersion": "v1",
                    "metadata": {"name": name, "namespace": "n", "uid": "u", "creationTimestamp": "t"},
                })
            });
            let read = objects_file::interpret(items.to_vec()).unwrap();
            let id = storage.register(&read[0].0);
            (
                id,
                read.into_iter().map(|(_, draft)| draft).collect::<Vec<_>>(),
            )
        };
        let (pods, pod_drafts) = register(KINDS[0]);
        let (config_maps, config_map_drafts) = register(KINDS[1]);
        Self {
            storage,
            ids: [pods, config_maps],
            drafts: [pod_drafts, config_map_drafts],
        }
    }

    /// Whether it was done.
    fn apply(&mut self, op: Op) -> bool {
        let now = Duration::ZERO;
        let key = |name: usize| ObjectKey::new("n", NAMES[name]);
        match op {
            Op::Compact => {
                self.storage.compact();
                true
            }
            Op::Create { resource, name } => self
                .storage
                .create(self.ids[resource], &self.drafts[resource][name], now)
                .is_ok(),
            Op::Delete { resource, name } => self
                .storage
                .delete(self.ids[resource], &key(name), now)
                .is_ok(),
            Op::Update { resource, name } => self
                .storage
                .update(self.ids[resource], &key(name), now)
                .is_ok(),
        }
    }

    fn list(&self, resource: usize, query: &str) -> Result<(u64, ModelObjects), u16> {
        let request = ListRequest::try_new(&Query::try_parse(query).unwrap()).unwrap();
        let snapshot = request.snapshot(&self.storage, self.ids[resource]);
        let snapshot = snapshot.map_err(|failure| failure.status.code)?;
        let page = request.page(&snapshot, "n", &Selectors::default());
        let objects = page.items.iter().map(|object| {
            let json = String::from_utf8(object.json().to_vec()).unwrap();
            (name_in(&json), json)
        });
        Ok((page.revision, objects.collect()))
    }

    fn watch_from(&self, resource: usize, version: u64) -> Result<Vec<ModelEvent>, u64> {
        let cache = self.storage.store(self.ids[resource]).cache();
        let cursor = cache
            .start_after(version)
            .map_err(|too_old| too_old.oldest)?;
        let events = cache.events_from(cursor).unwrap();
        Ok(events
            .map(|event| {
                let frame = String::from_utf8(event.object.frame().to_vec()).unwrap();
                let line = frame
                    .strip_suffix("}\n")
                    .unwrap()
                    .strip_prefix(r#"{"type":""#)
                    .unwrap();
                let (event_type, json) = line.split_once(r#"","object":"#).unwrap();
                let event_type = ["ADDED", "MODIFIED", "DELETED"]
                    .into_iter()
                    .find(|known| *known == event_type);
                (
                    event.object.revision(),
                    event_type.unwrap(),
                    json.to_owned(),
                )
            })
            .collect())
    }
}

fn name_in(json: &str) -> String {
    let (_, rest) = json.split_once(r#""name":""#).unwrap();
    rest.split_once('"').unwrap().0.to_owned()
}

fn apply_to_model(model: &mut Model, op: Op) -> bool {
    match op {
        Op::Compact => {
            model.compact();
            true
        }
        Op::Create { resource, name } => model.create(resource, NAMES[name]),
        Op::Delete { resource, name } => model.delete(resource, NAMES[name]),
        Op::Update { resource, name } => model.update(resource, NAMES[name]),
    }
}

fn compare(subject: &Subject, model: &Model) {
    let current = model.revision;
    assert_eq!(subject.storage.revision(), current);
    for (resource, expected) in model.resources.iter().enumerate() {
        let oldest = expected.oldest();
        for version in [oldest - 1, oldest, oldest.midpoint(current), current] {
            // "0" means any version, and is refused as an exact one.
            let exact_version = version.max(1);
            let exact = subject.list(
                resource,
                &format!("resourceVersion={exact_version}&resourceVersionMatch=Exact"),
            );
            let watched = subject.watch_from(resource, version);
            if version < oldest {
                assert_eq!(watched, Err(oldest), "watch from {version}");
                if version == exact_version {
                    assert_eq!(exact, Err(410), "list at {version}");
                }
            } else {
                assert_eq!(
                    exact,
                    Ok((version, expected.at(version).clone())),
                    "list at {version}"
                );
                assert_eq!(
                    watched,
                    Ok(expected.events_after(version)),
                    "watch from {version}"
                );
            }
        }
        assert_eq!(
            subject.list(resource, ""),
            Ok((current, expected.at(current).clone()))
        );
        let future = subject.list(resource, &format!("resourceVersion={}", current + 1));
        assert_eq!(future, Err(504));
    }
}

/// A client that lists in pages of one, watches from the list's version, and reads now and then.
struct ListingClient {
    objects: BTreeMap<String, String>,
    token: Option<String>,
    version: Option<u64>,
}

impl ListingClient {
    fn step(&mut self, subject: &Subject) {
        let id = subject.ids[0];
        if let Some(version) = self.version {
            for (version, event_type, json) in subject
                .watch_from(0, version)
                .expect("the window is large enough")
            {
                match event_type {
                    "DELETED" => self.objects.remove(&name_in(&json)),
                    _ => self.objects.insert(name_in(&json), json),
                };
                self.version = Some(version);
            }
            return;
        }
        let query = match &self.token {
            None => "limit=1".to_owned(),
            Some(token) => format!("limit=1&continue={token}"),
        };
        let request = ListRequest::try_new(&Query::try_parse(&query).unwrap()).unwrap();
        let snapshot = request.snapshot(&subject.storage, id).unwrap();
        let page = request.page(&snapshot, "", &Selectors::default());
        for object in &page.items {
            let json = String::from_utf8(object.json().to_vec()).unwrap();
            self.objects.insert(name_in(&json), json);
        }
        self.token = page.continue_token;
        if self.token.is_none() {
            self.version = Some(page.revision);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn every_list_and_watch_is_what_a_model_that_forgets_nothing_says(
        capacity in 1_usize..5,
        ops in vec(op(), 1..16),
    ) {
        let mut subject = Subject::new(capacity);
        let mut model = Model::new(&KINDS, capacity);
        compare(&subject, &model);
        for op in ops {
            prop_assert_eq!(subject.apply(op), apply_to_model(&mut model, op));
            compare(&subject, &model);
        }
    }

    #[test]
    fn any_interleaving_of_writes_with_list_and_watch_ends_with_equal_states(
        steps in vec(prop_oneof![3 => op().prop_map(Some), 2 => Just(None)], 1..20),
    ) {
        let mut subject = Subject::new(100);
        let mut client = ListingClient { objects: BTreeMap::new(), token: None, version: None };
        for step in steps {
            match step {
                Some(Op::Compact) => {}
                Some(op) => {
                    subject.apply(op);
                }
                None => client.step(&subject),
            }
        }
        // At most one step for each page, then one for the watch.
        for _ in 0..=NAMES.len() + 1 {
            client.step(&subject);
        }
        let server = subject.list(0, "").unwrap().1;
        prop_assert_eq!(client.objects, server);
    }
}

#[test]
fn a_window_grows_while_its_events_are_young_and_shrinks_when_they_are_old() {
    let config = WindowConfig {
        capacity_min: 2,
        capacity_max: 8,
        keep: Duration::from_secs(75),
    };
    let mut storage = Storage::new(config);
    let object =
        json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a", "namespace": "n"}});
    let (resource, draft) = objects_file::interpret(vec![object]).unwrap().remove(0);
    let id = storage.register(&resource);
    storage.load(id, &draft).unwrap();
    let mut capacities = Vec::new();
    let mut write = |seconds: u64| {
        storage
            .update(id, draft.key(), Duration::from_secs(seconds))
            .unwrap();
        capacities.push(storage.store(id).cache().capacity());
    };
    for seconds in [0, 0, 0, 0, 0, 0, 0, 0, 0] {
        write(seconds);
    }
    for seconds in [75, 76, 152, 152] {
        write(seconds);
    }
    assert_eq!(capacities, [2, 2, 4, 4, 8, 8, 8, 8, 8, 8, 4, 2, 2]);
}

#[test]
fn what_our_own_client_asks_for_is_understood() {
    let options = WatchOptions {
        resource_version: ResourceVersion::from(7),
        resource_version_match: None,
        allow_watch_bookmarks: true,
        send_initial_events: None,
        timeout_seconds: Some(300),
    };
    let query = Query::try_parse(&options.query()).unwrap();
    assert!(query.is_watch());
    let request = WatchRequest::try_new(&query).unwrap();
    assert_eq!(request.timeout, Some(Duration::from_mins(5)));
    assert_eq!(request.needs_revision(), 0);
}
