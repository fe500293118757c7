//! Assembles glyphs, in drawing order, into lines of text; visible and invisible text are kept apart.
//!
//! Text is invisible if it is drawn without ink (render mode 3, as in the text layer of scans, and mode 7, which only clips),
//! with an opacity of 0, or in white on white. Not detected: text that is covered later, outside a clipping path, too small
//! to read, or in nearly the colour of its background.

use std::collections::HashMap;

use hayro_interpret::{
    BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, Paint, SoftMask,
    font::{Glyph, GlyphRun},
    hayro_cmap::{BfString, WritingMode},
    hayro_syntax::object::{Dict, String as PdfString},
    kurbo::{Affine, BezPath, Point, Rect, Shape, Vec2},
};

use super::info::decode_text;

/// Glyph space: 1000 units are one em.
const EM: f64 = 1000.0;
/// Minimum distance of words in em, as the next two limits. The narrowest space of common fonts is 0.25, and tight setting
/// reduces it.
const MIN_WORD_GAP: f64 = 0.18;
/// A glyph may start this far before the end of the previous one: kerning, combining accents.
const MAX_OVERLAP: f64 = 1.0;
/// Maximum shift of the baseline within a line, for superscripts.
const MAX_SHIFT: f64 = 0.55;
/// The same glyph drawn twice within this distance imitates bold.
const MAX_DOUBLE_STRIKE_DISTANCE: f64 = 0.1;

/// Glyphs one after another on a baseline. Lengths are in points; `start`, `end` and `baseline` are measured along and
/// across the direction of writing, so that upright and turned text are treated alike.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) baseline: f64,
    pub(super) size: f64,
    /// In degrees, clockwise; 0 is from left to right.
    pub(super) direction: i32,
}

/// Minimum of each colour component of white.
const MIN_WHITE: u8 = 250;
/// Maximum number of painted areas that are stored. On a page with more, white text counts as visible.
const MAX_PAINTED_AREAS: usize = 1000;

/// Collects the text of one page.
pub(super) struct Collector {
    seen: Layer,
    unseen: Layer,
    pub(super) has_images: bool,
    /// Number of glyphs without a character mapping.
    pub(super) nameless_glyphs: usize,
    area: Rect,
    marked: Vec<Marked>,
    /// Areas in which something other than white was drawn.
    painted: Vec<Rect>,
}

/// Visible or invisible text.
#[derive(Default)]
struct Layer {
    lines: Vec<Line>,
    open: Option<Line>,
    /// Positions of each character, in cells of [`MAX_DOUBLE_STRIKE_DISTANCE`].
    drawn: HashMap<(char, i64, i64), Point>,
}

/// Marked content around a glyph.
enum Marked {
    /// Page numbers, running headers or watermarks, marked as artifacts.
    Artifact,
    /// Replacement text, used once instead of the glyphs.
    Replaced {
        text: Option<String>,
    },
    Other,
}

impl Collector {
    pub(super) fn new(area: Rect) -> Self {
        Self {
            seen: Layer::default(),
            unseen: Layer::default(),
            has_images: false,
            nameless_glyphs: 0,
            area,
            marked: Vec::new(),
            painted: Vec::new(),
        }
    }

    /// The lines of the page, and whether it has invisible lines. On a scan, the invisible lines are the text of the image.
    pub(super) fn finish(&mut self) -> (Vec<Line>, bool) {
        let finish = |layer: &mut Layer| {
            layer.end_line();
            std::mem::take(layer).lines
        };
        let (seen, unseen) = (finish(&mut self.seen), finish(&mut self.unseen));
        if seen.is_empty() && (self.has_images || self.nameless_glyphs > 0) {
            return (unseen, false);
        }
        // Some programs draw text twice, with and without ink.
        let is_new = |line: &Line| !seen.iter().any(|seen| seen.text.contains(&line.text));
        let has_unseen = unseen.iter().any(is_new);
        (seen, has_unseen)
    }

