//! Words that turn the meaning of a sentence around: negations, quantifiers, modal verbs, bounds, opposites.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::align::{Alignment, Difference};
use super::tokens::{Lexicon, Token};
use crate::words::normalized_word;

/// Content words after a negation that it may deny: in "not a valid reason", "valid" and "reason".
const MAX_SCOPE: usize = 3;
/// Tokens of the sentence at a place where they replace those of the source.
const MAX_LOCAL: usize = 5;
/// Tokens of a place where a function word replaces another.
const MAX_FUNCTION_PLACE: usize = 2;
/// Words between a number and what bounds it: "at least about 5".
const MAX_BOUND_DISTANCE: usize = 3;

/// What a function word does to a sentence.
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

/// How the words of a text are qualified.
#[derive(Debug, Default)]
pub(super) struct Qualified {
    /// What each token does.
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
            let content = following.filter(|(_, token)| token.is_content()).map(|(at, _)| at);
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

    fn count(&self, class: Class) -> usize {
        self.classes.iter().filter(|other| **other == Some(class)).count()
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
        || differences
            .iter()
            .any(|difference| quantity_differs(claim.qualified, source.qualified, difference))
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
        // A negation that denies no content word, as in "it is not".
        let (in_claim, in_source) =
            (claim.qualified.count(Class::Negation), source.qualified.count(Class::Negation));
        in_claim > in_source && in_claim % 2 != in_source % 2 && !claim.qualified.is_negated.contains(&true)
    }
}

