//! Finds what the tabs and buttons of a page show, with the names of the tabs.

use std::collections::{HashMap, HashSet};

use ego_tree::NodeId;
use scraper::{ElementRef, Html};

use super::reading::{has_text, label, names_content};
use super::select;

/// Elements between a radio button and the tabs that it belongs to.
const MAX_SET_DEPTH: usize = 4;
/// Attributes with the id of what a tab shows.
const TARGETS: [&str; 4] = ["aria-controls", "href", "data-bs-target", "data-target"];

/// Parts of the classes of buttons and panels of an accordion.
const PANEL_CLASSES: [&str; 6] = ["accordion", "collaps", "toggle", "faq", "question", "expand"];

#[derive(Default)]
pub(super) struct Tabs {
    /// The name of each panel.
    names: HashMap<NodeId, String>,
    /// The tabs with a panel.
    tabs: HashSet<NodeId>,
    /// The elements that a click shows.
    shown: HashSet<NodeId>,
}

impl Tabs {
    pub(super) fn from_html(html: &Html) -> Self {
        let mut ids = HashMap::new();
        for element in select(html, "[id]") {
            ids.entry(element.attr("id").unwrap_or_default()).or_insert(element);
        }
        let by_tab: HashMap<&str, ElementRef<'_>> = select(html, "[role=tabpanel][aria-labelledby]")
            .filter_map(|panel| Some((panel.attr("aria-labelledby")?, panel)))
            .collect();
        let mut found = Self::default();
        // Tabs that name no panel, by the element around them.
        let mut sets: Vec<(ElementRef<'_>, Vec<ElementRef<'_>>)> = Vec::new();
        for tab in select(html, "[role=tab], label[for], li > a[href^='#'], button") {
            if tab.attr("role") != Some("tab") && !is_of_tabs(tab, &ids) {
                continue;
            }
            let panel = target(tab, &ids).or_else(|| by_tab.get(tab.attr("id")?).copied());
            match (panel, set(tab)) {
                (Some(panel), _) => found.add(tab, panel),
                (None, Some(around)) => match sets.last_mut() {
                    Some((last, tabs)) if *last == around => tabs.push(tab),
                    _ => sets.push((around, vec![tab])),
                },
                (None, None) => {}
            }
        }
        for (around, tabs) in sets {
            let own: Vec<_> = tabs.iter().filter_map(|tab| panel_after(*tab)).collect();
            let inside: Vec<_> = next(around).map(|next| next.child_elements().collect()).unwrap_or_default();
            // The panels may stand right behind the tabs.
            let behind: Vec<_> =
                around.next_siblings().filter_map(ElementRef::wrap).take(tabs.len()).collect();
            let is_panel = |panel: &ElementRef<'_>| has_tab_class(*panel);
            let panels = match (own.len() == tabs.len(), behind.iter().all(is_panel)) {
                (true, _) => own,
                (_, true) => behind,
                _ => inside,
            };
            if panels.len() == tabs.len() {
                tabs.into_iter().zip(panels).for_each(|(tab, panel)| found.add(tab, panel));
            }
        }
        for (button, panel) in
            select(html, "button").filter_map(|button| Some((button, panel_below(button)?)))
        {
            found.add(button, panel);
        }
        for button in
            select(html, "button[aria-expanded][aria-controls]").filter(|button| names_content(*button))
        {
            match target(button, &ids) {
                Some(panel) if label(button).is_none() => found.add(button, panel),
                Some(panel) => _ = found.shown.insert(panel.id()),
                None => {}
            }
        }
        found
    }

    /// The name of the tab that shows this element.
    pub(super) fn name(&self, panel: NodeId) -> Option<&str> {
        self.names.get(&panel).map(String::as_str)
    }

    pub(super) fn is_tab(&self, element: NodeId) -> bool {
        self.tabs.contains(&element)
    }

    /// Returns whether a click on a tab or button shows this element.
    pub(super) fn shows(&self, element: NodeId) -> bool {
        self.names.contains_key(&element) || self.shown.contains(&element)
    }

    fn add(&mut self, tab: ElementRef<'_>, panel: ElementRef<'_>) {
        let name = crate::clean::one_line(&tab.text().collect::<String>());
        if !name.is_empty() {
            self.names.entry(panel.id()).or_insert(name);
            self.tabs.insert(tab.id());
        }
    }
}

/// Returns whether an element without a role is a tab: a label of a radio button or a link to a
/// part of the page, in a set of tabs.
fn is_of_tabs(element: ElementRef<'_>, ids: &HashMap<&str, ElementRef<'_>>) -> bool {
    if element.value().name() == "button" {
        let is_alone =
            |set: ElementRef<'_>| set.child_elements().all(|child| child.value().name() == "button");
        return set(element).is_some_and(|set| has_tab_class(set) && is_alone(set));
    }
    let is_switch = match element.attr("for") {
        Some(id) => ids.get(id).is_some_and(|input| input.attr("type") == Some("radio")),
        None => target(element, ids).is_some_and(|panel| matches!(panel.value().name(), "div" | "section")),
    };
    is_switch && element.ancestors().take(MAX_SET_DEPTH).filter_map(ElementRef::wrap).any(has_tab_class)
}

/// Returns whether an element says by a class that it belongs to tabs.
fn has_tab_class(element: ElementRef<'_>) -> bool {
    let is_tab = |part: &str| part.starts_with("tab") && !part.starts_with("table");
    let class = element.attr("class").unwrap_or_default().to_ascii_lowercase();
    class.contains("code-group") || class.split(|c: char| !c.is_alphanumeric()).any(is_tab)
}

fn target<'a>(tab: ElementRef<'a>, ids: &HashMap<&str, ElementRef<'a>>) -> Option<ElementRef<'a>> {
    let id = |name| tab.attr(name).map(|target| target.trim_start_matches('#'));
    TARGETS.into_iter().filter_map(id).find_map(|id| ids.get(id).copied())
}

/// The element that contains all tabs of a set; each may be an item.
fn set(tab: ElementRef<'_>) -> Option<ElementRef<'_>> {
    let parent = tab.parent().and_then(ElementRef::wrap)?;
    if parent.value().name() == "li" { parent.parent().and_then(ElementRef::wrap) } else { Some(parent) }
}

/// The element that follows a tab in place of another tab.
fn panel_after(tab: ElementRef<'_>) -> Option<ElementRef<'_>> {
    next(tab).filter(|next| !matches!(next.value().name(), "input" | "label" | "button" | "a" | "li"))
}

fn next(element: ElementRef<'_>) -> Option<ElementRef<'_>> {
    element.next_siblings().find_map(ElementRef::wrap)
}

/// The panel right behind a button without ARIA, which names it by a class of either: "accordion", "collapsible", "faq-question".
fn panel_below(button: ElementRef<'_>) -> Option<ElementRef<'_>> {
    let is_named = |element: ElementRef<'_>| {
        let class = element.attr("class").unwrap_or_default().to_ascii_lowercase();
        PANEL_CLASSES.iter().any(|name| class.contains(name))
    };
    let is_panel = |next: &ElementRef<'_>| {
        matches!(next.value().name(), "div" | "section" | "p" | "ul")
            && (is_named(button) || is_named(*next))
            && has_text(*next)
    };
    let is_plain =
        button.attr("aria-expanded").or(button.attr("aria-controls")).is_none() && label(button).is_none();
    next(button).filter(|next| is_plain && is_panel(next))
}
