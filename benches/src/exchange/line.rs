//! The lines of client-go that are compared, and our presets of them.

use bench_core::{
    cache::{QueueKind, ReflectorSettings, StreamingList},
    list_watch::RefusedWatches,
};

use super::script::Streaming;

/// A line of client-go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// 0.27.
    V0_27,
    /// 0.34.
    V0_34,
    /// 0.35.
    V0_35,
    /// 0.37.
    V0_37,
}

impl Line {
    /// Every line.
    pub const ALL: [Self; 4] = [Self::V0_27, Self::V0_34, Self::V0_35, Self::V0_37];

    /// Its name, which its program has, too.
    pub fn name(self) -> &'static str {
        match self {
            Self::V0_27 => "v0.27",
            Self::V0_34 => "v0.34",
            Self::V0_35 => "v0.35",
            Self::V0_37 => "v0.37",
        }
    }

    /// The environment variable that turns streaming lists on and off, with its value.
    pub fn environment(self, streaming: Streaming) -> Option<(&'static str, &'static str)> {
        match (self, streaming) {
            (_, Streaming::Default) | (Self::V0_27, Streaming::Off) => None,
            (Self::V0_27, Streaming::On) => Some(("ENABLE_CLIENT_GO_WATCH_LIST_ALPHA", "1")),
            (_, Streaming::On) => Some(("KUBE_FEATURE_WatchListClient", "true")),
            (_, Streaming::Off) => Some(("KUBE_FEATURE_WatchListClient", "false")),
        }
    }

    /// Our queue.
    pub fn queue(self) -> QueueKind {
        match self {
            Self::V0_27 => QueueKind::DeltaFifo,
            Self::V0_34 => QueueKind::RealFifoPerEvent,
            Self::V0_35 => QueueKind::RealFifo,
            Self::V0_37 => QueueKind::AtomicFifo,
        }
    }

    /// What its REST client knows refused watches by.
    pub fn refused_watches(self) -> RefusedWatches {
        match self {
            Self::V0_27 => RefusedWatches::ByCode,
            Self::V0_34 | Self::V0_35 | Self::V0_37 => RefusedWatches::ByStatus,
        }
    }

    /// Our reflector; `page_size` 0 is upstream's rules.
    pub fn reflector(self, streaming: Streaming, page_size: u64) -> ReflectorSettings {
        let preset = match self {
            Self::V0_27 => ReflectorSettings::client_go_0_27,
            Self::V0_34 => ReflectorSettings::client_go_0_28,
            Self::V0_35 => ReflectorSettings::client_go_0_35,
            Self::V0_37 => ReflectorSettings::client_go_0_36,
        };
        let mut settings = preset(1);
        settings.page_size = page_size;
        settings.expected_kind = Some("Pod".to_owned());
        match (self, streaming) {
            (_, Streaming::Default) => {}
            (_, Streaming::Off) => settings.streaming_list = StreamingList::Off,
            (Self::V0_27, Streaming::On) => {
                settings.streaming_list = StreamingList::FallBackOnInvalid;
            }
            (_, Streaming::On) => settings.streaming_list = StreamingList::FallBackOnAnyError,
        }
        settings
    }
}
