//! The body of a watch: initial state, events as they happen, bookmarks, and its end.

use std::{collections::VecDeque, convert::Infallible, sync::Arc};

use axum::body::Body;
use bench_core::api::{ObjectKey, Resource, Status};
use bytes::Bytes;
use futures_util::stream;
use serde_json::{Value, json};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use crate::{
    ApiServer,
    failure::Failure,
    list::range,
    storage::ResourceId,
    stored_object::StoredObject,
    watch::{Bookmarks, WatchRequest, WatchStart},
    watch_cache::Event,
    watch_view::WatchView,
    watcher_registry::{Standing, WatcherId},
};

/// Events are joined into one frame up to this size.
const FRAME_SIZE_BYTES: usize = 64 * 1024;

/// Events that a watch with a view of its own takes at once.
const BATCH: usize = 256;

/// A stream of one ERROR event.
pub(crate) fn error_body(status: &Status) -> Body {
    let event = json!({"type": "ERROR", "object": status});
    let line = Bytes::from(format!("{event}\n"));
    Body::from_stream(stream::iter([Ok::<_, Infallible>(line)]))
}

/// The stream of a watch that begins at `start`, open until its deadline, the server's wish or the client's hanging up.
pub(crate) fn watch_body(
    open: OpenWatch,
    request: &WatchRequest,
    view: WatchView,
    start: &WatchStart,
) -> Body {
    let server = &open.server;
    let config = server.config();
    let now = Instant::now();
    let deadline = now + request.timeout.unwrap_or_else(|| server.random_timeout());
    let phase = match &start.initial {
        None => Phase::Live,
        Some(snapshot) => {
            let objects = range(&snapshot.objects, view.namespace(), None);
            Phase::Initial {
                objects: objects
                    .map(|(key, object)| (key.clone(), Arc::clone(object)))
                    .collect(),
                revision: snapshot.revision,
            }
        }
    };
    let watch = WatchStream {
        resource: server.read(|state| state.storage.store(open.resource).resource().clone()),
        head: server.head_of(open.resource),
        view,
        cursor: start.cursor,
        after: start.after,
        phase,
        deadline,
        bookmarks: request.bookmarks,
        last_bookmark: deadline
            .checked_sub(config.bookmark_before_deadline)
            .filter(|at| *at > now),
        next_bookmark: now + config.bookmark_interval,
        open,
    };
    Body::from_stream(stream::unfold(watch, |mut watch| async move {
        let frame = watch.next_frame().await?;
        Some((Ok::<_, Infallible>(frame), watch))
    }))
}

/// A watch in the registry; leaves it when dropped.
#[derive(Debug)]
pub(crate) struct OpenWatch {
    pub(crate) server: Arc<ApiServer>,
    pub(crate) resource: ResourceId,
    pub(crate) watcher: WatcherId,
    pub(crate) closings: watch::Receiver<u64>,
    pub(crate) closings_seen: u64,
}

impl OpenWatch {
    /// Finds where a watch begins and registers it.
    ///
    /// # Errors
    /// As [`WatchRequest::begin`].
    pub(crate) fn begin(
        server: &Arc<ApiServer>,
        resource: ResourceId,
        request: &WatchRequest,
    ) -> Result<(Self, WatchStart), Failure> {
        // Read before the watch is registered, so that no closing is missed.
        let closings = server.closings();
        let closings_seen = *closings.borrow();
        let (watcher, start) = server.read(|state| {
            let start = request.begin(&state.storage, resource)?;
            let store = state.storage.store(resource);
            let buffer = server.watch_buffer(store.resource());
            let watcher = state.watchers.open(resource, store.cache().head(), buffer);
            Ok((watcher, start))
        })?;
        Ok((
            Self {
                server: Arc::clone(server),
                resource,
                watcher,
                closings,
                closings_seen,
            },
            start,
        ))
    }

    fn is_closed(&self) -> bool {
        *self.closings.borrow() != self.closings_seen
    }
}

impl Drop for OpenWatch {
    fn drop(&mut self) {
        self.server.close_watcher(self.watcher);
    }
}

struct WatchStream {
    open: OpenWatch,
    resource: Resource,
    head: watch::Receiver<u64>,
    view: WatchView,
    cursor: u64,
    after: u64,
    phase: Phase,
    deadline: Instant,
    bookmarks: Bookmarks,
    // The one before the deadline; taken when sent.
    last_bookmark: Option<Instant>,
    next_bookmark: Instant,
}

enum Phase {
    Initial {
        objects: VecDeque<(ObjectKey, Arc<StoredObject>)>,
        revision: u64,
    },
    Live,
}

/// What the window holds for a watch.
enum Taken {
    Events(Bytes),
    /// Events, none of which this watch sees.
    Hidden,
    Nothing {
        revision: u64,
    },
    TooSlow,
}

/// What the window holds after that.
enum Left {
    More,
    Nothing { revision: u64 },
    TooSlow,
}

impl WatchStream {
    /// Whole events, or the end of the stream. Not cancel safe: what it took is gone with it.
    async fn next_frame(&mut self) -> Option<Bytes> {
        loop {
            if Instant::now() >= self.deadline || self.open.is_closed() {
                return None;
            }
            if let Phase::Initial { objects, revision } = &mut self.phase {
                if let Some(frame) = initial_frame(objects, &mut self.view) {
                    return Some(frame);
                }
                let revision = *revision;
                self.phase = Phase::Live;
                if self.bookmarks == Bookmarks::Sent {
                    return Some(
                        self.bookmark(revision, json!({"k8s.io/initial-events-end": "true"})),
                    );
                }
            }
            // Marked as seen before looking, so that an event between the look and the wait wakes it.
            self.head.borrow_and_update();
            match self.take_events() {
                Taken::Events(frame) => return Some(frame),
                Taken::Hidden => continue,
                Taken::TooSlow => return None,
                Taken::Nothing { revision } => {
                    if self.bookmark_is_due() && revision > self.after {
                        return Some(self.bookmark(revision, Value::Null));
                    }
                }
            }
            self.wait().await;
        }
    }

