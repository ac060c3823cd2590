//! From a scenario to the trials that answer it. Pure.

use std::{path::PathBuf, time::Duration};

use bench_core::measure::record::ScenarioSummary;
use serde_json::json;

use crate::{
    handler_cost::HandlerCost,
    quantity::{ResyncPeriod, format_duration},
    scenario::{
        NamedScenario, Scenario,
        choice::{Implementation, InformerKind, QueuePreset},
        written::Axis,
    },
};

/// One setting of what is compared, all of it decided.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedVariant {
    /// Short and unique within the plan.
    pub label: String,
    /// Generation of the queue.
    pub queue: QueuePreset,
    /// Whose informer.
    pub implementation: Implementation,
    /// Plain or shared.
    pub informer: InformerKind,
    /// Objects of the profile; absent for objects from a file.
    pub count: Option<u64>,
    /// Changes a second.
    pub churn_per_second: f64,
    /// Resync period.
    pub resync: ResyncPeriod,
    /// Cost of one handler call.
    pub cost: HandlerCost,
    /// Unmeasured time.
    pub warm_up: Duration,
    /// Measured time.
    pub window: Duration,
}

/// One trial: a variant in a round.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedTrial {
    /// Round, from 0.
    pub round: u32,
    /// Place in the order of running, from 0.
    pub order: u32,
    /// Seed of its churn, losses and jitter: the scenario's plus the round, so that a round meets all variants with the same
    /// luck and the next one with other luck.
    pub seed: u64,
    /// What runs.
    pub variant: PlannedVariant,
}

/// Everything that will run, in order.
#[derive(Debug, Clone)]
pub struct Plan {
    /// For the records.
    pub summary: ScenarioSummary,
    /// The scenario after flags were applied.
    pub scenario: Scenario,
    /// File of real objects.
    pub objects: Option<PathBuf>,
    /// The trials: every round runs each variant once, so that a drift of the machine meets all alike.
    pub trials: Vec<PlannedTrial>,
}

impl Plan {
    /// Lays out a scenario.
    pub fn new(named: &NamedScenario) -> Self {
        let scenario = &named.scenario;
        let mut variants = if scenario.variants.is_empty() {
            product(scenario)
        } else {
            explicit(scenario)
        };
        // Last, so that whose informers are compared run one after the other.
        variants = vary(
            &variants,
            scenario.implementation.values(),
            |variant, implementation| variant.implementation = *implementation,
        );
        let axes = axes(&variants);
        let kinds = kinds_of_cost(&variants);
        for variant in &mut variants {
            variant.label = label(variant, &axes, kinds);
        }
        let mut trials = Vec::new();
        for round in 0..scenario.rounds.get() {
            for variant in &variants {
                let order = u32::try_from(trials.len()).unwrap_or(u32::MAX);
                trials.push(PlannedTrial {
                    round,
                    order,
                    seed: scenario.seed.wrapping_add(u64::from(round)),
                    variant: variant.clone(),
                });
            }
        }
        let summary = ScenarioSummary {
            name: named.name.clone(),
            question: scenario.question.clone(),
            hash: format!("{:016x}", fnv(json!(scenario).to_string().as_bytes())),
            axes,
        };
        Self {
            summary,
            scenario: scenario.clone(),
            objects: scenario.cluster.objects.clone(),
            trials,
        }
    }

    /// How long the trials take at least: their windows and warm-ups.
    pub fn measuring_time(&self) -> Duration {
        self.trials
            .iter()
            .map(|trial| trial.variant.warm_up + trial.variant.window)
            .sum()
    }
}

fn product(scenario: &Scenario) -> Vec<PlannedVariant> {
    let mut variants = vec![first(scenario)];
    let counts: Vec<_> = scenario
        .cluster
        .count
        .iter()
        .flat_map(Axis::values)
        .map(|count| count.0)
        .collect();
    variants = vary(&variants, scenario.queue.values(), |variant, queue| {
        variant.queue = *queue;
    });
    variants = vary(
        &variants,
        scenario.informer.values(),
        |variant, informer| variant.informer = *informer,
    );
    if !counts.is_empty() {
        variants = vary(&variants, &counts, |variant, count| {
            variant.count = Some(*count);
        });
    }
    variants = vary(
        &variants,
        scenario.churn.rate_per_second.values(),
        |variant, rate| {
            variant.churn_per_second = rate.per_second();
        },
    );
    variants = vary(
        &variants,
        scenario.handler.cost.values(),
        |variant, cost| variant.cost = *cost,
    );
    vary(&variants, scenario.resync.values(), |variant, resync| {
        variant.resync = *resync;
    })
}

