//! The named choices of a scenario: informer, queue, handler.

use std::{fmt, str::FromStr};

use bench_core::cache::QueueKind;

use crate::quantity::QuantityError;

/// Whose informer runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Implementation {
    /// client-go's own, of the release that has the asked queue.
    ClientGo,
    /// The one of this repository.
    InformerBench,
}

impl FromStr for Implementation {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        match text {
            "client-go" => Ok(Self::ClientGo),
            "informer-bench" => Ok(Self::InformerBench),
            _ => Err(QuantityError::new(
                text,
                "an implementation that runs here: informer-bench or client-go",
            )),
        }
    }
}

impl fmt::Display for Implementation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::ClientGo => "client-go",
            Self::InformerBench => "informer-bench",
        })
    }
}

/// Which of upstream's two informers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InformerKind {
    /// `NewIndexerInformer`: one handler, called inline while the queue pops.
    Plain,
    /// `SharedInformer`: many handlers, each with its own buffer.
    Shared,
}

impl FromStr for InformerKind {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        match text {
            "plain" => Ok(Self::Plain),
            "shared" => Ok(Self::Shared),
            _ => Err(QuantityError::new(text, "an informer: plain or shared")),
        }
    }
}

impl fmt::Display for InformerKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Plain => "plain",
            Self::Shared => "shared",
        })
    }
}

/// Generation of the queue, by the name that results carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueuePreset(pub QueueKind);

impl FromStr for QueuePreset {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let kind = QueueKind::ALL.into_iter().find(|kind| kind.name() == text);
        kind.map(Self).ok_or_else(|| {
            QuantityError::new(
                text,
                "a queue: delta-fifo, real-fifo-per-event, real-fifo or atomic-fifo",
            )
        })
    }
}

impl fmt::Display for QueuePreset {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.name())
    }
}

/// What the handler does with a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandlerKind {
    /// Notes the time and returns.
    Probe,
    /// Spends its cost inside the callback.
    Inline,
    /// Puts the key into a work queue, whose reconcilers spend the cost.
    WorkQueue,
}

impl FromStr for HandlerKind {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        match text {
            "probe" => Ok(Self::Probe),
            "inline" => Ok(Self::Inline),
            "workqueue" => Ok(Self::WorkQueue),
            _ => Err(QuantityError::new(
                text,
                "a handler: probe, inline or workqueue",
            )),
        }
    }
}

impl fmt::Display for HandlerKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Probe => "probe",
            Self::Inline => "inline",
            Self::WorkQueue => "workqueue",
        })
    }
}
