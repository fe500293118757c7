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

use super::{
    info::decode_text,
    raised::{self, Run},
};

/// Glyph space: 1000 units are one em.
const EM: f64 = 1000.0;
/// Minimum distance of words in em, as the next two limits. The narrowest space of common fonts is 0.25, and tight setting
/// reduces it.
const MIN_WORD_GAP: f64 = 0.18;
/// A glyph may start this far before the end of the previous one: kerning, combining accents.
const MAX_OVERLAP: f64 = 1.0;
/// Maximum shift of the baseline within a line, for superscripts.
const MAX_SHIFT: f64 = 0.55;
/// Minimum distance in em between cells of a table. Words of justified text are hardly ever so far apart.
const MIN_CELL_GAP: f64 = 2.0;
/// Minimum distance if other words of the line are not half as far apart, as they are in justified text.
const MIN_UNEVEN_CELL_GAP: f64 = 1.0;
/// Maximum difference in size and baseline of glyphs of one run, in em.
const MAX_RUN_DIFFERENCE: f64 = 0.02;
/// A glyph drawn twice within this distance imitates bold.
const MAX_DOUBLE_STRIKE_DISTANCE: f64 = 0.1;
/// Maximum number of glyphs that are compared with others in a square of one em.
const MAX_GLYPHS_OF_CELL: usize = 32;

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
    /// Width of its first word.
    pub(super) first_word: f64,
    pub(super) is_bold: bool,
    /// Its parts, if it has gaps as between the cells of a row.
    pub(super) cells: Vec<Cell>,
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) start: f64,
    pub(super) end: f64,
}

impl Line {
    pub(super) fn has_cells(&self) -> bool {
        !self.cells.is_empty()
    }
}

/// The text of one page.
pub(super) struct PageText {
    pub(super) lines: Vec<Line>,
    /// True if it has other text, which no reader sees.
    pub(super) has_unseen: bool,
    /// Number of lines marked as artifacts.
    pub(super) artifacts: usize,
}

/// Minimum weight of a bold font; 400 is normal.
const MIN_BOLD_WEIGHT: u32 = 600;
/// Minimum of each colour component of white.
const MIN_WHITE: u8 = 250;
/// Maximum number of painted areas that are stored. On a page with more, white text counts as visible.
const MAX_PAINTED_AREAS: usize = 1000;

/// Collects the text of one page.
pub(super) struct Collector {
    seen: Layer,
    unseen: Layer,
    artifacts: Layer,
    has_text_outside: bool,
    pub(super) has_images: bool,
    /// Number of glyphs without a character mapping.
    pub(super) nameless_glyphs: usize,
    area: Rect,
    marked: Vec<Marked>,
    /// Number of artifacts in `marked`.
    open_artifacts: usize,
    /// Index of the first replacement text in `marked`.
    replaced_at: Option<usize>,
    /// Areas in which something other than white was drawn.
    painted: Vec<Rect>,
}

