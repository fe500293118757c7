//! Writes formulas (OMML) on one line.

use crate::{
    shifted::{Line, Shift},
    xml::Element,
};

/// Elements with parts, each of which is an element of its own.
const OBJECTS: &str =
    "acc bar borderBox box d eqArr f func groupChr limLow limUpp mr nary phant rad sPre sSub sSubSup sSup";

/// A sign is one character, perhaps with a variation selector.
const MAX_SIGN_CHARS: usize = 2;

/// The open objects of a formula, outermost first.
#[derive(Default)]
pub(super) struct Formula {
    depth: usize,
    open: Vec<Object>,
}

#[derive(Default)]
struct Object {
    name: String,
    parts: usize,
    /// Signs that the object names: an operator, or brackets and what separates the parts between them.
    sign: Option<String>,
    begin: Option<String>,
    separator: Option<String>,
    end: Option<String>,
    has_no_bar: bool,
}

impl Formula {
    pub(super) fn is_open(&self) -> bool {
        self.depth > 0
    }

    pub(super) fn open(&mut self, name: &str, element: &Element<'_>, line: &mut Line) {
        if name == "oMath" {
            line.set(None);
            self.depth += 1;
        }
        if !self.is_open() {
            return;
        }
        if OBJECTS.split(' ').any(|object| object == name) {
            self.open.push(Object { name: name.to_owned(), ..Object::default() });
        }
        let Some(object) = self.open.last_mut() else { return };
        let sign = || element.val().map(|sign| sign.chars().take(MAX_SIGN_CHARS).collect());
        match name {
            "chr" => object.sign = sign(),
            "begChr" => object.begin = sign(),
            "sepChr" => object.separator = sign(),
            "endChr" => object.end = sign(),
            "type" => object.has_no_bar = element.val().as_deref() == Some("noBar"),
            _ => {}
        }
        if matches!(name, "num" | "den" | "deg" | "e" | "sub" | "sup" | "lim") {
            if matches!((object.name.as_str(), name), ("mr" | "eqArr" | "func", "e")) {
                line.apart();
            }
            line.push(&object.before_part(name));
            line.open(object.shift(name));
            object.parts += 1;
        }
    }

    pub(super) fn close(&mut self, name: &str, line: &mut Line) {
        if !self.is_open() {
            return;
        }
        if name == "oMath" {
            self.depth -= 1;
        }
        let Some(object) = self.open.last() else { return };
        if matches!(name, "num" | "den" | "deg" | "e" | "sub" | "sup" | "lim") {
            line.close();
        }
        if object.name == name {
            if name == "d" {
                line.push(object.end.as_deref().unwrap_or(")"));
            }
            self.open.pop();
        }
    }
}

impl Object {
    fn before_part(&self, part: &str) -> String {
        let sign = match (self.name.as_str(), part, self.parts) {
            ("f", "den", _) => Some(if self.has_no_bar { " " } else { "/" }),
            ("rad", "e", _) => Some("√"),
            ("nary", _, 0) => Some(self.sign.as_deref().unwrap_or("∫")),
            ("d", _, 0) => Some(self.begin.as_deref().unwrap_or("(")),
            ("d", ..) => Some(self.separator.as_deref().unwrap_or("|")),
            _ => None,
        };
        sign.unwrap_or_default().to_owned()
    }

    fn shift(&self, part: &str) -> Shift {
        match (self.name.as_str(), part) {
            (_, "deg") => Shift::Raised,
            ("limUpp", "lim") | (_, "sup") => Shift::Exponent,
            (_, "sub" | "lim") => Shift::Index,
            ("f", _) | ("rad" | "nary", "e") => Shift::Group,
            _ => Shift::Plain,
        }
    }
}