/// Quantifiers and modal verbs that the sentence adds, exchanges or leaves out so that it says more than its source.
fn quantity_differs(claim: &Qualified, source: &Qualified, difference: &Difference) -> bool {
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

/// Whether two tokens mean the opposite of each other.
fn are_opposites(lexicon: &Lexicon, a: &Token, b: &Token) -> bool {
    if (a.is_number() && b.is_number()) || a.stem == b.stem {
        return false;
    }
    let (a_stem, b_stem) = (lexicon.base(a.stem), lexicon.base(b.stem));
    OPPOSITES.get(a_stem).is_some_and(|opposites| opposites.contains(&b_stem.to_owned()))
        || is_denial(lexicon.base(a.word), lexicon.base(b.word))
        || is_denial(lexicon.base(b.word), lexicon.base(a.word))
}

/// Whether a word is the other with a syllable that denies it: "impossible", "unpaid", "non-smoker", "harmless".
fn is_denial(word: &str, other: &str) -> bool {
    const PREFIXES: &[&str] = &["un", "in", "im", "il", "ir", "dis", "non", "mis", "anti", "de"];
    /// A shorter rest is another word: "in" and "to", "into".
    const MIN_REST: usize = 4;
    let by_prefix = PREFIXES.iter().filter_map(|prefix| word.strip_prefix(prefix)).any(|rest| {
        rest.len() >= MIN_REST && (rest == other || normalized_word(rest).stem == normalized_word(other).stem)
    });
    let by_suffix = word
        .strip_suffix("less")
        .is_some_and(|root| root.len() >= 3 && (other.strip_suffix("ful") == Some(root) || other == root));
    by_prefix || by_suffix
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

/// What bounds the number at a position, from the words before it.
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

/// Words that cannot both be true of the same thing. Written by hand; the words that `cargo xtask bench generation` exchanges
/// come from a list of its own.
const PAIRS: &[(&str, &[&str])] = &[
    ("above", &["below", "under", "beneath"]),
    ("absent", &["present"]),
    ("accept", &["reject", "refuse", "decline", "deny"]),
    ("accurate", &["inaccurate", "wrong"]),
    ("active", &["inactive", "passive"]),
    ("add", &["remove", "subtract", "delete"]),
    ("adult", &["child", "minor"]),
    ("advance", &["retreat"]),
    ("advantage", &["disadvantage", "drawback"]),
    ("after", &["before", "until"]),
    ("agree", &["disagree", "refuse"]),
    ("alive", &["dead"]),
    ("allow", &["forbid", "prohibit", "prevent", "ban", "deny", "disallow"]),
    ("allowed", &["forbidden", "prohibited", "banned"]),
    ("ancient", &["modern", "new", "recent"]),
    ("approve", &["reject", "refuse", "deny"]),
    ("arrive", &["depart", "leave"]),
    ("arrival", &["departure"]),
    ("ascend", &["descend"]),
    ("asleep", &["awake"]),
    ("attack", &["defend", "protect"]),
    ("available", &["unavailable"]),
    ("backward", &["forward"]),
    ("bad", &["good", "well"]),
    ("beautiful", &["ugly"]),
    ("begin", &["end", "finish", "stop"]),
    ("beginning", &["end", "ending"]),
    ("benefit", &["harm", "damage"]),
    ("best", &["worst"]),
    ("better", &["worse"]),
    ("big", &["small", "little"]),
    ("black", &["white"]),
    ("bottom", &["top"]),
    ("bright", &["dark", "dim"]),
    ("broad", &["narrow"]),
    ("build", &["destroy", "demolish"]),
    ("buy", &["sell"]),
    ("cheap", &["expensive", "costly"]),
    ("clean", &["dirty"]),
    ("clear", &["unclear", "vague"]),
    ("close", &["open", "far"]),
    ("cold", &["hot", "warm"]),
    ("common", &["rare", "uncommon", "unusual"]),
    ("complex", &["simple"]),
    ("connect", &["disconnect"]),
    ("continue", &["stop", "cease"]),
    ("correct", &["incorrect", "wrong", "false"]),
    ("cool", &["warm", "heat"]),
    ("create", &["destroy"]),
    ("day", &["night"]),
    ("death", &["birth", "life"]),
    ("decrease", &["increase", "rise", "grow"]),
    ("decline", &["grow", "rise", "increase"]),
    ("deep", &["shallow"]),
    ("defeat", &["victory"]),
    ("demand", &["supply"]),
    ("deny", &["admit", "confirm", "grant"]),
    ("different", &["same", "identical", "similar", "equal"]),
    ("difficult", &["easy", "simple"]),
    ("direct", &["indirect"]),
    ("down", &["up"]),
    ("dry", &["wet", "humid"]),
    ("early", &["late"]),
    ("earlier", &["later"]),
    ("earliest", &["latest"]),
    ("east", &["west"]),
    ("eastern", &["western"]),
    ("easy", &["hard"]),
    ("empty", &["full"]),
    ("enable", &["disable", "prevent"]),
    ("encourage", &["discourage", "deter"]),
    ("enemy", &["friend", "ally"]),
    ("enter", &["exit", "leave"]),
    ("even", &["odd", "uneven"]),
    ("exclude", &["include"]),
    ("expand", &["shrink", "contract"]),
    ("export", &["import"]),
    ("external", &["internal"]),
    ("exterior", &["interior"]),
    ("fail", &["succeed", "pass"]),
    ("failure", &["success"]),
    ("fall", &["rise"]),
    ("false", &["true"]),
    ("famous", &["unknown", "obscure"]),
    ("far", &["near"]),
    ("fast", &["slow"]),
    ("fat", &["thin"]),
    ("female", &["male"]),
    ("few", &["many"]),
    ("fewer", &["more"]),
    ("first", &["last", "final"]),
    ("follow", &["precede"]),
    ("following", &["preceding", "previous"]),
    ("foreign", &["domestic", "local", "native"]),
    ("former", &["latter", "current", "present", "future"]),
    ("free", &["paid", "expensive", "captive"]),
    ("frequent", &["rare", "infrequent"]),
    ("front", &["back", "rear"]),
    ("future", &["past"]),
    ("gain", &["lose", "loss"]),
    ("general", &["specific", "particular"]),
    ("give", &["take", "receive"]),
    ("great", &["small", "little"]),
    ("greater", &["less", "smaller", "lesser"]),
    ("greatest", &["least", "smallest"]),
    ("guilty", &["innocent"]),
    ("happy", &["sad", "unhappy"]),
    ("hard", &["soft"]),
    ("healthy", &["sick", "ill", "unhealthy"]),
    ("heavy", &["light"]),
    ("hide", &["show", "reveal"]),
    ("high", &["low"]),
    ("higher", &["lower"]),
    ("highest", &["lowest"]),
    ("hot", &["cold", "cool"]),
    ("huge", &["tiny"]),
    ("in", &["out"]),
    ("include", &["exclude", "omit"]),
    ("increase", &["reduce", "lower", "decline", "drop", "fall"]),
    ("indoor", &["outdoor"]),
    ("inside", &["outside"]),
    ("inner", &["outer"]),
    ("intentional", &["accidental"]),
    ("join", &["leave"]),
    ("keep", &["lose", "discard"]),
    ("large", &["small", "little"]),
    ("larger", &["smaller"]),
    ("largest", &["smallest"]),
    ("last", &["next"]),
    ("least", &["most"]),
    ("left", &["right"]),
    ("legal", &["illegal"]),
    ("less", &["more"]),
    ("live", &["die"]),
    ("living", &["dead"]),
    ("liquid", &["solid", "gas"]),
    ("long", &["short", "brief"]),
    ("longer", &["shorter"]),
    ("longest", &["shortest"]),
    ("lose", &["win", "find"]),
    ("loss", &["profit", "win"]),
    ("loud", &["quiet", "silent"]),
    ("love", &["hate"]),
    ("major", &["minor"]),
    ("majority", &["minority"]),
    ("male", &["woman"]),
    ("man", &["woman"]),
    ("maximum", &["minimum"]),
    ("more", &["fewer"]),
    ("natural", &["artificial", "synthetic"]),
    ("near", &["distant"]),
    ("necessary", &["unnecessary", "optional"]),
    ("negative", &["positive"]),
    ("new", &["old", "used"]),
    ("newest", &["oldest"]),
    ("normal", &["abnormal", "unusual"]),
    ("north", &["south"]),
    ("northern", &["southern"]),
    ("offer", &["refuse"]),
    ("official", &["unofficial", "informal"]),
    ("old", &["young", "recent", "modern"]),
    ("older", &["younger", "newer"]),
    ("oldest", &["youngest"]),
    ("on", &["off"]),
    ("online", &["offline"]),
    ("open", &["closed", "shut"]),
    ("oppose", &["support", "favour", "favor"]),
    ("optional", &["required", "mandatory", "compulsory", "obligatory"]),
    ("over", &["under"]),
    ("permanent", &["temporary"]),
    ("permit", &["forbid", "prohibit", "ban"]),
    ("plural", &["singular"]),
    ("poor", &["rich", "wealthy"]),
    ("possible", &["impossible"]),
    ("powerful", &["weak", "powerless"]),
    ("private", &["public"]),
    ("prior", &["subsequent", "after"]),
    ("probable", &["improbable"]),
    ("protect", &["harm", "endanger"]),
    ("pull", &["push"]),
    ("quick", &["slow"]),
    ("raise", &["lower", "reduce", "cut"]),
    ("receive", &["send"]),
    ("recent", &["old"]),
    ("regular", &["irregular"]),
    ("relevant", &["irrelevant"]),
    ("remain", &["leave", "change"]),
    ("remember", &["forget"]),
    ("rich", &["poor"]),
    ("previous", &["next"]),
    ("within", &["after", "outside", "beyond"]),
    ("same", &["opposite"]),
    ("right", &["wrong"]),
    ("rough", &["smooth"]),
    ("rural", &["urban"]),
    ("safe", &["dangerous", "unsafe"]),
    ("save", &["spend", "waste"]),
    ("separate", &["joint", "together"]),
    ("serious", &["mild", "trivial"]),
    ("severe", &["mild"]),
    ("sharp", &["blunt"]),
    ("significant", &["insignificant", "minor", "negligible"]),
    ("single", &["multiple", "married", "double"]),
    ("slower", &["faster", "quicker"]),
    ("start", &["end", "finish", "stop"]),
    ("strength", &["weakness"]),
    ("strengthen", &["weaken"]),
    ("strict", &["lenient"]),
    ("strong", &["weak"]),
    ("stronger", &["weaker"]),
    ("succeed", &["fail"]),
    ("sufficient", &["insufficient"]),
    ("tall", &["short"]),
    ("thick", &["thin"]),
    ("tight", &["loose"]),
    ("top", &["bottom"]),
    ("true", &["false", "untrue"]),
    ("unite", &["divide", "separate"]),
    ("upper", &["lower"]),
    ("useful", &["useless"]),
    ("valid", &["invalid"]),
    ("visible", &["invisible"]),
    ("voluntary", &["compulsory", "mandatory", "involuntary"]),
    ("war", &["peace"]),
    ("weak", &["strong"]),
    ("weekday", &["weekend"]),
    ("wide", &["narrow"]),
    ("with", &["without"]),
    ("worsen", &["improve"]),
];

/// The stems of the opposites of a stem, both ways.
static OPPOSITES: LazyLock<BTreeMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut opposites: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (word, others) in PAIRS {
        let word = normalized_word(word).stem;
        for other in *others {
            let other = normalized_word(other).stem;
            opposites.entry(word.clone()).or_default().push(other.clone());
            opposites.entry(other).or_default().push(word.clone());
        }
    }
    opposites
});
