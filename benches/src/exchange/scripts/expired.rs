//! 410 and 504 in every form in which a list, a page or the opening of a watch may get them.

use super::{
    super::script::{Answer, Script},
    wire::{list, page, plain, raw, refusal, shared, status, too_large, watch},
};

const TOO_LARGE_BY_CAUSE: &str =
    r#""message":"Timeout","details":{"causes":[{"message":"Too large resource version"}]}"#;
const TOO_LARGE_BY_MESSAGE: &str = r#""message":"Timeout: Too large resource version: 9, current: 5","details":{"retryAfterSeconds":1}"#;
const TOO_LARGE_WITHOUT_DETAILS: &str =
    r#""message":"Timeout: Too large resource version: 9, current: 5""#;

/// Each form with its name.
pub(super) fn forms() -> Vec<(&'static str, Answer)> {
    let timeout = |more| raw(504, &status(504, "Timeout", more));
    vec![
        ("410 Expired", refusal(410, "Expired")),
        ("410 Gone", refusal(410, "Gone")),
        ("410 by code alone", refusal(410, "")),
        (
            "410 with a reason of another kind",
            refusal(410, "NotFound"),
        ),
        (
            "410 as text",
            raw(410, "gone").header("Content-Type", "text/plain"),
        ),
        ("400 with the reason Expired", refusal(400, "Expired")),
        ("504 too large by type", raw(504, &too_large())),
        ("504 too large by cause", timeout(TOO_LARGE_BY_CAUSE)),
        ("504 too large by message", timeout(TOO_LARGE_BY_MESSAGE)),
        (
            "504 too large without details",
            timeout(TOO_LARGE_WITHOUT_DETAILS),
        ),
    ]
}

pub(super) fn scripts() -> Vec<Script> {
    let mut all = Vec::new();
    for (place, (name, answer)) in forms().into_iter().enumerate() {
        let informer = if place % 2 == 0 { plain } else { shared };
        all.push(
            informer(&format!("a relist is answered {name}"))
                .listed()
                .watch(watch(&["+a/w@20", "!410 Expired"]))
                .list(answer.clone())
                .list(list("30", &["a/x@1", "a/w@20"]))
                .ends(),
        );
        all.push(
            informer(&format!("the opening of a watch is answered {name}"))
                .listed()
                .watch(watch(&["+a/w@20"]).ended())
                .watch(answer)
                .list(list("30", &["a/x@1", "a/w@20"]))
                .ends(),
        );
    }
    for (name, answer) in forms().into_iter().take(5) {
        all.push(
            plain(&format!("a token is answered {name}"))
                .list(page("10", "t1", &["a/x@1"]))
                .list(answer)
                .list(list("12", &["a/x@1", "a/y@2"]))
                .ends(),
        );
    }
    all.push(
        plain("410 on a relist and on the list without a version: the backoff, then again without")
            .listed()
            .watch(watch(&["!410 Expired"]))
            .list(refusal(410, "Expired"))
            .list(refusal(410, "Expired"))
            .list(list("30", &["a/x@1"]))
            .ends(),
    );
    all.push(
        shared("a token expires, and so does the list that takes its place")
            .list(page("10", "t1", &["a/x@1"]))
            .list(refusal(410, "Expired"))
            .list(refusal(410, "Expired"))
            .list(list("12", &["a/x@1", "a/y@2"]))
            .ends(),
    );
    all.push(
        plain("410 on the very first list")
            .list(refusal(410, "Expired"))
            .list(list("12", &["a/x@1"]))
            .ends(),
    );
    all.push(
        plain("after 410 a relist knows its version again")
            .listed()
            .watch(watch(&["!410 Expired"]))
            .list(refusal(410, "Expired"))
            .list(list("30", &["a/x@1"]))
            .watch(watch(&["!410 Gone"]))
            .list(list("40", &["a/x@1"]))
            .ends(),
    );
    all
}
