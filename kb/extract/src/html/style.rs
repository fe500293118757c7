//! Rules in `<style>` elements of a page that hide, strike, raise or lower elements: a small part of CSS. Doubtful elements count
//! as visible.
//!
//! A rule hides if it contains `display: none` or `visibility: hidden`, applies in every medium, and selects only by class, id
//! and type. A matching element counts as hidden unless some rule, in any state or medium, shows elements with one of its
//! classes or its id: such elements are opened and closed while a page is used. The other effects have the same conditions.
//!
//! External style sheets, scripts, and rules with pseudo-classes or attributes are ignored.

use std::collections::{HashMap, HashSet};

use scraper::{ElementRef, Html, Selector};

use super::{name, select};

/// Maximum size of all style elements; the rest is ignored.
const MAX_BYTES: usize = 1024 * 1024;
const MAX_RULES: usize = 5_000;
/// Maximum nesting of blocks.
const MAX_DEPTH: usize = 8;

/// The effect of a style on an element and its content.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Hidden,
    Struck,
    Raised,
    Lowered,
    /// On lines of its own or in a cell.
    Apart,
    /// Its children are in cells.
    ChildrenApart,
    /// Its items have no numbers.
    NoMarkers,
    /// Its items have letters or Roman numbers.
    Letters,
    Capitals,
    Roman,
    RomanCapitals,
}

/// A property with an effect.
pub(super) struct EffectRule {
    pub(super) property: &'static str,
    pub(super) effect: Effect,
    /// True if a value has the effect.
    pub(super) has_effect: fn(&str) -> bool,
}

/// In the order of [`StyleSheet`].
pub(super) const EFFECT_RULES: [EffectRule; 14] = [
    rule("display", Effect::Hidden, |value| matches!(value, "none")),
    rule("visibility", Effect::Hidden, |value| matches!(value, "hidden" | "collapse")),
    rule("text-decoration", Effect::Struck, |value| value.contains("line-through")),
    rule("text-decoration-line", Effect::Struck, |value| value.contains("line-through")),
    rule("vertical-align", Effect::Raised, |value| matches!(value, "super")),
    rule("vertical-align", Effect::Lowered, |value| matches!(value, "sub")),
    rule("display", Effect::Apart, |value| {
        ["block", "flex", "grid", "table", "list-item"].iter().any(|display| value.starts_with(display))
    }),
    rule("display", Effect::ChildrenApart, |value| value.ends_with("flex") || value.ends_with("grid")),
    rule("list-style", Effect::NoMarkers, |value| value.split(' ').any(|part| part == "none")),
    rule("list-style-type", Effect::NoMarkers, |value| value == "none"),
    rule("list-style-type", Effect::Letters, |value| matches!(value, "lower-alpha" | "lower-latin")),
    rule("list-style-type", Effect::Capitals, |value| matches!(value, "upper-alpha" | "upper-latin")),
    rule("list-style-type", Effect::Roman, |value| value == "lower-roman"),
    rule("list-style-type", Effect::RomanCapitals, |value| value == "upper-roman"),
];

const fn rule(property: &'static str, effect: Effect, has_effect: fn(&str) -> bool) -> EffectRule {
    EffectRule { property, effect, has_effect }
}

/// The rules of a page with an effect or against it.
#[derive(Default)]
pub(super) struct StyleSheet([Rules; EFFECT_RULES.len()]);

/// The rules about one property and effect.
#[derive(Default)]
struct Rules {
    /// Rules with the effect by a class or an id of their elements.
    applying: HashMap<String, Vec<Selector>>,
    /// Classes and ids of elements to which some rule gives another value.
    doubtful: HashSet<String>,
}

impl StyleSheet {
    pub(super) fn from_html(html: &Html) -> Self {
        let mut sheet = Self::default();
        let (mut bytes, mut rules) = (0, 0);
        for style in select(html, "style") {
            // Applies only to browsers without scripts, or not at all.
            let is_inert =
                style.ancestors().any(|node| matches!(name(node.value()), "noscript" | "template" | "svg"));
            let medium = Medium::parse(style.attr("media").unwrap_or_default());
            let text: String = style.text().collect();
            bytes += text.len();
            if is_inert || medium == Medium::Paper {
                continue;
            }
            if bytes > MAX_BYTES {
                break;
            }
            sheet.read(&without_comments(&text), medium == Medium::Some, &mut rules, 0);
        }
        sheet
    }

    /// Returns whether a rule has this effect on the element. `inline` tests the properties of its
    /// `style` attribute, which take precedence.
    pub(super) fn has(&self, effect: Effect, element: ElementRef<'_>, inline: impl Fn(&str) -> bool) -> bool {
        let mut of_effect = EFFECT_RULES.iter().zip(&self.0).filter(|(rule, _)| rule.effect == effect);
        of_effect.any(|(rule, rules)| {
            let mut names = element_names(element);
            let applies = |name: String| {
                let selectors = rules.applying.get(&name);
                selectors.is_some_and(|selectors| selectors.iter().any(|selector| selector.matches(&element)))
            };
            !rules.applying.is_empty()
                && !inline(rule.property)
                && names.any(applies)
                && !element_names(element).any(|name| rules.doubtful.contains(&name))
        })
    }

