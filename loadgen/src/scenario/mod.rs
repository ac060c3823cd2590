//! Scenario files: a question, a load, and what is compared.

pub mod choice;
pub mod shipped;
pub mod written;

mod source_position;

use std::{
    num::NonZeroU32,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use self::{
    choice::{HandlerKind, Implementation, InformerKind, QueuePreset},
    source_position::{field_at, line_of_field},
    written::{Axis, ObjectCount, WrittenDuration},
};
use crate::{
    handler_cost::HandlerCost,
    quantity::{Rate, ResyncPeriod, Share},
};

/// Why a scenario cannot be used. The caller shows it and exits with 2.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// Neither a shipped scenario nor a file.
    #[error(
        "no scenario {name:?}: not a file, and the shipped ones are {}",
        shipped::NAMES.join(", ")
    )]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// The file cannot be read.
    #[error("cannot read scenario {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The text is not a scenario.
    #[error("{file}:{line}: {field}: {message}")]
    Invalid {
        /// File name, or the name of a shipped scenario.
        file: String,
        /// Line, from 1.
        line: u64,
        /// Field, or `scenario` where no field is to blame.
        field: String,
        /// What is wrong with it.
        message: String,
    },
    /// Flags have made a scenario into what is none.
    #[error("the scenario with these flags: {field}: {message}")]
    Flags {
        /// Field of the scenario.
        field: &'static str,
        /// What is wrong with it.
        message: &'static str,
    },
}

/// A question with a load. Any field that is an [`Axis`] may be a list, and the variants are the product of all lists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// What results call it, if not by the name of its file: for copies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What this scenario tells that no other does.
    pub question: String,
    /// The objects.
    pub cluster: Cluster,
    /// Changes while it runs.
    pub churn: Churn,
    /// Whose informer.
    #[serde(default = "ours", skip_serializing_if = "is_ours")]
    pub implementation: Axis<Implementation>,
    /// Plain or shared.
    pub informer: Axis<InformerKind>,
    /// Generations of the queue.
    pub queue: Axis<QueuePreset>,
    /// Resync periods.
    pub resync: Axis<ResyncPeriod>,
    /// What is done with notifications.
    pub handler: Handler,
    /// Time after the first sync that is not measured.
    pub warm_up: WrittenDuration,
    /// Time that is measured.
    pub window: WrittenDuration,
    /// How often each variant runs.
    pub rounds: NonZeroU32,
    /// Decides everything that is random.
    pub seed: u64,
    /// Explicit variants, each replacing some fields; empty means none but the lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<Overrides>,
}

/// What the server holds: `count` objects of a `profile`, or real `objects` from a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// How many objects of the profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<Axis<ObjectCount>>,
    /// Content and size of made-up objects, such as `pod-6k`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// File of real objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<PathBuf>,
    /// Plural of the resource that the informer watches.
    pub resource: String,
}

/// Changes to the objects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Churn {
    /// How many a second.
    pub rate_per_second: Axis<Rate>,
    /// Of which kinds.
    pub mix: Mix,
    /// At which instants.
    pub arrivals: Arrivals,
    /// To which objects.
    pub keys: KeyChoice,
}

/// Weights of creates, updates and deletes; only their ratio counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mix {
    /// New objects.
    pub create: f64,
    /// Changes to existing objects.
    pub update: f64,
    /// Removals.
    pub delete: f64,
}

/// The process by which changes arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Equally spaced.
    Constant,
    /// Exponential gaps.
    Poisson,
    /// So many at one instant, the instants equally spaced.
    Bursty(NonZeroU32),
}

/// How the object of an update or a delete is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyChoice {
    /// Each equally often.
    Uniform,
    /// The k-th in proportion to k to the power of minus this.
    Zipf(f64),
}

/// What is done with notifications.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Handler {
    /// Probe, inline or workqueue.
    pub kind: HandlerKind,
    /// Cost of one call, or of one reconcile.
    pub cost: Axis<HandlerCost>,
    /// Reconcilers of a workqueue handler.
    #[serde(default = "one_worker")]
    pub workers: NonZeroU32,
    /// Share of live adds and updates that the handler loses.
    #[serde(default = "no_loss")]
    pub lose: Share,
    /// Share of live deletes that the handler loses.
    #[serde(default = "no_loss")]
    pub lose_deletes: Share,
}

