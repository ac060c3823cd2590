//! Selectors against a model that never sees their text.

use std::{collections::BTreeMap, fmt::Write as _};

use bench_core::api::Resource;
use fake_apiserver::{
    config::WindowConfig, list::ListRequest, objects_file, query::Query, selectors::Selectors,
    storage::Storage,
};
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::json;

const KEYS: [&str; 3] = ["app", "in", "example.com/tier"];
const VALUES: [&str; 4] = ["", "a", "b", "notin"];
const NODES: [&str; 3] = ["", "n1", "a,b=c\\"];

#[derive(Debug, Clone)]
enum Requirement {
    Absent(usize),
    Equals(usize, usize, &'static str),
    In(usize, Vec<usize>),
    NotEquals(usize, usize),
    NotIn(usize, Vec<usize>),
    Present(usize),
}

#[derive(Debug, Clone)]
struct Pod {
    labels: BTreeMap<usize, usize>,
    node: usize,
}

#[derive(Debug, Clone, Copy)]
struct NodeTerm {
    node: usize,
    is_equal: bool,
}

fn requirement() -> impl Strategy<Value = Requirement> {
    let key = || 0..KEYS.len();
    let value = || 0..VALUES.len();
    prop_oneof![
        key().prop_map(Requirement::Absent),
        key().prop_map(Requirement::Present),
        (key(), value(), select(vec!["=", "==", " = "]))
            .prop_map(|(key, value, sign)| Requirement::Equals(key, value, sign)),
        (key(), value()).prop_map(|(key, value)| Requirement::NotEquals(key, value)),
        (key(), vec(value(), 1..4)).prop_map(|(key, values)| Requirement::In(key, values)),
        (key(), vec(value(), 1..4)).prop_map(|(key, values)| Requirement::NotIn(key, values)),
    ]
}

fn pod() -> impl Strategy<Value = Pod> {
    let labels = vec((0..KEYS.len(), 0..VALUES.len()), 0..3);
    (labels, 0..NODES.len()).prop_map(|(labels, node)| Pod {
        labels: labels.into_iter().collect(),
        node,
    })
}

fn node_term() -> impl Strategy<Value = NodeTerm> {
    (0..NODES.len(), any::<bool>()).prop_map(|(node, is_equal)| NodeTerm { node, is_equal })
}

impl Requirement {
    fn text(&self) -> String {
        let list = |values: &[usize]| {
            let values: Vec<&str> = values.iter().map(|value| VALUES[*value]).collect();
            values.join(" ,")
        };
        match self {
            Self::Absent(key) => format!("!{}", KEYS[*key]),
            Self::Present(key) => KEYS[*key].to_owned(),
            Self::Equals(key, value, sign) => format!("{}{sign}{}", KEYS[*key], VALUES[*value]),
            Self::NotEquals(key, value) => format!("{}!={}", KEYS[*key], VALUES[*value]),
            Self::In(key, values) => format!("{} in ({})", KEYS[*key], list(values)),
            Self::NotIn(key, values) => format!("{}  notin({})", KEYS[*key], list(values)),
        }
    }

    fn holds(&self, pod: &Pod) -> bool {
        match self {
            Self::Absent(key) => !pod.labels.contains_key(key),
            Self::Present(key) => pod.labels.contains_key(key),
            Self::Equals(key, value, _) => pod.labels.get(key) == Some(value),
            Self::NotEquals(key, value) => pod.labels.get(key) != Some(value),
            Self::In(key, values) => values
                .iter()
                .any(|value| pod.labels.get(key) == Some(value)),
            Self::NotIn(key, values) => values
                .iter()
                .all(|value| pod.labels.get(key) != Some(value)),
        }
    }
}

impl NodeTerm {
    fn text(self) -> String {
        let escaped: String = NODES[self.node]
            .chars()
            .flat_map(|character| {
                let escape = "\\,=".contains(character).then_some('\\');
                escape.into_iter().chain([character])
            })
            .collect();
        format!(
            "spec.nodeName{}{escaped}",
            if self.is_equal { "=" } else { "!=" }
        )
    }

    fn holds(self, pod: &Pod) -> bool {
        (pod.node == self.node) == self.is_equal
    }
}

fn percent_encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        write!(encoded, "%{byte:02X}").unwrap();
    }
    encoded
}

fn store(pods: &[Pod]) -> Storage {
    let mut storage = Storage::new(WindowConfig::fixed(1));
    storage.register(&Resource::pods());
    let objects = pods.iter().enumerate().map(|(index, pod)| {
        let labels: BTreeMap<&str, &str> = pod
            .labels
            .iter()
            .map(|(key, value)| (KEYS[*key], VALUES[*value]))
            .collect();
        json!({
            "kind": "Pod",
            "apiVersion": "v1",
            "metadata": {"name": format!("p{index}"), "namespace": "n", "labels": labels},
            "spec": {"nodeName": NODES[pod.node]},
        })
    });
    for (resource, draft) in objects_file::interpret(objects.collect()).unwrap() {
        let id = storage.register(&resource);
        storage.load(id, &draft).unwrap();
    }
    storage
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_filtered_list_in_pages_holds_what_the_model_lets_through(
        pods in vec(pod(), 0..8),
        requirements in vec(requirement(), 0..4),
        terms in vec(node_term(), 0..3),
        limit in 0_usize..4,
    ) {
        let storage = store(&pods);
        let id = storage.find("", "v1", "pods").unwrap();
        let labels: Vec<String> = requirements.iter().map(Requirement::text).collect();
        let fields: Vec<String> = terms.iter().map(|term| term.text()).collect();
        let query = format!(
            "limit={limit}&labelSelector={}&fieldSelector={}",
            percent_encoded(&labels.join(",")),
            percent_encoded(&fields.join(",")),
        );
        let mut listed = Vec::new();
        let mut token = Some(String::new());
        while let Some(next) = token {
            let query = Query::try_parse(&format!("{query}&continue={next}")).unwrap();
            let selectors = Selectors::try_parse(&query, &Resource::pods()).unwrap();
            let request = ListRequest::try_new(&query).unwrap();
            let snapshot = request.snapshot(&storage, id).unwrap();
            let page = request.page(&snapshot, "n", &selectors);
            prop_assert!(limit == 0 || page.items.len() <= limit);
            prop_assert!(page.continue_token.is_none() || page.items.len() == limit);
            listed.extend(page.items.iter().map(|object| object.revision()));
            token = page.continue_token;
        }
        // The first is loaded at version 2.
        let expected = pods.iter().zip(2_u64..).filter(|(pod, _)| {
            requirements.iter().all(|requirement| requirement.holds(pod))
                && terms.iter().all(|term| term.holds(pod))
        });
        let expected: Vec<u64> = expected.map(|(_, revision)| revision).collect();
        prop_assert_eq!(listed, expected);
    }
}
