//! Random traces: few keys, so that they collide, and each trace with its own taste.

use std::collections::BTreeSet;

use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha12Rng, seq::IndexedRandom as _};

use super::{
    generate_work,
    object::{BITS_INDEX, ObjectSpec, REFUSED_VALUE, SPOILED_VALUE},
    trace::{Header, Operation, Preset, Process, SetupOption, Trace},
};

/// Namespace and name. Upstream joins them with a slash and looks no further, so some of these are one key.
const KEYS: [(&str, &str); 16] = [
    ("a", "x"),
    ("a", "y"),
    ("b", "x"),
    ("", "node"),
    ("", "x"),
    ("a-b", "z"),
    ("", "a/x"),
    ("a", "x/y"),
    ("a/x", "y"),
    ("é", "ü✓𝄞"),
    ("a", ""),
    ("", ""),
    ("", "/"),
    ("\"q\\", "<&>\u{2028}"),
    ("a", "\u{1}\t\u{7f}"),
    ("†(a", "x@1/u=2)"),
];

/// Of [`KEYS`], those that a person would choose.
const PLAIN_KEYS: usize = 6;

/// The kinds of operations that a trace weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pop,
    Add,
    Update,
    Delete,
    Tombstone,
    Replace,
    Resync,
    Bookmark,
    Restore,
    Store,
    Lookup,
    Faults,
    Close,
}

/// Every kind with its usual weight and whether a trace may do without it.
const KINDS: [(Kind, u32); 13] = [
    (Kind::Pop, 8),
    (Kind::Add, 4),
    (Kind::Update, 4),
    (Kind::Delete, 4),
    (Kind::Tombstone, 2),
    (Kind::Replace, 2),
    (Kind::Resync, 2),
    (Kind::Bookmark, 1),
    (Kind::Restore, 1),
    (Kind::Store, 1),
    (Kind::Lookup, 1),
    (Kind::Faults, 1),
    (Kind::Close, 1),
];

/// Kinds that only a few traces have, for they change what the others show.
const RARE: [Kind; 5] = [
    Kind::Restore,
    Kind::Store,
    Kind::Lookup,
    Kind::Faults,
    Kind::Close,
];

struct Generator {
    random: ChaCha12Rng,
    header: Header,
    keys: Vec<(&'static str, &'static str)>,
    weights: Vec<(Kind, u32)>,
    keyless_percent: u32,
    versions: u64,
}

/// The trace of a seed; the same on every machine.
pub fn generate(preset: Preset, seed: u64) -> Trace {
    if preset == Preset::WorkQueue {
        return generate_work::generate(seed);
    }
    let mut generator = Generator::new(preset, seed);
    let longest = *[4_usize, 12, 40, 120]
        .choose(&mut generator.random)
        .expect("not empty");
    let length = generator.random.random_range(1..=longest);
    let mut operations: Vec<_> = (0..length).map(|_| generator.operation()).collect();
    if generator.percent(50) {
        let pops = generator.random.random_range(1..=8);
        operations.extend((0..pops).map(|_| plain_pop()));
    }
    Trace {
        header: generator.header,
        operations,
    }
}

impl Generator {
    fn new(preset: Preset, seed: u64) -> Self {
        let mut random = ChaCha12Rng::seed_from_u64(seed);
        let pool = if random.random_ratio(3, 5) {
            &KEYS[..PLAIN_KEYS]
        } else {
            &KEYS[..]
        };
        let count = random.random_range(1..=6);
        let keys = (0..count)
            .map(|_| *pool.choose(&mut random).expect("not empty"))
            .collect();
        let options = options(&mut random, preset);
        let weights = KINDS
            .iter()
            .filter(|(kind, _)| exists(*kind, preset))
            .map(|(kind, usual)| (*kind, weight(&mut random, *kind, *usual)))
            .collect();
        let keyless_percent = if random.random_ratio(1, 4) { 5 } else { 0 };
        let batch = *[1, 2, 3, 5, 1000].choose(&mut random).expect("not empty");
        Self {
            header: Header {
                trace: format!("{}-{seed}", preset.name()),
                preset,
                options,
                batch,
            },
            random,
            keys,
            weights,
            keyless_percent,
            versions: 0,
        }
    }

    fn percent(&mut self, percent: u32) -> bool {
        self.random.random_ratio(percent, 100)
    }

    fn operation(&mut self) -> Operation {
        let total: u32 = self.weights.iter().map(|(_, weight)| weight).sum();
        let mut draw = self.random.random_range(0..total);
        let kind = self.weights.iter().find(|(_, weight)| {
            let found = draw < *weight;
            draw = draw.saturating_sub(*weight);
            found
        });
        let kind = kind.expect("the draw is below the sum").0;
        self.of_kind(kind)
    }

    fn of_kind(&mut self, kind: Kind) -> Operation {
        match kind {
            Kind::Pop => self.pop(),
            Kind::Add => Operation::Add {
                object: self.object(),
            },
            Kind::Update => Operation::Update {
                object: self.object(),
            },
            Kind::Delete => Operation::Delete {
                object: self.object(),
            },
            Kind::Tombstone => self.tombstone(),
            Kind::Replace => Operation::Replace {
                objects: self.list(),
                rv: self.version(),
            },
            Kind::Resync => Operation::Resync,
            Kind::Bookmark => Operation::Bookmark { rv: self.version() },
            Kind::Restore if self.percent(20) => Operation::RestoreNothing,
            Kind::Restore => Operation::Restore,
            Kind::Store => self.store(),
            Kind::Lookup => self.lookup(),
            Kind::Faults => Operation::Faults {
                failing: self.some_keys(),
                missing: self.some_keys(),
            },
            Kind::Close => Operation::Close,
        }
    }

