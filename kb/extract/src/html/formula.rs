//! Writes formulas (MathML) on one line.

use scraper::ElementRef;

use super::name;
use crate::shifted::Shift;

/// What is written before a part of a formula, and how the part is set, outermost first.
pub(super) fn parts(element: ElementRef<'_>) -> Vec<(String, Shift)> {
    let parent = element.parent();
    let parent = parent.as_ref().map_or("", |parent| name(parent.value()));
    let mut parts = Vec::new();
    if parent.starts_with('m') {
        let position = element.prev_siblings().filter(|before| before.value().is_element()).take(3).count();
        parts.extend(match (parent, position) {
            ("msup" | "mover", 1) | ("msubsup" | "munderover", 2) => Some((String::new(), Shift::Exponent)),
            ("msub" | "munder" | "msubsup" | "munderover", 1) => Some((String::new(), Shift::Index)),
            ("mfrac", 0) => Some((String::new(), Shift::Group)),
            ("mfrac", 1) => Some(("/".to_owned(), Shift::Group)),
            ("mroot", 0) => Some((format!("{}√", degree(element)), Shift::Group)),
            _ => None,
        });
    }
    if element.value().name() == "msqrt" {
        parts.push(("√".to_owned(), Shift::Group));
    }
    parts
}

/// Whether an element is the degree of a root, which is written before the root.
pub(super) fn is_degree(element: ElementRef<'_>) -> bool {
    let is_in_root = element.parent().is_some_and(|parent| name(parent.value()) == "mroot");
    is_in_root && element.prev_siblings().any(|before| before.value().is_element())
}

/// The degree of the root around its first part.
fn degree(radicand: ElementRef<'_>) -> String {
    let degree = radicand.next_siblings().find_map(ElementRef::wrap);
    let text = degree.map(|degree| degree.text().collect::<String>()).unwrap_or_default();
    let mut line = crate::shifted::Line::default();
    line.open(Shift::Raised);
    line.push(text.trim());
    line.take()
}
