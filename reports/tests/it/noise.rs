//! The noise floor of a run, and what it does to the table.

use bench_core::measure::record::RunRecord;
use reports::{
    column::{Column, Mark},
    noise::Quantity,
    summary::{Summary, summarise},
};

use crate::synthetic;

/// Two rounds of off, 1 s and 2 s with these CPU shares in hundredths, off first.
fn with_cpu(shares: [[u64; 2]; 3]) -> Vec<RunRecord> {
    let mut records = Vec::new();
    for (round, order) in [(0, 0), (1, 3)] {
        for (place, period_ms) in [None, Some(1_000), Some(2_000)].into_iter().enumerate() {
            let setting = synthetic::Setting {
                period_ms,
                ..synthetic::COMPARE
            };
            let order = order + u32::try_from(place).expect("few");
            let mut record = synthetic::record(
                "resync-periods",
                &["resync_period_ns"],
                setting,
                round,
                order,
            );
            let one = record.measurements.as_mut().expect("numbers");
            one.cost.client_cpu_ns =
                one.window_ns / 100 * shares[place][usize::try_from(round).expect("0 or 1")];
            records.push(record);
        }
    }
    records
}

fn cpu(summary: &Summary) -> Vec<(String, Mark)> {
    let marks = summary.marks(Column::Cpu);
    let texts = summary.rows.iter().map(|row| row.text(Column::Cpu));
    texts.zip(marks).collect()
}

#[test]
fn rounds_of_one_variant_give_the_floor() {
    let summary = summarise(&with_cpu([[10, 11], [20, 20], [40, 40]]));
    let floor = summary.noise.of(Quantity::Cpu).expect("two rounds");
    assert!((floor.ratio - 1.1).abs() < 1e-6, "{floor:?}");
    assert_eq!(floor.comparisons, 3);
}

#[test]
fn a_difference_inside_the_floor_is_marked_and_one_outside_is_not() {
    // off differs from itself by half, 1 s from off by less, 2 s by more.
    let summary = summarise(&with_cpu([[10, 15], [14, 14], [20, 20]]));
    assert_eq!(
        cpu(&summary),
        [
            ("12.5 % (10–15)".to_owned(), Mark::Plain),
            ("≈ 14 %".to_owned(), Mark::Near),
            ("20 %".to_owned(), Mark::Worst)
        ]
    );
}

#[test]
fn what_is_as_bad_as_the_worst_within_the_floor_is_shaded_too() {
    let summary = summarise(&with_cpu([[10, 12], [38, 38], [40, 40]]));
    let marks: Vec<Mark> = cpu(&summary).into_iter().map(|(_, mark)| mark).collect();
    assert_eq!(marks, [Mark::Plain, Mark::Worst, Mark::Worst]);
}

#[test]
fn one_round_has_no_floor() {
    let records: Vec<RunRecord> = with_cpu([[10, 15], [14, 14], [20, 20]])
        .into_iter()
        .filter(|record| record.round == 0)
        .collect();
    let summary = summarise(&records);
    assert_eq!(summary.noise.of(Quantity::Cpu), None);
    assert_eq!(
        cpu(&summary),
        [
            ("10 %".to_owned(), Mark::Plain),
            ("14 %".to_owned(), Mark::Plain),
            ("20 %".to_owned(), Mark::Worst)
        ]
    );
}

#[test]
fn a_percentile_without_support_is_no_measure_of_noise() {
    let mut records = with_cpu([[10, 10], [20, 20], [40, 40]]);
    for record in &mut records {
        let one = record.measurements.as_mut().expect("numbers");
        one.latency
            .insert("live".to_owned(), synthetic::latency(12, 1_000));
    }
    let noise = summarise(&records).noise;
    assert!(noise.of(Quantity::LiveP50).is_some());
    assert_eq!(noise.of(Quantity::LiveP99), None);
}
