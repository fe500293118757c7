//! Detects elements that a browser does not show, strikes through, raises or lowers, from attributes, inline style, and simple
//! rules of style elements ([`StyleSheet`]). The effects of other files and of scripts are not detected.

use scraper::{ElementRef, Html};

use super::style::{EFFECT_RULES, Effect, StyleSheet, declarations};
use crate::shifted::Shift;

/// Minimum offset of an element that is moved off the page; a smaller one may be an animation or a menu that slides in.
const MIN_OFF_SCREEN_PIXELS: f64 = 900.0;
/// Maximum size at which clipped text is unreadable.
const MAX_UNREADABLE_PIXELS: f64 = 1.0;

/// Approximate pixels per unit.
const UNITS: [&str; 11] = ["px", "rem", "em", "ch", "pt", "cm", "in", "vw", "vh", "%", ""];
const PIXELS: [f64; 11] = [1.0, 16.0, 16.0, 8.0, 1.3, 38.0, 96.0, 10.0, 10.0, 10.0, 1.0];

pub(super) struct Hidden(StyleSheet);

/// Classes that widely used style sheets hide or strike elements with, or lay out their children.
const HIDING_CLASSES: [&str; 5] = ["d-none", "hidden", "invisible", "is-hidden", "display-none"];
const STRIKING_CLASSES: [&str; 4] =
    ["line-through", "text-decoration-line-through", "strikethrough", "strike-through"];
const ROW_CLASSES: [&str; 9] =
    ["flex", "inline-flex", "grid", "inline-grid", "d-flex", "d-grid", "d-inline-flex", "row", "columns"];

/// How an element and its content are hidden.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Hiding {
    /// By an attribute: scripts show it when it is needed.
    Attribute,
    Style,
}

impl Hidden {
    pub(super) fn from_html(html: &Html) -> Self {
        Self(StyleSheet::from_html(html))
    }

    /// How the element and its content are hidden.
    pub(super) fn hiding(&self, element: ElementRef<'_>) -> Option<Hiding> {
        let attributes = element.value();
        // Browsers find text that is hidden until found, and open it.
        let is_hidden =
            attributes.attr("hidden").is_some_and(|value| !value.trim().eq_ignore_ascii_case("until-found"));
        if is_hidden || attributes.attr("aria-hidden") == Some("true") {
            return Some(Hiding::Attribute);
        }
        let style = Style::from_element(element);
        let is_hidden = style.hides()
            || (style.is("font-size", is_zero) && !has_own_size_inside(element))
            || self.has(element, &style, Effect::Hidden)
            || (style.get("display").is_none() && self.has_hiding_class(element));
        is_hidden.then_some(Hiding::Style)
    }

    /// Returns whether the element is struck through, and so is not valid any more.
    pub(super) fn is_struck(&self, element: ElementRef<'_>) -> bool {
        let style = Style::from_element(element);
        matches!(element.value().name(), "del" | "s" | "strike")
            || self.has(element, &style, Effect::Struck)
            || has_class(element, &STRIKING_CLASSES)
    }

    /// Returns whether a class hides the element, and no other shows it on wide screens.
    fn has_hiding_class(&self, element: ElementRef<'_>) -> bool {
        let shows = |class: &str| class.contains(':') || (class.starts_with("d-") && class != "d-none");
        has_class(element, &HIDING_CLASSES)
            && !element.value().classes().any(|class| shows(class) || self.0.is_doubtful(class))
    }

    /// Returns whether a style has this effect on the element.
    pub(super) fn has_effect(&self, element: ElementRef<'_>, effect: Effect) -> bool {
        self.first(element, [(effect, ())]).is_some()
    }

    /// Returns whether a style sets each of its children apart from the others.
    pub(super) fn sets_children_apart(&self, element: ElementRef<'_>) -> bool {
        self.has_effect(element, Effect::ChildrenApart) || has_class(element, &ROW_CLASSES)
    }

