//! The context of a text on its page: names of boxes, cells of columns, parts of a sentence.

use ego_tree::iter::Edge;
use scraper::{ElementRef, node::Element};

use super::elements::{heading_level, is_block};
use crate::shifted::Shift;

/// Parts of the classes of boxes.
const BOXES: &str = "admonition alert attention callout card caution custom danger deprecated hint important \
    info note notice panel tip warning";
/// A larger element is a part of the page, not a box.
const MAX_BOX_NODES: usize = 500;
/// Nodes that are searched for a letter.
const MAX_WORD_NODES: usize = 20;

/// Returns whether an element is a box that begins with its name. A box has no headings but that.
pub(super) fn is_named_box(wrapped: ElementRef<'_>) -> bool {
    let element = wrapped.value();
    let has_class = || {
        let mut parts = element.classes().flat_map(|class| class.split(['-', '_']));
        parts.any(|part| BOXES.split(' ').any(|name| name == part))
    };
    if !(matches!(element.attr("role"), Some("note" | "alert")) || has_class()) {
        return false;
    }
    let (mut names, mut has_text, mut headings) = (0_usize, false, 0);
    for (at, edge) in wrapped.traverse().enumerate().skip(1) {
        let Edge::Open(node) = edge else { continue };
        if at > MAX_BOX_NODES {
            return false;
        }
        if let Some(inner) = node.value().as_element() {
            names += usize::from(!has_text && is_name(inner));
            headings += usize::from(heading_level(inner).is_some());
        }
        has_text |= node.value().as_text().is_some_and(|text| !text.trim().is_empty());
    }
    names > 0 && headings <= 1 && has_text
}

/// Returns whether an element at the start of a box is its name.
pub(super) fn is_name(element: &Element) -> bool {
    let is_title = |class: &str| {
        let class = class.to_ascii_lowercase();
        ["title", "heading", "header"].iter().any(|name| class.contains(name))
    };
    heading_level(element).is_some_and(|level| level > 2)
        || (heading_level(element).is_none() && element.classes().any(is_title))
}

/// The part of a table that an element is.
pub(super) fn role(element: &Element) -> &str {
    match element.attr("role") {
        Some("table") => "table",
        Some("row") => "tr",
        Some("cell" | "gridcell") => "td",
        Some("columnheader" | "rowheader") => "th",
        _ => element.name(),
    }
}

/// Returns whether an element is one of several columns or cards next to each other.
pub(super) fn is_repeated(wrapped: ElementRef<'_>) -> bool {
    let element = wrapped.value();
    let is_alike = |other: ElementRef<'_>| {
        let class = other.value().classes().next();
        other.value().name() == element.name() && class.is_some() && class == element.classes().next()
    };
    matches!(wrapped.value().name(), "div" | "article" | "li")
        && (wrapped.prev_siblings().find_map(ElementRef::wrap).is_some_and(is_alike)
            || wrapped.next_siblings().find_map(ElementRef::wrap).is_some_and(is_alike))
}

/// Returns whether an element follows one of its kind without a space, and both have words. Those
/// of letters are parts of a word.
pub(super) fn follows_alike(wrapped: ElementRef<'_>) -> bool {
    let before = wrapped.prev_sibling().and_then(ElementRef::wrap);
    let before = before.filter(|before| before.value().name() == wrapped.value().name());
    matches!(wrapped.value().name(), "span" | "a" | "label")
        && before.is_some_and(|before| has_word(before) && has_word(wrapped))
}

/// Returns whether an element has more than a letter.
pub(super) fn has_word(element: ElementRef<'_>) -> bool {
    let texts = element.descendants().take(MAX_WORD_NODES).filter_map(|node| node.value().as_text());
    texts.flat_map(|text| text.chars()).take(2).count() == 2
}

/// Returns whether an element is in the middle of a sentence: there is text before and after it, or
/// the element that it fills.
pub(super) fn is_between_words(wrapped: ElementRef<'_>) -> bool {
    let is_alone = wrapped.prev_sibling().is_none() && wrapped.next_sibling().is_none();
    let parent = wrapped.parent().and_then(ElementRef::wrap).filter(|_| is_alone);
    let whole = parent.filter(|parent| !is_block(parent.value().name())).unwrap_or(wrapped);
    [whole.prev_sibling(), whole.next_sibling()].into_iter().all(|node| {
        node.is_some_and(|node| node.value().as_text().is_some_and(|text| !text.trim().is_empty()))
    })
}

/// How a part of a formula (MathML) is set.
pub(super) fn formula_shift(element: ElementRef<'_>) -> Option<Shift> {
    let parent = element.parent().and_then(ElementRef::wrap)?;
    let position = element.prev_siblings().filter(|before| before.value().is_element()).take(3).count();
    match (parent.value().name(), position) {
        ("msup" | "mover", 1) | ("msubsup" | "munderover", 2) => Some(Shift::Exponent),
        ("msub" | "munder" | "msubsup" | "munderover", 1) => Some(Shift::Index),
        _ => None,
    }
}
