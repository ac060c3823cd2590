//! 429 with and without `Retry-After`, and other refusals.

use super::{
    super::script::{Answer, Script},
    wire::{closed, list, plain, refusal, reset, shared, watch},
};

pub(super) fn forms() -> Vec<(&'static str, Answer)> {
    vec![
        ("429", refusal(429, "TooManyRequests")),
        (
            "429 with Retry-After",
            refusal(429, "TooManyRequests").retry_after("1"),
        ),
        (
            "429 with Retry-After: 0",
            refusal(429, "TooManyRequests").retry_after("0"),
        ),
        (
            "429 with Retry-After: a date",
            refusal(429, "TooManyRequests").retry_after("Mon, 30 Nov 2026 10:00:00 GMT"),
        ),
        (
            "429 with Retry-After: -1",
            refusal(429, "TooManyRequests").retry_after("-1"),
        ),
        ("429 with another reason", refusal(429, "Conflict")),
        ("500", refusal(500, "InternalError")),
        (
            "500 with Retry-After",
            refusal(500, "InternalError").retry_after("1"),
        ),
        ("503", refusal(503, "ServiceUnavailable")),
        (
            "503 with Retry-After",
            refusal(503, "ServiceUnavailable").retry_after("2"),
        ),
        ("401", refusal(401, "Unauthorized")),
        ("403", refusal(403, "Forbidden")),
        ("404", refusal(404, "NotFound")),
        (
            "404 with Retry-After",
            refusal(404, "NotFound").retry_after("1"),
        ),
    ]
}

pub(super) fn scripts() -> Vec<Script> {
    let mut all = Vec::new();
    for (place, (name, answer)) in forms().into_iter().enumerate() {
        let (one, other) = if place % 2 == 0 {
            (plain as fn(&str) -> Script, shared as fn(&str) -> Script)
        } else {
            (shared as _, plain as _)
        };
        all.push(
            one(&format!("a list is answered {name}"))
                .list(answer.clone())
                .listed()
                .ends(),
        );
        all.push(
            other(&format!("a watch is answered {name}"))
                .listed()
                .watch(watch(&["+a/w@20"]).ended())
                .watch(answer)
                .list(list("30", &["a/x@1", "a/w@20"]))
                .ends(),
        );
    }
    all.extend(again());
    all.extend(connections());
    all
}

fn again() -> Vec<Script> {
    let busy = || refusal(429, "TooManyRequests");
    vec![
        plain("a list is answered 429 twice: the backoff grows")
            .list(busy())
            .list(busy())
            .listed()
            .ends(),
        shared("a watch is answered 429 twice: the backoff grows")
            .listed()
            .watch(busy())
            .watch(busy())
            .ends(),
        plain("a list is refused, then a watch: one backoff for both, or two")
            .list(busy())
            .listed()
            .watch(busy())
            .ends(),
        shared("a watch is refused, then a list: one backoff for both, or two")
            .listed()
            .watch(busy())
            .watch(watch(&["!410 Expired"]))
            .list(list("30", &["a/x@1"]))
            .ends(),
        plain("a list is asked again as often as it says")
            .list(busy().retry_after("1"))
            .list(busy().retry_after("1"))
            .list(busy().retry_after("1"))
            .listed()
            .ends(),
        (0..11)
            .fold(
                plain("a list is asked again ten times and no more"),
                |script, _| script.list(busy().retry_after("0")),
            )
            .listed()
            .ends(),
        (0..11)
            .fold(
                shared("a watch is asked again ten times and no more").listed(),
                |script, _| script.watch(busy().retry_after("0")),
            )
            .ends(),
        plain("a later page is answered 429 with Retry-After")
            .list(super::wire::page("10", "t1", &["a/x@1"]))
            .list(busy().retry_after("1"))
            .list(list("10", &["a/y@2"]))
            .ends(),
        shared("a later page is answered 429")
            .list(super::wire::page("10", "t1", &["a/x@1"]))
            .list(busy())
            .listed()
            .ends(),
    ]
}

fn connections() -> Vec<Script> {
    vec![
        plain("the connection closes before a watch's answer")
            .listed()
            .watch(closed())
            .ends(),
        shared("the connection is reset before a watch's answer")
            .listed()
            .watch(reset())
            .ends(),
        (0..11)
            .fold(
                plain("the connection closes before a watch's answer eleven times: an empty watch")
                    .listed(),
                |script, _| script.watch(closed()),
            )
            .ends(),
        plain("the connection closes, then 429, then an answer")
            .listed()
            .watch(closed())
            .watch(refusal(429, "TooManyRequests").retry_after("1"))
            .ends(),
    ]
}
