//! The first list as a stream.

use super::{
    super::script::{Answer, End, Script},
    expired, refused,
    wire::{frame, line, list, node, plain, refusal, shared, status, too_large, watch},
};

pub(super) fn scripts() -> Vec<Script> {
    let mut all = marks();
    all.extend(contents());
    all.extend(ends());
    all.extend(refusals());
    all.extend(again());
    all
}

/// Three initial events and the mark.
fn initial() -> Answer {
    watch(&["+a/x@3", "+a/y@2", "+a/w@5", "^10=true"])
}

fn last(answer: Answer) -> Answer {
    answer.frames(&["~a/x@98", "+z/end@99"])
}

/// Any list that takes a stream's place, and the watch after it.
fn or_list(script: Script) -> Script {
    script.listed().ends()
}

fn marks() -> Vec<Script> {
    vec![
        or_list(
            plain("a stream, by default or not")
                .streaming_by_default()
                .stream(last(initial())),
        ),
        or_list(
            shared("a stream, by default or not, shared")
                .streaming_by_default()
                .stream(last(initial())),
        ),
        or_list(plain("a server that knows no streams, by default or not").streaming_by_default()),
        or_list(plain("a stream").streaming().stream(last(initial()))),
        or_list(
            shared("a stream, shared")
                .streaming()
                .stream(last(initial())),
        ),
        or_list(
            plain("a stream of nothing")
                .streaming()
                .stream(last(watch(&["^10=true"]))),
        ),
        or_list(
            shared("a stream of nothing, shared")
                .streaming()
                .stream(last(watch(&["^10=true"]))),
        ),
        or_list(
            plain("a mark whose value is false, then one that is true")
                .streaming()
                .stream(last(watch(&["+a/x@3", "^10=false", "+a/y@11", "^12=true"]))),
        ),
        or_list(
            shared("a mark without a value, then one that is true")
                .streaming()
                .stream(last(watch(&["+a/x@3", "^10=", "+a/y@11", "^12=true"]))),
        ),
        or_list(
            plain("bookmarks before the mark")
                .streaming()
                .stream(last(watch(&["+a/x@3", "^8", "+a/y@2", "^9", "^10=true"]))),
        ),
        or_list(
            shared("two marks")
                .streaming()
                .stream(last(watch(&["+a/x@3", "^10=true", "+a/y@11", "^12=true"]))),
        ),
        or_list(
            plain("a mark without a version")
                .streaming()
                .stream(last(watch(&["+a/x@3", "^=true"]))),
        ),
        or_list(
            plain("no mark: the stream is cut after a while, and comes with one")
                .streaming()
                .stream(watch(&["+a/x@3"]).pause(1_200).cut())
                .stream(last(initial())),
        ),
        plain("no mark at all: never synced")
            .streaming()
            .stream(watch(&["+a/x@3"]).pause(300).ended())
            .after_requests(4)
            .final_version(""),
    ]
}

fn contents() -> Vec<Script> {
    let other = line("ADDED", &node("a/w@50"));
    vec![
        or_list(
            plain("changes and deletions among the initial events")
                .streaming()
                .stream(last(watch(&[
                    "+a/x@3", "+a/y@2", "~a/x@6", "-a/y@7", "+a/w@8", "-b/new@9", "^10=true",
                ]))),
        ),
        or_list(
            shared("one object twice among the initial events")
                .streaming()
                .stream(last(watch(&["+a/x@3", "+a/x@2", "^10=true"]))),
        ),
        or_list(
            plain("an initial event of another kind")
                .streaming()
                .stream(last(watch(&["+a/x@3"]).text(&other).frames(&["^10=true"]))),
        ),
        or_list(
            shared("a line that is no JSON among the initial events")
                .streaming()
                .stream(watch(&["+a/x@3"]).text("<html>\n"))
                .stream(last(initial())),
        ),
        or_list(
            plain("what follows the mark in the same stream")
                .streaming()
                .stream(last(watch(&[
                    "+a/x@3", "^10=true", "+a/y@11", "-a/x@12", "^13", "+a/x@14",
                ]))),
        ),
    ]
}

