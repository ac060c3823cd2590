//! Counts an answer's bytes, and a watch's events.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum::body::Body;
use bytes::{Buf as _, Bytes};
use http_body::{Frame, SizeHint};
use prometheus::{Histogram, IntCounter, local::LocalHistogram};

use super::layer::PassingRequest;

/// Counts events: lines.
pub(super) struct EventMeter {
    count: IntCounter,
    // Gathered over a frame, which can hold many events.
    sizes: LocalHistogram,
    // Of the line that is not complete yet.
    begun_bytes: usize,
}

impl EventMeter {
    pub(super) fn new(count: IntCounter, sizes: &Histogram) -> Self {
        Self {
            count,
            sizes: sizes.local(),
            begun_bytes: 0,
        }
    }

    fn count(&mut self, bytes: &[u8]) {
        let mut events = 0;
        let mut counted = 0;
        // This runs over every byte for every watch, so not one by one.
        for newline in memchr::memchr_iter(b'\n', bytes) {
            let line = self.begun_bytes + newline + 1 - counted;
            self.sizes.observe(line as f64);
            self.begun_bytes = 0;
            counted = newline + 1;
            events += 1;
        }
        self.begun_bytes += bytes.len() - counted;
        self.count.inc_by(events);
        self.sizes.flush();
    }
}

/// An answer's body whose request counts when it ends.
pub(super) struct MeteredBody {
    inner: Body,
    events: Option<EventMeter>,
    passing: PassingRequest,
}

impl MeteredBody {
    pub(super) fn new(inner: Body, events: Option<EventMeter>, passing: PassingRequest) -> Self {
        Self {
            inner,
            events,
            passing,
        }
    }
}

impl http_body::Body for MeteredBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(context));
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            self.passing.sent_bytes += data.remaining() as u64;
            if let Some(events) = &mut self.events {
                events.count(data);
            }
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
