//! The token with which a paged list goes on.

use base64::{DecodeError, Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
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

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
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
            // The next key is the first one that is not below this. Servers leave the slash out where they go on inconsistently.
            start: match self.version {
                TokenVersion::At(_) => format!("/{}\0", self.after),
                TokenVersion::Latest => format!("{}\0", self.after),
            },
        };
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&wire).expect("plain strings and numbers"))
    }

    /// Decodes what [`encode`](Self::encode) wrote, in the words of apiserver's `pkg/storage/continue.go` for anything else.
    ///
    /// # Errors
    /// 400.
    pub(crate) fn decode(token: &str) -> Result<Self, Failure> {
        let invalid = |problem: &str| {
            let start = "invalid continue token: continue key is not valid";
            Failure::bad_request(format!("{start}: {problem}"))
        };
        let json = URL_SAFE_NO_PAD
            .decode(token.trim_end_matches('='))
            .map_err(|error| invalid(&base64_problem(&error, token)))?;
        let wire: Wire =
            serde_json::from_slice(&json).map_err(|error| invalid(&json_problem(&error, &json)))?;
        if wire.v != FORMAT {
            let problem = format!("server does not recognize this encoded version {}", wire.v);
            return Err(invalid(&problem));
        }
        let version = match u64::try_from(wire.rv) {
            Ok(0) => {
                let problem = format!("incorrect encoded start resourceVersion (version {FORMAT})");
                return Err(invalid(&problem));
            }
            Ok(version) => TokenVersion::At(version),
            Err(_) if wire.rv == -1 => TokenVersion::Latest,
            Err(_) => return Err(invalid("negative resourceVersion")),
        };
        let after = wire
            .start
            .strip_suffix('\0')
            .ok_or_else(|| invalid(&format!("encoded start key empty (version {FORMAT})")))?;
        Ok(Self {
            version,
            after: after.strip_prefix('/').unwrap_or(after).to_owned(),
        })
    }
}

fn base64_problem(error: &DecodeError, token: &str) -> String {
    let place = match error {
        DecodeError::InvalidByte(place, _) | DecodeError::InvalidLastSymbol(place, _) => *place,
        DecodeError::InvalidLength(_) | DecodeError::InvalidPadding => token.len(),
    };
    format!("illegal base64 data at input byte {place}")
}

fn json_problem(error: &serde_json::Error, json: &[u8]) -> String {
    match json.first() {
        Some(first) if !b"{[\"tfn-0123456789".contains(first) => format!(
            "invalid character '{}' looking for beginning of value",
            char::from(*first)
        ),
        _ => error.to_string(),
    }
}
