//! A server's storage, written the slow and obvious way: it remembers every state there ever was.

use std::collections::BTreeMap;

/// Key to JSON of one resource at one version.
pub(crate) type ModelObjects = BTreeMap<String, String>;

/// Version, type and JSON of an event.
pub(crate) type ModelEvent = (u64, &'static str, String);

pub(crate) struct Model {
    capacity: usize,
    pub(crate) revision: u64,
    /// One per resource.
    pub(crate) resources: Vec<ModelResource>,
}

pub(crate) struct ModelResource {
    kind: &'static str,
    objects: ModelObjects,
    states: BTreeMap<u64, ModelObjects>,
    events: Vec<ModelEvent>,
    // How many events at the front are lost, and the version of the last load or compaction.
    lost: usize,
    floor: u64,
}

impl Model {
    pub(crate) fn new(kinds: &[&'static str], capacity: usize) -> Self {
        let resource = |kind: &&'static str| ModelResource {
            kind,
            objects: ModelObjects::new(),
            states: BTreeMap::new(),
            events: Vec::new(),
            lost: 0,
            floor: 1,
        };
        let mut model = Self {
            capacity,
            revision: 1,
            resources: kinds.iter().map(resource).collect(),
        };
        model.remember();
        model
    }

    pub(crate) fn create(&mut self, resource: usize, name: &str) -> bool {
        if self.resources[resource].objects.contains_key(name) {
            return false;
        }
        let json = self.resources[resource].json(name, self.revision + 1, None);
        self.resources[resource]
            .objects
            .insert(name.to_owned(), json.clone());
        self.wrote(resource, "ADDED", json);
        true
    }

    pub(crate) fn update(&mut self, resource: usize, name: &str) -> bool {
        if !self.resources[resource].objects.contains_key(name) {
            return false;
        }
        let version = self.revision + 1;
        let json = self.resources[resource].json(name, version, Some(version));
        self.resources[resource]
            .objects
            .insert(name.to_owned(), json.clone());
        self.wrote(resource, "MODIFIED", json);
        true
    }

    pub(crate) fn delete(&mut self, resource: usize, name: &str) -> bool {
        let Some(last) = self.resources[resource].objects.remove(name) else {
            return false;
        };
        let marker = last.split_once(r#""informer-bench/write":""#);
        let marker = marker.map(|(_, rest)| rest.split_once('"').unwrap().0.parse().unwrap());
        let json = self.resources[resource].json(name, self.revision + 1, marker);
        self.wrote(resource, "DELETED", json);
        true
    }

    pub(crate) fn compact(&mut self) {
        for resource in &mut self.resources {
            resource.lost = resource.events.len();
            resource.floor = self.revision;
        }
    }

    fn wrote(&mut self, resource: usize, event_type: &'static str, json: String) {
        self.revision += 1;
        let written = &mut self.resources[resource];
        written.events.push((self.revision, event_type, json));
        if written.events.len() - written.lost > self.capacity {
            written.lost += 1;
            written.floor = written.events[written.lost].0 - 1;
        }
        self.remember();
    }

    fn remember(&mut self) {
        for resource in &mut self.resources {
            resource
                .states
                .insert(self.revision, resource.objects.clone());
        }
    }
}

impl ModelResource {
    /// The oldest version from which a watch can start.
    pub(crate) fn oldest(&self) -> u64 {
        self.floor
    }

    pub(crate) fn at(&self, version: u64) -> &ModelObjects {
        &self.states[&version]
    }

    pub(crate) fn events_after(&self, version: u64) -> Vec<ModelEvent> {
        self.events
            .iter()
            .filter(|event| event.0 > version)
            .cloned()
            .collect()
    }

    fn json(&self, name: &str, version: u64, marker: Option<u64>) -> String {
        let kind = self.kind;
        let annotations = marker.map_or_else(String::new, |marker| {
            format!(r#","annotations":{{"informer-bench/write":"{marker}"}}"#)
        });
        format!(
            r#"{{"kind":"{kind}","apiVersion":"v1","metadata":{{"name":"{name}","namespace":"n","uid":"u","resourceVersion":"{version}","creationTimestamp":"t"{annotations}}}}}"#
        )
    }
}
