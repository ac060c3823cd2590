//! The answer in one sentence, with its rule.

use bench_core::measure::record::{Outcome, RunRecord};

use crate::{
    aggregate::{Cell, balances},
    quantity::{count, duration, number, percent},
    summary::DRAIN_RATIO_LIMIT,
    work_balance::{PowerLaw, SafePeriod, live_load, load, safe_period},
};

/// Which of the suite's questions a run asks, told by its axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// Which resync period?
    Periods,
    /// What does one resync cost against the number of objects?
    Scale,
    /// What does a resync skip?
    Dedup,
}

impl Question {
    /// The question of these records. Both informers over periods ask what a resync skips, unless events are lost: then it is
    /// what it repairs.
    pub fn of(records: &[RunRecord]) -> Self {
        let has = |axis: &str| {
            records
                .iter()
                .any(|record| record.scenario.axes.iter().any(|name| name == axis))
        };
        let loses = records.iter().any(|record| record.variant.loss_share > 0.0);
        if has("object_count") {
            Self::Scale
        } else if has("handler_cost_ns") || has("churn_per_second") || has("informer") && !loses {
            Self::Dedup
        } else {
            Self::Periods
        }
    }
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// One sentence.
    pub headline: String,
    /// One sentence for each implementation, queue and informer.
    pub details: Vec<String>,
    /// How the answer was found.
    pub rule: String,
    /// Why it must not be trusted; empty if it may.
    pub doubts: Vec<String>,
}

/// Answers the question of `records`, whose variants are `cells`.
pub fn verdict(records: &[RunRecord], cells: &[Cell<'_>]) -> Verdict {
    let doubts = doubts(records, cells);
    if cells.iter().all(|cell| cell.verified.is_empty()) {
        return Verdict {
            headline: "No verdict: no trial was verified.".to_owned(),
            details: Vec::new(),
            rule: String::new(),
            doubts,
        };
    }
    let groups = groups(cells);
    let (headline, details, rule) = match Question::of(records) {
        Question::Periods => (
            period_headline(&groups),
            groups.iter().map(|group| period_detail(group)).collect(),
            format!(
                "smallest safe period = N·cost / (1 − c·cost), the period at which load = N·cost/P + c·cost is 1; recommended = the shortest measured \
                 period with load ≤ 1 and drain/period ≤ {DRAIN_RATIO_LIMIT}."
            ),
        ),
        Question::Scale => (
            scale_headline(&groups),
            groups.iter().filter_map(|group| scale_detail(group)).collect(),
            "growth is the slope of a least-squares line on log-log paper; 1 is proportional.".to_owned(),
        ),
        Question::Dedup => (
            dedup_headline(cells),
            groups.iter().filter_map(|group| dedup_detail(group)).collect(),
            "load = N·cost/I + c·cost at the measured interval I; above 1 the handler is busy all the time, and the work balance says that a resync of a plain informer must skip \
             1 − I(1 − c·cost)/(N·cost) of the keys.".to_owned(),
        ),
    };
    Verdict {
        headline,
        details,
        rule,
        doubts,
    }
}

/// Neighbouring cells of one implementation, queue and informer.
fn groups<'a, 'b>(cells: &'b [Cell<'a>]) -> Vec<&'b [Cell<'a>]> {
    cells
        .chunk_by(|left, right| left.group() == right.group())
        .collect()
}

fn setting(cell: &Cell<'_>) -> String {
    let variant = cell.variant;
    format!(
        "{} objects, {} a handler call, {} changes/s",
        count(variant.object_count),
        duration(if variant.handler_cost_kind == "none" {
            0.0
        } else {
            variant.handler_cost_ns as f64
        }),
        number(variant.churn_per_second)
    )
}

fn safe_sentence(cell: &Cell<'_>) -> String {
    match safe_period(cell.variant) {
        SafePeriod::Any => "the handler costs nothing, so no period is too short for it".to_owned(),
        SafePeriod::AtLeast(ns) => format!("the smallest safe resync period is {}", duration(ns)),
        SafePeriod::Never => {
            "no resync period is safe: live changes alone take all of the handler's time".to_owned()
        }
    }
}