/// Visible text, invisible text or artifacts.
#[derive(Default)]
struct Layer {
    lines: Vec<Line>,
    open: Option<OpenLine>,
    /// Characters and their positions, in cells of one em.
    drawn: HashMap<(i64, i64), Vec<(char, Point)>>,
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
            artifacts: Layer::default(),
            has_text_outside: false,
            has_images: false,
            nameless_glyphs: 0,
            area,
            marked: Vec::new(),
            open_artifacts: 0,
            replaced_at: None,
            painted: Vec::new(),
        }
    }

    /// On a scan, the invisible lines are the text of the image.
    pub(super) fn finish(&mut self) -> PageText {
        let finish = |layer: &mut Layer| {
            layer.end_line();
            std::mem::take(layer).lines
        };
        let (seen, unseen) = (finish(&mut self.seen), finish(&mut self.unseen));
        let artifacts = finish(&mut self.artifacts).len();
        if seen.is_empty() && (self.has_images || self.nameless_glyphs > 0) {
            return PageText { lines: unseen, has_unseen: self.has_text_outside, artifacts };
        }
        // Some programs draw text twice, with and without ink.
        let is_new = |line: &Line| !seen.iter().any(|seen| seen.text.contains(&line.text));
        let has_unseen = self.has_text_outside || unseen.iter().any(is_new);
        PageText { lines: seen, has_unseen, artifacts }
    }

    /// Returns whether a reader sees glyphs with this ink at this place.
    fn is_seen(&self, ink: Ink, origin: Point, size: f64) -> bool {
        let is_on_ground = || {
            self.has_images
                || self.painted.len() >= MAX_PAINTED_AREAS
                || self.painted.iter().any(|area| area.inflate(size, size).contains(origin))
        };
        match ink {
            Ink::None => false,
            Ink::White => is_on_ground(),
            Ink::Colour => true,
        }
    }

    fn paint(&mut self, area: impl FnOnce() -> Rect, props: &DrawProps<'_>, mode: &DrawMode) {
        let width = match mode {
            DrawMode::Fill(_) => 0.0,
            DrawMode::Stroke(stroke) | DrawMode::FillAndStroke(_, stroke) => f64::from(stroke.line_width),
            DrawMode::Invisible => return,
        };
        if self.painted.len() < MAX_PAINTED_AREAS && matches!(ink(&props.paint), Ink::Colour) {
            self.painted.push(props.transform.transform_rect_bbox(area().inflate(width, width)));
        }
    }

    fn glyph(&mut self, glyph: &Glyph<'_>, transform: Affine, writing: WritingMode, ink: Ink, is_bold: bool) {
        let origin = transform * Point::ZERO;
        let up = transform * Point::new(0.0, EM) - origin;
        let across = transform * Point::new(EM, 0.0) - origin;
        let size = up.hypot();
        if !(size.is_finite() && size > 0.0 && origin.is_finite()) {
            return;
        }
        let is_artifact = self.open_artifacts > 0;
        if !self.area.inflate(size, size).contains(origin) {
            self.has_text_outside |= !is_artifact && !is_blank(glyph);
            return;
        }
        let (along, advance) = match writing {
            WritingMode::Horizontal => {
                let width = advance_width(glyph).unwrap_or(EM / 2.0);
                (across, (transform * Point::new(width, 0.0) - origin).hypot())
            }
            WritingMode::Vertical => (-up, size),
        };
        let is_seen = !is_artifact && self.is_seen(ink, origin, size);
        let text = self.glyph_text(glyph, is_seen);
        let layer = match (is_artifact, is_seen) {
            (true, _) => &mut self.artifacts,
            (_, true) => &mut self.seen,
            (_, false) => &mut self.unseen,
        };
        if text.chars().next().is_some_and(|character| layer.is_struck_twice(character, origin, size)) {
            return;
        }
        layer.place(&text, origin, along, advance, size);
        if let Some(open) = layer.open.as_mut().filter(|_| !text.trim().is_empty()) {
            open.line.is_bold &= is_bold;
        }
    }

    /// Empty if another glyph already gave its text.
    fn glyph_text(&mut self, glyph: &Glyph<'_>, is_seen: bool) -> String {
        let replaced = self.replaced_at.and_then(|at| self.marked.get_mut(at));
        if let Some(Marked::Replaced { text }) = replaced {
            return text.take().unwrap_or_default();
        }
        let mut letters = String::new();
        // Private-use characters have a meaning only in their font.
        let mut add = |character: char| {
            if !character.is_control() && !is_private(character) {
                push_letters(character, &mut letters);
            }
        };
        match glyph.as_unicode() {
            Some(BfString::Char(character)) => add(character),
            Some(BfString::String(text)) => text.chars().for_each(add),
            None => {}
        }
        self.nameless_glyphs += usize::from(is_seen && letters.is_empty());
        letters
    }
}

impl Layer {
    fn is_struck_twice(&mut self, character: char, at: Point, size: f64) -> bool {
        let limit = size * MAX_DOUBLE_STRIKE_DISTANCE;
        let cell = |length: f64| (length / size) as i64;
        let is_near = |(before, point): &(char, Point)| {
            *before == character && (*point - at).hypot() < limit && !character.is_whitespace()
        };
        let own = (cell(at.x), cell(at.y));
        // Nearly always none, because cells are much larger than the distance.
        let mut others = (cell(at.x - limit)..=cell(at.x + limit))
            .flat_map(|x| (cell(at.y - limit)..=cell(at.y + limit)).map(move |y| (x, y)))
            .filter(|cell| *cell != own);
        if others.any(|cell| self.drawn.get(&cell).is_some_and(|glyphs| glyphs.iter().any(is_near))) {
            return true;
        }
        let glyphs = self.drawn.entry(own).or_default();
        let found = glyphs.iter().any(is_near);
        if !found && glyphs.len() < MAX_GLYPHS_OF_CELL {
            glyphs.push((character, at));
        }
        found
    }

