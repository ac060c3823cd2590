//! Any sequence of writes, one after the other, against a store written the slow and obvious way.

use std::collections::BTreeMap;

use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};

use crate::{
    client::Watch,
    writer::{CONFIG_MAPS, MERGE, Writer},
};

const NAMES: [&str; 3] = ["a", "b", "c"];
const FINALIZER: &str = "example.com/hold";

/// The version that a PUT claims to replace.
#[derive(Debug, Clone, Copy)]
enum Base {
    Nothing,
    Present,
    Stale,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hold {
    Absent,
    Present,
}

#[derive(Debug, Clone, Copy)]
enum Op {
    Create { name: usize, value: u8, hold: Hold },
    Delete { name: usize },
    Patch { name: usize, value: u8 },
    Put { name: usize, value: u8, base: Base },
    SetHold { name: usize, hold: Hold },
}

fn op() -> impl Strategy<Value = Op> {
    // Few names and values, so that operations meet what others have left and sometimes change nothing.
    let name = || 0..NAMES.len();
    let value = || 0..3_u8;
    let hold = || prop_oneof![Just(Hold::Absent), Just(Hold::Present)];
    let base = prop_oneof![Just(Base::Nothing), Just(Base::Present), Just(Base::Stale)];
    prop_oneof![
        3 => (name(), value(), hold()).prop_map(|(name, value, hold)| Op::Create { name, value, hold }),
        2 => name().prop_map(|name| Op::Delete { name }),
        2 => (name(), value()).prop_map(|(name, value)| Op::Patch { name, value }),
        2 => (name(), value(), base).prop_map(|(name, value, base)| Op::Put { name, value, base }),
        2 => (name(), hold()).prop_map(|(name, hold)| Op::SetHold { name, hold }),
    ]
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct ModelObject {
    revision: u64,
    value: u8,
    hold: Hold,
    is_terminating: bool,
}

#[derive(Debug, Default)]
struct Model {
    revision: u64,
    objects: BTreeMap<&'static str, ModelObject>,
    events: Vec<String>,
}

impl Model {
    /// Does what the operation does and says with which code it is answered.
    fn apply(&mut self, op: Op) -> u16 {
        match op {
            Op::Create { name, value, hold } => {
                let name = NAMES[name];
                if self.objects.contains_key(name) {
                    return 409;
                }
                let object = ModelObject {
                    revision: 0,
                    value,
                    hold,
                    is_terminating: false,
                };
                self.store("ADDED", name, object);
                201
            }
            Op::Delete { name } => self.change(NAMES[name], |object| {
                if object.hold == Hold::Absent {
                    return Change::Remove;
                }
                object.is_terminating = true;
                Change::Keep
            }),
            Op::Patch { name, value } => self.change(NAMES[name], |object| {
                object.value = value;
                Change::Keep
            }),
            Op::Put { name, value, base } => self.change(NAMES[name], |object| {
                if matches!(base, Base::Stale) {
                    return Change::Refuse(409);
                }
                // The body of a PUT names no finalizers.
                object.value = value;
                object.hold = Hold::Absent;
                if object.is_terminating {
                    Change::Remove
                } else {
                    Change::Keep
                }
            }),
            Op::SetHold { name, hold } => self.change(NAMES[name], |object| match hold {
                Hold::Absent => {
                    object.hold = Hold::Absent;
                    if object.is_terminating {
                        Change::Remove
                    } else {
                        Change::Keep
                    }
                }
                Hold::Present if object.is_terminating && object.hold == Hold::Absent => {
                    Change::Refuse(422)
                }
                Hold::Present => {
                    object.hold = Hold::Present;
                    Change::Keep
                }
            }),
        }
    }

    fn change(
        &mut self,
        name: &'static str,
        change: impl FnOnce(&mut ModelObject) -> Change,
    ) -> u16 {
        let Some(object) = self.objects.get(name).cloned() else {
            return 404;
        };
        let mut new = object.clone();
        match change(&mut new) {
            Change::Refuse(code) => return code,
            Change::Remove => {
                // Watchers see the last state that was stored.
                self.revision += 1;
                self.objects.remove(name);
                self.note(
                    "DELETED",
                    name,
                    &ModelObject {
                        revision: self.revision,
                        ..object
                    },
                );
            }
            Change::Keep if new == object => {}
            Change::Keep => self.store("MODIFIED", name, new),
        }
        200
    }

    fn store(&mut self, event: &str, name: &'static str, mut object: ModelObject) {
        self.revision += 1;
        object.revision = self.revision;
        self.note(event, name, &object);
        self.objects.insert(name, object);
    }

    fn note(&mut self, event: &str, name: &str, object: &ModelObject) {
        self.events.push(format!("{event} {}", line(name, object)));
    }
}

enum Change {
    Keep,
    Refuse(u16),
    Remove,
}

fn line(name: &str, object: &ModelObject) -> String {
    let ModelObject {
        revision,
        value,
        hold,
        is_terminating,
    } = object;
    format!("{name}@{revision} value={value} hold={hold:?} terminating={is_terminating}")
}

/// The same of an object as the server shows it.
fn shown(object: &Value) -> String {
    let metadata = &object["metadata"];
    let model = ModelObject {
        revision: metadata["resourceVersion"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap(),
        value: object["data"]["value"].as_str().unwrap().parse().unwrap(),
        hold: if metadata["finalizers"] == json!([FINALIZER]) {
            Hold::Present
        } else {
            Hold::Absent
        },
        is_terminating: metadata["deletionTimestamp"].is_string(),
    };
    line(metadata["name"].as_str().unwrap(), &model)
}

async fn send(writer: &Writer, model: &Model, op: Op) -> u16 {
    let path = |name: usize| format!("{CONFIG_MAPS}/{}", NAMES[name]);
    let body = |name: usize, value: u8| json!({"metadata": {"name": NAMES[name]}, "data": {"value": value.to_string()}});
    let held = |hold: Hold| match hold {
        Hold::Absent => Value::Null,
        Hold::Present => json!([FINALIZER]),
    };
    let answer = match op {
        Op::Create { name, value, hold } => {
            let mut body = body(name, value);
            body["metadata"]["finalizers"] = held(hold);
            writer.post(CONFIG_MAPS, &body).await
        }
        Op::Delete { name } => writer.delete(&path(name)).await,
        Op::Patch { name, value } => {
            let change = json!({"data": {"value": value.to_string()}});
            writer.patch(&path(name), MERGE, &change).await
        }
        Op::Put { name, value, base } => {
            let mut body = body(name, value);
            let present = model
                .objects
                .get(NAMES[name])
                .map_or(7, |object| object.revision);
            match base {
                Base::Nothing => {}
                Base::Present => body["metadata"]["resourceVersion"] = present.to_string().into(),
                // The version of the server's start is no object's.
                Base::Stale => body["metadata"]["resourceVersion"] = "1".into(),
            }
            writer.send("PUT", &path(name), &body).await
        }
        Op::SetHold { name, hold } => {
            let change = json!({"metadata": {"finalizers": held(hold)}});
            writer.patch(&path(name), MERGE, &change).await
        }
    };
    answer.code
}

async fn events(watch: &mut Watch, count: usize) -> Vec<String> {
    let mut events = Vec::new();
    for _ in 0..count {
        let event: Value = serde_json::from_str(&watch.next_line().await.unwrap()).unwrap();
        events.push(format!(
            "{} {}",
            event["type"].as_str().unwrap(),
            shown(&event["object"])
        ));
    }
    events
}

async fn run(ops: Vec<Op>) {
    let writer = Writer::new();
    let mut watch = writer.watch(CONFIG_MAPS).await;
    let mut model = Model {
        revision: 1,
        ..Model::default()
    };
    for op in ops {
        let code = send(&writer, &model, op).await;
        assert_eq!(code, model.apply(op), "{op:?}");
        let list = writer.get(CONFIG_MAPS).await.json();
        let items: Vec<String> = list["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(shown)
            .collect();
        let expected: Vec<String> = model
            .objects
            .iter()
            .map(|(name, object)| line(name, object))
            .collect();
        assert_eq!(items, expected, "after {op:?}");
        assert_eq!(
            list["metadata"]["resourceVersion"],
            model.revision.to_string()
        );
        let new = std::mem::take(&mut model.events);
        assert_eq!(events(&mut watch, new.len()).await, new, "after {op:?}");
    }
    assert_eq!(watch.ready(), Vec::<String>::new());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_sequence_of_writes_leaves_what_a_model_says_and_shows_it_to_watchers(ops in vec(op(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(run(ops));
    }
}
