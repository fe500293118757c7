//! Refuses pages that nest elements without end: what HTML demands of a parser takes the square of their depth.

use crate::ExtractError;

/// Browsers build no more than 512.
const MAX_DEPTH: usize = 10_000;
/// Never have content, or end without an end tag, so that their start tags do not add up.
const NOT_NESTED: [&str; 37] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
    "param", "p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "caption", "colgroup",
    "option", "optgroup", "rt", "rp", "html", "head", "body", "frame", "basefont", "bgsound", "keygen",
];

/// Counts tags, which is nearly the depth of the tree they make.
pub(super) fn check(document: &str) -> Result<(), ExtractError> {
    let mut depth = 0usize;
    for tag in document.split('<').skip(1) {
        let (is_end, tag) = tag.strip_prefix('/').map_or((false, tag), |tag| (true, tag));
        let name = tag.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next().unwrap_or_default();
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic());
        if !is_name || NOT_NESTED.iter().any(|other| name.eq_ignore_ascii_case(other)) {
            continue;
        }
        depth = if is_end { depth.saturating_sub(1) } else { depth + 1 };
        if depth > MAX_DEPTH {
            return Err(ExtractError::Broken {
                reason: format!("it nests elements more than {MAX_DEPTH} deep"),
            });
        }
    }
    Ok(())
}
