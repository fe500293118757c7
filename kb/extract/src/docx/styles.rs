//! Styles that are headings or list items, or hide, strike, raise or lower text; and the language of the document.

use std::collections::HashMap;

use super::text::Look;
use crate::{
    ExtractError, properties,
    xml::{self, Step},
};

/// Maximum length of a chain of base styles; a longer one is a cycle.
const MAX_CHAIN: usize = 20;
/// Word has nine levels of headings; 9 means "no heading".
const BODY_TEXT_LEVEL: u8 = 9;

#[derive(Default)]
pub(super) struct Styles {
    styles: HashMap<String, Style>,
    /// The style of paragraphs that name none.
    pub(super) default_paragraph: Option<String>,
    /// Default language of the text.
    pub(super) language: Option<String>,
}

#[derive(Default)]
struct Style {
    name: String,
    based_on: Option<String>,
    outline_level: Option<u8>,
    numbering: Option<ListLevel>,
    look: Look,
}

/// A place in a list: its numbering and its level, 0 being the outermost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ListLevel {
    pub(super) numbering: Option<String>,
    pub(super) level: Option<usize>,
}

/// The role that a style gives to a paragraph.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Role {
    Heading(u8),
    /// An entry of a table of contents.
    Contents,
    Text,
}

impl Styles {
    pub(super) fn read(part: &str) -> Result<Self, ExtractError> {
        let mut read = Self::default();
        let mut open: Option<(String, Style)> = None;
        xml::walk_current(part, |step| match (step, &mut open) {
            (Step::Open("style", element), _) => {
                let id = element.attribute("styleId").unwrap_or_default();
                let is = |name: &str, wanted: &[&str]| {
                    element.attribute(name).is_some_and(|value| wanted.contains(&value.as_str()))
                };
                if is("type", &["paragraph"]) && is("default", &["1", "true", "on"]) {
                    read.default_paragraph = Some(id.clone());
                }
                open = Some((id, Style::default()));
            }
            (Step::Open(name, element), Some((_, style))) => match name {
                "name" => style.name = element.val().unwrap_or_default().to_lowercase(),
                "basedOn" => style.based_on = element.val(),
                "outlineLvl" => style.outline_level = element.val().and_then(|level| level.parse().ok()),
                "numId" => style.numbering.get_or_insert_default().numbering = element.val(),
                "ilvl" => {
                    style.numbering.get_or_insert_default().level =
                        element.val().and_then(|level| level.parse().ok());
                }
                property => style.look.read(property, &element),
            },
            // The defaults come before the styles.
            (Step::Open("lang", element), None) => {
                read.language = element.val().as_deref().and_then(properties::language);
            }
            (Step::Close("style"), _) => read.styles.extend(open.take()),
            _ => {}
        })?;
        Ok(read)
    }

    pub(super) fn role(&self, id: &str) -> Role {
        for style in self.chain(id) {
            // Names of built-in styles are English in every language version; ids are not.
            if style.name.starts_with("toc ") || style.name == "table of figures" {
                return Role::Contents;
            }
            if let Some(level) = style.outline_level {
                return heading(level);
            }
            if style.name == "title" {
                return Role::Heading(1);
            }
            let number = style.name.strip_prefix("heading ").and_then(|number| number.parse::<u8>().ok());
            if let Some(level) = number.and_then(|number| number.checked_sub(1)) {
                return heading(level);
            }
        }
        Role::Text
    }

    pub(super) fn list_level(&self, id: &str) -> Option<ListLevel> {
        self.chain(id).find_map(|style| style.numbering.clone())
    }

    /// A property of text, from a style or the styles on which it is based.
    pub(super) fn look<T>(&self, id: &str, property: impl Fn(&Look) -> Option<T>) -> Option<T> {
        self.chain(id).find_map(|style| property(&style.look))
    }

    fn chain<'a>(&'a self, id: &str) -> impl Iterator<Item = &'a Style> {
        let based_on = |style: &&'a Style| self.styles.get(style.based_on.as_deref()?);
        std::iter::successors(self.styles.get(id), based_on).take(MAX_CHAIN)
    }
}

/// The role for an outline level, 0 being the outermost.
pub(super) fn heading(level: u8) -> Role {
    if level < BODY_TEXT_LEVEL { Role::Heading(level + 1) } else { Role::Text }
}