    fn place(&mut self, text: &str, origin: Point, along: Vec2, advance: f64, size: f64) {
        let (direction, unit) = direction(along);
        let start = origin.to_vec2().dot(unit);
        let baseline = unit.cross(origin.to_vec2());
        let goes_on = self.open.as_ref().is_some_and(|OpenLine { line, .. }| {
            line.direction == direction
                && (line.baseline - baseline).abs() < MAX_SHIFT * line.size.max(size)
                && start - line.end > -MAX_OVERLAP * line.size.max(size)
        });
        if !goes_on {
            self.end_line();
        }
        let open = self.open.get_or_insert_with(|| OpenLine {
            line: Line {
                text: String::new(),
                start,
                end: start,
                baseline,
                size,
                direction,
                first_word: f64::INFINITY,
                is_bold: true,
                cells: Vec::new(),
            },
            runs: Vec::new(),
            text_end: start,
            gaps: (f64::INFINITY, 0.0),
            cells: Vec::new(),
        });
        open.add(text, Run { text: String::new(), size, baseline }, start, advance);
    }

    fn end_line(&mut self) {
        self.lines.extend(self.open.take().and_then(OpenLine::finish));
    }
}

/// A line that may go on.
struct OpenLine {
    /// Without its text; size and baseline are those of the largest glyph so far.
    line: Line,
    runs: Vec<Run>,
    /// End of the last glyph that is not white space.
    text_end: f64,
    /// The smallest and largest distance of words.
    gaps: (f64, f64),
    /// Where parts after wide gaps begin: the number of runs before, the end of the part before, and the start.
    cells: Vec<(usize, f64, f64)>,
}

impl OpenLine {
    /// Adds the text of a glyph, which starts a new run unless it has the style of the last.
    fn add(&mut self, text: &str, new: Run, start: f64, advance: f64) {
        let line = &mut self.line;
        let is_blank = text.chars().all(char::is_whitespace);
        let is_apart = start - line.end > MIN_WORD_GAP * new.size || (is_blank && !text.is_empty());
        if let Some(last) = self.runs.last_mut().filter(|last| is_apart && !last.text.ends_with(' ')) {
            last.text.push(' ');
            line.first_word = line.first_word.min(self.text_end - line.start);
        }
        line.end = line.end.max(start + advance);
        if is_blank {
            return;
        }
        if self.runs.is_empty() || new.size > line.size {
            (line.size, line.baseline) = (new.size, new.baseline);
        }
        if self.runs.last().is_some_and(|last| last.text.ends_with(' ')) {
            let gap = start - self.text_end;
            self.gaps = (self.gaps.0.min(gap), self.gaps.1.max(gap));
            if gap > MIN_UNEVEN_CELL_GAP * new.size {
                self.cells.push((self.runs.len(), self.text_end, start));
            }
        }
        let is_cell = self.cells.last().is_some_and(|(before, ..)| *before == self.runs.len());
        self.text_end = line.end;
        let tolerance = MAX_RUN_DIFFERENCE * new.size;
        let is_alike = |last: &Run| {
            (last.size - new.size).abs() <= tolerance && (last.baseline - new.baseline).abs() <= tolerance
        };
        match self.runs.last_mut() {
            Some(last) if is_alike(last) && !is_cell => last.text.push_str(text),
            _ => self.runs.push(Run { text: text.to_owned(), ..new }),
        }
    }

