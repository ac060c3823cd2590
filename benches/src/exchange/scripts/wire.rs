//! Short words for what travels, and for scripts.
//!
//! Objects are written `namespace/name@version`; frames of a watch `+object` (ADDED), `~object` (MODIFIED), `-object`
//! (DELETED), `^version` (BOOKMARK), `^version=value` (the same with the mark of the end of the initial events) and
//! `!code reason` (ERROR).

use crate::exchange::script::{Answer, End, HandlerSpec, InformerSpec, Piece, Script, Streaming};

/// Before each frame, so that each is handled before the next comes: else how changes of several keys interleave would be the
/// scheduler's choice.
const PAUSE_MS: u64 = 60;

/// A script without streaming lists, for a plain informer.
pub(super) fn plain(name: &str) -> Script {
    Script {
        name: name.to_owned(),
        streaming: Streaming::Off,
        informer: InformerSpec {
            plain: true,
            ..InformerSpec::default()
        },
        final_version: "99".to_owned(),
        requests: None,
        list: Vec::new(),
        watch: Vec::new(),
        stream: Vec::new(),
    }
}

/// A script without streaming lists, for a shared informer with two handlers.
pub(super) fn shared(name: &str) -> Script {
    shared_by(name, &[HandlerSpec::default(); 2])
}

/// The same with these handlers.
pub(super) fn shared_by(name: &str, handlers: &[HandlerSpec]) -> Script {
    let mut script = plain(name);
    script.informer.plain = false;
    script.informer.handlers = handlers.to_vec();
    script
}

impl Script {
    pub(super) fn streaming(mut self) -> Self {
        self.streaming = Streaming::On;
        self
    }

    pub(super) fn streaming_by_default(mut self) -> Self {
        self.streaming = Streaming::Default;
        self
    }

    pub(super) fn list(mut self, answer: Answer) -> Self {
        self.list.push(answer);
        self
    }

    pub(super) fn watch(mut self, answer: Answer) -> Self {
        self.watch.push(answer);
        self
    }

    pub(super) fn stream(mut self, answer: Answer) -> Self {
        self.stream.push(answer);
        self
    }

    /// A list of two objects, as most scripts begin.
    pub(super) fn listed(self) -> Self {
        self.list(list("10", &["a/x@1", "a/y@2"]))
    }

    /// The watch that ends the script: one more change, then the end object.
    pub(super) fn ends(self) -> Self {
        self.watch(watch(&["~a/x@98", "+z/end@99"]))
    }

    pub(super) fn final_version(mut self, version: &str) -> Self {
        version.clone_into(&mut self.final_version);
        self
    }

    pub(super) fn after_requests(mut self, requests: usize) -> Self {
        self.requests = Some(requests);
        self
    }

    pub(super) fn resync_ms(mut self, period: u64) -> Self {
        self.informer.resync_ms = period;
        self
    }

    pub(super) fn page_size(mut self, size: u64) -> Self {
        self.informer.page_size = size;
        self
    }
}

impl Answer {
    fn with(status: u16, body: Vec<Piece>, end: End) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body,
            end,
        }
    }

    pub(super) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn retry_after(self, value: &str) -> Self {
        self.header("Retry-After", value)
    }

    pub(super) fn then(mut self, end: End) -> Self {
        self.end = end;
        self
    }

    /// The server ends the watch.
    pub(super) fn ended(self) -> Self {
        self.then(End::Whole)
    }

    pub(super) fn cut(self) -> Self {
        self.then(End::Cut)
    }

    pub(super) fn text(mut self, text: &str) -> Self {
        self.body.push(Piece::Text(text.to_owned()));
        self
    }

    pub(super) fn pause(mut self, milliseconds: u64) -> Self {
        self.body.push(Piece::Pause(milliseconds));
        self
    }

    /// More frames.
    pub(super) fn frames(mut self, frames: &[&str]) -> Self {
        self.body.extend(watch(frames).body);
        self
    }
}