    fn is_seen(
        &self,
        glyph: &Glyph<'_>,
        origin: Point,
        size: f64,
        props: &DrawProps<'_>,
        mode: &DrawMode,
    ) -> bool {
        if matches!(mode, DrawMode::Invisible) {
            return false;
        }
        // These glyphs have their own colours.
        if matches!(glyph, Glyph::Type3(_)) {
            return true;
        }
        let is_on_ground = || {
            self.has_images
                || self.painted.len() >= MAX_PAINTED_AREAS
                || self.painted.iter().any(|area| area.inflate(size, size).contains(origin))
        };
        match ink(&props.paint) {
            Ink::None => false,
            Ink::White => is_on_ground(),
            Ink::Colour => true,
        }
    }

    fn paint(&mut self, area: Rect, props: &DrawProps<'_>, mode: &DrawMode) {
        let width = match mode {
            DrawMode::Fill(_) => 0.0,
            DrawMode::Stroke(stroke) | DrawMode::FillAndStroke(_, stroke) => f64::from(stroke.line_width),
            DrawMode::Invisible => return,
        };
        if matches!(ink(&props.paint), Ink::Colour) && self.painted.len() < MAX_PAINTED_AREAS {
            self.painted.push(props.transform.transform_rect_bbox(area.inflate(width, width)));
        }
    }

    fn glyph(
        &mut self,
        glyph: &Glyph<'_>,
        transform: Affine,
        writing: WritingMode,
        is_seen: impl FnOnce(&Self, Point, f64) -> bool,
    ) {
        let origin = transform * Point::ZERO;
        let up = transform * Point::new(0.0, EM) - origin;
        let across = transform * Point::new(EM, 0.0) - origin;
        let size = up.hypot();
        let is_sensible = size.is_finite() && size > 0.0 && origin.is_finite();
        if !is_sensible || !self.area.inflate(size, size).contains(origin) {
            return;
        }
        let (along, advance) = match writing {
            WritingMode::Horizontal => {
                let width = advance_width(glyph).unwrap_or(EM / 2.0);
                (across, (transform * Point::new(width, 0.0) - origin).hypot())
            }
            WritingMode::Vertical => (-up, size),
        };
        let is_seen = is_seen(self, origin, size);
        let Some(text) = self.glyph_text(glyph, is_seen) else { return };
        let layer = if is_seen { &mut self.seen } else { &mut self.unseen };
        if text.chars().next().is_some_and(|character| layer.is_struck_twice(character, origin, size)) {
            return;
        }
        layer.place(&text, origin, along, advance, size);
    }

    /// `None` if the glyph is skipped; empty if another glyph already gave its text.
    fn glyph_text(&mut self, glyph: &Glyph<'_>, is_seen: bool) -> Option<String> {
        if self.marked.iter().any(|marked| matches!(marked, Marked::Artifact)) {
            return None;
        }
        let replaced = self.marked.iter_mut().find_map(|marked| match marked {
            Marked::Replaced { text } => Some(text),
            _ => None,
        });
        if let Some(text) = replaced {
            return Some(text.take().unwrap_or_default());
        }
        let text = match glyph.as_unicode() {
            Some(BfString::Char(character)) => character.to_string(),
            Some(BfString::String(text)) => text,
            None => String::new(),
        };
        // Private-use characters have a meaning only in their font.
        let mut letters = String::new();
        for character in text.chars().filter(|c| !c.is_control() && !is_private(*c)) {
            push_letters(character, &mut letters);
        }
        self.nameless_glyphs += usize::from(is_seen && letters.is_empty());
        Some(letters)
    }
}

impl Layer {
    fn is_struck_twice(&mut self, character: char, at: Point, size: f64) -> bool {
        let cell = size * MAX_DOUBLE_STRIKE_DISTANCE;
        let key = |x: i64, y: i64| (character, (at.x / cell) as i64 + x, (at.y / cell) as i64 + y);
        let is_near = |before: &Point| (*before - at).hypot() < cell;
        let neighbours = (-1..=1).flat_map(|x| (-1..=1).map(move |y| (x, y)));
        let found = neighbours.into_iter().any(|(x, y)| self.drawn.get(&key(x, y)).is_some_and(is_near));
        self.drawn.insert(key(0, 0), at);
        found && !character.is_whitespace()
    }

