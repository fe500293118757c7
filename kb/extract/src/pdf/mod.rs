//! Reads the text of a PDF page by page.

mod breaks;
mod contents;
mod furniture;
mod info;
mod lines;
mod outline;
mod paragraphs;
mod raised;
mod tables;
mod text;

use std::panic::{AssertUnwindSafe, catch_unwind};

use hayro_interpret::{
    Context, InterpreterCache, InterpreterSettings, TransformExt,
    hayro_syntax::{DecryptionError, LoadPdfError, Pdf, page::Page},
    interpret_page,
    kurbo::Rect,
};

use super::{ExtractError, MAX_TEXT_BYTES, document::Document, left_out::named};
use lines::{Line, PageText};

/// Maximum number of pages that a note lists.
const MAX_NAMED_PAGES: usize = 10;

/// Reads a file into the model.
pub(crate) fn document(bytes: &[u8]) -> Result<Document, ExtractError> {
    let pdf = open(bytes)?;
    let read = read_pages(&pdf)?;
    let text::Composed { mut builder, has_title, furniture, contents } =
        text::compose(read.pages, outline::read(&pdf));
    let mut notes = read.notes;
    notes.extend(lines_note(furniture + read.artifacts, "running headers, footers and page numbers"));
    notes.extend(lines_note(contents, "a table of contents"));
    notes.extend(count_note(&pdf));
    notes.into_iter().for_each(|note| builder.left_out(note));
    let properties = info::read(&pdf);
    let own_title = properties.title.clone();
    let mut document = builder.finish(properties).map_err(|error| match error {
        ExtractError::Empty if furniture + contents > 0 => ExtractError::NoContent,
        error => error,
    })?;
    document.properties.title = document.properties.title.filter(|_| has_title).or(own_title);
    Ok(document)
}

/// Tries an empty password, because many documents only restrict permissions.
fn open(bytes: &[u8]) -> Result<Pdf, ExtractError> {
    let broken = |reason: &str| ExtractError::Broken(reason.to_owned());
    let pdf = Pdf::new(bytes.to_vec()).map_err(|error| match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => ExtractError::Encrypted,
        LoadPdfError::Decryption(_) => broken("it is encrypted in an unknown way"),
        LoadPdfError::Invalid => broken("it has no pages that could be found"),
    })?;
    if pdf.pages().is_empty() { Err(broken("it has no pages")) } else { Ok(pdf) }
}

/// The lines of a page, and its height.
struct PageLines {
    lines: Vec<Line>,
    height: f64,
}

struct PagesRead {
    pages: Vec<PageLines>,
    /// Number of lines marked as artifacts.
    artifacts: usize,
    notes: Vec<String>,
}

fn read_pages(pdf: &Pdf) -> Result<PagesRead, ExtractError> {
    let cache = InterpreterCache::new();
    let mut pages = Vec::new();
    let (mut failed, mut scanned, mut nameless, mut unseen) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut bytes, mut artifacts) = (0, 0);
    for (number, page) in (1..).zip(pdf.pages().iter()) {
        // A page that fails does not affect the others.
        let found = catch_unwind(AssertUnwindSafe(|| page_lines(pdf, page, &cache)));
        let Ok(mut found) = found else {
            failed.push(number);
            pages.push(PageLines { lines: Vec::new(), height: 0.0 });
            continue;
        };
        let PageText { lines, has_unseen, artifacts: artifacts_here } = found.finish();
        artifacts += artifacts_here;
        if has_unseen {
            unseen.push(number);
        }
        if lines.is_empty() && found.nameless_glyphs > 0 {
            nameless.push(number);
        } else if lines.is_empty() && found.has_images {
            scanned.push(number);
        }
        bytes += lines.iter().map(|line| line.text.len()).sum::<usize>();
        if bytes > MAX_TEXT_BYTES {
            return Err(ExtractError::too_much_text());
        }
        pages.push(PageLines { lines, height: f64::from(page.render_dimensions().1) });
    }
    if bytes == 0 {
        if !unseen.is_empty() {
            return Err(ExtractError::OnlyInvisibleText);
        }
        return Err(match (failed.len(), nameless.len(), scanned.len()) {
            (0, 0, 0) => ExtractError::Empty,
            (_, 0, 0) => ExtractError::Crashed,
            (_, nameless, scanned) if nameless > scanned => ExtractError::NoCharacters,
            _ => ExtractError::Scanned,
        });
    }
    let notes = [
        pages_note(&failed, "could not be read"),
        pages_note(&scanned, "has no text, only images"),
        pages_note(&nameless, "has text whose fonts name no characters"),
        pages_note(&unseen, "has text that no reader sees, which was left out"),
    ];
    Ok(PagesRead { pages, artifacts, notes: notes.into_iter().flatten().collect() })
}

fn page_lines<'a>(pdf: &'a Pdf, page: &Page<'a>, cache: &InterpreterCache<'a>) -> lines::Collector {
    let (width, height) = page.render_dimensions();
    let area = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
    let transform = page.initial_transform(true).to_kurbo();
    let mut context = Context::new(transform, area, cache, pdf.xref(), InterpreterSettings::default());
    let mut collector = lines::Collector::new(area);
    interpret_page(page, &mut context, &mut collector);
    collector
}

fn pages_note(pages: &[u32], what: &str) -> Option<String> {
    let noun = if pages.len() == 1 { "page" } else { "each of the pages" };
    let pages = named(pages, MAX_NAMED_PAGES);
    (!pages.is_empty()).then(|| format!("{noun} {pages} {what}"))
}

/// A note if lines were left out because they are no text.
fn lines_note(count: usize, what: &str) -> Option<String> {
    let lines = if count == 1 { "1 line".to_owned() } else { format!("{count} lines") };
    let verb = if count == 1 { "was" } else { "were" };
    (count > 0).then(|| format!("{lines} of {what} {verb} left out"))
}

/// A note if pages are listed but missing, which shifts the numbers of later pages.
fn count_note(pdf: &Pdf) -> Option<String> {
    let promised = info::page_count(pdf)?;
    let found = pdf.pages().len();
    (promised > found)
        .then(|| format!("only {found} of its {promised} pages were found, so page numbers may be wrong"))
}

#[cfg(test)]
mod tests;
