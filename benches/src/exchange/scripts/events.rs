//! What events say, and error events.

use super::{
    super::script::{Answer, Script},
    wire::{line, list, node, plain, pod, shared, status, too_large, watch},
};

pub(super) fn scripts() -> Vec<Script> {
    let mut all = changes();
    all.extend(odd());
    all.extend(errors());
    all
}

const ALL_TYPES: [&str; 8] = [
    "+a/w@11", "~a/x@12", "-a/y@13", "^14", "~a/w@15", "-a/w@16", "+a/w@17", "^18",
];

fn changes() -> Vec<Script> {
    vec![
        plain("every type of event")
            .listed()
            .watch(watch(&ALL_TYPES).ended())
            .ends(),
        shared("every type of event, shared")
            .listed()
            .watch(watch(&ALL_TYPES).ended())
            .ends(),
        plain("a change of an unknown object")
            .listed()
            .watch(watch(&["~b/new@11"]).ended())
            .ends(),
        plain("a deletion of an unknown object")
            .listed()
            .watch(watch(&["-b/new@11", "-b/new@12"]).ended())
            .ends(),
        shared("a deletion of an unknown object, shared")
            .listed()
            .watch(watch(&["-b/new@11", "-b/new@12"]).ended())
            .ends(),
        plain("an addition of a known object")
            .listed()
            .watch(watch(&["+a/x@11"]).ended())
            .ends(),
        shared("a change to the same version")
            .listed()
            .watch(watch(&["~a/x@1", "~a/x@11", "~a/x@11"]).ended())
            .ends(),
        shared("an object is deleted and made again")
            .listed()
            .watch(watch(&["-a/x@11", "+a/x@12", "-a/x@13", "+a/x@14"]).ended())
            .ends(),
        plain("an object changes in the list and in the watch")
            .listed()
            .watch(watch(&["+a/x@1", "+a/y@2"]).ended())
            .ends(),
    ]
}

fn odd() -> Vec<Script> {
    let node = node("a/w@50");
    vec![
        plain("an event of another kind is skipped, version and all")
            .listed()
            .watch(
                watch(&["~a/x@11"])
                    .text(&line("ADDED", &node))
                    .pause(60)
                    .ended(),
            )
            .ends(),
        shared("a bookmark of another kind is skipped")
            .listed()
            .watch(
                watch(&["~a/x@11"])
                    .text(&line("BOOKMARK", &node))
                    .pause(60)
                    .ended(),
            )
            .ends(),
        plain("an event without a version: the next watch has none")
            .listed()
            .watch(watch(&["~a/x"]).ended())
            .ends(),
        shared("a bookmark without a version: the next watch has none")
            .listed()
            .watch(watch(&["~a/x@11", "^"]).ended())
            .ends(),
        plain("a version that is no number")
            .list(list("abc", &["a/x@one"]))
            .watch(watch(&["~a/x@zwei/3?&="]).ended())
            .ends(),
    ]
}

fn errors() -> Vec<Script> {
    let forms: [(&str, String); 11] = [
        ("410 Expired", status(410, "Expired", "")),
        ("410 Gone", status(410, "Gone", "")),
        ("410 by code alone", status(410, "", "")),
        (
            "410 with a reason of another kind",
            status(410, "NotFound", ""),
        ),
        ("429", status(429, "TooManyRequests", "")),
        ("429 by code alone", status(429, "", "")),
        ("500", status(500, "InternalError", "")),
        ("504 too large", too_large()),
        ("403", status(403, "Forbidden", "")),
        (
            "nothing but a kind",
            r#"{"kind":"Status","apiVersion":"v1"}"#.to_owned(),
        ),
        ("a Pod", pod("a/x@40")),
    ];
    let mut all = Vec::new();
    for (place, (name, status)) in forms.into_iter().enumerate() {
        let informer = if place % 2 == 0 { shared } else { plain };
        let answer: Answer = watch(&["~a/x@11"]).text(&line("ERROR", &status));
        let answer = if place % 3 == 0 {
            answer.ended()
        } else {
            answer
        };
        all.push(
            informer(&format!("an error event: {name}"))
                .listed()
                .watch(answer)
                .list(list("30", &["a/x@11"]))
                .ends(),
        );
    }
    all.push(
        plain("an error event first, in a watch that ends at once")
            .listed()
            .watch(
                watch(&[])
                    .text(&line("ERROR", &status(410, "Expired", "")))
                    .ended(),
            )
            .list(list("30", &["a/x@11"]))
            .ends(),
    );
    let both = line("ERROR", &status(410, "Expired", "")) + &line("MODIFIED", &pod("a/x@12"));
    all.push(
        shared("events after an error event are not read")
            .listed()
            .watch(watch(&["~a/x@11"]).text(&both))
            .list(list("30", &["a/x@11"]))
            .ends(),
    );
    all
}
