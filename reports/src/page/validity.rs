//! The strip of chips that says whether the numbers may be believed.

use std::collections::BTreeSet;

use bench_core::measure::record::{Outcome, RunRecord};
use maud::{Markup, html};

use crate::{
    aggregate::{Cell, balances},
    noise::{NOISE_RULE, NoiseFloor},
    quantity::{bytes, cores, count, duration, percent},
    series::MergedLatency,
    summary::{Summary, percentile_text},
    verdict::ACHIEVED_LIMIT,
    warnings::Note,
};

/// One chip.
struct Chip {
    class: &'static str,
    name: &'static str,
    value: String,
    /// How it was found, for somebody who asks.
    title: String,
}

impl Chip {
    const fn new(class: &'static str, name: &'static str, value: String) -> Self {
        Self {
            class,
            name,
            value,
            title: String::new(),
        }
    }
}

/// Class of a chip whose `found` should be `wanted`.
fn judged(found: usize, wanted: usize) -> &'static str {
    if found == wanted { "good" } else { "bad" }
}

/// The strip.
pub(super) fn strip(records: &[RunRecord], cells: &[Cell<'_>], summary: &Summary) -> Markup {
    let verified: usize = cells.iter().map(|cell| cell.verified.len()).sum();
    let sum = |value: fn(&bench_core::measure::record::Measurements) -> u64| {
        cells.iter().map(|cell| cell.sum(value)).sum::<u64>()
    };
    let (scheduled, committed) = (
        sum(|one| one.generator.scheduled),
        sum(|one| one.generator.committed),
    );
    let measurements: Vec<_> = cells.iter().flat_map(|cell| &cell.verified).collect();
    let lateness = MergedLatency::of(measurements.iter().map(|one| &one.generator.lateness));
    let live = MergedLatency::of(
        measurements
            .iter()
            .filter_map(|one| one.latency.get("live")),
    );
    let balanced = measurements
        .iter()
        .filter(|one| balances(&one.accounting))
        .count();
    let runs = cells.iter().map(|cell| cell.trials.len());
    let (fewest, most) = (runs.clone().min().unwrap_or(0), runs.max().unwrap_or(0));
    let mut chips = vec![Chip::new(
        judged(verified, records.len()),
        "trials verified",
        format!("{verified}/{}", records.len()),
    )];
    chips.extend(interrupted_chip(records));
    chips.extend(load_chip(scheduled, committed));
    chips.push(Chip::new(
        judged(balanced, measurements.len()),
        "accounting balances",
        format!(
            "{balanced}/{verified}, {} changes",
            count(sum(|one| one.accounting.sent))
        ),
    ));
    chips.push(Chip::new(
        "",
        "generator lag p99",
        percentile_text(&lateness, 0.99),
    ));
    chips.push(Chip::new(
        "",
        "runs a variant",
        if fewest == most {
            fewest.to_string()
        } else {
            format!("{fewest}–{most}")
        },
    ));
    chips.push(Chip::new("", "live events measured", count(live.count)));
    chips.extend(negative_chip(live.negative));
    chips.push(noise_chip(&summary.noise, most));
    chips.extend(setting_chips(records, summary));
    drawn(&chips)
}

/// Machine, build and warnings.
fn setting_chips(records: &[RunRecord], summary: &Summary) -> Vec<Chip> {
    let mut chips = Vec::new();
    if let Some(record) = records.first() {
        let machine = &record.environment;
        chips.push(Chip::new(
            "",
            "machine",
            format!(
                "{}, {}, {}",
                machine.cpu,
                cores(machine.cores),
                bytes(machine.memory_bytes)
            ),
        ));
        chips.push(Chip::new(
            if machine.profile == "release" {
                "good"
            } else {
                "bad"
            },
            "build",
            format!("{} {}", machine.profile, record.implementation),
        ));
    }
    if !summary.warnings.is_empty() {
        let lines: Vec<String> = summary.warnings.iter().map(Note::line).collect();
        let kinds: BTreeSet<&str> = (summary.warnings.iter())
            .map(|note| note.kind.as_str())
            .collect();
        let kinds: Vec<&str> = kinds.into_iter().collect();
        chips.push(Chip {
            title: lines.join("\n"),
            ..Chip::new(
                "note",
                "warnings",
                format!("{} (see method)", kinds.join(", ")),
            )
        });
    }
    chips
}

fn drawn(chips: &[Chip]) -> Markup {
    html! {
        ul.chips aria-label="Validity" {
            @for chip in chips { li class=(chip.class) title=[(!chip.title.is_empty()).then_some(&chip.title)] { (chip.name) ": " b { (chip.value) } } }
        }
    }
}

fn load_chip(scheduled: u64, committed: u64) -> Option<Chip> {
    let share = committed as f64 / scheduled as f64;
    let class = if share >= ACHIEVED_LIMIT {
        "good"
    } else {
        "bad"
    };
    (scheduled > 0).then(|| {
        Chip::new(
            class,
            "load achieved",
            format!(
                "{} of {} changes ({})",
                count(committed),
                count(scheduled),
                percent(share)
            ),
        )
    })
}

/// Interrupted trials with how much of their windows there was.
fn interrupted_chip(records: &[RunRecord]) -> Option<Chip> {
    let interrupted = |record: &&RunRecord| matches!(record.outcome, Outcome::Interrupted { .. });
    let windows: Vec<String> = records
        .iter()
        .filter(interrupted)
        .map(|record| match &record.measurements {
            Some(one) => format!("{} of a window", duration(one.window_ns as f64)),
            None => "before a window".to_owned(),
        })
        .collect();
    (!windows.is_empty()).then(|| {
        Chip::new(
            "bad",
            "interrupted by Ctrl-C",
            format!("{}, in no aggregate", windows.join(", ")),
        )
    })
}

fn noise_chip(noise: &NoiseFloor, rounds: usize) -> Chip {
    let value = noise.text().unwrap_or_else(|| {
        let reason = if rounds < 2 {
            "one round"
        } else {
            "no variant has two verified trials"
        };
        format!("not measured: {reason}")
    });
    let compared = noise.comparisons();
    Chip {
        title: format!("{NOISE_RULE} Variants compared: {compared}."),
        ..Chip::new("", "noise floor (A/A)", value)
    }
}

fn negative_chip(negative: u64) -> Option<Chip> {
    (negative > 0).then(|| Chip::new("bad", "negative latencies, counted apart", count(negative)))
}
