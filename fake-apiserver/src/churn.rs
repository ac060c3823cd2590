//! What a churn writes and when: a pure, seeded sequence of writes.

use std::{collections::HashSet, time::Duration};

use bench_core::api::{ObjectKey, Scope};
use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha12Rng};
use rand_distr::{Distribution as _, Exp1, Zipf};

use crate::{
    control::{Arrivals, ChurnMix, ChurnRequest, KeyChoice, WriteKind},
    object_name,
};

/// A churn cannot be carried out as described.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChurnError {
    /// A weight is negative or not a number, or all are 0.
    #[error("mix: weights must be 0 or more, and one above 0")]
    Mix,
    /// The rate is not a number above 0.
    #[error("rate_per_second: must be above 0")]
    Rate,
    /// A burst of nothing.
    #[error("arrivals.bursty.size: must be at least 1")]
    BurstSize,
    /// The exponent is not a number above 0.
    #[error("keys.zipf.exponent: must be above 0")]
    ZipfExponent,
    /// The server has no such resource.
    #[error("resource: {0:?} is not served here")]
    UnknownResource(String),
}

/// One write that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduledWrite {
    /// When, since the churn's start.
    pub offset: Duration,
    /// What to do to which object.
    pub write: Write,
}

/// A write to one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// Make an object.
    Create {
        /// Its key.
        key: ObjectKey,
        /// What its uid is made from; never the same twice.
        uid: u128,
        /// An existing object of whose kind the new one is; absent if there was none.
        sibling: Option<ObjectKey>,
    },
    /// Change an object.
    Update {
        /// Its key.
        key: ObjectKey,
    },
    /// Remove an object.
    Delete {
        /// Its key.
        key: ObjectKey,
    },
}

impl Write {
    /// The kind of the write.
    pub fn kind(&self) -> WriteKind {
        match self {
            Self::Create { .. } => WriteKind::Create,
            Self::Update { .. } => WriteKind::Update,
            Self::Delete { .. } => WriteKind::Delete,
        }
    }

    /// Whose.
    pub fn key(&self) -> &ObjectKey {
        match self {
            Self::Create { key, .. } | Self::Update { key } | Self::Delete { key } => key,
        }
    }
}

/// An endless sequence of writes, decided by the request and the objects that exist at its start, and nothing else.
///
/// Updates and deletes name objects that exist at that point of the sequence. Names and uids of created objects are never
/// used twice. A write that needs an object where there is none becomes a create.
#[derive(Debug)]
pub struct ChurnSchedule {
    rate_per_second: f64,
    mix: ChurnMix,
    arrivals: Arrivals,
    keys: KeyChoice,
    scope: Scope,
    random: ChaCha12Rng,
    population: Vec<ObjectKey>,
    names_used: HashSet<ObjectKey>,
    // Writes handed out so far.
    count: u64,
    // Offset of the last write in seconds, for arrivals that accumulate.
    last: f64,
    zipf: Option<(usize, Zipf<f64>)>,
    checksum: Checksum,
}

impl ChurnSchedule {
    /// Prepares the sequence for a resource's population in the order given.
    ///
    /// # Errors
    /// [`ChurnError`] names the field that is out of range.
    pub fn try_new(
        request: &ChurnRequest,
        scope: Scope,
        population: Vec<ObjectKey>,
    ) -> Result<Self, ChurnError> {
        let mix = request.mix;
        let weights = [mix.create, mix.update, mix.delete];
        if weights
            .iter()
            .any(|weight| !weight.is_finite() || *weight < 0.0)
            || weights.iter().sum::<f64>() <= 0.0
        {
            return Err(ChurnError::Mix);
        }
        if !request.rate_per_second.is_finite() || request.rate_per_second <= 0.0 {
            return Err(ChurnError::Rate);
        }
        if matches!(request.arrivals, Arrivals::Bursty { size: 0 }) {
            return Err(ChurnError::BurstSize);
        }
        if let KeyChoice::Zipf { exponent } = request.keys
            && (!exponent.is_finite() || exponent <= 0.0)
        {
            return Err(ChurnError::ZipfExponent);
        }
        Ok(Self {
            rate_per_second: request.rate_per_second,
            mix,
            arrivals: request.arrivals,
            keys: request.keys,
            scope,
            random: ChaCha12Rng::seed_from_u64(request.seed),
            names_used: population.iter().cloned().collect(),
            population,
            count: 0,
            last: 0.0,
            zipf: None,
            checksum: Checksum::new(),
        })
    }

