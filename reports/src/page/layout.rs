//! The shell of every page, and a figure inside it.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::figure::Figure;

const STYLE: &str = include_str!("style.css");

/// A whole page; `tail` is finished HTML after everything else.
pub(crate) fn page(title: &str, body: &Markup, tail: &str) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { main { (body) } (PreEscaped(tail)) }
        }
    };
    page.into_string()
}

/// A figure with heading and caption.
pub(crate) fn figure(figure: &Figure) -> Markup {
    html! {
        section id=(figure.slug) {
            h2 { (figure.title) }
            (bare_figure(figure))
        }
    }
}

/// A figure with its caption only.
pub(crate) fn bare_figure(figure: &Figure) -> Markup {
    html! {
        figure role="group" aria-label=(figure.title) {
            (PreEscaped(figure.inline_svg()))
            figcaption { (figure.caption) }
        }
    }
}

/// Links to the figures' files.
pub(crate) fn figure_links(figures: &[&Figure]) -> Markup {
    html! {
        @for figure in figures {
            li { (figure.title) ": "
                a href=(format!("figures/{}.svg", figure.slug)) { "SVG" } ", "
                a href=(format!("figures/{}.png", figure.slug)) { "PNG" } ", "
                a href=(format!("figures/{}.csv", figure.slug)) { "points as CSV" }
            }
        }
    }
}
