//! Files made by the tests.

#![allow(dead_code, reason = "each test uses a part")]

pub(crate) mod hostile;
pub(crate) mod oversized;
pub(crate) mod pdf;
pub(crate) mod zip;

use std::path::PathBuf;

use extract::{Extracted, sandbox::Sandbox};

/// The program built from this crate, as the sandbox starts it.
pub(crate) fn sandbox() -> Sandbox {
    Sandbox::new(PathBuf::from(env!("CARGO_BIN_EXE_extract")), vec!["--worker".into()])
}

/// What every user of an extracted document relies on.
pub(crate) fn check(extracted: &Extracted) {
    let text = &extracted.text;
    assert!(!text.starts_with('\u{feff}'));
    assert!(!text.contains(|c: char| c.is_control() && !"\t\n\r".contains(c)), "a control character");
    let headings = extracted.sections.iter().flat_map(|section| &section.headings);
    assert!(headings.chain(&extracted.properties.title).all(|text| text.chars().count() <= 300));
    assert!(text.len() <= extract::MAX_TEXT_BYTES && extracted.sections.len() <= extract::MAX_SECTIONS);
    let mut end = 0;
    for block in extracted.sections.iter().flat_map(|section| &section.blocks) {
        check_block(block, text, &mut end, 0);
    }
    assert!(extracted.sections.iter().all(|section| !section.blocks.is_empty()));
}

fn check_block(block: &extract::Block, text: &str, end: &mut usize, depth: usize) {
    assert!(depth < 32, "nested too deep");
    assert!(block.range.start >= *end, "{:?} overlaps what ends at {end}", block.range);
    let content = text.get(block.range.clone()).expect("in bounds and on character boundaries");
    assert!(depth > 0 || !content.trim().is_empty(), "an empty block at {:?}", block.range);
    let mut inner = block.range.start;
    for child in &block.children {
        check_block(child, text, &mut inner, depth + 1);
        assert!(child.range.end <= block.range.end, "{:?} is not inside {:?}", child.range, block.range);
    }
    *end = block.range.end;
}
