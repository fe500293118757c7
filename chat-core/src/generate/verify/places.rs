//! Words for what comes from a place: "Canada", "Canadian".

/// Endings of places and of words for what comes from them. Longer ones first.
const PLACE_ENDINGS: &[&str] =
    &["ians", "ian", "eans", "ean", "ish", "ese", "ans", "an", "ia", "is", "a", "i", "y", "e"];
/// Letters of a place without its ending.
const MIN_PLACE_ROOT: usize = 4;

/// The part that "Canada" and "Canadian" have in common.
pub(super) fn place_root(base: &str) -> Option<&str> {
    let root = PLACE_ENDINGS.iter().find_map(|ending| base.strip_suffix(ending)).unwrap_or(base);
    (root.chars().count() >= MIN_PLACE_ROOT).then_some(root)
}

/// Whether a word may mean what comes from a place.
pub(super) fn is_of_place(base: &str) -> bool {
    ["ian", "ians", "ean", "eans", "an", "ans", "ish", "ese", "i", "is"]
        .iter()
        .any(|ending| base.ends_with(ending))
}