fn ours() -> Axis<Implementation> {
    Axis::one(Implementation::InformerBench)
}

fn is_ours(implementation: &Axis<Implementation>) -> bool {
    *implementation == ours()
}

fn one_worker() -> NonZeroU32 {
    NonZeroU32::MIN
}

fn no_loss() -> Share {
    Share::ZERO
}

/// One explicit variant: each field that is present replaces the scenario's.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overrides {
    /// Objects of the profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<ObjectCount>,
    /// Changes a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub churn: Option<Rate>,
    /// Plain or shared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub informer: Option<InformerKind>,
    /// Generation of the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueuePreset>,
    /// Resync period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resync: Option<ResyncPeriod>,
    /// Cost of one handler call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<HandlerCost>,
    /// Time that is not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<WrittenDuration>,
    /// Time that is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<WrittenDuration>,
}

/// A scenario with the name that results carry.
#[derive(Debug, Clone)]
pub struct NamedScenario {
    /// Shipped name, or the file's name without its ending, or what the file says.
    pub name: String,
    /// What it says.
    pub scenario: Scenario,
}

impl NamedScenario {
    /// Loads a shipped scenario by name, or a file by path.
    ///
    /// # Errors
    /// If there is neither, or the text is not a scenario.
    pub fn load(name_or_path: &str) -> Result<Self, ScenarioError> {
        if let Some(text) = shipped::text(name_or_path) {
            return Self::parse(name_or_path, name_or_path, text);
        }
        let path = Path::new(name_or_path);
        let looks_like_a_file = path.extension().is_some() || path.components().count() > 1;
        if !looks_like_a_file && !path.exists() {
            return Err(ScenarioError::Unknown {
                name: name_or_path.to_owned(),
            });
        }
        let text = std::fs::read_to_string(path).map_err(|source| ScenarioError::Read {
            path: path.to_owned(),
            source,
        })?;
        let name = path
            .file_stem()
            .map_or_else(|| name_or_path.into(), |stem| stem.to_string_lossy());
        Self::parse(&name, name_or_path, &text)
    }

    fn parse(name: &str, file: &str, text: &str) -> Result<Self, ScenarioError> {
        let mut scenario = Scenario::parse(file, text)?;
        // Not part of what is asked, so a copy has the hash of its original.
        let named = scenario.name.take();
        Ok(Self {
            name: named.unwrap_or_else(|| name.to_owned()),
            scenario,
        })
    }

    /// A file that [`NamedScenario::load`] reads as this scenario, flags applied.
    pub fn to_yaml(&self) -> String {
        let mut scenario = self.scenario.clone();
        scenario.name = Some(self.name.clone());
        let yaml = serde_saphyr::to_string(&scenario).expect("a scenario is plain data");
        format!(
            "# As it ran, with its flags applied. Once more: loadgen run FILE. Paths are from where it ran.\n{yaml}"
        )
    }
}

