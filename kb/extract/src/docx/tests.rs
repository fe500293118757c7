use std::io::{Cursor, Write};

use zip::{ZipWriter, write::SimpleFileOptions};

use super::*;
use crate::BlockKind;

fn package(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn document(body: &str) -> String {
    format!("<w:document xmlns:w='urn:w' xmlns:mc='urn:mc'><w:body>{body}</w:body></w:document>")
}

fn body(body: &str) -> Extracted {
    read(&package(&[
        ("word/document.xml", &document(body)),
        ("word/styles.xml", STYLES),
        ("word/numbering.xml", NUMBERING),
    ]))
    .unwrap()
}

fn p(text: &str) -> String {
    format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>")
}

fn styled(style: &str, text: &str) -> String {
    format!("<w:p><w:pPr><w:pStyle w:val='{style}'/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
}

fn item(list: &str, level: usize, text: &str) -> String {
    format!(
        "<w:p><w:pPr><w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='{list}'/></w:numPr></w:pPr><w:r><w:t>{text}</w:t>\
        </w:r></w:p>"
    )
}

const STYLES: &str = "<w:styles xmlns:w='urn:w'><w:docDefaults><w:lang w:val='de-AT' w:eastAsia='ja-JP'/></w:docDefaults>\
    <w:style w:styleId='berschrift1'><w:name w:val='heading 1'/><w:basedOn w:val='Normal'/></w:style>\
    <w:style w:styleId='Kapitel'><w:name w:val='Kapitel'/><w:pPr><w:outlineLvl w:val='1'/></w:pPr></w:style>\
    <w:style w:styleId='Mein'><w:name w:val='Mein'/><w:basedOn w:val='Kapitel'/></w:style>\
    <w:style w:styleId='A'><w:name w:val='A'/><w:basedOn w:val='B'/></w:style>\
    <w:style w:styleId='B'><w:name w:val='B'/><w:basedOn w:val='A'/></w:style>\
    <w:style w:styleId='Verz'><w:name w:val='toc 1'/></w:style>\
    <w:style w:styleId='Liste'><w:name w:val='List Bullet'/><w:pPr><w:numPr><w:numId w:val='1'/></w:numPr></w:pPr></w:style>\
    </w:styles>";

const NUMBERING: &str = "<w:numbering xmlns:w='urn:w'>\
    <w:abstractNum w:abstractNumId='10'><w:lvl w:ilvl='0'><w:numFmt w:val='bullet'/></w:lvl></w:abstractNum>\
    <w:abstractNum w:abstractNumId='20'><w:lvl w:ilvl='0'><w:start w:val='3'/><w:numFmt w:val='decimal'/></w:lvl>\
    <w:lvl w:ilvl='1'><w:numFmt w:val='bullet'/></w:lvl></w:abstractNum>\
    <w:num w:numId='1'><w:abstractNumId w:val='10'/></w:num><w:num w:numId='2'><w:abstractNumId w:val='20'/></w:num>\
    </w:numbering>";

#[test]
fn headings_are_found_by_style_name_and_outline_level() {
    let text = [
        styled("berschrift1", "Rück<!-- -->gaben"),
        styled("Verz", "Fristen 3"),
        p("Intro."),
        styled("Mein", "Fristen"),
        styled("A", "30 Tage."),
        "<w:p><w:pPr><w:outlineLvl w:val='9'/><w:pStyle w:val='Kapitel'/></w:pPr><w:r><w:t>Text.</w:t></w:r></w:p>".into(),
    ];
    let read = body(&text.concat());
    assert_eq!(read.text, "Rückgaben\n\nIntro.\n\nFristen\n\n30 Tage.\n\nText.");
    assert_eq!(read.sections[1].headings, ["Rückgaben", "Fristen"]);
    assert_eq!(read.properties.title.as_deref(), Some("Rückgaben"));
    assert_eq!(read.properties.language.as_deref(), Some("de-at"));
}

#[test]
fn only_text_of_the_final_version_is_read() {
    let text = "<w:p><w:r><w:t xml:space='preserve'>A </w:t></w:r><w:del><w:r><w:delText>old</w:delText></w:r></w:del>\
        <w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom><w:ins><w:r><w:t>new</w:t></w:r></w:ins>\
        <w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:rPr><w:vanish w:val='0'/></w:rPr><w:t>&amp;&#x20AC;&boom;</w:t>\
        <w:tab/><w:t>tab</w:t><w:br/><w:t>line</w:t><w:noBreakHyphen/><w:instrText>PAGE</w:instrText></w:r>\
        <mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>Box</w:t></w:r></w:p></w:txbxContent></mc:Choice>\
        <mc:Fallback><w:p><w:r><w:t>Box</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent></w:p>";
    assert_eq!(body(text).text, "Box\n\nA new&€ tab\nline-");
}

#[test]
fn lists_are_numbered_and_nested() {
    let text = [
        item("2", 0, "three"),
        item("2", 1, "bullet"),
        item("2", 0, "four"),
        p("Between."),
        item("2", 0, "five"),
        item("0", 0, "none"),
        styled("Liste", "styled"),
    ];
    let read = body(&text.concat());
    assert_eq!(read.text, "3. three\n   - bullet\n4. four\n\nBetween.\n\n5. five\n\nnone\n\n- styled");
    assert_eq!(read.sections[0].blocks[0].children.len(), 2);
}

#[test]
fn tables_keep_merged_cells_apart() {
    let cell =
        |properties: &str, text: &str| format!("<w:tc><w:tcPr>{properties}</w:tcPr>{}</w:tc>", p(text));
    let row = |cells: &[String]| format!("<w:tr>{}</w:tr>", cells.concat());
    let table = [
        row(&[cell("", "Plan"), cell("", "Price"), cell("", "Note")]),
        row(&[cell("<w:vMerge w:val='restart'/>", "Pro"), cell("<w:gridSpan w:val='2'/>", "9 €")]),
        row(&[
            cell("<w:vMerge/>", ""),
            cell("", "99 €"),
            cell(
                "",
                &format!("a</w:t></w:r></w:p><w:tbl>{}</w:tbl><w:p><w:r><w:t>b", row(&[cell("", "in")])),
            ),
        ]),
    ];
    let read =
        body(&format!("<w:tbl>{}</w:tbl><w:tbl>{}</w:tbl>", table.concat(), row(&[cell("", "Boxed.")])));
    assert_eq!(
        read.text,
        "| Plan | Price | Note |\n|---|---|---|\n| Pro | 9 € |  |\n| Pro | 99 € | a in b |\n\nBoxed."
    );
    assert_eq!(read.sections[0].blocks[0].kind, BlockKind::Table);
}

#[test]
fn notes_are_written_below_their_paragraph() {
    let notes = "<w:footnotes xmlns:w='urn:w'><w:footnote w:type='separator' w:id='0'><w:p/></w:footnote>\
        <w:footnote w:id='2'><w:p><w:r><w:t>Not on</w:t></w:r><w:r><w:t> Sundays.</w:t></w:r></w:p></w:footnote></w:footnotes>";
    let text =
        document("<w:p><w:r><w:t>We ship</w:t><w:footnoteReference w:id='2'/><w:t>.</w:t></w:r></w:p>");
    let read = read(&package(&[("word/document.xml", &text), ("word/footnotes.xml", notes)])).unwrap();
    assert_eq!(read.text, "We ship[1].\n\n[1] Not on Sundays.");
}

#[test]
fn the_main_part_and_properties_may_be_anywhere() {
    let relationships = "<Relationships><Relationship Type='http://x/officeDocument' Target='/doc/Main.xml'/></Relationships>";
    let core = "<c:p xmlns:c='c' xmlns:dc='d'><dc:title>Rules</dc:title><dc:creator>Me</dc:creator><dc:language>en_GB</dc:language></c:p>";
    let parts =
        [("_rels/.rels", relationships), ("doc/main.xml", &document(&p("Hi."))), ("docProps/core.xml", core)];
    let read = read(&package(&parts)).unwrap();
    assert_eq!(read.text, "Hi.");
    assert_eq!(read.properties.title.as_deref(), Some("Rules"));
    assert_eq!(read.properties.language.as_deref(), Some("en-gb"));
}

#[test]
fn archives_that_are_not_documents_are_refused_with_the_reason() {
    let message = |parts: &[(&str, &str)]| read(&package(parts)).unwrap_err().to_string();
    assert!(message(&[("xl/workbook.xml", "")]).starts_with("is an Excel workbook, not a Word document"));
    assert!(message(&[("../../etc/passwd", "x")]).starts_with("is a ZIP archive, not a Word document"));
    assert!(message(&[("word/document.xml", "<a><b></a>")]).starts_with("is broken: "));
    assert_eq!(message(&[("word/document.xml", &document(""))]), "is empty");
    assert!(read(b"PK\x03\x04rubbish").unwrap_err().to_string().starts_with("is broken: "));
}

#[test]
fn entities_are_not_expanded() {
    let mut bomb = "<!DOCTYPE d [<!ENTITY a0 'lol'>".to_owned();
    for at in 1..30 {
        bomb += &format!("<!ENTITY a{at} '{}'>", format!("&a{};", at - 1).repeat(10));
    }
    let text = format!("{bomb}]>{}", document(&p("a&a29;b")));
    assert_eq!(read(&package(&[("word/document.xml", &text)])).unwrap().text, "ab");
}

#[test]
fn very_deeply_nested_elements_are_read() {
    let deep = format!("{}{}{}", "<w:sdt>".repeat(100_000), p("deep"), "</w:sdt>".repeat(100_000));
    assert_eq!(body(&deep).text, "deep");
    let tables = format!(
        "{}{}{}",
        "<w:tbl><w:tr><w:tc>".repeat(20_000),
        p("deep"),
        "</w:tc></w:tr></w:tbl>".repeat(20_000)
    );
    assert_eq!(body(&tables).text, "deep");
}
