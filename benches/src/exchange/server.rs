//! The scripted server: which answer a request gets, and what was asked when. How it travels is elsewhere.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::time::Instant;

use super::script::{Answer, End, Piece, Script};

/// Answers requests by a script and notes them.
#[derive(Debug, Clone)]
pub struct ScriptedServer {
    script: Arc<Script>,
    began: Instant,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    asked: [usize; 3],
    requests: Vec<Request>,
}

/// A request as it came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Method, path and query; a `timeoutSeconds` within the range of client-go's is written as that range.
    pub text: String,
    /// Time since the answer before had been given; absent for the first request.
    pub waited: Option<Duration>,
    // Since the start; the latter absent while it is being answered.
    asked_at: Duration,
    answered_at: Option<Duration>,
}

/// An answer on its way. Tell when all of it is sent.
#[derive(Debug, Clone)]
pub struct Pending {
    /// What to send.
    pub answer: Answer,
    server: ScriptedServer,
    place: usize,
}

/// How long after the last answer a script is over.
const QUIET: Duration = Duration::from_millis(300);

impl ScriptedServer {
    /// A server that nobody has asked yet. Must be called in a tokio runtime, whose clock it goes by.
    pub fn new(script: Script) -> Self {
        Self {
            script: Arc::new(script),
            began: Instant::now(),
            state: Arc::default(),
        }
    }

    /// The script.
    pub fn script(&self) -> &Script {
        &self.script
    }

    /// Notes a request and says what it is answered with. `target` is path and query.
    pub fn ask(&self, method: &str, target: &str) -> Pending {
        let now = self.began.elapsed();
        let mut state = self.state.lock();
        let parameters = target.split_once('?').map_or("", |(_, query)| query);
        let has = |wanted: &str| parameters.split('&').any(|parameter| parameter == wanted);
        let (class, answers) = match (has("watch=true"), has("sendInitialEvents=true")) {
            (true, true) => (0, &self.script.stream),
            (true, false) => (1, &self.script.watch),
            (false, _) => (2, &self.script.list),
        };
        let place = state.asked[class];
        state.asked[class] += 1;
        let answer = answers.get(place).cloned().or_else(|| match class {
            1 => Some(Answer::silent()),
            _ => answers.last().cloned(),
        });
        let waited = state.requests.last().map(|last| {
            // The client need not have waited for the answer's end.
            now.saturating_sub(last.answered_at.unwrap_or(last.asked_at))
        });
        state.requests.push(Request {
            text: format!("{method} {}", normal_target(target)),
            waited,
            asked_at: now,
            answered_at: None,
        });
        Pending {
            answer: answer.unwrap_or_else(Answer::unknown_stream),
            server: self.clone(),
            place: state.requests.len() - 1,
        }
    }

    /// What was asked so far, or until the script was over.
    pub fn requests(&self) -> Vec<Request> {
        let mut requests = self.state.lock().requests.clone();
        requests.truncate(self.script.requests.unwrap_or(usize::MAX));
        requests
    }

    /// Whether a script that ends with a number of requests has ended.
    pub fn has_answered_enough(&self) -> bool {
        let state = self.state.lock();
        let last = self
            .script
            .requests
            .and_then(|enough| state.requests.get(enough.checked_sub(1)?));
        last.and_then(|last| last.answered_at)
            .is_some_and(|at| self.began.elapsed() >= at + QUIET)
    }
}

impl Pending {
    /// All that there is to send has been sent.
    pub fn sent(&self) {
        let now = self.server.began.elapsed();
        self.server.state.lock().requests[self.place].answered_at = Some(now);
    }
}

impl Answer {
    /// A watch that stays open and in which nothing happens.
    pub fn silent() -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            body: Vec::new(),
            end: End::Open,
        }
    }

    /// The headers, with a content type that is JSON's unless the script has its own.
    pub fn all_headers(&self) -> Vec<(&str, &str)> {
        let own = self.headers.iter();
        let mut all: Vec<_> = own.map(|(name, value)| (&**name, &**value)).collect();
        if all.iter().all(|(name, _)| *name != "Content-Type") {
            all.push(("Content-Type", "application/json"));
        }
        all
    }

    /// What a server says to `sendInitialEvents` if it does not know it.
    pub fn unknown_stream() -> Self {
        let body = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"sendInitialEvents: Forbidden","reason":"Invalid","code":422}"#;
        Self {
            status: 422,
            headers: Vec::new(),
            body: vec![Piece::Text(body.to_owned())],
            end: End::Whole,
        }
    }
}

/// The seconds for which client-go asks its watches to last.
const TIMEOUT_SECONDS: std::ops::Range<u64> = 300..600;

fn normal_target(target: &str) -> String {
    let Some((path, query)) = target.split_once('?') else {
        return target.to_owned();
    };
    let parameters = query.split('&').map(|parameter| {
        let seconds = parameter
            .strip_prefix("timeoutSeconds=")
            .and_then(|seconds| seconds.parse().ok());
        match seconds {
            Some(seconds) if TIMEOUT_SECONDS.contains(&seconds) => "timeoutSeconds=300..600",
            _ => parameter,
        }
    });
    format!("{path}?{}", parameters.collect::<Vec<_>>().join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_timeout_within_the_range_is_written_as_the_range() {
        assert_eq!(normal_target("/pods"), "/pods");
        assert_eq!(
            normal_target("/pods?timeoutSeconds=599&watch=true"),
            "/pods?timeoutSeconds=300..600&watch=true"
        );
        assert_eq!(
            normal_target("/pods?timeoutSeconds=600"),
            "/pods?timeoutSeconds=600"
        );
    }
}