    /// Returns whether some rule shows elements with this class.
    pub(super) fn is_doubtful(&self, class: &str) -> bool {
        self.0.first().is_some_and(|hidden| hidden.doubtful.contains(&format!(".{class}")))
    }

    fn read(&mut self, css: &str, is_conditional: bool, rules: &mut usize, depth: usize) {
        let mut rest = css;
        while let Some((prelude, body, after)) = next_block(rest) {
            rest = after;
            *rules += 1;
            if *rules > MAX_RULES || depth > MAX_DEPTH {
                return;
            }
            // Statements without a block may come before it.
            let prelude = prelude.rsplit(';').next().unwrap_or_default().trim();
            match prelude
                .strip_prefix('@')
                .map(|rule| rule.split_once(char::is_whitespace).unwrap_or((rule, "")))
            {
                None => self.add(prelude, body, is_conditional),
                Some(("media", query)) if Medium::parse(query) == Medium::Paper => {}
                Some(("media" | "supports" | "container" | "layer", _)) => {
                    self.read(body, true, rules, depth + 1)
                }
                Some(_) => {}
            }
        }
    }

    fn add(&mut self, selectors: &str, body: &str, is_conditional: bool) {
        // Nested rules may show in another state what this one hides.
        let is_nested = body.contains('{');
        let found: Vec<_> = declarations(body).filter(|(_, value)| !value.is_empty()).collect();
        for (rule, rules) in EFFECT_RULES.iter().zip(&mut self.0) {
            let Some((_, value)) = found.iter().rev().find(|(name, _)| name == rule.property) else {
                continue;
            };
            for selector in selectors.split(',').map(str::trim) {
                let names = names_in(selector);
                if !(rule.has_effect)(value) || is_nested {
                    rules.doubtful.extend(names);
                } else if !is_conditional
                    && !selector.contains([':', '[', '&', '\\'])
                    && let Some(name) = names.into_iter().next()
                    && let Ok(selector) = Selector::parse(selector)
                {
                    rules.applying.entry(name).or_default().push(selector);
                }
            }
        }
    }
}

#[derive(PartialEq, Eq)]
enum Medium {
    Any,
    Some,
    /// Print only.
    Paper,
}

impl Medium {
    fn parse(query: &str) -> Self {
        let query = query.trim().to_ascii_lowercase();
        match query.as_str() {
            "" | "all" | "screen" => Self::Any,
            "print" | "only print" => Self::Paper,
            _ => Self::Some,
        }
    }
}

/// Name and value of each declaration, in lower case and without `!important`.
pub(super) fn declarations(body: &str) -> impl Iterator<Item = (String, String)> {
    body.split(';').filter_map(|declaration| {
        let (name, value) = declaration.split_once(':')?;
        let value = value.trim().to_ascii_lowercase();
        let value = value.split('!').next().unwrap_or_default().trim().to_owned();
        Some((name.trim().to_ascii_lowercase(), value))
    })
}

/// `.class` and `#id` of an element.
fn element_names(element: ElementRef<'_>) -> impl Iterator<Item = String> {
    let id = element.value().id().map(|id| format!("#{id}"));
    element.value().classes().map(|class| format!(".{class}")).chain(id)
}

/// `.class` and `#id` of the last part of a selector, which selects the element itself.
fn names_in(selector: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let (mut is_name, mut depth) = (false, 0_usize);
    for character in selector.chars() {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            '.' | '#' => {
                is_name = true;
                names.push(character.to_string());
            }
            ' ' | '\n' | '\r' | '\t' | '>' | '+' | '~' => {
                is_name = false;
                names.clear();
            }
            ':' | '*' => is_name = false,
            _ if is_name => names.last_mut().into_iter().for_each(|name| name.push(character)),
            _ => {}
        }
    }
    names
}

fn without_comments(css: &str) -> String {
    let mut kept = String::with_capacity(css.len());
    let mut rest = css;
    while let Some((before, after)) = rest.split_once("/*") {
        kept.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    kept + rest
}

/// The text before the next block, inside it and after it. Braces in quotes are ignored.
fn next_block(css: &str) -> Option<(&str, &str, &str)> {
    let (mut depth, mut start, mut quote) = (0_usize, 0, None);
    let mut is_escaped = false;
    for (at, character) in css.char_indices() {
        match (character, quote) {
            _ if is_escaped => is_escaped = false,
            ('\\', _) => is_escaped = true,
            (_, Some(open)) if character == open || character == '\n' => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'', None) => quote = Some(character),
            ('{', None) => {
                depth += 1;
                if depth == 1 {
                    start = at;
                }
            }
            ('}', None) if depth == 1 => {
                return Some((css.get(..start)?, css.get(start + 1..at)?, css.get(at + 1..)?));
            }
            ('}', None) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    // The end of the style element closes open blocks.
    (depth > 0).then(|| Some((css.get(..start)?, css.get(start + 1..)?, "")))?
}
