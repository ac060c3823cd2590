//! What becomes of the bytes of one answer.

mod events;

use std::{collections::VecDeque, time::Duration};

use bytes::{Buf as _, Bytes, BytesMut};
use rand::rngs::ChaCha12Rng;

use self::events::EventEdit;
use super::script::{Fault, SlowDrip, StreamPoint};

/// What kind of answer it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Lines, each an event.
    Watch,
    /// Anything else: bytes.
    Whole,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Hand this to the client.
    Send(Bytes),
    /// Wait so long.
    Pause(Duration),
    /// Nothing comes after this.
    Stop(Ending),
}

/// How an answer ends, or does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// As if it were complete.
    Close,
    /// The connection breaks.
    Cut,
    /// The connection goes dead and stays open.
    HalfOpen,
    /// The answer stays open and silent.
    Stall,
}

/// One fault of one answer. Made by [`FaultPlan`](super::plan::FaultPlan).
#[derive(Debug)]
pub struct StreamFault {
    effect: Effect,
}

#[derive(Debug)]
enum Effect {
    Drip(SlowDrip),
    Edit(Box<EventEdit>),
    Stop { at: StreamPoint, end: End },
}

/// How far an answer has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// The next line is the last, and broken.
    CutDue,
    /// Nothing more comes.
    Over,
    Sending,
}

/// How a fault ends an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// With nothing more.
    Bare(Ending),
    /// With half a line more.
    MidLine,
    /// With an ERROR event more.
    Expired,
}

/// The ERROR event of a version that a watch can no longer have, in the words of a watch that etcd serves.
const EXPIRED: &[u8] = br#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"The resourceVersion for the provided watch is too old.","reason":"Expired","code":410}}
"#;

/// The faults of one answer, and how far it has come.
///
/// Whoever drives it hands over chunks with [`accept`](Self::accept) when [`next_step`](Self::next_step) has none to take,
/// and calls [`tick`](Self::tick) at [`wake_at`](Self::wake_at). Edits of events come first, then ends, then the trickle.
#[derive(Debug)]
pub struct StreamFaults {
    kind: Kind,
    edits: Vec<EventEdit>,
    stops: Vec<(StreamPoint, End)>,
    drip: Option<SlowDrip>,
    // Part of a line whose rest is still to come.
    partial: BytesMut,
    steps: VecDeque<Step>,
    events_sent: u64,
    bytes_sent: u64,
    elapsed: Duration,
    progress: Progress,
}

impl StreamFault {
    pub(super) fn new(fault: &Fault, random: ChaCha12Rng) -> Self {
        let stop = |at: &StreamPoint, end| Effect::Stop { at: *at, end };
        let effect = match fault {
            Fault::Stall(at) => stop(at, End::Bare(Ending::Stall)),
            Fault::HalfOpen(at) => stop(at, End::Bare(Ending::HalfOpen)),
            Fault::Close(at) => stop(at, End::Bare(Ending::Close)),
            Fault::Cut(at) => stop(at, End::MidLine),
            Fault::Expired(at) => stop(at, End::Expired),
            Fault::SlowDrip(drip) => Effect::Drip(*drip),
            Fault::DropEvents(choice) => {
                Effect::Edit(Box::new(EventEdit::dropping(choice, random)))
            }
            Fault::DuplicateEvents(choice) => {
                Effect::Edit(Box::new(EventEdit::duplicating(choice, random)))
            }
            Fault::ReorderEvents(reorder) => {
                Effect::Edit(Box::new(EventEdit::reordering(reorder, random)))
            }
            Fault::Bookmarks(fault) => Effect::Edit(Box::new(EventEdit::bookmarks(*fault))),
            Fault::NoEndMark => Effect::Edit(Box::new(EventEdit::no_end_mark())),
            Fault::Error(_) | Fault::ExpiredContinue | Fault::Delay(_) => {
                unreachable!("the plan deals with what comes before a body")
            }
        };
        Self { effect }
    }
}

impl StreamFaults {
    pub(super) fn new(kind: Kind, faults: Vec<StreamFault>) -> Self {
        let mut stream = Self {
            kind,
            edits: Vec::new(),
            stops: Vec::new(),
            drip: None,
            partial: BytesMut::new(),
            steps: VecDeque::new(),
            events_sent: 0,
            bytes_sent: 0,
            elapsed: Duration::ZERO,
            progress: Progress::Sending,
        };
        for fault in faults {
            match fault.effect {
                Effect::Drip(drip) => stream.drip = Some(drip),
                Effect::Edit(edit) => stream.edits.push(*edit),
                Effect::Stop { at, end } => stream.stops.push((at, end)),
            }
        }
        stream.stop_where_reached();
        stream
    }

