//! Decides what of an element is read.

use std::collections::HashSet;

use ego_tree::{NodeId, iter::Edge};
use scraper::{ElementRef, Html, Node, node::Element};

use super::{
    hidden::{Hidden, Hiding},
    icon, name,
    tabs::Tabs,
};

/// Elements that browsers do not show.
const NOT_SHOWN: &str = "script style template noscript head title map datalist option rt rp frameset noframes \
    noembed annotation annotation-xml";
/// Elements that browsers show, but not as text, or that are not content.
const NOT_CONTENT: [&str; 16] = [
    "nav", "svg", "canvas", "audio", "video", "iframe", "object", "embed", "button", "select", "textarea",
    "input", "progress", "meter", "dialog", "img",
];
/// Elements that are not content unless they are inside the main part or an article.
const OUTSIDE_CONTENT: [&str; 3] = ["header", "footer", "aside"];
const ROLES_OUTSIDE_CONTENT: [&str; 3] = ["banner", "contentinfo", "complementary"];
/// Roles that, like `nav`, are never content.
const ROLES_SKIPPED: [&str; 4] = ["navigation", "search", "menu", "menubar"];
/// Elements that name what follows them, so that a button in them is its name.
const LABELS: [&str; 10] = ["h1", "h2", "h3", "h4", "h5", "h6", "summary", "dt", "th", "caption"];
/// Elements between a label and its button.
const MAX_LABEL_DEPTH: usize = 16;
/// Starts and ends of the nodes of a label that are searched for words.
const MAX_LABEL_EDGES: usize = 500;

/// How an element is read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reading {
    Content,
    /// Not at all. The words before and after it are next to each other on the page.
    NotShown,
    /// Not at all. It separates the words before and after it.
    NotContent,
    /// Not at all, because a style hides it.
    Hidden,
    /// Not at all, because it is not valid any more.
    Struck,
    /// As this text.
    Text(String),
}

/// Facts about the whole page.
pub(super) struct PageContext {
    pub(super) layout_tables: HashSet<NodeId>,
    pub(super) hidden: Hidden,
    pub(super) tabs: Tabs,
}

impl PageContext {
    pub(super) fn from_html(html: &Html) -> Self {
        Self {
            layout_tables: layout_tables(html),
            hidden: Hidden::from_html(html),
            tabs: Tabs::from_html(html),
        }
    }

    /// How an element is read. Outside of the main part and articles, headers and footers are those of the site.
    pub(super) fn reading(&self, wrapped: ElementRef<'_>, is_in_article: bool) -> Reading {
        let element = wrapped.value();
        let role = element.attr("role").unwrap_or_default();
        let is_outside = OUTSIDE_CONTENT.contains(&element.name()) || ROLES_OUTSIDE_CONTENT.contains(&role);
        let is_no_content = ROLES_SKIPPED.contains(&role) || (is_outside && !is_in_article);
        let is_content = !NOT_CONTENT.contains(&element.name()) && !is_no_content;
        if self.tabs.is_tab(wrapped.id()) {
            return Reading::NotContent;
        }
        if let Some(sign) = icon::hidden_sign(wrapped) {
            return Reading::Text(sign);
        }
        match self.hidden.hiding(wrapped).filter(|_| !self.tabs.shows(wrapped.id())) {
            Some(Hiding::Style) if is_content => return Reading::Hidden,
            Some(_) => return Reading::NotShown,
            None if NOT_SHOWN.split(' ').any(|name| name == element.name()) => return Reading::NotShown,
            None if is_no_content => return Reading::NotContent,
            None => {}
        }
        if self.hidden.is_struck(wrapped) {
            return Reading::Struck;
        }
        if let Some(text) = icon::text(wrapped).or_else(|| email(element)) {
            return Reading::Text(text);
        }
        if is_content || names_content(wrapped) { Reading::Content } else { Reading::NotContent }
    }
}

/// Returns whether a button shows or hides text that it names, as the questions of an accordion do.
pub(super) fn is_disclosure(element: &Element) -> bool {
    element.name() == "button"
        && element.attr("aria-expanded").is_some()
        && element.attr("aria-haspopup").is_none_or(|popup| popup == "false")
        && element.attr("role").is_none_or(|role| role == "button")
}

/// The element around another that names what follows.
pub(super) fn label(element: ElementRef<'_>) -> Option<ElementRef<'_>> {
    let mut above = element.ancestors().take(MAX_LABEL_DEPTH).filter_map(ElementRef::wrap);
    let is_label =
        |element: &Element| LABELS.contains(&element.name()) || element.attr("role") == Some("heading");
    above.find(|above| is_label(above.value()))
}

/// Returns whether a button is the name of content.
pub(super) fn names_content(wrapped: ElementRef<'_>) -> bool {
    let element = wrapped.value();
    if element.name() != "button" {
        return false;
    }
    let is_question = || wrapped.text().collect::<String>().trim_end().ends_with(['?', '？', '؟']);
    is_disclosure(element)
        || label(wrapped).is_some_and(|label| !has_own_words(label))
        || (element.attr("aria-controls").is_some() && element.attr("role").is_none() && is_question())
}

/// Returns whether a label has words next to its buttons, which then do something with it: copy a
/// link, sort a column.
fn has_own_words(label: ElementRef<'_>) -> bool {
    let has_words = |node: &Node| node.as_text().is_some_and(|text| text.contains(char::is_alphabetic));
    let mut buttons = 0usize;
    for edge in label.traverse().take(MAX_LABEL_EDGES) {
        match edge {
            Edge::Open(node) if name(node.value()) == "button" => buttons += 1,
            Edge::Close(node) if name(node.value()) == "button" => buttons = buttons.saturating_sub(1),
            Edge::Open(node) if buttons == 0 && has_words(node.value()) => return true,
            _ => {}
        }
    }
    false
}

pub(super) fn has_text(element: ElementRef<'_>) -> bool {
    element.text().any(|text| !text.trim().is_empty())
}

/// An address that Cloudflare hides from robots and shows to readers: its bytes after the first, each combined with the first.
fn email(element: &Element) -> Option<String> {
    let hex = element.attr("data-cfemail")?.as_bytes();
    let is_whole = hex.len() % 2 == 0;
    let bytes = hex.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    let bytes = bytes.collect::<Option<Vec<u8>>>()?;
    let (key, hidden) = bytes.split_first()?;
    let address = String::from_utf8(hidden.iter().map(|byte| byte ^ key).collect()).ok()?;
    let is_address =
        is_whole && address.contains('@') && !address.contains(|c: char| c.is_whitespace() || c.is_control());
    is_address.then_some(address)
}

/// Tables that only lay out the page: those that contain a table or a heading, or declare it. Their cells are read as parts of
/// the page.
fn layout_tables(html: &Html) -> HashSet<NodeId> {
    let mut layout = HashSet::new();
    let mut open: Vec<NodeId> = Vec::new();
    for edge in html.tree.root().traverse() {
        match edge {
            Edge::Open(node) => match name(node.value()) {
                "table" => {
                    layout.extend(open.last());
                    let role = node.value().as_element().and_then(|table| table.attr("role"));
                    if matches!(role, Some("presentation" | "none")) {
                        layout.insert(node.id());
                    }
                    open.push(node.id());
                }
                "h1" | "h2" | "h3" => layout.extend(open.last()),
                _ => {}
            },
            Edge::Close(node) if name(node.value()) == "table" => {
                open.pop();
            }
            Edge::Close(_) => {}
        }
    }
    layout
}
