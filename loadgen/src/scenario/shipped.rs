//! The scenarios that ship inside the binary, one for each question of the suite.

/// Their names, in the order of the documentation.
pub const NAMES: [&str; 3] = ["resync-periods", "resync-scale", "resync-dedup"];

/// The text of a shipped scenario.
pub fn text(name: &str) -> Option<&'static str> {
    match name {
        "resync-periods" => Some(include_str!("../../scenarios/resync-periods.yaml")),
        "resync-scale" => Some(include_str!("../../scenarios/resync-scale.yaml")),
        "resync-dedup" => Some(include_str!("../../scenarios/resync-dedup.yaml")),
        _ => None,
    }
}
