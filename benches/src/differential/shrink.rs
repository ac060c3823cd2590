//! Makes a trace that shows something smaller while it still shows it.

use super::trace::{Operation, Trace};

/// Leaves out operations, longest runs first, and parts of operations, as long as `shows` holds.
///
/// # Errors
/// The first that `shows` returns.
pub fn shrink<E>(
    mut trace: Trace,
    mut shows: impl FnMut(&Trace) -> Result<bool, E>,
) -> Result<Trace, E> {
    let mut run = trace.operations.len();
    while run > 0 {
        let mut start = 0;
        let mut left_out = false;
        while start < trace.operations.len() {
            let end = (start + run).min(trace.operations.len());
            let mut shorter = trace.clone();
            shorter.operations.drain(start..end);
            if shows(&shorter)? {
                trace = shorter;
                left_out = true;
            } else {
                start = end;
            }
        }
        // At the end single operations are tried until none can be left out.
        if run > 1 || !left_out {
            run /= 2;
        }
    }
    for place in 0..trace.operations.len() {
        let mut candidates = simpler(&trace.operations[place]);
        while let Some(simpler_operation) = candidates.pop() {
            let mut candidate = trace.clone();
            candidate.operations[place] = simpler_operation;
            if shows(&candidate)? {
                candidates = simpler(&candidate.operations[place]);
                trace = candidate;
            }
        }
    }
    let options = trace.header.options.clone();
    for option in options {
        let mut candidate = trace.clone();
        candidate.header.options.remove(&option);
        if shows(&candidate)? {
            trace = candidate;
        }
    }
    Ok(trace)
}

// The same operation with one part less.
fn simpler(operation: &Operation) -> Vec<Operation> {
    match operation {
        Operation::Replace { objects, rv } => (0..objects.len())
            .map(|place| {
                let mut objects = objects.clone();
                objects.remove(place);
                let rv = rv.clone();
                Operation::Replace { objects, rv }
            })
            .collect(),
        Operation::Pop { process, during } if !during.is_empty() => (0..during.len())
            .map(|place| {
                let mut during = during.clone();
                during.remove(place);
                let process = *process;
                Operation::Pop { process, during }
            })
            .collect(),
        _ => Vec::new(),
    }
}