/// No answer: the connection is closed.
pub(super) fn closed() -> Answer {
    Answer::with(0, Vec::new(), End::Cut)
}

/// No answer: the connection is reset.
pub(super) fn reset() -> Answer {
    Answer::with(0, Vec::new(), End::Reset)
}

/// A whole list.
pub(super) fn list(version: &str, objects: &[&str]) -> Answer {
    page(version, "", objects)
}

/// A page; `token` is for the next one.
pub(super) fn page(version: &str, token: &str, objects: &[&str]) -> Answer {
    let items: Vec<_> = objects.iter().map(|object| pod(object)).collect();
    raw(
        200,
        &format!(
            r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"{version}","continue":"{token}"}},"items":[{}]}}"#,
            items.join(",")
        ),
    )
}

/// A body as it is.
pub(super) fn raw(status: u16, body: &str) -> Answer {
    Answer::with(status, vec![Piece::Text(body.to_owned())], End::Whole)
}

/// A Status with a reason, which may be absent.
pub(super) fn refusal(code: u16, reason: &str) -> Answer {
    raw(code, &status(code, reason, ""))
}

/// An open watch with these frames.
pub(super) fn watch(frames: &[&str]) -> Answer {
    let mut body = Vec::new();
    for text in frames {
        body.push(Piece::Pause(PAUSE_MS));
        body.push(Piece::Text(frame(text) + "\n"));
    }
    Answer::with(200, body, End::Open)
}

/// A frame without its line end.
pub(super) fn frame(text: &str) -> String {
    let (kind, rest) = text.split_at(1);
    let (name, object) = match kind {
        "+" => ("ADDED", pod(rest)),
        "~" => ("MODIFIED", pod(rest)),
        "-" => ("DELETED", pod(rest)),
        "^" => ("BOOKMARK", bookmark(rest)),
        _ => {
            let (code, reason) = rest.split_once(' ').unwrap_or((rest, ""));
            ("ERROR", status(code.parse().unwrap_or(0), reason, ""))
        }
    };
    format!(r#"{{"type":"{name}","object":{object}}}"#)
}

/// A line of a watch.
pub(super) fn line(kind: &str, object: &str) -> String {
    format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n")
}

/// The JSON of an object of another kind.
pub(super) fn node(text: &str) -> String {
    pod(text).replace("Pod", "Node")
}

/// What servers say of a version from the future.
pub(super) fn too_large() -> String {
    let details = r#""details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}],"retryAfterSeconds":1}"#;
    let message = r#""message":"Timeout: Too large resource version: 9, current: 5""#;
    status(504, "Timeout", &format!("{message},{details}"))
}

/// The JSON of an object.
pub(super) fn pod(text: &str) -> String {
    let (key, version) = text.split_once('@').unwrap_or((text, ""));
    let (namespace, name) = key.split_once('/').unwrap_or(("", key));
    format!(
        r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"namespace":"{namespace}","name":"{name}","resourceVersion":"{version}"}}}}"#
    )
}

fn bookmark(text: &str) -> String {
    let (version, annotations) = match text.split_once('=') {
        Some((version, value)) => (
            version,
            format!(r#","annotations":{{"k8s.io/initial-events-end":"{value}"}}"#),
        ),
        None => (text, String::new()),
    };
    format!(
        r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"resourceVersion":"{version}"{annotations}}}}}"#
    )
}

/// The JSON of a failure; `more` is more of its fields, such as `"details":{}`.
pub(super) fn status(code: u16, reason: &str, more: &str) -> String {
    let reason = match reason {
        "" => String::new(),
        reason => format!(r#","reason":"{reason}""#),
    };
    let more = match more {
        "" => String::new(),
        more => format!(",{more}"),
    };
    format!(
        r#"{{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure"{reason}{more},"code":{code}}}"#
    )
}
