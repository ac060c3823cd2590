//! Which request meets which faults.

use std::{net::IpAddr, time::Duration};

use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha12Rng};
use serde::Serialize;

use super::{
    script::{ErrorFault, Fault, FaultRule, FaultScript, Match},
    stream::{Kind, StreamFault, StreamFaults},
};
use crate::request_info::{Continuation, RequestInfo, Verb};

/// What is known of a request before it is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestFacts {
    /// What it is about.
    pub info: RequestInfo,
    /// Its User-Agent; empty if it has none.
    pub user_agent: String,
    /// Whence it comes; `None` in process.
    pub remote: Option<IpAddr>,
}

/// What becomes of one request.
#[derive(Debug)]
pub struct Verdict {
    /// How late its answer is.
    pub delay: Duration,
    /// What is answered instead, if anything.
    pub answer: Option<Answer>,
    /// What becomes of the body, if anything.
    pub stream: Option<StreamFaults>,
}

/// An answer that is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// 410 for a continue token.
    ContinueExpired,
    /// An HTTP error.
    Error(ErrorFault),
    /// 410 for a version.
    Expired,
}

/// The rules of a script and how often each has been met.
#[derive(Debug)]
pub struct FaultPlan {
    seed: u64,
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    name: String,
    matching: Match,
    fault: Fault,
    matched: u64,
    applied: u64,
}

/// How often a rule was met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleCount {
    /// Its name.
    pub name: String,
    /// Requests that fulfilled the conditions other than counts and lot.
    pub matched: u64,
    /// Requests that the fault was applied to.
    pub applied: u64,
}

impl FaultPlan {
    /// From a script; `seed` counts if the script has none.
    pub fn new(script: &FaultScript, seed: u64) -> Self {
        let rule = |(index, rule): (usize, &FaultRule)| Rule {
            name: if rule.name.is_empty() {
                format!("faults[{index}]")
            } else {
                rule.name.clone()
            },
            matching: rule.matching.clone(),
            fault: rule.fault.clone(),
            matched: 0,
            applied: 0,
        };
        Self {
            seed: script.seed.unwrap_or(seed),
            rules: script.faults.iter().enumerate().map(rule).collect(),
        }
    }

    /// Whether every request is left alone.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Decides about a request that arrives at `now`, and counts it. Of several answers the first rule's is given, delays add
    /// up, and all faults of the body are applied.
    pub fn decide(&mut self, request: &RequestFacts, now: Duration) -> Verdict {
        let mut delay = Duration::ZERO;
        let mut answer = None;
        let mut faults = Vec::new();
        for (index, rule) in self.rules.iter_mut().enumerate() {
            if !rule.matching.is_met_by(request, now) || !rule.fault.concerns(&request.info) {
                continue;
            }
            rule.matched += 1;
            let mut random = random_of(self.seed, index, rule.matched);
            if !rule.matching.strikes(rule.matched, &mut random) {
                continue;
            }
            rule.applied += 1;
            match effect_of(&rule.fault, &request.info, random) {
                Effect::Answer(given) => answer = answer.or(Some(given)),
                Effect::Delay(time) => delay += time,
                Effect::Stream(fault) => faults.push(*fault),
            }
        }
        let kind = match request.info.verb {
            Some(Verb::Watch) => Kind::Watch,
            _ => Kind::Whole,
        };
        Verdict {
            delay,
            stream: (answer.is_none() && !faults.is_empty())
                .then(|| StreamFaults::new(kind, faults)),
            answer,
        }
    }

    /// How often each rule was met, in the script's order.
    pub fn counts(&self) -> Vec<RuleCount> {
        let count = |rule: &Rule| RuleCount {
            name: rule.name.clone(),
            matched: rule.matched,
            applied: rule.applied,
        };
        self.rules.iter().map(count).collect()
    }
}

impl Match {
    /// Whether all conditions hold that are not counts or lot.
    fn is_met_by(&self, request: &RequestFacts, now: Duration) -> bool {
        let info = &request.info;
        let is_among = |resource: &String| {
            info.is_resource_request()
                && (*resource == info.resource || *resource == info.resource_name())
        };
        let verb_fits = info.verb.is_some_and(|verb| self.verbs.contains(&verb));
        (self.verbs.is_empty() || verb_fits)
            && (self.resources.is_empty() || self.resources.iter().any(is_among))
            && self
                .namespace
                .as_ref()
                .is_none_or(|it| *it == info.namespace)
            && self
                .path
                .as_ref()
                .is_none_or(|it| info.path.starts_with(it))
            && self
                .user_agent
                .as_ref()
                .is_none_or(|it| request.user_agent.contains(it))
            && self.remote.is_none_or(|it| {
                request
                    .remote
                    .is_some_and(|remote| remote.to_canonical() == it.to_canonical())
            })
            && self.from.is_none_or(|from| from <= now)
            && self.until.is_none_or(|until| now < until)
    }

    /// Whether the `count`th request to meet the conditions is one to strike.
    fn strikes(&self, count: u64, random: &mut ChaCha12Rng) -> bool {
        self.nth.is_none_or(|nth| count == nth)
            && self.first.is_none_or(|first| count <= first)
            && self.every.is_none_or(|every| count.is_multiple_of(every))
            && self
                .probability
                .is_none_or(|share| random.random_bool(share))
    }
}

impl Fault {
    /// Whether it can do anything to such a request, so that others are not counted.
    fn concerns(&self, info: &RequestInfo) -> bool {
        match self {
            Self::ExpiredContinue => {
                info.verb == Some(Verb::List) && info.continuation == Continuation::Next
            }
            Self::DropEvents(_)
            | Self::DuplicateEvents(_)
            | Self::ReorderEvents(_)
            | Self::Bookmarks(_)
            | Self::NoEndMark => info.verb == Some(Verb::Watch),
            Self::Expired(_) => {
                matches!(info.verb, Some(Verb::Get | Verb::List | Verb::Watch))
                    && info.is_resource_request()
            }
            _ => true,
        }
    }
}

enum Effect {
    Answer(Answer),
    Delay(Duration),
    Stream(Box<StreamFault>),
}

fn effect_of(fault: &Fault, info: &RequestInfo, mut random: ChaCha12Rng) -> Effect {
    match fault {
        Fault::Error(error) => Effect::Answer(Answer::Error(error.clone())),
        Fault::ExpiredContinue => Effect::Answer(Answer::ContinueExpired),
        Fault::Expired(_) if info.verb != Some(Verb::Watch) => {
            Effect::Answer(match info.continuation {
                Continuation::First => Answer::Expired,
                Continuation::Next => Answer::ContinueExpired,
            })
        }
        Fault::Delay(delay) => {
            let share: f64 = random.random();
            Effect::Delay(delay.base + delay.jitter.mul_f64(share))
        }
        stream => Effect::Stream(Box::new(StreamFault::new(stream, random))),
    }
}

/// The lots of the `count`th request that meets a rule: a function of nothing else, so that requests do not disturb each other.
fn random_of(seed: u64, rule: usize, count: u64) -> ChaCha12Rng {
    let mut random = ChaCha12Rng::seed_from_u64(seed);
    random.set_stream(((rule as u64 + 1) << 40) | (count & 0xff_ffff_ffff));
    random
}
