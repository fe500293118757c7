//! The roles of elements of a page: main parts, headings, and starts of paragraphs.

use ego_tree::{NodeRef, iter::Edge};
use scraper::{ElementRef, Html, Node, node::Element};

use super::reading::{PageContext, is_disclosure, label};

/// A longer id is not used.
const MAX_ANCHOR_BYTES: usize = 200;

/// The level of an element with the role of a heading that names none.
const DEFAULT_HEADING_LEVEL: usize = 2;

/// Elements that start and end a paragraph.
const BLOCKS: &str = "p div section article main body html header footer aside blockquote figure figcaption \
    address details summary fieldset legend form center hr caption hgroup search ul ol dl dir \
    menu pre listing xmp";

/// The outermost elements of a kind.
#[derive(Default)]
pub(super) struct Parts<'a> {
    pub(super) shown: Vec<NodeRef<'a, Node>>,
    /// Inside hidden ones, which a script may show.
    pub(super) covered: Vec<NodeRef<'a, Node>>,
}

pub(super) fn parts<'a>(html: &'a Html, page: &PageContext, is_kind: impl Fn(&Element) -> bool) -> Parts<'a> {
    let mut parts = Parts::default();
    let mut open = None;
    let mut hidden = None;
    for edge in html.tree.root().traverse() {
        match edge {
            Edge::Open(node) if open.is_none() => {
                let Some(element) = ElementRef::wrap(node) else { continue };
                let is_hidden = page.hidden.hiding(element).is_some();
                // What is inside is not shown until somebody asks for it, or never.
                if matches!(element.value().name(), "template" | "noscript" | "dialog") {
                    open = Some(node.id());
                } else if is_kind(element.value()) && !is_hidden {
                    open = Some(node.id());
                    if hidden.is_none() { parts.shown.push(node) } else { parts.covered.push(node) }
                } else if is_hidden && hidden.is_none() {
                    hidden = Some(node.id());
                }
            }
            Edge::Open(_) => {}
            Edge::Close(node) => {
                open = open.filter(|open| *open != node.id());
                hidden = hidden.filter(|hidden| *hidden != node.id());
            }
        }
    }
    parts
}

/// The id at which a page opens to show a heading: its own, that of an element in it, or that of the section that it begins.
pub(super) fn anchor(heading: ElementRef<'_>) -> Option<String> {
    let inside = heading.descendent_elements().find_map(|element| target(element.value()));
    let section = || {
        let parent = heading.parent().and_then(ElementRef::wrap)?;
        let begins = parent.child_elements().next() == Some(heading);
        target(parent.value()).filter(|_| begins && parent.value().name() == "section")
    };
    inside.or_else(section)
}

/// The `id`, or the `name` of an `<a>`, if it can be the fragment of an address.
fn target(element: &Element) -> Option<String> {
    let name = || element.attr("name").filter(|_| element.name() == "a");
    let is_fragment = |id: &&str| {
        (1..=MAX_ANCHOR_BYTES).contains(&id.len())
            && !id.contains(|c: char| c.is_whitespace() || c.is_control())
            && !id.contains(":~:")
    };
    element.attr("id").or_else(name).filter(is_fragment).map(str::to_owned)
}

pub(super) fn heading_level(element: &Element) -> Option<usize> {
    if let "h1" | "h2" | "h3" | "h4" | "h5" | "h6" = element.name() {
        return element.name().get(1..)?.parse().ok();
    }
    let level = || element.attr("aria-level").and_then(|level| level.trim().parse().ok());
    (element.attr("role") == Some("heading")).then(|| level().unwrap_or(DEFAULT_HEADING_LEVEL).max(1))
}

/// Returns whether an element starts and ends a paragraph.
pub(super) fn is_paragraph(wrapped: ElementRef<'_>) -> bool {
    let element = wrapped.value();
    is_block(element.name())
        || heading_level(element).is_some()
        || (is_disclosure(element) && label(wrapped).is_none())
}

pub(super) fn is_block(name: &str) -> bool {
    BLOCKS.split(' ').any(|block| block == name)
        || matches!(
            name,
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "li" | "dt" | "dd" | "tr" | "td" | "th" | "table"
        )
}