    fn place(&mut self, text: &str, origin: Point, along: Vec2, advance: f64, size: f64) {
        let direction = along.atan2().to_degrees().round() as i32;
        let unit = Vec2::from_angle(f64::from(direction).to_radians());
        let start = origin.to_vec2().dot(unit);
        let baseline = unit.cross(origin.to_vec2());
        let goes_on = self.open.as_ref().is_some_and(|line| {
            line.direction == direction
                && (line.baseline - baseline).abs() < MAX_SHIFT * line.size.max(size)
                && start - line.end > -MAX_OVERLAP * line.size.max(size)
        });
        if !goes_on {
            self.end_line();
        }
        let line = self.open.get_or_insert_with(|| Line {
            text: String::new(),
            start,
            end: start,
            baseline,
            size,
            direction,
        });
        let is_blank = text.chars().all(char::is_whitespace);
        let is_apart = start - line.end > MIN_WORD_GAP * size || (is_blank && !text.is_empty());
        if is_apart && !line.text.is_empty() && !line.text.ends_with(' ') {
            line.text.push(' ');
        }
        if !is_blank {
            if line.text.trim().is_empty() || size > line.size {
                // The largest glyph determines the height and the baseline of a line.
                (line.size, line.baseline) = (size, baseline);
            }
            line.text.push_str(text);
        }
        line.end = line.end.max(start + advance);
    }

    fn end_line(&mut self) {
        if let Some(mut line) = self.open.take() {
            line.text.truncate(line.text.trim_end().len());
            if !line.text.is_empty() {
                self.lines.push(line);
            }
        }
    }
}

impl Device<'_> for Collector {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, mode: &DrawMode) {
        for glyph in run.glyphs() {
            let transform = props.transform * glyph.transform();
            self.glyph(glyph, transform, run.writing_mode(), |page, origin, size| {
                page.is_seen(glyph, origin, size, &props, mode)
            });
        }
    }

    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {
        self.has_images = true;
    }

    fn begin_marked_content(&mut self, tag: &[u8], properties: Option<&Dict<'_>>) {
        let actual = properties.and_then(|properties| properties.get::<PdfString<'_>>(b"ActualText"));
        self.marked.push(match actual {
            _ if tag == b"Artifact" => Marked::Artifact,
            Some(text) => Marked::Replaced { text: Some(decode_text(text.as_bytes())) },
            None => Marked::Other,
        });
    }

    fn end_marked_content(&mut self) {
        self.marked.pop();
    }

    fn draw_path(&mut self, path: &BezPath, props: DrawProps<'_>, mode: &DrawMode) {
        self.paint(path.bounding_box(), &props, mode);
    }

    fn draw_rect(&mut self, area: &Rect, props: DrawProps<'_>, mode: &DrawMode) {
        self.paint(*area, &props, mode);
    }

    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_clip_rect(&mut self, _: &Rect) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}

enum Ink {
    None,
    White,
    Colour,
}

fn ink(paint: &Paint<'_>) -> Ink {
    match paint {
        Paint::Color(color) => match color.to_rgba().to_rgba8() {
            [.., 0] => Ink::None,
            [red, green, blue, _] if red.min(green).min(blue) >= MIN_WHITE => Ink::White,
            _ => Ink::Colour,
        },
        Paint::Pattern(_) => Ink::Colour,
    }
}

fn advance_width(glyph: &Glyph<'_>) -> Option<f64> {
    let width = match glyph {
        Glyph::Outline(glyph) => glyph.advance_width(),
        Glyph::Type3(glyph) => glyph.advance_width(),
    };
    width.map(f64::from).filter(|width| width.is_finite() && *width >= 0.0)
}

fn is_private(character: char) -> bool {
    matches!(character, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..)
}

/// Replaces ligatures and similar glyphs by their letters.
fn push_letters(character: char, text: &mut String) {
    match character {
        'ﬀ' => text.push_str("ff"),
        'ﬁ' => text.push_str("fi"),
        'ﬂ' => text.push_str("fl"),
        'ﬃ' => text.push_str("ffi"),
        'ﬄ' => text.push_str("ffl"),
        'ﬅ' | 'ﬆ' => text.push_str("st"),
        _ => text.push(character),
    }
}
