//! Warnings of many trials as few lines.

use bench_core::measure::record::RunRecord;

use crate::quantity::duration;

/// One warning over all trials that carry it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Its stable kind.
    pub kind: String,
    /// What was wrong; numbers that differ between trials are ranges.
    pub text: String,
    /// Fewest and most times that a trial told it.
    pub told: (u64, u64),
    /// When a trial told it first, from its informer's start; absent for what was found afterwards.
    pub first_at_ns: Option<u64>,
    /// Trials that carry it.
    pub trials: usize,
    /// Labels of their variants.
    pub labels: Vec<String>,
}

impl Note {
    /// The text, how often and when, and whose it is.
    pub fn line(&self) -> String {
        let trials = match self.trials {
            1 => "1 trial".to_owned(),
            several => format!("{several} trials"),
        };
        let whose = if self.labels.len() <= 2 {
            format!("{trials}: {}", self.labels.join(", "))
        } else {
            format!("{trials} of {} variants", self.labels.len())
        };
        let times = match self.told {
            (_, 0 | 1) => String::new(),
            (fewest, most) if fewest == most => format!("{most} times, "),
            (fewest, most) => format!("{fewest}–{most} times, "),
        };
        let since = self.first_at_ns.map_or_else(String::new, |at| {
            format!("first {} after the start, ", duration(at as f64))
        });
        format!("{} ({times}{since}{whose})", self.text)
    }
}

/// A word of a message: a number with what stands around it, or anything else.
#[derive(Debug, Clone, PartialEq)]
enum Word {
    Text(String),
    Number {
        low: (f64, String),
        high: (f64, String),
        after: String,
    },
}

impl Word {
    fn of(word: &str) -> Self {
        let bare = word.trim_end_matches([':', ',', ';', ')']);
        match bare.parse::<f64>() {
            Ok(value) if value.is_finite() => Self::Number {
                low: (value, bare.to_owned()),
                high: (value, bare.to_owned()),
                after: word[bare.len()..].to_owned(),
            },
            _ => Self::Text(word.to_owned()),
        }
    }

    /// Whether both are the same but for the number.
    fn fits(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(left), Self::Text(right))
            | (Self::Number { after: left, .. }, Self::Number { after: right, .. }) => {
                left == right
            }
            _ => false,
        }
    }

    /// Widens the range by that of `other`.
    fn include(&mut self, other: &Self) {
        if let (
            Self::Number { low, high, .. },
            Self::Number {
                low: (value, text), ..
            },
        ) = (self, other)
        {
            if *value < low.0 {
                *low = (*value, text.clone());
            }
            if *value > high.0 {
                *high = (*value, text.clone());
            }
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number { low, high, after } if low.1 == high.1 => format!("{}{after}", low.1),
            Self::Number { low, high, after } => format!("{}–{}{after}", low.1, high.1),
        }
    }
}

/// Warnings of one kind whose messages differ in numbers only.
struct Group {
    kind: String,
    words: Vec<Word>,
    told: (u64, u64),
    first_at_ns: Option<u64>,
    trials: usize,
    labels: Vec<String>,
}

/// One note for each kind of warning whose messages differ in numbers only, in the order of first sight.
pub fn notes(records: &[RunRecord]) -> Vec<Note> {
    let mut groups: Vec<Group> = Vec::new();
    for record in records {
        for warning in &record.warnings {
            let words: Vec<Word> = warning.message.split_whitespace().map(Word::of).collect();
            let fits = |group: &Group| {
                group.kind == warning.kind
                    && group.words.len() == words.len()
                    && group
                        .words
                        .iter()
                        .zip(&words)
                        .all(|(left, right)| left.fits(right))
            };
            let index = groups.iter().position(fits).unwrap_or_else(|| {
                groups.push(Group {
                    kind: warning.kind.clone(),
                    words: words.clone(),
                    told: (warning.count, warning.count),
                    first_at_ns: warning.first_at_ns,
                    trials: 0,
                    labels: Vec::new(),
                });
                groups.len() - 1
            });
            let group = &mut groups[index];
            group.trials += 1;
            group.told.0 = group.told.0.min(warning.count);
            group.told.1 = group.told.1.max(warning.count);
            let firsts = [group.first_at_ns, warning.first_at_ns];
            group.first_at_ns = firsts.into_iter().flatten().min();
            for (known, word) in group.words.iter_mut().zip(&words) {
                known.include(word);
            }
            if !group.labels.contains(&record.variant.label) {
                group.labels.push(record.variant.label.clone());
            }
        }
    }
    groups
        .into_iter()
        .map(|group| Note {
            text: group
                .words
                .iter()
                .map(Word::text)
                .collect::<Vec<_>>()
                .join(" "),
            kind: group.kind,
            told: group.told,
            first_at_ns: group.first_at_ns,
            trials: group.trials,
            labels: group.labels,
        })
        .collect()
}
