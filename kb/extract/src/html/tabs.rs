//! Finds what the tabs and buttons of a page show, with the names of the tabs.

use std::collections::{HashMap, HashSet};

use ego_tree::NodeId;
use scraper::{ElementRef, Html};

use super::reading::{label, names_content};
use super::select;

/// Elements between a radio button and the tabs that it belongs to.
const MAX_SET_DEPTH: usize = 4;
/// Attributes with the id of what a tab shows.
const TARGETS: [&str; 4] = ["aria-controls", "href", "data-bs-target", "data-target"];

#[derive(Default)]
pub(super) struct Tabs {
    /// The name of each panel.
    names: HashMap<NodeId, String>,
    /// The tabs with a panel.
    tabs: HashSet<NodeId>,
    /// What a click shows.
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
        for tab in select(html, "[role=tab], label[for]") {
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
            let inside = next(around).map(|next| next.child_elements().collect()).unwrap_or_default();
            let panels: Vec<_> = if own.len() == tabs.len() { own } else { inside };
            if panels.len() == tabs.len() {
                tabs.into_iter().zip(panels).for_each(|(tab, panel)| found.add(tab, panel));
            }
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

    /// Whether a click on a tab or button shows this element.
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

/// Whether a label belongs to one of the radio buttons that switch tabs without scripts.
fn is_of_tabs(label: ElementRef<'_>, ids: &HashMap<&str, ElementRef<'_>>) -> bool {
    let is_radio = |input: &ElementRef<'_>| input.attr("type") == Some("radio");
    let is_set = |element: ElementRef<'_>| {
        let class = element.attr("class").unwrap_or_default().to_ascii_lowercase();
        class.contains("tab") || class.contains("code-group")
    };
    label.attr("for").and_then(|id| ids.get(id)).is_some_and(is_radio)
        && label.ancestors().take(MAX_SET_DEPTH).filter_map(ElementRef::wrap).any(is_set)
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

/// What follows a tab in place of another tab.
fn panel_after(tab: ElementRef<'_>) -> Option<ElementRef<'_>> {
    next(tab).filter(|next| !matches!(next.value().name(), "input" | "label" | "button" | "a" | "li"))
}

fn next(element: ElementRef<'_>) -> Option<ElementRef<'_>> {
    element.next_siblings().find_map(ElementRef::wrap)
}
