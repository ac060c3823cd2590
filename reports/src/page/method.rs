//! How the numbers came about: command, seed, traces, environment, words, limits.

use bench_core::measure::record::RunRecord;
use maud::{Markup, html};

use crate::{
    noise::NOISE_RULE,
    quantity::{bytes, cores, count},
    summary::Summary,
};

fn distinct<'a>(
    records: &'a [RunRecord],
    value: impl Fn(&'a RunRecord) -> &'a str,
) -> Vec<&'a str> {
    let mut values: Vec<&str> = Vec::new();
    for record in records {
        let one = value(record);
        if !values.contains(&one) {
            values.push(one);
        }
    }
    values
}

/// The section; empty without records.
pub(super) fn section(records: &[RunRecord], summary: &Summary) -> Markup {
    let Some(first) = records.first() else {
        return html! {};
    };
    let machine = &first.environment;
    let mut seeds: Vec<u64> = records.iter().map(|record| record.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
    let checkout = if machine.dirty {
        "with uncommitted changes"
    } else {
        "clean"
    };
    html! {
        section id="method" {
            h2 { "Method" }
            p { "To reproduce:" }
            @for command in distinct(records, |record| &record.command) { pre { (command) } }
            @if !summary.warnings.is_empty() {
                h3 id="warnings" { "Warnings" }
                ul { @for note in &summary.warnings { li { code { (note.kind) } ": " (note.line()) } } }
            }
            dl {
                dt { "implementation" } dd { (distinct(records, |record| &record.implementation).join(", ")) ", objects decoded as " (distinct(records, |record| &record.decode_mode).join(", ")) }
                dt { "objects" } dd { (count(first.variant.object_count)) " " (first.variant.resource) " of " (first.variant.object_source) ", " (bytes(first.variant.object_size_bytes_mean)) " on average (first variant)" }
                dt { "scenario" } dd { (first.scenario.name) ", hash " (first.scenario.hash) ", axes " (first.scenario.axes.join(", ")) }
                dt { "seed" } dd { (seeds.join(", ")) }
                dt { "commit" } dd { (machine.commit) ", " (checkout) }
                dt { "machine" } dd { (machine.cpu) ", " (cores(machine.cores)) ", " (bytes(machine.memory_bytes)) ", kernel " (machine.kernel) }
                dt { "build" } dd { (machine.rustc) ", " (machine.profile) }
                dt { "placement" } dd { (machine.placement) }
                dt { "started" } dd { (first.started_at) }
                dt { "resync" } dd { "The informer's own cache delivered to the handler again, without a request to the server. Listing again from the server is called a relist." }
                dt { "live latency" } dd { "From the instant at which a change was scheduled to be committed at the server to the return of the handler. Live events, initial list, resyncs and relists are separate series." }
                dt { "service time" } dd { "From the commit itself to the return of the handler. A server that stalls delays what was due meanwhile, and none of that is in the service time: it stands beside live latency, never instead." }
                dt { "percentiles" } dd { "Of merged histograms, never averaged; ≤ marks a percentile that the samples do not support, which is then the largest sample." }
                dt { "noise floor" } dd { (NOISE_RULE) }
                dt { "verified" } dd { "Afterwards the cache equals the server's objects, the handler's stream is legal, and sent = delivered + superseded + lost on purpose + pending, to the unit." }
                dt { "limits" } dd { "Client and server share this machine. Objects are synthetic unless a file is named. We wrote both sides. Few trials: ranges are given, not intervals. Numbers are of the implementation named, not of others." }
            }
            details { summary { "Trials and their traces" }
                div.scroll { table.words {
                    thead { tr { th { "order" } th { "variant" } th { "round" } th { "seed" } th { "trace checksum" } th { "started" } th { "CPU, placement" } th { "warnings" } } }
                    tbody { @for record in records { tr {
                        td { (record.order) } td { (record.variant.label) } td { (record.round) } td { (record.seed) } td { code { (record.trace_checksum) } } td { (record.started_at) }
                        td { (record.environment.cpu) ", " (record.environment.placement) }
                        td { @for warning in &record.warnings { div { (warning.kind) ": " (warning.message) @if warning.count > 1 { ", " (warning.count) " times" } } } }
                    } } }
                } }
            }
        }
    }
}
