//! Says what a picture shows, where the page says it.

use scraper::{ElementRef, node::Element};

use super::reading::has_text;

/// Ends of names of files, which cameras and editors write where a description of the picture belongs.
const PICTURE_EXTENSIONS: [&str; 7] = [".jpg", ".jpeg", ".png", ".gif", ".svg", ".webp", ".avif"];
/// Elements that show something other than text.
const PICTURES: [&str; 9] =
    ["img", "svg", "canvas", "video", "audio", "iframe", "object", "embed", "picture"];
/// Parts of the names of icons that show a tick or a cross.
const TICKS: [&str; 5] = ["check", "checkmark", "tick", "yes", "ok"];
const CROSSES: [&str; 7] = ["cross", "times", "xmark", "close", "no", "x", "ban"];
/// Other parts of such names: of libraries, shapes, weights and colours.
const NEUTRAL: &str = "fa fas far bi mdi ti ph la las ri material fontawesome lucide tabler feather svg png gif webp \
    mark circle square squared solid regular bold thin alt fill filled outline heavy white green red \
    small lg negative sign glyphicon";
/// Parts of the classes of elements that a style sheet turns into icons.
const ICON_CLASSES: [&str; 10] = ["fa", "fas", "far", "fab", "bi", "mdi", "ti", "ph", "feather", "symbols"];
/// The replacement for an icon without a name.
pub(super) const UNKNOWN: &str = "\u{fffd}";

/// The text in place of a picture.
pub(super) fn text(wrapped: ElementRef<'_>) -> Option<String> {
    let element = wrapped.value();
    let is_icon = is_icon(wrapped);
    let label = || element.attr("aria-label").or_else(|| element.attr("title").filter(|_| is_icon));
    let text = match element.name() {
        "img" => element.attr("alt").map(str::to_owned),
        // Its content is the name of a letter of its font.
        _ if is_icon && has_text(wrapped) => label().map(str::to_owned),
        name if element.attr("role") == Some("img") || is_icon || (name == "svg" && !is_link(wrapped)) => {
            let is_shown = name != "svg" && has_text(wrapped);
            let title = || title(wrapped).filter(|_| element.attr("role") == Some("img"));
            label().filter(|_| !is_shown).map(str::to_owned).or_else(title)
        }
        _ => None,
    };
    let is_file = |text: &str| {
        let lower = text.trim().to_ascii_lowercase();
        lower.is_empty() || PICTURE_EXTENSIONS.iter().any(|extension| lower.ends_with(extension))
    };
    let is_picture = is_icon || matches!(element.name(), "img" | "svg");
    text.filter(|text| !is_file(text)).or_else(|| sign(wrapped).filter(|_| is_picture).map(str::to_owned))
}

/// The content of a cell without text; `None` if it is blank.
pub(super) fn in_cell(wrapped: ElementRef<'_>) -> Option<String> {
    let element = wrapped.value();
    let by_class = || element.classes().find_map(tick_or_cross).filter(|_| !has_text(wrapped));
    let sign = match element.name() {
        "td" | "th" => by_class()?,
        "input" if element.attr("type").is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox")) => {
            if element.attr("checked").is_some() {
                "☑"
            } else {
                "☐"
            }
        }
        "input" | "select" | "textarea" | "meter" | "progress" => UNKNOWN,
        "button" => return Some(wrapped.text().collect()),
        "img" if element.attr("alt") == Some("") => return None,
        "svg" => return Some(title(wrapped).unwrap_or_else(|| UNKNOWN.to_owned())),
        name if PICTURES.contains(&name) || is_icon(wrapped) => UNKNOWN,
        _ => by_class()?,
    };
    Some(sign.to_owned())
}

/// The title of a drawing.
fn title(drawing: ElementRef<'_>) -> Option<String> {
    Some(drawing.child_elements().find(|child| child.value().name() == "title")?.text().collect())
}

/// A tick or a cross, which pages hide from screen readers and show to all others.
pub(super) fn hidden_sign(wrapped: ElementRef<'_>) -> Option<String> {
    let element = wrapped.value();
    let is_shown = element.attr("hidden").is_none() && element.attr("aria-hidden") == Some("true");
    let is_picture = || is_icon(wrapped) || matches!(element.name(), "img" | "svg");
    sign(wrapped).filter(|_| is_shown && is_picture()).map(str::to_owned)
}

/// Returns whether an element shows something that has no text: not an icon, which decorates what
/// is next to it.
pub(super) fn is_unseen(element: &Element) -> bool {
    match element.name() {
        "svg" => false,
        "img" => element.attr("alt") != Some(""),
        "input" => {
            let kind = element.attr("type").unwrap_or("text").to_ascii_lowercase();
            !matches!(
                kind.as_str(),
                "hidden" | "submit" | "button" | "reset" | "checkbox" | "radio" | "image"
            )
        }
        "select" | "textarea" => true,
        name => PICTURES.contains(&name),
    }
}

/// Returns whether an icon is a link, such as that to a heading.
fn is_link(icon: ElementRef<'_>) -> bool {
    icon.parent().and_then(ElementRef::wrap).is_some_and(|parent| parent.value().name() == "a")
}

/// Returns whether a class makes an empty element, or one with the name of a letter, an icon.
fn is_icon(wrapped: ElementRef<'_>) -> bool {
    let element = wrapped.value();
    if element.name().ends_with("-icon") {
        return true;
    }
    let is_inline = matches!(element.name(), "i" | "span" | "em");
    let has_class = |element: &Element| {
        let mut classes = parts(element.attr("class").unwrap_or_default());
        classes.any(|part| ICON_CLASSES.contains(&part) || is_named_icon(part))
    };
    let is_font = || {
        element
            .classes()
            .any(|class| class.starts_with("material-icons") || class.starts_with("material-symbols"))
    };
    is_inline && has_class(element) && (is_font() || !has_text(wrapped))
}

/// A tick or a cross, by the class, file, sprite or letter of an icon.
fn sign(wrapped: ElementRef<'_>) -> Option<&'static str> {
    let element = wrapped.value();
    let names = ["class", "alt", "src", "data-icon", "icon", "name"];
    let names = names.into_iter().filter_map(|name| element.attr(name));
    let sprite =
        wrapped.child_elements().find_map(|child| child.attr("href").or_else(|| child.attr("xlink:href")));
    let letter = wrapped.text().next().filter(|_| element.name() != "svg");
    let names = names.chain(sprite).chain(letter).flat_map(str::split_whitespace);
    names.filter_map(tick_or_cross).next()
}

/// The sign that an icon with this name shows.
pub(crate) fn tick_or_cross(name: &str) -> Option<&'static str> {
    let mut found = None;
    let file = name.rsplit(['/', '#']).next().unwrap_or_default();
    for part in parts(file).filter(|part| !part.is_empty()) {
        let sign = if TICKS.contains(&part) {
            "✓"
        } else if CROSSES.contains(&part) {
            "✗"
        } else if NEUTRAL.split(' ').any(|neutral| neutral == part)
            || is_named_icon(part)
            || part.bytes().all(|byte| byte.is_ascii_digit())
        {
            continue;
        } else {
            return None;
        };
        if found.replace(sign).is_some_and(|before| before != sign) {
            return None;
        }
    }
    found
}

/// "dashicons", "octicon".
fn is_named_icon(part: &str) -> bool {
    part.trim_end_matches('s').ends_with("icon")
}

fn parts(names: &str) -> impl Iterator<Item = &str> {
    names.split(|c: char| !c.is_alphanumeric())
}
