//! Reads the text of runs as a reader of the page sees it, in the body and in notes.

use super::{styles::Styles, symbols};
use crate::{
    left_out::LeftOut,
    shifted::{Line, Shift},
    xml::{Element, Step},
};

/// Elements with invisible text: deleted, moved away, or a fallback for programs that do not support the alternative before
/// it.
const SKIPPED: [&str; 4] = ["del", "moveFrom", "Fallback", "rt"];
/// Parts of formulas whose signs are not in the text.
const UNKNOWN_PARTS: [&str; 9] = ["d", "eqArr", "f", "func", "limLow", "limUpp", "m", "nary", "rad"];
/// Half points by which text is moved to be raised or lowered; less adjusts the look of a letter.
const MIN_SHIFT_HALF_POINTS: i32 = 4;

/// The text of a paragraph.
#[derive(Default)]
pub(super) struct Text {
    pub(super) line: Line,
    /// The style of the paragraph.
    pub(super) style: Option<String>,
    /// True if it has text that is not bold.
    has_light: bool,
    /// Why the last run was left out.
    left_out: Option<Sight>,
}

impl Text {
    pub(super) fn is_bold(&self) -> bool {
        !self.has_light
    }

    /// Returns whether the paragraph is left out, at least at its end.
    pub(super) fn is_hidden(&self) -> bool {
        self.left_out == Some(Sight::Hidden)
    }
}

/// Properties of text. `None` is unspecified; `Some(None)` is on the baseline.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Look {
    is_hidden: Option<bool>,
    is_struck: Option<bool>,
    is_double_struck: Option<bool>,
    is_bold: Option<bool>,
    shift: Option<Option<Shift>>,
}

impl Look {
    /// Reads one property of a run or style.
    pub(super) fn read(&mut self, property: &str, element: &Element<'_>) {
        match property {
            "vanish" => self.is_hidden = Some(element.is_on()),
            "strike" => self.is_struck = Some(element.is_on()),
            "dstrike" => self.is_double_struck = Some(element.is_on()),
            "b" => self.is_bold = Some(element.is_on()),
            "vertAlign" => {
                self.shift = Some(match element.val().as_deref() {
                    Some("superscript") => Some(Shift::Raised),
                    Some("subscript") => Some(Shift::Lowered),
                    _ => None,
                });
            }
            "position" => {
                let moved = element.val().and_then(|moved| moved.parse::<i32>().ok()).unwrap_or_default();
                if moved >= MIN_SHIFT_HALF_POINTS {
                    self.shift = Some(Some(Shift::Raised));
                } else if moved <= -MIN_SHIFT_HALF_POINTS {
                    self.shift = Some(Some(Shift::Lowered));
                }
            }
            _ => {}
        }
    }
}

/// The visibility of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sight {
    Visible,
    Hidden,
    Struck,
}

#[derive(Default)]
struct Run {
    style: Option<String>,
    look: Look,
    font: Option<String>,
}

impl Run {
    fn read(&mut self, property: &str, element: &Element<'_>) {
        match property {
            "rStyle" => self.style = element.val(),
            "rFonts" => self.font = element.attribute("ascii").or_else(|| element.attribute("hAnsi")),
            _ => self.look.read(property, element),
        }
    }
}

/// An open run, or a paragraph, which may be inside a run: a text box.
struct Level {
    run: Option<Run>,
    /// True if the run around it is hidden.
    is_around_hidden: bool,
}

/// Follows the runs of a part.
pub(super) struct TextReader<'a> {
    styles: &'a Styles,
    pub(super) left_out: LeftOut,
    /// Depth of elements that are skipped.
    skipped: usize,
    is_text: bool,
    open: Vec<Level>,
    /// Open formulas.
    formulas: usize,
}

impl<'a> TextReader<'a> {
    pub(super) fn new(styles: &'a Styles) -> Self {
        Self {
            styles,
            left_out: LeftOut::default(),
            skipped: 0,
            is_text: false,
            open: Vec::new(),
            formulas: 0,
        }
    }

    /// Adds what the step shows to the open paragraph. False if the step is part of something that is skipped.
    pub(super) fn step(&mut self, step: &Step<'_>, text: Option<&mut Text>) -> bool {
        match step {
            Step::Open(name, _) if SKIPPED.contains(name) => self.skipped += 1,
            Step::Close(name) if SKIPPED.contains(name) => self.skipped = self.skipped.saturating_sub(1),
            _ if self.skipped > 0 => {}
            Step::Open(name, element) => {
                self.open(name, element, text);
                return true;
            }
            Step::Close(name) => {
                self.close(name, text);
                return true;
            }
            Step::Text(more) => {
                if let Some(text) = text.filter(|_| self.is_text) {
                    self.push(more, text);
                }
                return true;
            }
        }
        false
    }

