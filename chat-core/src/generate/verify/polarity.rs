//! Whether a sentence turns the meaning of its source around: by a negation, a quantifier, a modal verb, a bound or an opposite.

use super::align::{Alignment, Difference};
use super::opposites::are_opposites;
use super::qualified::{Class, Text};
use super::tokens::{Lexicon, Token};

/// Tokens of the sentence at a place where they replace those of the source.
const MAX_LOCAL: usize = 5;
/// Tokens of a place where a function word replaces another.
const MAX_FUNCTION_PLACE: usize = 2;
/// Words between a number and what bounds it: "at least about 5".
const MAX_BOUND_DISTANCE: usize = 3;

/// Whether a sentence says something else than a source sentence that it closely follows.
pub(super) fn contradicts(
    claim: Text<'_>,
    source: Text<'_>,
    alignment: &Alignment,
    differences: &[Difference],
    lexicon: &Lexicon,
) -> bool {
    let is_only = |text: Text<'_>, at: usize| text.qualified.classes.get(at) == Some(&Some(Class::Only));
    // "Not only" for "only".
    alignment.pairs.iter().any(|(i, j)| is_only(claim, *i) != is_only(source, *j))
        || negation_differs(claim, source, alignment, differences, lexicon)
        || differences.iter().any(|difference| quantity_differs(claim, source, difference, lexicon))
        || differences.iter().any(|difference| has_opposites(claim, source, difference, lexicon))
        || bounds_differ(claim, source, alignment, lexicon)
}

fn negation_differs(
    claim: Text<'_>,
    source: Text<'_>,
    alignment: &Alignment,
    differences: &[Difference],
    lexicon: &Lexicon,
) -> bool {
    let is_flipped = alignment.pairs.iter().any(|(i, j)| {
        let (in_claim, in_source) = (claim.qualified.negated(*i), source.qualified.negated(*j));
        (in_claim && !source.qualified.perhaps_negated(*j))
            || (in_source && !claim.qualified.perhaps_negated(*i))
    });
    if is_flipped {
        return true;
    }
    // A negation and the word that it denies are both exchanged: "is not sold" for "is available".
    differences.iter().any(|difference| {
        let negations = |text: Text<'_>, range: std::ops::Range<usize>| {
            text.qualified
                .classes
                .get(range)
                .unwrap_or_default()
                .iter()
                .filter(|class| **class == Some(Class::Negation))
                .count()
        };
        let content = |text: Text<'_>, range: std::ops::Range<usize>| {
            text.tokens.get(range).unwrap_or_default().iter().any(Token::is_content)
        };
        let in_claim = negations(claim, difference.claim.clone());
        let in_source = negations(source, difference.source.clone());
        let replaced = content(claim, difference.claim.clone()) && content(source, difference.source.clone());
        let inserted = in_claim > 0 && in_source == 0;
        let removed = in_source > 0 && in_claim == 0;
        // "Impossible" is "not possible".
        (inserted || (removed && replaced))
            && difference.claim.len() <= MAX_LOCAL
            && in_claim % 2 != in_source % 2
            && !agree_as_opposites(claim, source, difference, lexicon)
    }) || {
        // A negation that denies no content word, as in "it is not", or one that another negation lifts.
        let (in_claim, in_source) =
            (claim.qualified.count(Class::Negation), source.qualified.count(Class::Negation));
        in_claim > in_source && in_claim % 2 != in_source % 2 && !claim.qualified.negates_any()
    }
}

fn has_other(tokens: &[Token], range: std::ops::Range<usize>, lexicon: &Lexicon) -> bool {
    let others =
        ["other", "others", "andere", "anderen", "autre", "autres", "otro", "otros", "otra", "otras"];
    let tokens = tokens.get(range).unwrap_or_default();
    tokens.iter().any(|token| others.contains(&lexicon.base(token.word)))
}

/// Whether "only" is left out with what it limits: "It can be cancelled" for "It can be cancelled only if it is not packed".
fn leaves_out_restriction(claim: Text<'_>, source: Text<'_>, difference: &Difference) -> bool {
    // It may be elsewhere: "Only if …".
    if claim.qualified.has_any(Class::Only) {
        return false;
    }
    let mut limited = difference.source.clone();
    let only = limited.find(|at| source.qualified.classes.get(*at) == Some(&Some(Class::Only)));
    only.is_some() && limited.any(|at| source.tokens.get(at).is_some_and(Token::is_content))
}

/// Quantifiers and modal verbs that the sentence adds, exchanges or leaves out so that it says more than its source.
fn quantity_differs(claim: Text<'_>, source: Text<'_>, difference: &Difference, lexicon: &Lexicon) -> bool {
    // "All other courses" are not all courses.
    let widens = source.qualified.has_any(Class::All)
        && has_other(source.tokens, difference.source.clone(), lexicon)
        && !has_other(claim.tokens, difference.claim.clone(), lexicon);
    let leaves_out = leaves_out_restriction(claim, source, difference);
    let (claim, source) = (claim.qualified, source.qualified);
    // What a longer insertion says comes from another sentence.
    let is_local = difference.claim.len() <= MAX_LOCAL;
    let added = |class| {
        is_local
            && claim.has(class, difference.claim.clone())
            && !source.has(class, difference.source.clone())
    };
    let removed =
        |class| source.has(class, difference.source.clone()) && !claim.has(class, difference.claim.clone());
    let is_single = difference.source.len() <= MAX_FUNCTION_PLACE;
    let modal_differs = (added(Class::Must) && !source.has_any(Class::Must))
        || (added(Class::Should) && (removed(Class::Must) || removed(Class::May)))
        || (added(Class::May) && removed(Class::Must))
        || (removed(Class::Should) && difference.claim.is_empty() && is_single)
        || (removed(Class::May) && difference.claim.len() <= 1 && is_single);
    (added(Class::All) && !source.has_any(Class::All))
        || (added(Class::Only) && !source.has_any(Class::Only))
        || (added(Class::Each) && removed(Class::Some))
        || (removed(Class::Some) && difference.source.len() <= 2)
        || removed(Class::Except)
        || leaves_out
        || widens
        || modal_differs
}