    fn take_events(&mut self) -> Taken {
        if self.view.is_plain() {
            self.take_frames()
        } else {
            self.take_viewed()
        }
    }

    /// Takes events as they are stored: their bytes are shared with all other watches.
    fn take_frames(&mut self) -> Taken {
        let mut frames = Vec::new();
        let mut size = 0;
        let Self { view, after, .. } = self;
        let (view, after) = (&*view, *after);
        let left = Self::take(&mut self.cursor, &self.open, |event| {
            if view.is_in_scope(&event.key) && event.object.revision() > after {
                let frame = event.object.frame();
                size += frame.len();
                frames.push(frame);
            }
            size < FRAME_SIZE_BYTES
        });
        match (left, frames.len()) {
            (Left::TooSlow, _) => Taken::TooSlow,
            (Left::Nothing { revision }, 0) => Taken::Nothing { revision },
            (Left::More, 0) => Taken::Hidden,
            (_, 1) => Taken::Events(frames.remove(0)),
            _ => Taken::Events(Bytes::from(frames.concat())),
        }
    }

    /// Takes events to look into them, which is done after the server's lock is released.
    fn take_viewed(&mut self) -> Taken {
        let mut events: Vec<Event> = Vec::new();
        let Self { view, after, .. } = self;
        let (view, after) = (&*view, *after);
        let left = Self::take(&mut self.cursor, &self.open, |event| {
            if view.is_in_scope(&event.key) && event.object.revision() > after {
                events.push(event.clone());
            }
            events.len() < BATCH
        });
        let revision = match left {
            Left::TooSlow => return Taken::TooSlow,
            Left::Nothing { revision } => Some(revision),
            Left::More => None,
        };
        let mut frames = Vec::new();
        for event in &events {
            self.view.write_event(event, &mut frames);
        }
        match revision {
            Some(revision) if frames.is_empty() => Taken::Nothing { revision },
            None if frames.is_empty() => Taken::Hidden,
            _ => Taken::Events(Bytes::from(frames)),
        }
    }

    /// Moves the cursor over events until `take` has enough.
    fn take(cursor: &mut u64, open: &OpenWatch, mut take: impl FnMut(&Event) -> bool) -> Left {
        let OpenWatch {
            server,
            resource,
            watcher,
            ..
        } = open;
        server.read(|state| {
            if state.watchers.standing(*watcher) == Standing::Terminated {
                return Left::TooSlow;
            }
            let cache = state.storage.store(*resource).cache();
            let Some(events) = cache.events_from(*cursor) else {
                state.watchers.terminate(*watcher);
                return Left::TooSlow;
            };
            for event in events {
                *cursor += 1;
                if !take(event) {
                    break;
                }
            }
            state.watchers.advance(*watcher, *cursor, cache.head());
            if *cursor < cache.head() {
                return Left::More;
            }
            Left::Nothing {
                revision: state.storage.revision(),
            }
        })
    }

    /// Whether it is time for a bookmark, which then counts as sent.
    fn bookmark_is_due(&mut self) -> bool {
        let now = Instant::now();
        if self.bookmarks == Bookmarks::Never {
            return false;
        }
        if self.last_bookmark.is_some_and(|at| at <= now) {
            self.last_bookmark = None;
            return true;
        }
        let due = self.next_bookmark <= now;
        if due {
            self.next_bookmark = now + self.open.server.config().bookmark_interval;
        }
        due
    }

    fn bookmark(&mut self, revision: u64, annotations: Value) -> Bytes {
        let mut object = json!({
            "kind": self.resource.kind,
            "apiVersion": self.resource.api_version(),
            "metadata": {"resourceVersion": revision.to_string()},
        });
        if !annotations.is_null() {
            object["metadata"]["annotations"] = annotations;
        }
        // Typed servers write a pod's required fields even here, and clients must bear it.
        if self.resource == Resource::pods() {
            object["spec"] = json!({"containers": null});
            object["status"] = json!({});
        }
        self.view.bookmark(&object)
    }

    /// Waits until something may have changed.
    async fn wait(&mut self) {
        let mut until = self.deadline;
        if self.bookmarks == Bookmarks::Sent {
            until = self
                .last_bookmark
                .unwrap_or(until)
                .min(self.next_bookmark)
                .min(until);
        }
        let OpenWatch {
            closings,
            closings_seen,
            ..
        } = &mut self.open;
        let seen = *closings_seen;
        tokio::select! {
            biased;
            _ = closings.wait_for(|count| *count != seen) => {}
            _ = self.head.changed() => {}
            () = sleep_until(until) => {}
        }
    }
}

/// ADDED events for the next few objects that a watch sees, each with the version that it has; `None` after the last.
fn initial_frame(
    objects: &mut VecDeque<(ObjectKey, Arc<StoredObject>)>,
    view: &mut WatchView,
) -> Option<Bytes> {
    let mut frame = Vec::new();
    while let Some((key, object)) = objects.pop_front() {
        view.write_initial(&key, &object, &mut frame);
        if frame.len() >= FRAME_SIZE_BYTES {
            break;
        }
    }
    (!frame.is_empty()).then(|| Bytes::from(frame))
}
