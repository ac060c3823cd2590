//! A watch's view of a random history against a model of the list.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bench_core::api::Resource;
use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};

use super::*;
use crate::{
    config::WindowConfig,
    query::Query,
    stored_object::ObjectDraft,
    watch_cache::{Objects, WatchCache},
};

const NAMESPACES: [&str; 2] = ["n", "n-2"];
const NAMES: [&str; 2] = ["a", "b"];

/// Which object, and its label and node; none for a removal.
type Write = (usize, usize, Option<(bool, bool)>);

fn draft(key: &ObjectKey, (is_web, is_bound): (bool, bool), content: u64) -> ObjectDraft {
    let object = json!({
        "metadata": {
            "name": key.name(),
            "namespace": key.namespace(),
            "labels": {"app": if is_web { "web" } else { "db" }},
        },
        "spec": {"nodeName": if is_bound { "n1" } else { "" }, "content": content},
    });
    ObjectDraft::write(&Resource::pods(), object)
}

/// A storage of one resource, as plain as can be.
struct Subject {
    objects: Objects,
    cache: WatchCache,
    revision: u64,
}

impl Subject {
    /// Whether there was something to write.
    fn apply(&mut self, (namespace, name, write): Write) -> bool {
        let key = ObjectKey::new(NAMESPACES[namespace], NAMES[name]);
        let previous = self.objects.get(&key).cloned();
        let revision = self.revision + 1;
        let object = match (write, &previous) {
            (None, None) => return false,
            (None, Some(previous)) => previous.at_revision(EventKind::Deleted, revision),
            (Some(traits), previous) => {
                let kind = match previous {
                    Some(_) => EventKind::Modified,
                    None => EventKind::Added,
                };
                let draft = draft(&key, traits, revision);
                StoredObject::from_draft(&draft, kind, revision)
            }
        };
        let object = Arc::new(object);
        self.revision = revision;
        match write {
            None => self.objects.remove(&key),
            Some(_) => self.objects.insert(key.clone(), Arc::clone(&object)),
        };
        self.cache.record(key, object, previous, Duration::ZERO);
        true
    }
}

fn view(namespace: &str, query: &str) -> WatchView {
    let query = Query::try_parse(query).unwrap();
    let selectors = Selectors::try_parse(&query, &Resource::pods()).unwrap();
    WatchView::new(namespace.to_owned(), selectors, Representation::Stored)
}

fn without_version(mut object: Value) -> Value {
    object["metadata"]["resourceVersion"] = Value::Null;
    object
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_replayed_state_of_a_filtered_watch_is_the_filtered_list_at_every_version(
        writes in vec((0..2_usize, 0..2_usize, any::<Option<(bool, bool)>>()), 1..20),
    ) {
        let mut views = [
            (view("", "labelSelector=app%3Dweb"), (false, true, false)),
            (view("n", "labelSelector=app%3Dweb"), (true, true, false)),
            (view("", "fieldSelector=spec.nodeName%3Dn1"), (false, false, true)),
            (view("n", "labelSelector=app!%3Ddb&fieldSelector=spec.nodeName%3Dn1"), (true, true, true)),
        ];
        let mut subject = Subject {
            objects: Objects::new(),
            cache: WatchCache::new(WindowConfig::fixed(100), 1),
            revision: 1,
        };
        // The model: which objects there are, and of what kind.
        let mut model: BTreeMap<(usize, usize), (bool, bool)> = BTreeMap::new();
        let mut replayed: [BTreeMap<String, Value>; 4] = Default::default();
        for write in writes {
            if !subject.apply(write) {
                continue;
            }
            match write {
                (namespace, name, Some(content)) => model.insert((namespace, name), content),
                (namespace, name, None) => model.remove(&(namespace, name)),
            };
            let event = subject.cache.events_from(subject.cache.head() - 1).unwrap().next().unwrap();
            for ((view, (is_narrow, of_web, of_bound)), state) in views.iter_mut().zip(&mut replayed) {
                let mut frame = Vec::new();
                view.write_event(event, &mut frame);
                for line in frame.split(|byte: &u8| *byte == b'\n').filter(|line| !line.is_empty()) {
                    let seen: Value = serde_json::from_slice(line).unwrap();
                    let object = seen["object"].clone();
                    prop_assert_eq!(
                        object["metadata"]["resourceVersion"].as_str().unwrap(),
                        subject.revision.to_string()
                    );
                    let key = event.key.as_str().to_owned();
                    match seen["type"].as_str().unwrap() {
                        "ADDED" => prop_assert!(state.insert(key, object).is_none()),
                        "MODIFIED" => prop_assert!(state.insert(key, object).is_some()),
                        "DELETED" => prop_assert_eq!(
                            without_version(object),
                            without_version(state.remove(&key).unwrap())
                        ),
                        other => prop_assert!(false, "{}", other),
                    }
                }
                let expected: Vec<String> = model
                    .iter()
                    .filter(|((namespace, _), _)| !*is_narrow || *namespace == 0)
                    .filter(|(_, (is_web, is_bound))| (!*of_web || *is_web) && (!*of_bound || *is_bound))
                    .map(|((namespace, name), _)| format!("{}/{}", NAMESPACES[*namespace], NAMES[*name]))
                    .collect();
                let mut expected_keys = expected;
                expected_keys.sort();
                prop_assert_eq!(state.keys().cloned().collect::<Vec<_>>(), expected_keys);
                for (key, object) in state.iter() {
                    let stored = subject.objects.get(key.as_str()).unwrap();
                    prop_assert_eq!(object, &stored.value());
                }
            }
        }
    }
}

#[test]
fn an_object_that_stops_to_match_is_deleted_as_it_last_matched_at_the_version_of_the_change() {
    let mut subject = Subject {
        objects: Objects::new(),
        cache: WatchCache::new(WindowConfig::fixed(100), 1),
        revision: 1,
    };
    let mut view = view("", "labelSelector=app%3Dweb");
    for write in [Some((true, false)), Some((false, true)), Some((true, true))] {
        subject.apply((0, 0, write));
    }
    let mut frames = Vec::new();
    for event in subject.cache.events_from(0).unwrap() {
        view.write_event(event, &mut frames);
    }
    assert_eq!(
        std::str::from_utf8(&frames).unwrap(),
        concat!(
            r#"{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"n","labels":{"app":"web"},"resourceVersion":"2"},"spec":{"nodeName":"","content":2}}}"#,
            "\n",
            r#"{"type":"DELETED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"n","labels":{"app":"web"},"resourceVersion":"3"},"spec":{"nodeName":"","content":2}}}"#,
            "\n",
            r#"{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"n","labels":{"app":"web"},"resourceVersion":"4"},"spec":{"nodeName":"n1","content":4}}}"#,
            "\n",
        )
    );
}
