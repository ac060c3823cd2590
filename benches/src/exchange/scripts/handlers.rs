//! Resyncs, handlers with periods of their own, and late ones.

use super::{
    super::script::{HandlerSpec, Script},
    wire::{list, plain, shared, shared_by, watch},
};

const fn every(resync_ms: u64) -> HandlerSpec {
    HandlerSpec {
        resync_ms,
        late: false,
    }
}

const fn late(resync_ms: u64) -> HandlerSpec {
    HandlerSpec {
        resync_ms,
        late: true,
    }
}

pub(super) fn scripts() -> Vec<Script> {
    let mut all = resyncs();
    all.extend(late_handlers());
    all
}

/// Ends between the second and the third resync of a second's period.
fn ends_at_2500_ms(script: Script) -> Script {
    script.listed().watch(
        watch(&[])
            .pause(1_500)
            .frames(&["~a/x@11"])
            .pause(940)
            .frames(&["+z/end@99"]),
    )
}

fn resyncs() -> Vec<Script> {
    vec![
        ends_at_2500_ms(plain("resyncs of a plain informer").resync_ms(1_000)),
        ends_at_2500_ms(shared("resyncs of a shared informer").resync_ms(1_000)),
        ends_at_2500_ms(
            shared_by(
                "handlers of one and of two seconds, and one without",
                &[every(1_000), every(2_000), every(0)],
            )
            .resync_ms(1_000),
        ),
        ends_at_2500_ms(
            shared_by(
                "a handler's shorter period is that of the check",
                &[every(1_000), every(5_000)],
            )
            .resync_ms(5_000),
        ),
        ends_at_2500_ms(
            shared_by("a period below a second counts as one", &[every(100)]).resync_ms(3_000),
        ),
        ends_at_2500_ms(shared_by(
            "an informer without resyncs gives its handlers none",
            &[every(1_000), every(0)],
        )),
        plain("a relist begins the period anew")
            .resync_ms(1_500)
            .listed()
            .watch(watch(&[]).pause(900).frames(&["!410 Expired"]))
            .list(list("30", &["a/x@1", "a/y@2"]))
            .watch(watch(&[]).pause(900).frames(&["+z/end@99"])),
        shared_by(
            "an unchanged object of a relist is told until the first resync was due",
            &[every(1_000), every(0)],
        )
        .resync_ms(1_000)
        .listed()
        .watch(watch(&["!410 Expired"]))
        .list(list("30", &["a/x@1", "a/y@2"]))
        .watch(watch(&[]).pause(1_400).frames(&["!410 Expired"]))
        .list(list("40", &["a/x@1", "a/y@2"]))
        .ends(),
        shared("an unchanged object of a relist is told to all where nothing resyncs")
            .listed()
            .watch(watch(&["!410 Expired"]))
            .list(list("30", &["a/x@1", "a/y@2"]))
            .ends(),
        plain("a resync does not end when a watch does")
            .resync_ms(1_000)
            .listed()
            .watch(watch(&["~a/x@11"]).pause(600).ended())
            .watch(watch(&["~a/x@12"]).pause(740).frames(&["+z/end@99"])),
        plain("a resync of nothing")
            .resync_ms(1_000)
            .list(list("10", &[]))
            .watch(watch(&[]).pause(1_500).frames(&["+z/end@99"])),
    ]
}

fn late_handlers() -> Vec<Script> {
    let cued = |script: Script| {
        script
            .listed()
            .watch(watch(&["~a/x@11", "+z/cue@12"]).pause(400).frames(&[
                "~a/y@13",
                "-a/x@14",
                "+z/end@99",
            ]))
    };
    vec![
        cued(shared_by(
            "a late handler is told of the cache, then of what follows",
            &[every(0), late(0)],
        )),
        cued(shared_by(
            "two late handlers",
            &[every(0), late(0), late(0)],
        )),
        shared_by(
            "a late handler's period below the check is raised to it",
            &[every(2_000), late(1_000)],
        )
        .resync_ms(2_000)
        .listed()
        .watch(watch(&["+z/cue@12"]).pause(2_900).frames(&["+z/end@99"])),
        shared_by("a late handler is told of a relist", &[every(0), late(0)])
            .listed()
            .watch(watch(&["+z/cue@12"]).pause(400).frames(&["!410 Expired"]))
            .list(list("30", &["a/y@2", "z/cue@12"]))
            .ends(),
    ]
}
