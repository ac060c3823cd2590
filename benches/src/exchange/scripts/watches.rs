//! How watches end, and how their bytes are cut.

use super::{
    super::script::{Answer, End, Script},
    wire::{frame, line, list, node, plain, pod, shared, watch},
};

pub(super) fn scripts() -> Vec<Script> {
    let mut all = ends();
    all.extend(cuts());
    all.extend(bytes());
    all
}

/// After two events comes `answer`, and after that, where a relist is due, a list.
fn with(script: Script, answer: Answer) -> Script {
    script
        .listed()
        .watch(answer)
        .list(list("30", &["a/x@11", "a/w@12"]))
        .ends()
}

fn two() -> Answer {
    watch(&["~a/x@11", "+a/w@12"])
}

fn ends() -> Vec<Script> {
    vec![
        with(plain("a watch ends after events"), two().ended()),
        with(
            shared("a watch ends after a bookmark"),
            watch(&["~a/x@11", "^15"]).ended(),
        ),
        with(
            plain("a watch ends after nothing but a bookmark"),
            watch(&["^15"]).ended(),
        ),
        with(plain("a very short watch"), watch(&[]).ended()),
        with(shared("a very short watch, cut"), watch(&[]).cut()),
        with(
            plain("a short watch with an event of another kind alone"),
            watch(&[])
                .text(&line("ADDED", &node("a/w@50")))
                .pause(60)
                .ended(),
        ),
        with(
            shared("a watch without events ends after a second"),
            watch(&[]).pause(1_200).ended(),
        ),
        plain("two very short watches: the backoff grows")
            .listed()
            .watch(watch(&[]).ended())
            .watch(watch(&[]).ended())
            .list(list("30", &["a/x@11"]))
            .ends(),
        shared("watches end one after another")
            .listed()
            .watch(two().ended())
            .watch(watch(&["-a/y@13"]).ended())
            .watch(watch(&["^14"]).cut())
            .watch(watch(&["~a/w@15"]).then(End::Reset))
            .ends(),
        plain("the last version is a bookmark's")
            .listed()
            .watch(watch(&["~a/x@98", "+z/end@99", "^120"]))
            .final_version("120"),
        shared("a watch whose last version goes back")
            .listed()
            .watch(watch(&["~a/x@20", "~a/y@15"]).ended())
            .ends(),
    ]
}

fn cuts() -> Vec<Script> {
    let whole = frame("~a/y@13");
    let half = &whole[..whole.len() / 2];
    vec![
        with(
            plain("a watch is cut in the middle of a line"),
            two().text(half).pause(60).cut(),
        ),
        with(
            shared("a watch is cut in the first line"),
            watch(&[]).text(half).pause(60).cut(),
        ),
        with(
            plain("a watch ends in the middle of a line"),
            two().text(half).pause(60).ended(),
        ),
        with(
            shared("a watch is reset in the middle of a line"),
            two().text(half).pause(60).then(End::Reset),
        ),
        with(
            plain("a watch is reset between lines"),
            two().pause(60).then(End::Reset),
        ),
        with(plain("a watch is cut between lines"), two().pause(60).cut()),
        with(
            plain("a watch ends before a line's end"),
            two().text(&whole).pause(60).ended(),
        ),
        with(
            shared("a watch is cut before a line's end"),
            two().text(&whole).pause(60).cut(),
        ),
        with(
            plain("a watch ends in the middle of a line that is no JSON"),
            two().text("<htm").ended(),
        ),
        with(
            plain("a watch is cut after its first byte"),
            two().text("{").pause(60).cut(),
        ),
        with(
            plain("a watch is cut after a blank line"),
            two().text("\n").pause(60).cut(),
        ),
    ]
}

fn bytes() -> Vec<Script> {
    let whole = frame("~a/y@13") + "\n";
    let mut slow = two();
    for character in whole.chars() {
        slow = slow.text(&character.to_string());
    }
    let turned = pod("a/y@13");
    let turned = format!("{{\"object\":{turned},\"type\":\"MODIFIED\"}}\n");
    let more = whole.replacen('{', "{\"more\":[1,{}],", 1);
    let many = format!("{}\n{}\n", frame("~a/y@13"), frame("~a/y@14"));
    vec![
        with(plain("an event byte by byte"), slow.ended()),
        with(shared("two events in one piece"), two().text(&many).ended()),
        with(
            plain("blank lines between events"),
            two().text("\n\r\n \n").text(&whole).ended(),
        ),
        with(
            shared("a line that is no JSON"),
            two().text("<html>\n").ended(),
        ),
        with(
            plain("a line that is no JSON in a watch that stays open"),
            two().text("<html>\n"),
        ),
        with(
            plain("an event without an object"),
            two().text("{\"type\":\"ADDED\"}\n").ended(),
        ),
        with(
            shared("an event of an unknown type"),
            two().text(&line("MOVED", &pod("a/y@13"))).ended(),
        ),
        with(
            plain("an event with unknown fields"),
            two().text(&more).ended(),
        ),
        with(
            plain("an event whose object comes before its type"),
            two().text(&turned).ended(),
        ),
    ]
}