    fn open(&mut self, name: &str, element: &Element<'_>, text: Option<&mut Text>) {
        let is_around_hidden = self.open.last().is_some_and(|around| around.is_around_hidden);
        match name {
            "p" => {
                let is_in_hidden =
                    self.run().is_some() && text.is_some_and(|text| self.sight(text) == Sight::Hidden);
                let is_around_hidden = is_around_hidden || is_in_hidden;
                return self.open.push(Level { run: None, is_around_hidden });
            }
            "r" => {
                return self.open.push(Level { run: Some(Run::default()), is_around_hidden });
            }
            _ => {}
        }
        if let Some(run) = self.open.last_mut().and_then(|level| level.run.as_mut()) {
            run.read(name, element);
        }
        let Some(text) = text else { return };
        match name {
            "oMath" => {
                text.line.set(None);
                self.formulas += 1;
            }
            "sup" if self.formulas > 0 => text.line.open(Shift::Exponent),
            "sub" if self.formulas > 0 => text.line.open(Shift::Index),
            name if self.formulas > 0 && UNKNOWN_PARTS.contains(&name) => {
                self.left_out.symbols += 1;
                text.line.push_apart("\u{fffd}");
            }
            _ => {}
        }
        if self.run().is_none() {
            return;
        }
        match name {
            "t" => self.is_text = true,
            "tab" | "ptab" => self.push(" ", text),
            "br" | "cr" => self.push("\n", text),
            "noBreakHyphen" => self.push("-", text),
            "sym" => self.push_symbol(element, text),
            _ => {}
        }
    }

    fn close(&mut self, name: &str, text: Option<&mut Text>) {
        match name {
            "oMath" => self.formulas = self.formulas.saturating_sub(1),
            "sup" | "sub" if self.formulas > 0 => text.into_iter().for_each(|text| text.line.close()),
            "t" => self.is_text = false,
            "r" | "p" => drop(self.open.pop()),
            _ => {}
        }
    }

    /// Returns whether the text of the open run is visible.
    pub(super) fn is_visible(&self, text: &Text) -> bool {
        self.sight(text) == Sight::Visible
    }

    fn push(&mut self, more: &str, text: &mut Text) {
        let sight = self.sight(text);
        let is_blank = more.trim().is_empty();
        if sight == Sight::Visible {
            if self.formulas == 0 {
                let shift = self.shift(text);
                text.line.set(shift);
            }
            text.has_light |= !is_blank && !self.is_on(text, |look| look.is_bold);
            let font = self.run().and_then(|run| run.font.clone());
            match font.filter(|font| symbols::is_symbol_font(font)) {
                Some(font) => text.line.push(&with_symbols(more, &font, &mut self.left_out.symbols)),
                None => text.line.push(more),
            }
        } else if !is_blank && text.left_out != Some(sight) {
            match sight {
                Sight::Struck => self.left_out.struck += 1,
                _ => self.left_out.hidden += 1,
            }
        }
        if sight == Sight::Struck {
            text.line.apart();
        }
        if !is_blank {
            text.left_out = Some(sight).filter(|sight| *sight != Sight::Visible);
        }
    }

    fn push_symbol(&mut self, element: &Element<'_>, text: &mut Text) {
        let code = element.attribute("char").and_then(|code| u32::from_str_radix(&code, 16).ok());
        let font = element.attribute("font").unwrap_or_default();
        let character = code.and_then(|code| symbols::character(&font, code));
        if character.is_none() && self.is_visible(text) {
            self.left_out.symbols += 1;
        }
        self.push(character.unwrap_or('\u{fffd}').encode_utf8(&mut [0; 4]), text);
    }

    fn run(&self) -> Option<&Run> {
        self.open.last()?.run.as_ref()
    }

    fn sight(&self, text: &Text) -> Sight {
        let is_around_hidden = self.open.last().is_some_and(|around| around.is_around_hidden);
        if is_around_hidden || self.is_on(text, |look| look.is_hidden) {
            Sight::Hidden
        } else if self.is_on(text, |look| look.is_struck) || self.is_on(text, |look| look.is_double_struck) {
            Sight::Struck
        } else {
            Sight::Visible
        }
    }

    /// A property that is on or off. The run decides; otherwise a property that is on in the style of the paragraph and in that of
    /// the run is off, as in Word.
    fn is_on(&self, text: &Text, property: impl Fn(&Look) -> Option<bool>) -> bool {
        let run = self.run();
        if let Some(own) = run.and_then(|run| property(&run.look)) {
            return own;
        }
        let of_style = |style: &str| self.styles.look(style, &property).unwrap_or_default();
        let of_paragraph = self.paragraph_style(text).is_some_and(of_style);
        let of_run = run.and_then(|run| run.style.as_deref()).is_some_and(of_style);
        of_paragraph != of_run
    }

    fn shift(&self, text: &Text) -> Option<Shift> {
        let run = self.run()?;
        let of_style = |style: &str| self.styles.look(style, |look| look.shift);
        let shift = run.look.shift.or_else(|| of_style(run.style.as_deref()?));
        shift.or_else(|| of_style(self.paragraph_style(text)?))?
    }

    fn paragraph_style<'b>(&'b self, text: &'b Text) -> Option<&'b str> {
        text.style.as_deref().or(self.styles.default_paragraph.as_deref())
    }
}

/// Text in a symbol font: codes in the private use area are symbols.
fn with_symbols(text: &str, font: &str, unknown: &mut usize) -> String {
    let character = |c: char| {
        if !('\u{f000}'..='\u{f0ff}').contains(&c) {
            return c;
        }
        symbols::character(font, u32::from(c)).unwrap_or_else(|| {
            *unknown += 1;
            '\u{fffd}'
        })
    };
    text.chars().map(character).collect()
}