    fn finish(mut self) -> Option<Line> {
        self.line.first_word = self.line.first_word.min(self.text_end - self.line.start);
        (self.line.size, self.line.baseline) = raised::main_style(&self.runs)?;
        let (smallest, largest) = self.gaps;
        let text = |runs: &[Run]| raised::text(runs, self.line.size, self.line.baseline);
        // Names of columns may be one word each.
        let is_even = self.cells.len() > 1 && smallest > MIN_UNEVEN_CELL_GAP * self.line.size;
        if largest > MIN_CELL_GAP * self.line.size
            || is_even
            || (largest > MIN_UNEVEN_CELL_GAP * self.line.size && largest > 2.0 * smallest)
        {
            let ends = self.cells.iter().map(|(first, end, _)| (*first, *end));
            let starts = [(0, self.line.start)]
                .into_iter()
                .chain(self.cells.iter().map(|(first, _, start)| (*first, *start)));
            let cells = starts.zip(ends.chain([(self.runs.len(), self.text_end)]));
            let cell = |((first, start), (last, end)): ((usize, f64), (usize, f64))| {
                let text = text(self.runs.get(first..last)?).trim().to_owned();
                Some(Cell { text, start, end })
            };
            self.line.cells = cells.filter_map(cell).collect();
        }
        self.line.text = text(&self.runs);
        self.line.text.truncate(self.line.text.trim_end().len());
        (!self.line.text.is_empty()).then_some(self.line)
    }
}

impl Device<'_> for Collector {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, mode: &DrawMode) {
        let of_run = ink(&props.paint);
        let is_bold = run.glyphs().first().is_some_and(|glyph| is_bold(glyph));
        for glyph in run.glyphs() {
            let ink = match (mode, &**glyph) {
                (DrawMode::Invisible, _) => Ink::None,
                // These glyphs have their own colours.
                (_, Glyph::Type3(_)) => Ink::Colour,
                _ => of_run,
            };
            self.glyph(glyph, props.transform * glyph.transform(), run.writing_mode(), ink, is_bold);
        }
    }

    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {
        self.has_images = true;
    }

    fn begin_marked_content(&mut self, tag: &[u8], properties: Option<&Dict<'_>>) {
        let actual = properties.and_then(|properties| properties.get::<PdfString<'_>>(b"ActualText"));
        let marked = match actual {
            _ if tag == b"Artifact" => Marked::Artifact,
            Some(text) => Marked::Replaced { text: Some(decode_text(text.as_bytes())) },
            None => Marked::Other,
        };
        match marked {
            Marked::Artifact => self.open_artifacts += 1,
            Marked::Replaced { .. } => self.replaced_at = self.replaced_at.or(Some(self.marked.len())),
            Marked::Other => {}
        }
        self.marked.push(marked);
    }

    fn end_marked_content(&mut self) {
        if let Some(Marked::Artifact) = self.marked.pop() {
            self.open_artifacts -= 1;
        }
        self.replaced_at = self.replaced_at.filter(|at| *at < self.marked.len());
    }

    fn draw_path(&mut self, path: &BezPath, props: DrawProps<'_>, mode: &DrawMode) {
        self.paint(|| path.bounding_box(), &props, mode);
    }

    fn draw_rect(&mut self, area: &Rect, props: DrawProps<'_>, mode: &DrawMode) {
        self.paint(|| *area, &props, mode);
    }

    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_clip_rect(&mut self, _: &Rect) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}

/// Angle in degrees, and the vector of length 1.
fn direction(along: Vec2) -> (i32, Vec2) {
    if along.y == 0.0 && along.x > 0.0 {
        return (0, Vec2::new(1.0, 0.0));
    }
    let degrees = along.atan2().to_degrees().round() as i32;
    (degrees, Vec2::from_angle(f64::from(degrees).to_radians()))
}

#[derive(Clone, Copy)]
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

/// Returns whether the font of a glyph says that it is bold.
fn is_bold(glyph: &Glyph<'_>) -> bool {
    let Glyph::Outline(glyph) = glyph else { return false };
    glyph.font_data().is_some_and(|font| {
        let name = font.postscript_name.unwrap_or_default().to_lowercase();
        font.weight.is_some_and(|weight| weight >= MIN_BOLD_WEIGHT) || name.contains("bold")
    })
}

fn is_blank(glyph: &Glyph<'_>) -> bool {
    match glyph.as_unicode() {
        Some(BfString::Char(character)) => character.is_whitespace(),
        Some(BfString::String(text)) => text.trim().is_empty(),
        None => false,
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
