//! Words that qualify others: negations, quantifiers, modal verbs.

use super::tokens::{Lexicon, Token};

/// Content words after a negation that it may deny: in "not a valid reason", "valid" and "reason".
const MAX_SCOPE: usize = 3;

/// The effect of a function word on a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Not, never, without.
    Negation,
    /// All, every, always.
    All,
    /// Every, each: all, but also how often ("every day").
    Each,
    /// Some, most, sometimes: less than all.
    Some,
    /// Only, solely.
    Only,
    /// Must, required.
    Must,
    /// Should, recommended.
    Should,
    /// May, might: it is possible or allowed.
    May,
    /// Unless, except.
    Except,
}

fn class(base: &str) -> Option<Class> {
    Some(match base {
        "not" | "no" | "never" | "none" | "neither" | "nor" | "without" | "nobody" | "nothing"
        | "nowhere" | "hardly" | "barely" | "rarely" | "seldom" | "unable" | "nicht" | "kein" | "keine"
        | "keinen" | "keinem" | "keiner" | "keines" | "nie" | "niemals" | "ohne" | "weder" | "pas"
        | "jamais" | "aucun" | "aucune" | "nunca" | "jamas" | "ningun" | "ninguna" | "ninguno"
        | "tampoco" | "لا" | "ليس" | "ليست" | "لم" | "لن" | "بدون" => Class::Negation,
        "all" | "always" | "everyone" | "everybody" | "everything" | "entirely" | "completely" | "alle"
        | "allen" | "aller" | "immer" | "tous" | "toutes" | "toujours" | "todos" | "todas" | "siempre" => {
            Class::All
        }
        "every" | "each" | "jede" | "jeder" | "jedes" | "jeden" => Class::Each,
        "some" | "most" | "many" | "few" | "several" | "sometimes" | "often" | "usually" | "partly"
        | "partially" | "mostly" | "certain" | "selected" | "manche" | "einige" | "meist" | "meistens"
        | "manchmal" | "certains" | "parfois" | "algunos" | "algunas" | "almost" | "nearly" => Class::Some,
        "only" | "solely" | "exclusively" | "merely" | "nur" | "ausschließlich" | "seulement"
        | "uniquement" | "solo" | "solamente" | "unicamente" => Class::Only,
        "must" | "shall" | "required" | "mandatory" | "compulsory" | "obligatory" | "muss" | "mussen"
        | "doit" | "doivent" | "debe" | "deben" => Class::Must,
        "should" | "ought" | "recommended" | "advised" | "sollte" | "sollten" => Class::Should,
        "may" | "might" | "could" | "can" | "possibly" | "perhaps" | "optional" | "optionally"
        | "probably" | "likely" | "kann" | "konnen" | "darf" | "durfen" | "peut" | "peuvent" | "puede"
        | "pueden" => Class::May,
        "unless" | "except" | "excluding" | "außer" | "sauf" | "excepto" | "salvo" => Class::Except,
        _ => return None,
    })
}

/// The content words between the last punctuation mark and a negation at the end.
fn subject(tokens: &[Token], negation: usize) -> impl Iterator<Item = usize> {
    let before = tokens.get(..=negation).unwrap_or_default();
    let start =
        before.iter().rposition(|token| token.begins_clause || token.follows_comma).unwrap_or_default();
    let clause = tokens.iter().enumerate().take(negation).skip(start);
    clause.filter(|(_, token)| token.is_content()).map(|(at, _)| at)
}

/// How the words of a text are qualified.
#[derive(Debug, Default)]
pub(super) struct Qualified {
    /// The effect of each token.
    pub(super) classes: Vec<Option<Class>>,
    /// Whether each token is the first content word of an odd number of negations.
    is_negated: Vec<bool>,
    /// Whether each token is among the words that a negation may deny.
    may_be_negated: Vec<bool>,
}

impl Qualified {
    pub(super) fn new(tokens: &[Token], lexicon: &Lexicon) -> Self {
        let mut classes: Vec<_> = tokens.iter().map(|token| class(lexicon.base(token.word))).collect();
        let mut is_negated = vec![false; tokens.len()];
        let mut may_be_negated = vec![false; tokens.len()];
        for at in 0..tokens.len() {
            if classes.get(at) != Some(&Some(Class::Negation)) {
                continue;
            }
            let next = tokens.get(at + 1);
            let is_only = classes.get(at + 1) == Some(&Some(Class::Only));
            // "Not only" denies nothing, nor does the "no" that answers a question.
            if is_only || (at == 0 && next.is_some_and(|next| next.follows_comma)) {
                for class in classes.iter_mut().skip(at).take(1 + usize::from(is_only)) {
                    *class = None;
                }
                continue;
            }
            let following =
                tokens.iter().enumerate().skip(at + 1).take_while(|(_, token)| !token.begins_clause);
            let mut content = following.filter(|(_, token)| token.is_content()).map(|(at, _)| at).peekable();
            if content.peek().is_none() {
                // "The cable is in the box, the plug is not."
                for word in subject(tokens, at) {
                    for is_denied in [is_negated.get_mut(word), may_be_negated.get_mut(word)] {
                        is_denied.into_iter().for_each(|is_denied| *is_denied = true);
                    }
                }
                continue;
            }
            for (place, word) in content.take(MAX_SCOPE).enumerate() {
                if place == 0
                    && let Some(is_negated) = is_negated.get_mut(word)
                {
                    *is_negated = !*is_negated;
                }
                if let Some(may_be) = may_be_negated.get_mut(word) {
                    *may_be = true;
                }
            }
        }
        Self { classes, is_negated, may_be_negated }
    }

    pub(super) fn has(&self, class: Class, range: std::ops::Range<usize>) -> bool {
        self.classes.get(range).is_some_and(|classes| classes.contains(&Some(class)))
    }

    pub(super) fn has_any(&self, class: Class) -> bool {
        self.classes.contains(&Some(class))
    }

    pub(super) fn count(&self, class: Class) -> usize {
        self.classes.iter().filter(|other| **other == Some(class)).count()
    }

    pub(super) fn negates_any(&self) -> bool {
        self.is_negated.contains(&true)
    }

    pub(super) fn negated(&self, at: usize) -> bool {
        self.is_negated.get(at).copied().unwrap_or_default()
    }

    pub(super) fn perhaps_negated(&self, at: usize) -> bool {
        self.may_be_negated.get(at).copied().unwrap_or_default()
    }
}

/// A text with what qualifies its words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'t> {
    pub(super) tokens: &'t [Token],
    pub(super) qualified: &'t Qualified,
}