fn ends() -> Vec<Script> {
    let half = &frame("+a/w@5")[..40];
    let then =
        |script: Script, answer| or_list(script.streaming().stream(answer).stream(last(initial())));
    vec![
        then(
            plain("a stream ends before its mark"),
            watch(&["+a/x@3"]).ended(),
        ),
        then(
            shared("a stream is cut before its mark, in a line"),
            watch(&["+a/x@3"]).text(half).pause(60).cut(),
        ),
        then(
            plain("a stream is reset before its mark"),
            watch(&["+a/x@3"]).pause(60).then(End::Reset),
        ),
        then(shared("a stream ends at once"), watch(&[]).ended()),
        then(
            plain("a stream of another kind alone ends at once"),
            watch(&[]).text(&line("ADDED", &node("a/w@50"))).ended(),
        ),
        then(
            plain("a stream without events ends after a second"),
            watch(&[]).pause(1_200).ended(),
        ),
        or_list(
            shared("a stream ends with its mark: a very short watch")
                .streaming()
                .stream(initial().ended())
                .stream(last(watch(&["+a/x@3", "+a/y@2", "+a/w@5", "^20=true"]))),
        ),
        or_list(
            plain("a stream ends after its mark and events")
                .streaming()
                .stream(initial().frames(&["~a/x@11"]).ended()),
        ),
        or_list(
            plain("a stream is cut after its mark, in a line")
                .streaming()
                .stream(initial().frames(&["~a/x@11"]).text(half).pause(60).cut()),
        ),
    ]
}

fn refusals() -> Vec<Script> {
    let mut all = Vec::new();
    let mut add = |name: String, answer: Answer| {
        let informer = if all.len() % 2 == 0 { plain } else { shared };
        all.push(or_list(
            informer(&name)
                .streaming()
                .stream(answer)
                .stream(last(initial())),
        ));
    };
    for (name, answer) in refused::forms() {
        add(format!("a stream is answered {name}"), answer);
    }
    for (name, answer) in [
        ("422", refusal(422, "Invalid")),
        ("400", refusal(400, "BadRequest")),
    ] {
        add(format!("a stream is answered {name}"), answer);
    }
    for (name, answer) in expired::forms() {
        add(format!("a stream is answered {name}"), answer);
    }
    for (name, code, reason) in [
        ("410 Expired", 410, "Expired"),
        ("410 Gone", 410, "Gone"),
        ("429", 429, "TooManyRequests"),
        ("500", 500, "InternalError"),
        ("422", 422, "Invalid"),
        ("403", 403, "Forbidden"),
    ] {
        let error = line("ERROR", &status(code, reason, ""));
        add(
            format!("an error event before the mark: {name}"),
            watch(&["+a/x@3"]).text(&error),
        );
    }
    all
}

fn again() -> Vec<Script> {
    let relisted = || last(watch(&["+a/y@2", "+a/w@25", "+b/new@30", "^30=true"]));
    vec![
        or_list(
            plain("a relist is a stream from the last version")
                .streaming()
                .stream(initial().frames(&["!410 Expired"]))
                .stream(relisted()),
        ),
        or_list(
            shared("a relist is a stream from the last version, shared")
                .streaming()
                .stream(initial().frames(&["!410 Expired"]))
                .stream(relisted()),
        ),
        or_list(
            plain("a relist's version is expired: the stream is asked for without")
                .streaming()
                .stream(initial().frames(&["!410 Expired"]))
                .stream(watch(&["!410 Expired"]))
                .stream(relisted()),
        ),
        or_list(
            shared("a relist's version is from the future: the stream is asked for without")
                .streaming()
                .stream(initial().frames(&["!410 Expired"]))
                .stream(watch(&[]).text(&line("ERROR", &too_large())))
                .stream(relisted()),
        ),
        plain("after a list in its place the next is a stream again")
            .streaming()
            .stream(refusal(422, "Invalid"))
            .stream(relisted())
            .listed()
            .watch(watch(&["+a/w@20", "!410 Expired"])),
        shared("a list in a stream's place that fails, too")
            .streaming()
            .stream(refusal(422, "Invalid"))
            .stream(last(initial()))
            .list(refusal(403, "Forbidden"))
            .listed()
            .ends(),
        plain("a list in a stream's place asks for the last version")
            .streaming()
            .stream(initial().frames(&["!410 Expired"]))
            .stream(refusal(422, "Invalid"))
            .list(list("30", &["a/x@3"]))
            .ends(),
        shared("a stream is refused, then a watch: one backoff for both, or two")
            .streaming()
            .stream(refusal(429, "TooManyRequests"))
            .stream(initial().frames(&["~a/x@11"]).ended())
            .watch(refusal(429, "TooManyRequests"))
            .ends(),
    ]
}
