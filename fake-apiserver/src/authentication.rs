//! The bearer token, if one is asked for.

use std::{io, path::Path, sync::Arc};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use http::header::AUTHORIZATION;

use crate::{
    ApiServer,
    failure::Failure,
    kubeconfig::write_private,
    tls::{TlsError, random_token},
};

/// Paths that everybody may read: those of the role `system:public-info-viewer`.
const PUBLIC_PATHS: [&str; 4] = ["/healthz", "/livez", "/readyz", "/version"];

/// What every request must bear. Never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct BearerToken(String);

impl std::fmt::Debug for BearerToken {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("BearerToken")
    }
}

/// No token can be had.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read or written.
    #[error("the token's file cannot be used")]
    File(#[from] io::Error),
    /// It holds nothing that can be sent in a header.
    #[error("a token is one word of visible ASCII characters")]
    NotAWord,
    /// The system gives no random bytes.
    #[error("no token can be made")]
    Random(#[from] TlsError),
}

impl BearerToken {
    /// A given token.
    ///
    /// # Errors
    /// If it is empty or not of visible ASCII characters.
    pub fn try_new(token: &str) -> Result<Self, TokenError> {
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::NotAWord);
        }
        Ok(Self(token.to_owned()))
    }

    /// Reads a token from a file; if there is none, makes a random one and writes it there with mode 0600.
    ///
    /// # Errors
    /// [`TokenError`].
    pub fn from_file(path: &Path) -> Result<Self, TokenError> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::try_new(text.trim()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let token = random_token()?;
                write_private(path, &format!("{token}\n"))?;
                Ok(Self(token))
            }
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Compares in a time that does not depend on where the difference is.
    fn is(&self, other: &[u8]) -> bool {
        let differences = self
            .0
            .bytes()
            .zip(other)
            .map(|(mine, theirs)| mine ^ theirs);
        self.0.len() == other.len() && differences.fold(0, |all, bits| all | bits) == 0
    }
}

/// Lets only requests through that bear the token, if the server asks for one.
pub(crate) async fn authenticate(
    State(server): State<Arc<ApiServer>>,
    request: Request,
    next: Next,
) -> Response {
    let Some(token) = server.required_token() else {
        return next.run(request).await;
    };
    let header = request.headers().get(AUTHORIZATION);
    let borne = header.and_then(|header| bearer(header.as_bytes()));
    if PUBLIC_PATHS.contains(&request.uri().path()) || borne.is_some_and(|borne| token.is(borne)) {
        return next.run(request).await;
    }
    Failure::unauthorized().into_response()
}

/// The token of an Authorization header, whose scheme may be written in any case.
fn bearer(header: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = header.split_at_checked("bearer ".len())?;
    scheme
        .eq_ignore_ascii_case(b"bearer ")
        .then(|| token.trim_ascii())
}
