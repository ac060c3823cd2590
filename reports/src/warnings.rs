//! Warnings of many trials as few lines.

use bench_core::measure::record::RunRecord;

/// One warning over all trials that carry it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Its stable kind.
    pub kind: String,
    /// What was wrong; numbers that differ between trials are ranges.
    pub text: String,
    /// Trials that carry it.
    pub trials: usize,
    /// Labels of their variants.
    pub labels: Vec<String>,
}

impl Note {
    /// The text, and whose it is.
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
        format!("{} ({whose})", self.text)
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
                    trials: 0,
                    labels: Vec::new(),
                });
                groups.len() - 1
            });
            let group = &mut groups[index];
            group.trials += 1;
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
            trials: group.trials,
            labels: group.labels,
        })
        .collect()
}
