//! A few traces that show as much as many.

use std::collections::HashSet;

use super::{
    trace::{Operation, Trace},
    work::WorkOperation,
};

/// Takes, again and again, the trace that shows most that the ones taken do not, for each of its operations; until nothing is
/// left to show or `most_operations` are taken. `traces` come with their outcomes.
pub fn choose(mut traces: Vec<(Trace, String)>, most_operations: usize) -> Vec<Trace> {
    let mut unseen: Vec<HashSet<String>> = traces
        .iter()
        .map(|(trace, outcomes)| features(trace, outcomes))
        .collect();
    let mut chosen = Vec::new();
    let mut operations = 0;
    while operations < most_operations {
        let worth = |place: &usize| {
            let length = traces[*place].0.operations.len() + 1;
            // Thousandths, so that it is whole; the first of equals is taken.
            (unseen[*place].len() * 1000 / length, usize::MAX - place)
        };
        let Some(best) = (0..traces.len()).max_by_key(worth) else {
            break;
        };
        let shown = unseen.swap_remove(best);
        let (trace, _) = traces.swap_remove(best);
        if shown.is_empty() {
            break;
        }
        for other in &mut unseen {
            other.retain(|feature| !shown.contains(feature));
        }
        operations += trace.operations.len();
        chosen.push(trace);
    }
    chosen
}

// What each operation led to, without names and numbers.
fn features(trace: &Trace, outcomes: &str) -> HashSet<String> {
    let mut features = HashSet::new();
    let mut before = String::new();
    let mut faults = "";
    let mut work = WorkSeen::default();
    for (operation, outcome) in trace.operations.iter().zip(outcomes.lines()) {
        let shape = shape(outcome);
        let kind = kind(operation);
        for option in &trace.header.options {
            features.insert(format!("{option:?} {kind} {}", result(outcome)));
        }
        if let Operation::Faults { failing, missing } = operation {
            faults = match (failing.is_empty(), missing.is_empty()) {
                (true, true) => "",
                (false, true) => "failing",
                (true, false) => "missing",
                (false, false) => "both",
            };
        }
        features.insert(format!("{faults} {kind} {shape}"));
        if let Operation::Work(operation) = operation {
            features.insert(format!("{kind} {}", work.look(operation, outcome)));
        }
        features.insert(format!("{before} then {kind}"));
        before = kind;
    }
    features
}

/// What a work queue's outcomes do not say by themselves.
#[derive(Default)]
struct WorkSeen {
    handed_out: HashSet<String>,
    length: u64,
}

impl WorkSeen {
    // Whether the item is being processed, whether the queue got longer or shorter, and whether it is shutting down.
    fn look(&mut self, operation: &WorkOperation, outcome: &str) -> String {
        let fields: serde_json::Value = serde_json::from_str(outcome).unwrap_or_default();
        let processed = match operation {
            WorkOperation::Add { item }
            | WorkOperation::AddAfter { item, .. }
            | WorkOperation::AddRateLimited { item } => self.handed_out.contains(item),
            _ => false,
        };
        if let Some((word, item)) = fields["result"].as_str().and_then(|it| it.split_once(' ')) {
            match word {
                "got" => self.handed_out.insert(item.to_owned()),
                "done" => self.handed_out.remove(item),
                _ => false,
            };
        }
        let length = fields["len"].as_u64().unwrap_or(0);
        let change = length.cmp(&std::mem::replace(&mut self.length, length));
        let shutting_down = fields["shutting_down"].as_bool().unwrap_or(false);
        format!("{processed} {change:?} {shutting_down}")
    }
}

fn kind(operation: &Operation) -> String {
    let name = match operation {
        Operation::Work(operation) => format!("{operation:?}"),
        _ => format!("{operation:?}"),
    };
    let end = name.find([' ', '{', '(']).unwrap_or(name.len());
    name[..end].to_owned()
}

// Without the item that was got, or a delay.
fn result(outcome: &str) -> &str {
    let result = outcome.split('"').nth(3).unwrap_or("");
    let word = result.split(' ').next().unwrap_or("");
    word.trim_end_matches(|digit: char| digit.is_ascii_digit())
}

// The outcome with each object as one letter; the content of queue and store as whether it changed.
fn shape(outcome: &str) -> String {
    let mut shape = String::new();
    let fields: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(outcome).unwrap_or_default();
    for (name, value) in &fields {
        shape.extend([" ", name]);
        let serde_json::Value::Array(elements) = value else {
            continue;
        };
        if name == "queue" || name == "store" {
            // That a deletion is queued of which nothing is known is worth a trace of its own.
            let of_nothing = |element: &serde_json::Value| {
                element.as_str().is_some_and(|text| text.ends_with("()"))
            };
            if elements.iter().any(of_nothing) {
                shape.push_str(" †()");
            }
            continue;
        }
        for element in elements
            .iter()
            .filter_map(|element| element.as_str())
            .take(4)
        {
            let word = element.split(' ').next().unwrap_or("");
            let guess = match element.split_once('†') {
                None => "",
                Some((_, guess)) if guess.ends_with("()") => "†()",
                Some(_) => "†",
            };
            shape.extend([" ", word, guess]);
        }
    }
    format!("{} {shape}", result(outcome))
}
