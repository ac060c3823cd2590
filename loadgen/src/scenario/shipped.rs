//! The scenarios that ship inside the binary, one for each question of the suite.

/// What `compare` runs.
pub const PERIODS: &str = "resync-periods";

/// Their names, in the order of the documentation.
pub const NAMES: [&str; 3] = [PERIODS, "resync-scale", "resync-dedup"];

/// The text of a shipped scenario.
pub fn text(name: &str) -> Option<&'static str> {
    match name {
        PERIODS => Some(include_str!("../../scenarios/resync-periods.yaml")),
        "resync-scale" => Some(include_str!("../../scenarios/resync-scale.yaml")),
        "resync-dedup" => Some(include_str!("../../scenarios/resync-dedup.yaml")),
        _ => None,
    }
}
