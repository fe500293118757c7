//! SPDX licence expressions.

/// Whether licences that `is_allowed` accepts satisfy an expression: one side of each `OR`, both sides of each `AND`. An
/// invalid expression is not satisfied.
pub(super) fn is_satisfied(expression: &str, is_allowed: &impl Fn(&str) -> bool) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = tokens.as_slice();
    any_of(&mut rest, is_allowed).is_some_and(|met| met && rest.is_empty())
}

fn any_of(tokens: &mut &[&str], is_allowed: &impl Fn(&str) -> bool) -> Option<bool> {
    let mut met = all_of(tokens, is_allowed)?;
    while take(tokens, "OR") {
        met |= all_of(tokens, is_allowed)?;
    }
    Some(met)
}

fn all_of(tokens: &mut &[&str], is_allowed: &impl Fn(&str) -> bool) -> Option<bool> {
    let mut met = one(tokens, is_allowed)?;
    while take(tokens, "AND") {
        met &= one(tokens, is_allowed)?;
    }
    Some(met)
}

fn one(tokens: &mut &[&str], is_allowed: &impl Fn(&str) -> bool) -> Option<bool> {
    if take(tokens, "(") {
        let met = any_of(tokens, is_allowed)?;
        return take(tokens, ")").then_some(met);
    }
    let (licence, rest) = tokens.split_first()?;
    *tokens = rest;
    (!matches!(*licence, "OR" | "AND" | ")")).then(|| is_allowed(licence))
}

fn take(tokens: &mut &[&str], token: &str) -> bool {
    match tokens.split_first() {
        Some((first, rest)) if *first == token => {
            *tokens = rest;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_satisfied;

    #[test]
    fn an_or_needs_one_allowed_side_and_an_and_needs_both() {
        let is_allowed = |licence: &str| ["MIT", "ISC"].contains(&licence);
        for met in
            ["MIT", "(MIT)", "GPL-3.0 OR MIT", "MIT AND ISC", "GPL-3.0 AND X OR ISC", "(X OR MIT) AND ISC"]
        {
            assert!(is_satisfied(met, &is_allowed), "{met}");
        }
        for not_met in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR ISC) AND X", "X OR MIT AND Y", "mit"] {
            assert!(!is_satisfied(not_met, &is_allowed), "{not_met}");
        }
    }

    #[test]
    fn an_invalid_expression_is_not_satisfied() {
        for damaged in ["", "MIT OR", "OR MIT", "(MIT", "MIT)", "MIT ISC", "()", "MIT AND AND ISC"] {
            assert!(!is_satisfied(damaged, &|_| true), "{damaged:?}");
        }
    }
}
