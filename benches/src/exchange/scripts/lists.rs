//! Lists: pages, what a relist makes of the cache, and bodies that are none.

use super::{
    super::script::Script,
    wire::{closed, list, page, plain, raw, reset, shared, watch},
};

pub(super) fn scripts() -> Vec<Script> {
    let mut all = pages();
    all.extend(relists());
    all.extend(broken());
    all
}

/// A watch that ends with an expired version, so that a relist follows.
fn expires(script: Script) -> Script {
    script.watch(watch(&["+a/w@20", "!410 Expired"]))
}

fn pages() -> Vec<Script> {
    let three_pages = |script: Script| {
        script
            .list(page("10", "t1", &["a/x@1", "a/y@2"]))
            .list(page("11", "t2 /?&=", &["b/x@3"]))
            .list(page("12", "", &["b/y@4"]))
    };
    vec![
        plain("an empty list").list(list("10", &[])).ends(),
        shared("an empty list, shared").list(list("10", &[])).ends(),
        three_pages(plain("three pages: the first page's version counts")).ends(),
        expires(three_pages(shared(
            "a relist asks for pages if the first list came in some",
        )))
        .list(list("30", &["a/x@1"]))
        .ends(),
        expires(plain("a relist asks for no pages if the first list came whole").listed())
            .list(list("30", &["a/x@1"]))
            .ends(),
        expires(three_pages(
            plain("a page size of one's own is asked for in every list").page_size(2),
        ))
        .list(page("30", "t3", &["a/x@1", "a/y@2"]))
        .list(page("30", "", &["b/x@3"]))
        .ends(),
        shared("one object on two pages: the later one counts")
            .list(page("10", "t1", &["a/x@1", "a/y@2"]))
            .list(page("10", "", &["a/x@9"]))
            .ends(),
        plain("one object twice in a list")
            .list(list("10", &["a/x@1", "a/y@2", "a/x@3"]))
            .ends(),
        plain("an empty page in the middle")
            .list(page("10", "t1", &["a/x@1"]))
            .list(page("10", "t2", &[]))
            .list(page("10", "", &["a/y@2"]))
            .ends(),
    ]
}

fn relists() -> Vec<Script> {
    let relisted = |script: Script| {
        expires(script.listed())
            .list(list("30", &["a/y@2", "a/w@25", "b/new@30"]))
            .ends()
    };
    vec![
        relisted(plain(
            "a relist: one object is gone, one as it was, one changed, one new",
        )),
        relisted(shared(
            "a relist, shared: one object is gone, one as it was, one changed, one new",
        )),
        expires(plain("a relist without anything").listed())
            .list(list("30", &[]))
            .ends(),
        expires(shared("a relist that goes back in time").listed())
            .list(list("5", &["a/x@0", "a/y@2"]))
            .ends(),
        expires(plain("two relists").listed())
            .list(list("30", &["a/x@1"]))
            .watch(watch(&["!410 Expired"]))
            .list(list("40", &["a/y@31"]))
            .ends(),
        plain("a list without a version: the watch has none either")
            .list(list("", &["a/x@1"]))
            .watch(watch(&["+a/x@1", "+a/y@7"]).ended())
            .ends(),
        plain("a list at version 0: initial events come in the watch")
            .list(list("0", &["a/x@1"]))
            .watch(watch(&["+a/x@1", "+a/y@7", "^8"]).ended())
            .ends(),
        shared("items of a list that carry no kind")
            .list(raw(
                200,
                r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"10"},"items":[{"metadata":{"namespace":"a","name":"x","resourceVersion":"1"}}]}"#,
            ))
            .ends(),
        plain("a list whose items are null")
            .list(raw(
                200,
                r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"10"},"items":null}"#,
            ))
            .ends(),
        shared("objects without a namespace")
            .list(list("10", &["x@1", "y@2"]))
            .watch(watch(&["~x@11", "-y@12"]).ended())
            .ends(),
    ]
}

fn broken() -> Vec<Script> {
    let body = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"10"},"items":[{"kind":"#;
    vec![
        plain("a list that is cut")
            .list(raw(200, body).pause(60).cut())
            .listed()
            .ends(),
        shared("a list that is half a body")
            .list(raw(200, body))
            .listed()
            .ends(),
        plain("a list that is no JSON")
            .list(raw(200, "<html>"))
            .listed()
            .ends(),
        shared("the second page is cut")
            .list(page("10", "t1", &["a/x@1"]))
            .list(raw(200, body).pause(60).cut())
            .listed()
            .ends(),
        plain("the connection closes before a list's answer")
            .list(closed())
            .listed()
            .ends(),
        plain("the connection is reset before a list's answer")
            .list(reset())
            .listed()
            .ends(),
    ]
}