    /// The letters that a style numbers a list with.
    pub(super) fn numbers(&self, list: ElementRef<'_>) -> Option<&'static str> {
        use Effect::{Capitals, Letters, Roman, RomanCapitals};
        self.first(list, [(Letters, "a"), (Capitals, "A"), (Roman, "i"), (RomanCapitals, "I")])
    }

    /// How the element is raised or lowered.
    pub(super) fn shift(&self, element: ElementRef<'_>) -> Option<Shift> {
        match element.value().name() {
            "sup" => return Some(Shift::Raised),
            "sub" => return Some(Shift::Lowered),
            _ => {}
        }
        self.first(element, [(Effect::Raised, Shift::Raised), (Effect::Lowered, Shift::Lowered)])
    }

    /// The value of the first of these effects that the element has.
    fn first<T, const N: usize>(&self, element: ElementRef<'_>, effects: [(Effect, T); N]) -> Option<T> {
        let style = Style::from_element(element);
        effects.into_iter().find(|(effect, _)| self.has(element, &style, *effect)).map(|(_, found)| found)
    }

    /// Returns whether the `style` attribute or a rule has the effect.
    fn has(&self, element: ElementRef<'_>, style: &Style, effect: Effect) -> bool {
        style.has(effect) || self.0.has(effect, element, |property| style.get(property).is_some())
    }
}

fn has_class(element: ElementRef<'_>, classes: &[&str]) -> bool {
    element.value().classes().any(|class| classes.contains(&class))
}

/// A list may have font size 0 to close the gaps between its items, which then set their own size.
fn has_own_size_inside(element: ElementRef<'_>) -> bool {
    element.descendent_elements().skip(1).any(|inner| {
        // A class may set it in a style sheet.
        inner.value().classes().next().is_some()
            || Style::from_element(inner).is("font-size", |size| !is_zero(size))
    })
}

/// The declarations of a `style` attribute.
struct Style(Vec<(String, String)>);

impl Style {
    fn from_element(element: ElementRef<'_>) -> Self {
        Self(element.attr("style").map(|style| declarations(style).collect()).unwrap_or_default())
    }

    fn get(&self, property: &str) -> Option<&str> {
        self.0.iter().rev().find(|(name, _)| name == property).map(|(_, value)| value.as_str())
    }

    fn is(&self, property: &str, test: impl Fn(&str) -> bool) -> bool {
        self.get(property).is_some_and(test)
    }

    fn has(&self, effect: Effect) -> bool {
        let mut rules = EFFECT_RULES.iter().filter(|rule| rule.effect == effect);
        rules.any(|rule| self.is(rule.property, rule.has_effect))
    }

    fn hides(&self) -> bool {
        self.is("opacity", is_zero)
            || self.is("clip", is_speck_shape)
            || self.is("clip-path", is_empty_shape)
            || self.is("text-indent", is_off_screen_offset)
            || self.is_off_screen()
            || self.is_cut_off()
            || self.has_colour_of_ground()
    }

    fn is_off_screen(&self) -> bool {
        let sides = ["left", "top", "right", "bottom"];
        self.is("position", |value| matches!(value, "absolute" | "fixed"))
            && sides.iter().any(|side| self.is(side, is_off_screen_offset))
            || ["margin-left", "margin-top"].iter().any(|side| self.is(side, is_off_screen_offset))
    }

    fn is_cut_off(&self) -> bool {
        let is_speck = |value: &str| pixels(value).is_some_and(|size| size <= MAX_UNREADABLE_PIXELS);
        ["overflow", "overflow-x", "overflow-y"]
            .iter()
            .any(|name| self.is(name, |value| matches!(value, "hidden" | "clip")))
            && ["width", "height", "max-width", "max-height"].iter().any(|name| self.is(name, is_speck))
    }

    fn has_colour_of_ground(&self) -> bool {
        let ground = self.get("background-color").or_else(|| self.get("background"));
        ground.is_some() && self.get("color") == ground
    }
}

fn is_zero(value: &str) -> bool {
    let number = value.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    number.parse() == Ok(0.0)
}

fn is_off_screen_offset(value: &str) -> bool {
    pixels(value).is_some_and(|offset| offset <= -MIN_OFF_SCREEN_PIXELS)
}

/// Parses lengths such as `-9999px`, `-100em` and `0`.
fn pixels(value: &str) -> Option<f64> {
    let value = value.trim();
    let (unit, pixels) = UNITS.into_iter().zip(PIXELS).find(|(unit, _)| value.ends_with(unit))?;
    let number: f64 = value.strip_suffix(unit)?.trim().parse().ok()?;
    Some(number * pixels)
}

/// `rect(0, 0, 0, 0)` and the like.
fn is_speck_shape(shape: &str) -> bool {
    let Some(sides) = shape.strip_prefix("rect(") else { return false };
    let mut sides = sides.split([',', ' ', ')']).filter(|side| !side.is_empty());
    sides.all(|side| pixels(side).is_some_and(|size| size <= MAX_UNREADABLE_PIXELS))
}

fn is_empty_shape(shape: &str) -> bool {
    let first =
        shape.split_once('(').and_then(|(_, rest)| rest.split([',', ' ', ')']).next()).unwrap_or_default();
    match shape.split('(').next() {
        Some("inset") => first
            .strip_suffix('%')
            .and_then(|share| share.parse().ok())
            .is_some_and(|share: f64| share >= 50.0),
        Some("circle" | "ellipse") => is_zero(first),
        _ => false,
    }
}
