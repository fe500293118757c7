//! Refuses pages with extremely deep nesting, because the HTML parsing algorithm takes quadratic time in the depth.

use crate::ExtractError;

/// Maximum depth; browsers limit it to 512.
const MAX_DEPTH: usize = 10_000;
/// Elements that have no content or end without an end tag, so that their start tags do not increase the depth.
const WITHOUT_END_TAG: [&str; 37] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
    "param", "p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "caption", "colgroup",
    "option", "optgroup", "rt", "rp", "html", "head", "body", "frame", "basefont", "bgsound", "keygen",
];

/// Counts tags, which approximates the depth of the tree.
pub(super) fn check(document: &str) -> Result<(), ExtractError> {
    let mut depth = 0usize;
    for tag in document.split('<').skip(1) {
        let (is_end, tag) = tag.strip_prefix('/').map_or((false, tag), |tag| (true, tag));
        let name = tag.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next().unwrap_or_default();
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic());
        if !is_name || WITHOUT_END_TAG.iter().any(|other| name.eq_ignore_ascii_case(other)) {
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