    /// The next write; offsets never fall.
    pub fn next_write(&mut self) -> ScheduledWrite {
        let offset = self.next_offset();
        self.count += 1;
        let write = match self.next_kind() {
            WriteKind::Create => self.create(),
            WriteKind::Update => {
                let index = self.choose_for_update();
                Write::Update {
                    key: self.population[index].clone(),
                }
            }
            WriteKind::Delete => {
                let index = self.random.random_range(0..self.population.len());
                Write::Delete {
                    key: self.population.swap_remove(index),
                }
            }
        };
        let scheduled = ScheduledWrite { offset, write };
        self.checksum.add(&scheduled);
        scheduled
    }

    /// FNV-1a 64 over kind, key and offset of every write handed out so far.
    pub fn checksum(&self) -> u64 {
        self.checksum.0
    }

    fn next_offset(&mut self) -> Duration {
        let seconds = match self.arrivals {
            Arrivals::Constant => (self.count + 1) as f64 / self.rate_per_second,
            Arrivals::Poisson => {
                let gap: f64 = Exp1.sample(&mut self.random);
                self.last + gap / self.rate_per_second
            }
            Arrivals::Bursty { size } => {
                let burst = self.count / u64::from(size) + 1;
                (burst * u64::from(size)) as f64 / self.rate_per_second
            }
        };
        self.last = seconds;
        Duration::from_secs_f64(seconds)
    }

    fn next_kind(&mut self) -> WriteKind {
        let ChurnMix {
            create,
            update,
            delete,
        } = self.mix;
        let point = self.random.random_range(0.0..create + update + delete);
        if self.population.is_empty() || point < create {
            WriteKind::Create
        } else if point < create + update {
            WriteKind::Update
        } else {
            WriteKind::Delete
        }
    }

    fn create(&mut self) -> Write {
        let sibling = (!self.population.is_empty()).then(|| {
            let index = self.random.random_range(0..self.population.len());
            self.population[index].clone()
        });
        let key = loop {
            let key = object_name::sibling_key(sibling.as_ref(), self.scope, &mut self.random);
            if self.names_used.insert(key.clone()) {
                break key;
            }
        };
        self.population.push(key.clone());
        Write::Create {
            key,
            uid: self.random.random(),
            sibling,
        }
    }

    fn choose_for_update(&mut self) -> usize {
        let count = self.population.len();
        let KeyChoice::Zipf { exponent } = self.keys else {
            return self.random.random_range(0..count);
        };
        if self.zipf.as_ref().is_none_or(|(size, _)| *size != count) {
            let zipf = Zipf::new(count as f64, exponent).expect("count and exponent are above 0");
            self.zipf = Some((count, zipf));
        }
        let (_, zipf) = self.zipf.as_ref().expect("made above");
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rank from 1 to count"
        )]
        let rank = zipf.sample(&mut self.random) as usize;
        rank.clamp(1, count) - 1
    }
}

#[derive(Debug)]
struct Checksum(u64);

impl Checksum {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, scheduled: &ScheduledWrite) {
        let kind = match scheduled.write.kind() {
            WriteKind::Create => 0,
            WriteKind::Update => 1,
            WriteKind::Delete => 2,
        };
        self.bytes(&[kind]);
        self.bytes(scheduled.write.key().as_str().as_bytes());
        self.bytes(&scheduled.offset.as_nanos().to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