fn period_headline(groups: &[&[Cell<'_>]]) -> String {
    let Some(first) = groups.first().and_then(|group| group.first()) else {
        return String::new();
    };
    let mut queues: Vec<&str> = groups
        .iter()
        .filter_map(|group| group.first())
        .map(|cell| cell.variant.queue.as_str())
        .collect();
    queues.dedup();
    let picks: Vec<String> = groups
        .iter()
        .map(|group| recommended(group).map_or_else(|| "off".to_owned(), |cell| period_text(cell)))
        .collect();
    let any_period_measured = groups
        .iter()
        .flat_map(|group| group.iter())
        .any(|cell| cell.variant.resync_period_ns.is_some() && !cell.verified.is_empty());
    let advice = if !any_period_measured {
        "no period was measured".to_owned()
    } else if picks.iter().all(|pick| *pick == picks[0]) {
        if picks[0] == "off" {
            "no measured period is safe, leave it off or go longer".to_owned()
        } else {
            format!("of those measured, take {} or longer", picks[0])
        }
    } else {
        let each: Vec<String> = queues
            .iter()
            .zip(&picks)
            .map(|(queue, pick)| format!("{pick} for {queue}"))
            .collect();
        format!("of those measured, take {} or longer", each.join(", "))
    };
    format!(
        "At {}, {} with {} of {}; {advice}.",
        setting(first),
        safe_sentence(first),
        queues.join(" and "),
        first.implementation
    )
}

fn period_text(cell: &Cell<'_>) -> String {
    cell.variant
        .resync_period_ns
        .map_or_else(|| "off".to_owned(), |ns| duration(ns as f64))
}

/// The shortest measured period that the handler keeps up with.
fn recommended<'b, 'a>(group: &'b [Cell<'a>]) -> Option<&'b Cell<'a>> {
    group
        .iter()
        .filter(|cell| {
            cell.variant.resync_period_ns.is_some()
                && !cell.verified.is_empty()
                && load(cell.variant) <= 1.0
        })
        .filter(|cell| {
            cell.drain_ratio()
                .is_some_and(|ratio| ratio <= DRAIN_RATIO_LIMIT)
        })
        .min_by_key(|cell| cell.variant.resync_period_ns)
}

fn cpu_text(cell: &Cell<'_>) -> Option<String> {
    cell.client_cpu()
        .map(|cpu| format!("{} of a core", percent(cpu.median)))
}

fn period_detail(group: &[Cell<'_>]) -> String {
    let mut parts = Vec::new();
    if let Some(cpu) = group
        .iter()
        .find(|cell| cell.variant.resync_period_ns.is_none())
        .and_then(cpu_text)
    {
        parts.push(format!("off costs {cpu}"));
    }
    for cell in group
        .iter()
        .filter(|cell| cell.variant.resync_period_ns.is_some())
    {
        let Some(cpu) = cpu_text(cell) else {
            parts.push(format!("{} has no verified trial", period_text(cell)));
            continue;
        };
        let repair = cell
            .time_to_repair()
            .mean_ns
            .map(|ns| format!(", repairs a lost event in {} on average", duration(ns)));
        let above = load(cell.variant);
        let overload = (above > 1.0).then(|| {
            let what = if cell.variant.informer == "shared" {
                let peak = cell.peak(|one| one.cost.listener_peak);
                peak.map_or_else(String::new, |keys| {
                    format!(", its listener held up to {}", count(keys))
                })
            } else {
                cell.skip_share().map_or_else(String::new, |share| {
                    format!(", skipped {} of the keys", percent(share))
                })
            };
            format!(" (load {} is above 1{what})", number(above))
        });
        parts.push(format!(
            "{} costs {cpu}{}{}",
            period_text(cell),
            repair.unwrap_or_default(),
            overload.unwrap_or_default()
        ));
    }
    format!("{}: {}.", group[0].group(), parts.join("; "))
}

/// Points (objects, value) of a group's verified variants.
pub fn by_count(group: &[Cell<'_>], value: impl Fn(&Cell<'_>) -> Option<f64>) -> Vec<(f64, f64)> {
    group
        .iter()
        .filter_map(|cell| Some((cell.variant.object_count as f64, value(cell)?)))
        .filter(|point| point.0 > 0.0 && point.1 > 0.0)
        .collect()
}

fn scale_headline(groups: &[&[Cell<'_>]]) -> String {
    let Some(cell) = groups
        .iter()
        .flat_map(|group| group.iter())
        .filter(|cell| cell.lock_hold().is_some())
        .max_by_key(|cell| cell.variant.object_count)
    else {
        return "No verdict: no resync was measured.".to_owned();
    };
    let hold = cell.lock_hold().map_or(0.0, |hold| hold.median);
    let drain = cell.drain().map_or_else(String::new, |drain| {
        format!(" and takes {} to be handled", duration(drain.median))
    });
    format!(
        "One resync of {} objects with {} of {} holds the queue's lock for {}{drain}.",
        count(cell.variant.object_count),
        cell.variant.queue,
        cell.implementation,
        duration(hold),
    )
}

fn scale_detail(group: &[Cell<'_>]) -> Option<String> {
    let hold = by_count(group, |cell| cell.lock_hold().map(|hold| hold.median));
    let drain = by_count(group, |cell| cell.drain().map(|drain| drain.median));
    let (first, last) = (hold.first()?, hold.last()?);
    let growth = |points: &[(f64, f64)]| {
        PowerLaw::fit(points).map_or_else(
            || "not fitted, below three sizes".to_owned(),
            |law| format!("N^{:.2}", law.exponent),
        )
    };
    Some(format!(
        "{}: lock hold {} at {} objects, {} at {} (grows as {}); drain grows as {}.",
        group[0].group(),
        duration(first.1),
        number(first.0),
        duration(last.1),
        number(last.0),
        growth(&hold),
        growth(&drain)
    ))
}

fn largest_skip(cells: &[&Cell<'_>]) -> Option<f64> {
    cells
        .iter()
        .filter_map(|cell| cell.skip_share())
        .max_by(f64::total_cmp)
}

/// The largest of some shares in words.
fn at_most(share: f64) -> String {
    if share == 0.0 {
        "none".to_owned()
    } else if share < 1e-4 {
        "less than 0.01 %".to_owned()
    } else {
        format!("at most {}", percent(share))
    }
}

fn dedup_headline(cells: &[Cell<'_>]) -> String {
    let (above, below): (Vec<_>, Vec<_>) = cells
        .iter()
        .filter(|cell| {
            cell.variant.informer == "plain"
                && !cell.redelivers_whole()
                && cell.skip_share().is_some()
        })
        .partition(|cell| cell.measured_load().is_some_and(|load| load > 1.0));
    let shared: Vec<&Cell<'_>> = cells
        .iter()
        .filter(|cell| cell.variant.informer == "shared")
        .collect();
    let mut parts = Vec::new();
    if let Some(share) = largest_skip(&below) {
        parts.push(format!(
            "at or below load 1 a resync skipped {} of the keys",
            at_most(share)
        ));
    }
    if let Some(share) = largest_skip(&above) {
        parts.push(format!("above it {}", at_most(share)));
    }
    if let Some(share) = largest_skip(&shared) {
        parts.push(format!("the shared informer skipped {}", at_most(share)));
    }
    if cells
        .iter()
        .any(|cell| cell.redelivers_whole() && cell.skip_share().is_some())
    {
        parts.push("atomic-fifo never skips, it delivers the whole cache each time".to_owned());
    }
    let whose = cells.first().map_or("", |cell| cell.implementation);
    if parts.is_empty() {
        "No verdict: no resync was measured.".to_owned()
    } else {
        format!("With {whose}, {}.", parts.join("; "))
    }
}

fn dedup_detail(group: &[Cell<'_>]) -> Option<String> {
    let (load, worst) = group
        .iter()
        .filter(|cell| cell.skip_share().is_some())
        .filter_map(|cell| Some((cell.measured_load()?, cell)))
        .max_by(|left, right| left.0.total_cmp(&right.0))?;
    let beside = match (
        worst.balanced_skip_share(),
        worst.peak(|one| one.cost.listener_peak),
    ) {
        (Some(share), _) => format!("; the work balance says {}", percent(share)),
        (None, Some(peak)) => format!(
            "; its backlog waits in the listener's buffer, at most {} notifications, where no resync looks",
            count(peak)
        ),
        (None, None) => String::new(),
    };
    Some(format!(
        "{}: at its highest load, {} (of which live changes {}), a resync skipped {} of the keys{beside}.",
        group[0].group(),
        number(load),
        number(live_load(worst.variant)),
        percent(worst.skip_share()?)
    ))
}

/// Generator below this share of what was asked makes a run doubtful.
pub const ACHIEVED_LIMIT: f64 = 0.99;

fn doubts(records: &[RunRecord], cells: &[Cell<'_>]) -> Vec<String> {
    let mut doubts = Vec::new();
    let unverified = records
        .iter()
        .filter(|record| record.outcome != Outcome::Verified)
        .count();
    if unverified > 0 {
        doubts.push(format!(
            "{unverified} of {} trials not verified",
            records.len()
        ));
    }
    if records
        .iter()
        .any(|record| matches!(record.outcome, Outcome::Interrupted { .. }))
    {
        doubts.push("the run was interrupted, and what was to follow did not run".to_owned());
    }
    let scheduled: u64 = cells
        .iter()
        .map(|cell| cell.sum(|one| one.generator.scheduled))
        .sum();
    let committed: u64 = cells
        .iter()
        .map(|cell| cell.sum(|one| one.generator.committed))
        .sum();
    if scheduled > 0 && (committed as f64) < ACHIEVED_LIMIT * scheduled as f64 {
        doubts.push(format!(
            "the generator made {} of {} changes",
            count(committed),
            count(scheduled)
        ));
    }
    let unbalanced = cells
        .iter()
        .flat_map(|cell| &cell.verified)
        .filter(|one| !balances(&one.accounting))
        .count();
    if unbalanced > 0 {
        doubts.push(format!(
            "the accounting of {unbalanced} trials does not balance"
        ));
    }
    let mut hashes: Vec<&str> = records
        .iter()
        .map(|record| record.scenario.hash.as_str())
        .collect();
    hashes.sort_unstable();
    hashes.dedup();
    if hashes.len() > 1 {
        doubts.push(format!(
            "records of {} different scenarios are mixed",
            hashes.len()
        ));
    }
    if records
        .iter()
        .any(|record| record.environment.profile != "release")
    {
        doubts.push("not a release build".to_owned());
    }
    doubts
}
