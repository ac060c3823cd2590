//! Answers that end: JSON as it is, indented or as YAML, and compressed where the client and the size ask for it.

use std::{convert::Infallible, io::Write as _};

use axum::{
    body::Body,
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use futures_util::stream;
use http::{
    HeaderMap, HeaderValue,
    header::{
        ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, VARY,
    },
    request::Parts,
};
use serde_json::Value;

use crate::{
    accept::{Accepted, Layout, MediaType},
    failure::Failure,
    indent::Indenter,
};

/// Answers of more bytes are compressed (`defaultGzipThresholdBytes` of apiserver's `responsewriters/writers.go`).
const GZIP_THRESHOLD_BYTES: usize = 128 * 1024;

/// Whether the client takes compressed answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Gzip,
    Identity,
}

impl Encoding {
    /// Only the bare word counts: `gzip;q=1` is not understood by servers.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let values = headers.get_all(ACCEPT_ENCODING).iter();
        let mut words = values
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','));
        if words.any(|word| word.trim() == "gzip") {
            Self::Gzip
        } else {
            Self::Identity
        }
    }
}

/// How an answer is sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    pub(crate) accepted: Accepted,
    pub(crate) encoding: Encoding,
}

impl Form {
    /// What a request accepts.
    ///
    /// # Errors
    /// 406.
    pub(crate) fn negotiate(request: &Parts) -> Result<Self, Failure> {
        let query = request.uri.query().unwrap_or("");
        Ok(Self {
            accepted: Accepted::negotiate(&request.headers, query)?,
            encoding: Encoding::of(&request.headers),
        })
    }
}

type Chunks = Box<dyn Iterator<Item = Bytes> + Send>;

/// Answers with JSON that comes in chunks. A length is that of all chunks together, if it is known.
pub(crate) fn answer(
    chunks: impl Iterator<Item = Bytes> + Send + 'static,
    length: Option<usize>,
    form: Form,
) -> Response {
    let Accepted {
        media_type, layout, ..
    } = form.accepted;
    let (mut chunks, length): (Chunks, _) = match (media_type, layout) {
        (MediaType::Json, Layout::Compact) => (Box::new(chunks), length),
        (MediaType::Json, Layout::Pretty) => (Box::new(indented(chunks)), None),
        (MediaType::Yaml, _) => (Box::new(std::iter::once(yaml(chunks))), None),
    };
    let first = chunks.next().unwrap_or_default();
    let second = chunks.next();
    let is_large = second.is_some() || first.len() > GZIP_THRESHOLD_BYTES;
    if is_large && form.encoding == Encoding::Gzip {
        let compressed = gzip(std::iter::once(first).chain(second).chain(chunks));
        let mut response = response(media_type, None, streamed(compressed));
        let headers = response.headers_mut();
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
        return response;
    }
    match second {
        None => response(media_type, Some(first.len()), Body::from(first)),
        second => {
            let chunks = std::iter::once(first).chain(second).chain(chunks);
            response(media_type, length, streamed(chunks))
        }
    }
}

fn response(media_type: MediaType, length: Option<usize>, body: Body) -> Response {
    let headers = [
        (CONTENT_TYPE, media_type.name()),
        (CACHE_CONTROL, "no-cache, private"),
    ];
    let length = length.map(|length| [(CONTENT_LENGTH, length)]);
    match length {
        Some(length) => (headers, length, body).into_response(),
        None => (headers, body).into_response(),
    }
}

fn streamed(chunks: impl Iterator<Item = Bytes> + Send + 'static) -> Body {
    Body::from_stream(stream::iter(chunks.map(Ok::<_, Infallible>)))
}

fn indented(chunks: impl Iterator<Item = Bytes>) -> impl Iterator<Item = Bytes> {
    let mut indenter = Indenter::default();
    chunks.map(move |chunk| {
        let mut out = Vec::with_capacity(chunk.len() * 2);
        indenter.push(&chunk, &mut out);
        Bytes::from(out)
    })
}

/// The whole document as YAML, keys sorted as servers sort them.
fn yaml(chunks: impl Iterator<Item = Bytes>) -> Bytes {
    let json: Vec<u8> = chunks.flatten().collect();
    let mut value: Value = serde_json::from_slice(&json).expect("answers are JSON");
    value.sort_all_objects();
    let yaml = serde_saphyr::to_string(&value).expect("JSON can be written as YAML");
    Bytes::from(yaml)
}

/// At the fastest level, as servers do.
fn gzip(mut chunks: impl Iterator<Item = Bytes>) -> impl Iterator<Item = Bytes> {
    let mut encoder = Some(GzEncoder::new(Vec::new(), Compression::fast()));
    std::iter::from_fn(move || {
        let memory = "writing to memory cannot fail";
        loop {
            let Some(chunk) = chunks.next() else {
                let rest = encoder.take()?.finish().expect(memory);
                return Some(Bytes::from(rest));
            };
            let encoder = encoder.as_mut()?;
            encoder.write_all(&chunk).expect(memory);
            let compressed = std::mem::take(encoder.get_mut());
            if !compressed.is_empty() {
                return Some(Bytes::from(compressed));
            }
        }
    })
}