    /// Takes a chunk of the right answer.
    pub fn accept(&mut self, chunk: &Bytes) {
        match self.kind {
            Kind::Whole => self.put(chunk),
            Kind::Watch => {
                self.partial.extend_from_slice(chunk);
                while let Some(end) = self.partial.iter().position(|byte| *byte == b'\n') {
                    let line = self.partial.split_to(end + 1).freeze();
                    self.edit_and_put(line, 0);
                }
            }
        }
    }

    /// The right answer has ended.
    pub fn finish(&mut self) {
        for edit in 0..self.edits.len() {
            for line in self.edits[edit].take_held() {
                self.edit_and_put(line, edit + 1);
            }
        }
        let rest = std::mem::take(&mut self.partial).freeze();
        if !rest.is_empty() {
            self.put(&rest);
        }
        self.stop(if self.progress == Progress::CutDue {
            Ending::Cut
        } else {
            Ending::Close
        });
    }

    /// What to do next; `None` means that another chunk, the end or time is needed.
    pub fn next_step(&mut self) -> Option<Step> {
        self.steps.pop_front()
    }

    /// The next time, since the answer began, at which something happens by itself.
    pub fn wake_at(&self) -> Option<Duration> {
        if self.progress == Progress::Over {
            return None;
        }
        self.stops.iter().filter_map(|(at, _)| at.after).min()
    }

    /// Time has passed: so much since the answer began. Of what waits to be sent, the rest is not sent if an end is due.
    pub fn tick(&mut self, now: Duration) {
        self.elapsed = now;
        let is_due = |at: &StreamPoint| at.after.is_some_and(|after| after <= now);
        if self.progress != Progress::Over && self.stops.iter().any(|(at, _)| is_due(at)) {
            self.steps.clear();
            self.stop_where_reached();
        }
    }

    fn edit_and_put(&mut self, line: Bytes, first_edit: usize) {
        let mut lines = vec![line];
        for edit in &mut self.edits[first_edit..] {
            lines = lines
                .into_iter()
                .flat_map(|line| edit.apply(line))
                .collect();
        }
        for line in lines {
            self.put(&line);
        }
    }

    fn put(&mut self, bytes: &Bytes) {
        if self.progress == Progress::Over {
            return;
        }
        if self.progress == Progress::CutDue {
            let half = bytes.slice(..bytes.len() / 2);
            self.send(half);
            self.stop(Ending::Cut);
            return;
        }
        let until = self.stops.iter().filter_map(|(at, _)| at.after_bytes).min();
        let room = until.map_or(usize::MAX, |until| {
            usize::try_from(until.saturating_sub(self.bytes_sent)).unwrap_or(usize::MAX)
        });
        let is_event = self.kind == Kind::Watch && events::carries_object(bytes);
        let sent = bytes.slice(..bytes.len().min(room));
        if sent.len() == bytes.len() && is_event {
            self.events_sent += 1;
        }
        self.send(sent);
        self.stop_where_reached();
    }

    fn send(&mut self, mut bytes: Bytes) {
        self.bytes_sent += bytes.len() as u64;
        let Some(drip) = self.drip else {
            if !bytes.is_empty() {
                self.steps.push_back(Step::Send(bytes));
            }
            return;
        };
        while bytes.has_remaining() {
            let portion = bytes.split_to(drip.bytes.get().min(bytes.len()));
            self.steps.push_back(Step::Send(portion));
            self.steps.push_back(Step::Pause(drip.every));
        }
    }

    /// Ends the answer at the first stop whose point is reached.
    fn stop_where_reached(&mut self) {
        if self.progress == Progress::Over {
            return;
        }
        let reached = |(at, _): &&(StreamPoint, End)| {
            *at == StreamPoint::default() || self.is_by_event(at) || self.is_inside_a_line(at)
        };
        let Some((at, end)) = self.stops.iter().find(reached).copied() else {
            return;
        };
        match end {
            End::Bare(ending) => self.stop(ending),
            End::Expired => {
                self.send(Bytes::from_static(EXPIRED));
                self.stop(Ending::Close);
            }
            End::MidLine if self.is_inside_a_line(&at) => self.stop(Ending::Cut),
            End::MidLine => self.progress = Progress::CutDue,
        }
    }

    fn is_by_event(&self, at: &StreamPoint) -> bool {
        at.after_events
            .is_some_and(|count| count <= self.events_sent)
    }

    /// Whether a point is reached that does not care for lines.
    fn is_inside_a_line(&self, at: &StreamPoint) -> bool {
        at.after_bytes.is_some_and(|count| count <= self.bytes_sent)
            || at.after.is_some_and(|after| after <= self.elapsed)
    }

    fn stop(&mut self, ending: Ending) {
        if self.progress != Progress::Over {
            self.progress = Progress::Over;
            self.steps.push_back(Step::Stop(ending));
        }
    }
}
