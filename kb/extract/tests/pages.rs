//! Page numbers of a long PDF.

mod support;

use std::collections::BTreeMap;

use extract::{
    Format,
    document::{BlockKind, Document},
};
use support::pdf::{Pdf, lines};

const PAGES: u32 = 200;

/// Blank, rotated and shifted pages, running headers and footers, different page labels.
fn manual() -> Vec<u8> {
    let mut pdf = Pdf::new();
    for page in 1..=PAGES {
        // Entries of the page, the transformation that makes it upright, its height.
        let (entries, upright, height) = match page % 8 {
            3 => ("/Rotate 90", "0 1 -1 0 600 0 cm", 600.0),
            5 => ("/Rotate 180", "-1 0 0 -1 600 800 cm", 800.0),
            7 => ("/MediaBox [-100 -100 600 800]", "1 0 0 1 -100 -100 cm", 900.0),
            _ => ("", "", 800.0),
        };
        let shown = if page % 25 == 0 { String::new() } else { shown(page, height) };
        pdf.page(entries, &format!("{upright}\n{shown}"));
    }
    pdf.finish("/Lang (en-GB) /PageLabels << /Nums [0 << /S /r >> 10 << /S /D /St 5 >>] >>")
}

fn shown(page: u32, height: f64) -> String {
    let mut operators = lines(9.0, 50.0, height - 20.0, &["Manual of the machine"]);
    operators += &lines(9.0, 280.0, 20.0, &[&format!("Page {} of {PAGES}", page + 4)]);
    if page % 10 == 1 {
        operators += &lines(20.0, 50.0, height - 110.0, &[&format!("Chapter {}", page / 10 + 1)]);
    }
    let marker = format!("This is page {page} of the text, whose sentence goes on in");
    operators += &lines(11.0, 50.0, height - 160.0, &[&marker, "the next line, and ends there."]);
    operators + &lines(11.0, 50.0, height - 300.0, &["Another paragraph (with brackets)."])
}

/// The text of each page without its headings, and the headings with their pages.
fn by_page(document: &Document) -> (BTreeMap<u32, String>, Vec<(u32, &str)>) {
    let mut pages: BTreeMap<u32, String> = BTreeMap::new();
    let mut headings = Vec::new();
    for block in &document.blocks {
        let page = document.place(block.range.start).and_then(|place| place.page);
        let page = page.expect("every block has a page");
        let text = &document.text[block.range.clone()];
        if matches!(block.kind, BlockKind::Heading { .. }) {
            headings.push((page, text));
        } else {
            *pages.entry(page).or_default() += &format!("{text}\n");
        }
    }
    (pages, headings)
}

#[test]
fn each_of_200_pages_has_its_number() {
    let document = extract::document(&manual(), Format::Pdf).unwrap();
    let (pages, headings) = by_page(&document);
    for page in 1..=PAGES {
        let expected = format!(
            "This is page {page} of the text, whose sentence goes on in the next line, and ends there.\nAnother \
            paragraph (with brackets).\n"
        );
        let expected = (page % 25 != 0).then_some(expected);
        assert_eq!(pages.get(&page), expected.as_ref(), "page {page}");
    }
    assert_eq!(headings.first(), Some(&(1, "Chapter 1")));
    assert_eq!(headings.last(), Some(&(191, "Chapter 20")));
    assert_eq!(document.properties.language.as_deref(), Some("en-gb"));
    assert_eq!(document.notes, ["384 lines of running headers, footers and page numbers were left out"]);
}
