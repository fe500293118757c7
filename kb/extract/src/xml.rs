//! Minimal XML reading for Office files and PDF metadata. Entities other than the five of XML itself are dropped, never expanded.

use quick_xml::{
    Reader, XmlVersion,
    events::{BytesRef, BytesStart, Event},
};

use super::ExtractError;

/// An element, by its name without namespace prefix.
pub(crate) struct Element<'a>(&'a BytesStart<'a>);

impl Element<'_> {
    /// An attribute by its name without namespace prefix.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        let mut attributes = self.0.attributes();
        let found = attributes
            .with_checks(false)
            .flatten()
            .find(|found| found.key.local_name().into_inner() == name)?;
        found.normalized_value(XmlVersion::Implicit1_0).ok().map(|value| value.into_owned())
    }

    pub(crate) fn val(&self) -> Option<String> {
        self.attribute("val")
    }

    /// The value of an on/off property, which is on by default.
    pub(crate) fn is_on(&self) -> bool {
        !matches!(self.val().as_deref(), Some("0" | "false" | "off" | "none"))
    }
}

/// An event while a part is read.
pub(crate) enum Step<'a> {
    Open(&'a str, Element<'a>),
    Close(&'a str),
    Text(&'a str),
}

/// Walks a part; an empty element gives an open and a close event.
pub(crate) fn walk(xml: &str, mut step: impl FnMut(Step<'_>)) -> Result<(), ExtractError> {
    let mut reader = Reader::from_str(xml);
    loop {
        match reader.read_event().map_err(|error| ExtractError::Broken(error.to_string()))? {
            Event::Start(start) => step(Step::Open(start.local_name().into_inner(), Element(&start))),
            Event::Empty(start) => {
                step(Step::Open(start.local_name().into_inner(), Element(&start)));
                step(Step::Close(start.local_name().into_inner()));
            }
            Event::End(end) => step(Step::Close(end.local_name().into_inner())),
            Event::Text(text) => step(Step::Text(&text.xml_content(XmlVersion::Implicit1_0))),
            Event::CData(text) => step(Step::Text(&text.xml_content(XmlVersion::Implicit1_0))),
            Event::GeneralRef(reference) => {
                if let Some(character) = character(&reference) {
                    step(Step::Text(character.encode_utf8(&mut [0; 4])));
                }
            }
            Event::Eof => return Ok(()),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

/// [`walk`] without the properties of Word that a change replaced, as in `<w:rPrChange>`.
pub(crate) fn walk_current(xml: &str, mut step: impl FnMut(Step<'_>)) -> Result<(), ExtractError> {
    let mut former = 0usize;
    walk(xml, |found| match found {
        Step::Open(name, _) if name.ends_with("Change") => former += 1,
        Step::Close(name) if name.ends_with("Change") => former = former.saturating_sub(1),
        _ if former > 0 => {}
        found => step(found),
    })
}

/// The text directly inside each element.
pub(crate) fn texts(xml: &str, mut text: impl FnMut(&str, &str)) -> Result<(), ExtractError> {
    let mut inner = String::new();
    walk(xml, |step| match step {
        Step::Open(..) => inner.clear(),
        Step::Text(more) => inner.push_str(more),
        Step::Close(name) => text(name, &std::mem::take(&mut inner)),
    })
}

fn character(reference: &BytesRef<'_>) -> Option<char> {
    match &**reference {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => reference.resolve_char_ref().ok().flatten(),
    }
}