/// Whether a word of the source is exchanged for its opposite.
fn has_opposites(claim: Text<'_>, source: Text<'_>, difference: &Difference, lexicon: &Lexicon) -> bool {
    // "In" and "out" are opposites only where one replaces the other.
    let is_short =
        difference.claim.len() <= MAX_FUNCTION_PLACE && difference.source.len() <= MAX_FUNCTION_PLACE;
    let counts = |text: Text<'_>, at: usize| is_short || text.tokens.get(at).is_some_and(Token::is_content);
    difference.claim.clone().filter(|i| counts(claim, *i)).any(|i| {
        difference
            .source
            .clone()
            .filter(|j| counts(source, *j))
            .any(|j| contradict(claim, i, source, j, lexicon))
    })
}

/// Whether a word of the sentence means the opposite of one of the source. "Not possible" and "impossible" agree.
pub(super) fn contradict(claim: Text<'_>, i: usize, source: Text<'_>, j: usize, lexicon: &Lexicon) -> bool {
    let (Some(a), Some(b)) = (claim.tokens.get(i), source.tokens.get(j)) else { return false };
    claim.qualified.negated(i) == source.qualified.negated(j) && are_opposites(lexicon, a, b)
}

/// Whether the words of a place agree because one is the denial of the other: "not possible" and "impossible".
fn agree_as_opposites(claim: Text<'_>, source: Text<'_>, difference: &Difference, lexicon: &Lexicon) -> bool {
    difference.claim.clone().any(|i| {
        difference.source.clone().any(|j| match (claim.tokens.get(i), source.tokens.get(j)) {
            (Some(a), Some(b)) => {
                claim.qualified.negated(i) != source.qualified.negated(j) && are_opposites(lexicon, a, b)
            }
            _ => false,
        })
    })
}

/// A bound of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    AtLeast,
    AtMost,
    About,
}

fn bounds_differ(claim: Text<'_>, source: Text<'_>, alignment: &Alignment, lexicon: &Lexicon) -> bool {
    let numbers = alignment.pairs.iter().filter(|(i, _)| claim.tokens.get(*i).is_some_and(Token::is_number));
    numbers.copied().any(|(i, j)| match (bound(claim.tokens, i, lexicon), bound(source.tokens, j, lexicon)) {
        // What is "about 5" is 5 to many writers.
        (None, Some(Bound::About)) | (Some(Bound::About), None) => false,
        (claim, source) => claim != source,
    })
}

/// Whether two places of a number have contrary bounds: "under 18" and "at least 18".
pub(super) fn are_contrary_bounds(
    claim: &[Token],
    i: usize,
    source: &[Token],
    j: usize,
    lexicon: &Lexicon,
) -> bool {
    use Bound::{AtLeast, AtMost};
    let bounds = (bound(claim, i, lexicon), bound(source, j, lexicon));
    matches!(bounds, (Some(AtLeast), Some(AtMost)) | (Some(AtMost), Some(AtLeast)))
}

/// The bound of the number at a position, from the words before it.
fn bound(tokens: &[Token], number: usize, lexicon: &Lexicon) -> Option<Bound> {
    let start = number.saturating_sub(MAX_BOUND_DISTANCE);
    let before = tokens.get(start..number).unwrap_or_default();
    let words: Vec<&str> = before
        .iter()
        .rev()
        .take_while(|token| !token.is_number())
        .map(|token| lexicon.base(token.word))
        .collect();
    let previous = |at: usize| words.get(at + 1).copied().unwrap_or_default();
    words.iter().enumerate().find_map(|(at, word)| {
        Some(match (*word, previous(at)) {
            ("than", "more" | "greater" | "longer" | "older" | "higher") => {
                if words.get(at + 2) == Some(&"no") || words.get(at + 2) == Some(&"not") {
                    Bound::AtMost
                } else {
                    Bound::AtLeast
                }
            }
            ("than", "less" | "fewer" | "shorter" | "younger" | "lower") => {
                if words.get(at + 2) == Some(&"no") || words.get(at + 2) == Some(&"not") {
                    Bound::AtLeast
                } else {
                    Bound::AtMost
                }
            }
            ("least", "at") | ("minimum" | "mindestens" | "exceeding", _) => Bound::AtLeast,
            ("to", "up") | ("most", "at") | ("maximum" | "hochstens" | "maximal", _) => Bound::AtMost,
            // "Over the coming 3 days" bounds nothing.
            ("over", _) if at == 0 => Bound::AtLeast,
            ("under" | "below", _) if at == 0 => Bound::AtMost,
            (
                "about" | "around" | "approximately" | "roughly" | "nearly" | "almost" | "circa" | "ca"
                | "etwa",
                _,
            ) => Bound::About,
            _ => return None,
        })
    })
}