impl Scenario {
    /// Reads a scenario; `file` is what errors call its source.
    ///
    /// # Errors
    /// With file, line and field of the first fault.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScenarioError> {
        let scenario: Self = serde_saphyr::from_str(text).map_err(|error| {
            let (line, column) = error
                .location()
                .map_or((1, 1), |location| (location.line(), location.column()));
            // The place stands in front already.
            let place = format!(" at line {line}, column {column}");
            let message = first_line(&error.without_snippet().to_string());
            ScenarioError::Invalid {
                file: file.to_owned(),
                line,
                field: field_at(text, line, column),
                message: message.replace(&place, ""),
            }
        })?;
        match scenario.fault() {
            None => Ok(scenario),
            Some((field, message)) => Err(ScenarioError::Invalid {
                file: file.to_owned(),
                line: line_of_field(text, field),
                field: field.to_owned(),
                message: message.to_owned(),
            }),
        }
    }

    /// The first fault that no single value shows: a field and what is wrong with it.
    pub fn fault(&self) -> Option<(&'static str, &'static str)> {
        let cluster = &self.cluster;
        let mix = self.churn.mix;
        let weights = [mix.create, mix.update, mix.delete];
        let zero_window = |window: WrittenDuration| window.0.is_zero();
        let any_window_zero = zero_window(self.window)
            || self
                .variants
                .iter()
                .any(|v| v.window.is_some_and(zero_window));
        let bad_name = |name: &String| name.trim().is_empty() || name.contains('/');
        if self.name.as_ref().is_some_and(bad_name) {
            Some(("name", "must be a word, without a slash"))
        } else if self.question.trim().is_empty() {
            Some(("question", "must say what this scenario tells"))
        } else if cluster.count.is_some() == cluster.objects.is_some() {
            Some(("cluster", "needs either `count` or `objects`"))
        } else if cluster.count.is_some() != cluster.profile.is_some() {
            Some(("cluster", "`profile` goes with `count`"))
        } else if weights
            .iter()
            .any(|weight| !weight.is_finite() || *weight < 0.0)
            || weights.iter().sum::<f64>() <= 0.0
        {
            Some(("mix", "needs weights of 0 or more, one of them above 0"))
        } else if matches!(self.churn.keys, KeyChoice::Zipf(exponent) if !(exponent.is_finite() && exponent > 0.0))
        {
            Some(("keys", "zipf needs an exponent above 0"))
        } else if any_window_zero {
            Some(("window", "must be longer than 0"))
        } else {
            None
        }
    }

    /// This scenario shrunk so that it runs in about a second a variant: for checking, not for numbers.
    #[must_use]
    pub fn small(&self) -> Self {
        let small_count = |count: ObjectCount| ObjectCount(count.0.min(200));
        let small_window = |window: WrittenDuration, most: u64| {
            WrittenDuration(window.0.min(Duration::from_millis(most)))
        };
        let small_period = |resync: ResyncPeriod| match resync {
            ResyncPeriod::Off => ResyncPeriod::Off,
            ResyncPeriod::Every(period) => {
                ResyncPeriod::Every((period / 5).clamp(Duration::from_millis(100), period))
            }
        };
        let mut small = self.clone();
        small.cluster.count = self
            .cluster
            .count
            .as_ref()
            .map(|axis| axis.map(small_count));
        small.resync = self.resync.map(small_period);
        small.warm_up = small_window(self.warm_up, 200);
        small.window = small_window(self.window, 1000);
        small.rounds = NonZeroU32::MIN;
        for variant in &mut small.variants {
            variant.count = variant.count.map(small_count);
            variant.resync = variant.resync.map(small_period);
            variant.warm_up = variant.warm_up.map(|warm_up| small_window(warm_up, 200));
            variant.window = variant.window.map(|window| small_window(window, 1000));
        }
        small
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_of_a_scenario_is_the_scenario() {
        for name in shipped::NAMES {
            let shipped = NamedScenario::load(name).unwrap();
            let mut file = shipped.clone();
            file.scenario.cluster.count = None;
            file.scenario.cluster.profile = None;
            file.scenario.cluster.objects = Some("dir/my objects: #1.json".into());
            file.scenario.churn.arrivals = Arrivals::Bursty(NonZeroU32::new(7).unwrap());
            file.scenario.churn.keys = KeyChoice::Zipf(1.1);
            file.scenario.question = "Is \"off\": better\nthan # 1s?".to_owned();
            for original in [shipped, file] {
                let yaml = original.to_yaml();
                let copy = NamedScenario::parse("scenario", "scenario.yaml", &yaml)
                    .unwrap_or_else(|error| panic!("{error}\n{yaml}"));
                assert_eq!(
                    (copy.name, copy.scenario),
                    (original.name, original.scenario)
                );
            }
        }
    }

    #[test]
    fn a_name_that_is_no_word_is_a_fault() {
        let text = shipped::text("resync-periods").unwrap();
        for name in ["''", "a/b"] {
            let error = Scenario::parse("f.yaml", &format!("{text}name: {name}\n")).unwrap_err();
            assert!(
                error
                    .to_string()
                    .ends_with(": name: must be a word, without a slash"),
                "{error}"
            );
        }
    }
}