fn vary<T>(
    variants: &[PlannedVariant],
    values: &[T],
    set: impl Fn(&mut PlannedVariant, &T),
) -> Vec<PlannedVariant> {
    let one = |variant: &PlannedVariant, value: &T| {
        let mut variant = variant.clone();
        set(&mut variant, value);
        variant
    };
    variants
        .iter()
        .flat_map(|variant| {
            values
                .iter()
                .map(|value| one(variant, value))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn explicit(scenario: &Scenario) -> Vec<PlannedVariant> {
    let base = first(scenario);
    let overridden = |overrides: &crate::scenario::Overrides| PlannedVariant {
        label: String::new(),
        queue: overrides.queue.unwrap_or(base.queue),
        implementation: base.implementation,
        informer: overrides.informer.unwrap_or(base.informer),
        count: overrides.count.map(|count| count.0).or(base.count),
        churn_per_second: overrides
            .churn
            .map_or(base.churn_per_second, crate::quantity::Rate::per_second),
        resync: overrides.resync.unwrap_or(base.resync),
        cost: overrides.cost.unwrap_or(base.cost),
        warm_up: overrides
            .warm_up
            .map_or(base.warm_up, |duration| duration.0),
        window: overrides.window.map_or(base.window, |duration| duration.0),
    };
    scenario.variants.iter().map(overridden).collect()
}

fn first(scenario: &Scenario) -> PlannedVariant {
    PlannedVariant {
        label: String::new(),
        queue: scenario.queue.values()[0],
        implementation: scenario.implementation.values()[0],
        informer: scenario.informer.values()[0],
        count: scenario
            .cluster
            .count
            .as_ref()
            .map(|axis| axis.values()[0].0),
        churn_per_second: scenario.churn.rate_per_second.values()[0].per_second(),
        resync: scenario.resync.values()[0],
        cost: scenario.handler.cost.values()[0],
        warm_up: scenario.warm_up.0,
        window: scenario.window.0,
    }
}

/// Reads one setting of a variant as text.
type Setting<'a> = &'a dyn Fn(&PlannedVariant) -> String;

/// Names of the record's fields in which variants differ.
fn axes(variants: &[PlannedVariant]) -> Vec<String> {
    let differs = |of: &dyn Fn(&PlannedVariant) -> String| {
        let mut values = variants.iter().map(of);
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    let fields: [(&str, Setting<'_>); 7] = [
        ("queue", &|variant| variant.queue.to_string()),
        ("informer", &|variant| variant.informer.to_string()),
        ("object_count", &|variant| format!("{:?}", variant.count)),
        ("churn_per_second", &|variant| {
            variant.churn_per_second.to_string()
        }),
        ("handler_cost_ns", &|variant| variant.cost.to_string()),
        ("resync_period_ns", &|variant| variant.resync.to_string()),
        ("implementation", &|variant| {
            variant.implementation.to_string()
        }),
    ];
    fields
        .iter()
        .filter(|(_, of)| differs(of))
        .map(|(name, _)| (*name).to_owned())
        .collect()
}

/// Whether variants differ in how they spend their cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KindsOfCost {
    One,
    Several,
}

fn kinds_of_cost(variants: &[PlannedVariant]) -> KindsOfCost {
    let mut kinds = variants.iter().map(|variant| variant.cost.kind());
    let first = kinds.next();
    if kinds.any(|kind| Some(kind) != first) {
        KindsOfCost::Several
    } else {
        KindsOfCost::One
    }
}

fn label(variant: &PlannedVariant, axes: &[String], kinds: KindsOfCost) -> String {
    let mut words = Vec::new();
    for axis in axes {
        words.push(match axis.as_str() {
            "queue" => variant.queue.to_string(),
            "informer" => variant.informer.to_string(),
            "object_count" => format!("{} objects", variant.count.unwrap_or(0)),
            "churn_per_second" => format!("{}/s", variant.churn_per_second),
            "implementation" => variant.implementation.to_string(),
            "handler_cost_ns" if kinds == KindsOfCost::Several => format!("cost {}", variant.cost),
            "handler_cost_ns" => format!("cost {}", format_duration(variant.cost.duration())),
            _ => format!("resync {}", variant.resync),
        });
    }
    if words.is_empty() {
        format!("resync {}", variant.resync)
    } else {
        words.join(" ")
    }
}

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_interleave_the_variants() {
        let plan = Plan::new(&NamedScenario::load("resync-periods").unwrap());
        let order: Vec<_> = plan
            .trials
            .iter()
            .map(|trial| (trial.round, trial.variant.label.as_str()))
            .collect();
        let once: Vec<_> = ["delta-fifo", "atomic-fifo"]
            .into_iter()
            .flat_map(|queue| {
                ["off", "1s", "2s", "3s"].map(|period| format!("{queue} resync {period}"))
            })
            .collect();
        let expected: Vec<_> = (0..2)
            .flat_map(|round| once.iter().map(move |label| (round, label.as_str())))
            .collect();
        assert_eq!(order, expected);
        let seed = plan.scenario.seed;
        let environment = bench_core::measure::environment::capture("").unwrap();
        for trial in &plan.trials {
            assert_eq!(trial.seed, seed + u64::from(trial.round));
            let record = crate::run::blank_record(&plan, trial, "", &environment);
            assert_eq!(
                record.seed, trial.seed,
                "the record names the seed that ran"
            );
        }
        assert_eq!(plan.summary.axes, ["queue", "resync_period_ns"]);
    }

    /// A plan's labels, and its axes.
    fn planned(text: &str) -> (Vec<String>, Vec<String>) {
        let scenario = Scenario::parse("s.yaml", text).unwrap();
        let plan = Plan::new(&NamedScenario {
            name: "s".to_owned(),
            scenario,
        });
        let labels = plan.trials.iter().map(|trial| trial.variant.label.clone());
        (labels.collect(), plan.summary.axes)
    }

    #[test]
    fn implementations_run_one_after_the_other_in_lists_and_in_explicit_variants() {
        let text = crate::scenario::shipped::text("resync-periods").unwrap();
        let text = text.replace("queue: [delta-fifo, atomic-fifo]", "queue: delta-fifo");
        let text = text.replace("rounds: 2", "rounds: 1");
        let both = format!("{text}implementation: [informer-bench, client-go]\n");
        let (labels, axes) = planned(&both);
        assert_eq!(
            labels[..3],
            [
                "resync off informer-bench",
                "resync off client-go",
                "resync 1s informer-bench"
            ]
        );
        assert_eq!(axes, ["resync_period_ns", "implementation"]);
        let explicit = format!("{both}variants: [{{resync: 1s}}, {{resync: 2s}}]\n");
        let (labels, _) = planned(&explicit);
        assert_eq!(labels.len(), 4);
        assert_eq!(labels[1], "resync 1s client-go");
    }

    #[test]
    fn a_label_tells_sleeping_from_spinning_where_both_occur() {
        let text = crate::scenario::shipped::text("resync-periods").unwrap();
        let text = text.replace("cost: sleep:60us", "cost: [sleep:60us, spin:60us]");
        let (labels, _) = planned(&text);
        assert!(labels[0].contains("cost sleep:60us"), "{}", labels[0]);
        assert!(labels[4].contains("cost spin:60us"), "{}", labels[4]);
    }

    #[test]
    fn every_shipped_scenario_has_distinct_labels() {
        for name in crate::scenario::shipped::NAMES {
            let plan = Plan::new(&NamedScenario::load(name).unwrap());
            let mut labels: Vec<_> = plan
                .trials
                .iter()
                .map(|trial| (trial.round, &trial.variant.label))
                .collect();
            labels.sort_unstable();
            labels.dedup();
            assert_eq!(labels.len(), plan.trials.len(), "{name}");
        }
    }
}
