//! Scripts made from a seed: a server whose objects change, and whose watches end in all manner of ways.

use std::collections::BTreeMap;

use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha12Rng};

use super::{
    super::script::{Answer, End, HandlerSpec, Script, Streaming},
    wire::{frame, list, page, plain, refusal, shared_by, watch},
};

const COUNT: u64 = 40;

/// Each wait for a backoff may take seconds, and the next one twice as long.
const MOST_BACKOFFS: u32 = 2;

const KEYS: [&str; 5] = ["a/x", "a/y", "a/w", "b/x", "b/y"];

/// What the server holds.
struct World {
    random: ChaCha12Rng,
    objects: BTreeMap<&'static str, u64>,
    version: u64,
    backoffs: u32,
}

/// What follows a watch.
#[derive(PartialEq, Eq)]
enum After {
    Watch,
    Relist,
}

pub(super) fn scripts() -> Vec<Script> {
    (1..=COUNT).map(script).collect()
}

fn script(seed: u64) -> Script {
    let mut world = World {
        random: ChaCha12Rng::seed_from_u64(seed),
        objects: BTreeMap::new(),
        version: 0,
        backoffs: 0,
    };
    let streaming = seed.is_multiple_of(2);
    let name = format!("seed {seed}");
    let mut script = if world.chance(0.5) {
        plain(&name)
    } else {
        let handlers = world.random.random_range(1..=3);
        shared_by(&name, &vec![HandlerSpec::default(); handlers])
    };
    if streaming {
        script = script.streaming();
    }
    for _ in 0..world.random.random_range(0..6) {
        world.change();
    }
    let mut after = After::Relist;
    for _ in 0..world.random.random_range(2..6) {
        if after == After::Relist {
            script = world.listed(script);
            // A stream goes on as a watch: what ends it is drawn here, too.
            if streaming {
                let stream = script.stream.pop().expect("it was just pushed");
                let (stream, next) = world.ended(stream);
                script.stream.push(stream);
                after = next;
                continue;
            }
        }
        let (answer, next) = world.watched();
        script.watch.push(answer);
        after = next;
    }
    if after == After::Relist {
        script = world.listed(script);
        if let Some(stream) = script.stream.last_mut() {
            let frames = world.end();
            stream.body.extend(watch(&[&frames]).body);
            return script.final_version(&world.version.to_string());
        }
    }
    let frames = world.end();
    script
        .watch(watch(&[&frames]))
        .final_version(&world.version.to_string())
}

impl World {
    fn chance(&mut self, share: f64) -> bool {
        self.random.random_bool(share)
    }

    /// One change, as a frame.
    fn change(&mut self) -> String {
        self.version += self.random.random_range(1..3);
        let key = KEYS[self.random.random_range(0..KEYS.len())];
        let version = self.version;
        let known = self.objects.contains_key(key);
        if known && self.chance(0.3) {
            self.objects.remove(key);
            return format!("-{key}@{version}");
        }
        self.objects.insert(key, version);
        let kind = if known { "~" } else { "+" };
        format!("{kind}{key}@{version}")
    }

    fn end(&mut self) -> String {
        self.version += 1;
        format!("+z/end@{}", self.version)
    }

    fn may_back_off(&self) -> bool {
        self.backoffs < MOST_BACKOFFS
    }

    /// The list of what there is now, perhaps after a refusal, in one page or two, or as a stream.
    fn listed(&mut self, mut script: Script) -> Script {
        let streaming = script.streaming == Streaming::On;
        if self.chance(0.2) {
            let refused = refusal(429, "TooManyRequests").retry_after("1");
            if streaming {
                script.stream.push(refused);
            } else {
                script.list.push(refused);
            }
        }
        if !streaming && self.chance(0.2) && self.version > 0 && !script.list.is_empty() {
            script.list.push(refusal(410, "Expired"));
        }
        let objects: Vec<_> = self
            .objects
            .iter()
            .map(|(key, version)| format!("{key}@{version}"))
            .collect();
        let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
        let version = self.version.to_string();
        if streaming {
            let mut answer = watch(&[]);
            for object in &objects {
                answer = answer.text(&(frame(&format!("+{object}")) + "\n"));
            }
            return script.stream(answer.frames(&[&format!("^{version}=true")]));
        }
        if objects.len() >= 2 && self.chance(0.4) {
            let (first, second) = objects.split_at(objects.len() / 2);
            return script
                .list(page(&version, "next", first))
                .list(page(&version, "", second));
        }
        script.list(list(&version, &objects))
    }

    /// A watch with some changes, and what follows it.
    fn watched(&mut self) -> (Answer, After) {
        if self.may_back_off() && self.chance(0.1) {
            self.backoffs += 1;
            return (refusal(429, "TooManyRequests"), After::Watch);
        }
        if self.chance(0.1) {
            let unavailable = refusal(503, "ServiceUnavailable").retry_after("1");
            return (unavailable, After::Watch);
        }
        self.ended(watch(&[]))
    }

    /// Adds some changes to an open watch, and an end.
    fn ended(&mut self, mut answer: Answer) -> (Answer, After) {
        for _ in 0..self.random.random_range(1..5) {
            let frame = self.change();
            answer = answer.frames(&[&frame]);
        }
        if self.chance(0.4) {
            self.version += 1;
            answer = answer.frames(&[&format!("^{}", self.version)]);
        }
        let ways = if self.may_back_off() { 8 } else { 4 };
        let way = self.random.random_range(0..ways);
        if way >= 4 {
            self.backoffs += 1;
        }
        match way {
            0 => (answer.ended(), After::Watch),
            1 => (answer.pause(60).cut(), After::Watch),
            2 => (answer.pause(60).then(End::Reset), After::Watch),
            3 => {
                // What is half sent has happened, and is sent again by nobody: the next watch only goes on.
                let line = frame("~a/x@1");
                let half = self.random.random_range(1..line.len() - 1);
                (answer.text(&line[..half]).pause(60).cut(), After::Watch)
            }
            4 => (answer.frames(&["!429 TooManyRequests"]), After::Watch),
            5 => (answer.text("<html>\n"), self.missed()),
            6 => (answer.frames(&["!410 Gone"]), self.missed()),
            _ => (answer.frames(&["!410 Expired"]), self.missed()),
        }
    }

    /// Some changes that no watch tells: a relist must find them.
    fn missed(&mut self) -> After {
        for _ in 0..self.random.random_range(0..4) {
            self.change();
        }
        After::Relist
    }
}
