//! The token with which a paged list goes on.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

const FORMAT: &str = "meta.k8s.io/v1";

/// At which version a list goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenVersion {
    At(u64),
    Latest,
}

/// A decoded token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ContinueToken {
    pub(crate) version: TokenVersion,
    /// The last key so far, relative to the listed namespace.
    pub(crate) after: String,
}

#[derive(Serialize, Deserialize)]
struct Wire {
    v: String,
    rv: i64,
    start: String,
}

impl ContinueToken {
    pub(crate) fn encode(&self) -> String {
        let wire = Wire {
            v: FORMAT.to_owned(),
            rv: match self.version {
                TokenVersion::At(version) => i64::try_from(version).expect("versions count writes"),
                TokenVersion::Latest => -1,
            },
            // The next key is the first one that is not below this.
            start: format!("{}\0", self.after),
        };
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&wire).expect("plain strings and numbers"))
    }

    /// # Errors
    /// 400.
    pub(crate) fn decode(token: &str) -> Result<Self, Failure> {
        let invalid =
            |problem: &str| Failure::bad_request(format!("invalid continue token: {problem}"));
        let json = URL_SAFE_NO_PAD
            .decode(token.trim_end_matches('='))
            .map_err(|error| invalid(&error.to_string()))?;
        let wire: Wire =
            serde_json::from_slice(&json).map_err(|error| invalid(&error.to_string()))?;
        if wire.v != FORMAT {
            return Err(invalid("unknown version of the token"));
        }
        let version = match u64::try_from(wire.rv) {
            Ok(0) => return Err(invalid("resourceVersion 0")),
            Ok(version) => TokenVersion::At(version),
            Err(_) if wire.rv == -1 => TokenVersion::Latest,
            Err(_) => return Err(invalid("negative resourceVersion")),
        };
        let after = wire
            .start
            .strip_suffix('\0')
            .ok_or_else(|| invalid("start key"))?;
        Ok(Self {
            version,
            after: after.to_owned(),
        })
    }
}