    fn pop(&mut self) -> Operation {
        // A transformer may take the key away, with which we would queue it again.
        let requeues =
            self.header.preset == Preset::DeltaFifo && !self.header.has(SetupOption::Transformer);
        let process = match self.random.random_range(0..100) {
            0..4 => Process::Skip,
            4..10 if requeues => Process::Requeue,
            _ => Process::Apply,
        };
        let during = if self.header.preset == Preset::AtomicFifo && self.percent(25) {
            let count = self.random.random_range(1..=3);
            (0..count).map(|_| self.write()).collect()
        } else {
            Vec::new()
        };
        Operation::Pop { process, during }
    }

    // What a reflector does while something is processed.
    fn write(&mut self) -> Operation {
        let kind = *[
            Kind::Add,
            Kind::Update,
            Kind::Delete,
            Kind::Replace,
            Kind::Resync,
            Kind::Bookmark,
        ]
        .choose(&mut self.random)
        .expect("not empty");
        self.of_kind(kind)
    }

    fn tombstone(&mut self) -> Operation {
        let object = self.object();
        // Seldom of another key than the object's, which no reflector does.
        let key = if self.percent(10) {
            self.keyed_object().key()
        } else {
            object.key()
        };
        let object = (!self.percent(25)).then_some(object);
        Operation::Tombstone { key, object }
    }

    fn store(&mut self) -> Operation {
        match self.random.random_range(0..10) {
            0..5 => Operation::StoreAdd {
                object: self.object(),
            },
            5..9 => Operation::StoreDelete {
                object: self.object(),
            },
            _ => Operation::StoreReplace {
                objects: self.list(),
                rv: self.version(),
            },
        }
    }

    fn lookup(&mut self) -> Operation {
        if self.header.has(SetupOption::Indexes) && self.percent(15) {
            let index = ["namespace", "one", "two"].choose(&mut self.random);
            return Operation::AddIndexers {
                index: (*index.expect("not empty")).to_owned(),
            };
        }
        let object = self.keyed_object();
        let (index, value) = match self.random.random_range(0..10) {
            0..5 => ("namespace", object.namespace.clone()),
            5..9 => (
                BITS_INDEX,
                format!("bit{}", self.random.random_range(0..3_u32)),
            ),
            _ => ("unheard-of", String::new()),
        };
        Operation::Lookup {
            index: index.to_owned(),
            value,
            object,
        }
    }

    fn list(&mut self) -> Vec<ObjectSpec> {
        let length = match self.random.random_range(0..10) {
            0..2 => 0,
            2..8 => self.random.random_range(1..=self.keys.len()),
            // Duplicates for certain.
            _ => self.keys.len() + 1,
        };
        (0..length).map(|_| self.object()).collect()
    }

    fn some_keys(&mut self) -> Vec<String> {
        if self.percent(40) {
            return Vec::new();
        }
        vec![self.keyed_object().key()]
    }

    fn object(&mut self) -> ObjectSpec {
        let keyless = self.random.random_ratio(self.keyless_percent, 100);
        let object = self.keyed_object();
        if !keyless {
            return object;
        }
        ObjectSpec {
            namespace: String::new(),
            name: String::new(),
            resource_version: String::new(),
            uid: String::new(),
            value: object.value,
            keyless,
        }
    }

    fn keyed_object(&mut self) -> ObjectSpec {
        let (namespace, name) = *self.keys.choose(&mut self.random).expect("not empty");
        let transformed = self.header.has(SetupOption::Transformer);
        let value = match self.random.random_range(0..100) {
            0..4 if transformed => REFUSED_VALUE,
            4..8 if transformed => SPOILED_VALUE,
            _ => self.random.random_range(0..10),
        };
        ObjectSpec {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            resource_version: self.version(),
            uid: format!("u{}", self.random.random_range(0..3_u32)),
            value,
            keyless: false,
        }
    }

    // Mostly a new one; sometimes one that was there before, or none.
    fn version(&mut self) -> String {
        match self.random.random_range(0..20) {
            0 => String::new(),
            1..4 => self.random.random_range(0..=self.versions).to_string(),
            _ => {
                self.versions += 1;
                self.versions.to_string()
            }
        }
    }
}

fn options(random: &mut ChaCha12Rng, preset: Preset) -> BTreeSet<SetupOption> {
    let mut options = BTreeSet::new();
    let mut with = |option, numerator| {
        if random.random_ratio(numerator, 10) {
            options.insert(option);
        }
    };
    with(SetupOption::Transformer, 3);
    with(SetupOption::Indexes, 3);
    if preset == Preset::DeltaFifo {
        with(SetupOption::EmitSync, 1);
        with(SetupOption::NoKnownObjects, 1);
    }
    options
}

fn exists(kind: Kind, preset: Preset) -> bool {
    match kind {
        Kind::Bookmark => preset == Preset::AtomicFifo,
        Kind::Restore => preset == Preset::DeltaFifo,
        Kind::Faults => preset != Preset::AtomicFifo,
        _ => true,
    }
}

fn weight(random: &mut ChaCha12Rng, kind: Kind, usual: u32) -> u32 {
    let absent = if RARE.contains(&kind) {
        random.random_ratio(4, 5)
    } else {
        // The first kind is never absent, so there is always something to draw.
        kind != Kind::Pop && random.random_ratio(1, 6)
    };
    if absent {
        return 0;
    }
    usual * *[1, 2, 4, 8].choose(random).expect("not empty")
}

fn plain_pop() -> Operation {
    Operation::Pop {
        process: Process::Apply,
        during: Vec::new(),
    }
}
