use std::io::{Cursor, Write};

use zip::{ZipWriter, write::SimpleFileOptions};

use super::*;
use crate::document::BlockKind;

fn read(bytes: &[u8]) -> Result<Document, ExtractError> {
    super::document(bytes)
}

/// The texts of the headings, with their levels.
fn headings(read: &Document) -> Vec<(u8, &str)> {
    let heading = |block: &crate::document::Block| match block.kind {
        BlockKind::Heading { level } => Some((level, &read.text[block.range.clone()])),
        _ => None,
    };
    read.blocks.iter().filter_map(heading).collect()
}

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

fn body(body: &str) -> Document {
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
    assert_eq!(headings(&read), [(1, "Rückgaben"), (2, "Fristen")]);
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
    assert_eq!(read.text, "3. three\n  - bullet\n4. four\n\nBetween.\n\n5. five\n\nnone\n\n- styled");
    assert_eq!(read.blocks[0].children.len(), 2);
}

#[test]
fn tables_keep_merged_cells_apart() {
    let cell =
        |properties: &str, text: &str| format!("<w:tc><w:tcPr>{properties}</w:tcPr>{}</w:tc>", p(text));
    let row = |cells: &[String]| format!("<w:tr>{}</w:tr>", cells.concat());
    let table = [
        row(&[
            "<w:trPr><w:tblHeader/></w:trPr>".into(),
            cell("", "Plan"),
            cell("", "Price"),
            cell("", "Note"),
        ]),
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
    assert_eq!(read.text, "Plan\tPrice\tNote\nPro\t9 €\t\nPro\t99 €\ta\nin\nb\n\nBoxed.");
    let kinds: Vec<&BlockKind> = read.blocks.iter().map(|block| &block.kind).collect();
    assert_eq!(kinds, [&BlockKind::Table, &BlockKind::Paragraph]);
}

#[test]
fn a_statement_has_the_notes_that_it_leads_to_and_goes_on_below_them() {
    let notes = "<w:footnotes xmlns:w='urn:w'><w:footnote w:id='2'><w:p><w:r><w:t>Not on Sundays.</w:t></w:r></w:p></w:footnote></w:footnotes>";
    let text = document(
        "<w:p><w:r><w:t>Bikes are free</w:t><w:footnoteReference w:id='2'/><w:t>.</w:t></w:r></w:p>\
         <w:p><w:r><w:t>They need a deposit.</w:t></w:r></w:p>",
    );
    let bytes = package(&[("word/document.xml", &text), ("word/footnotes.xml", notes)]);
    let read = crate::docx::document(&bytes).unwrap();
    let found = crate::statement::statements(&read);
    let chains: Vec<Vec<&str>> = found
        .iter()
        .filter(|statement| statement.is_quotable)
        .map(|statement| statement.chain.iter().map(|link| read.slice(&link.range)).collect())
        .collect();
    assert_eq!(
        chains,
        [vec!["¹ Not on Sundays."], vec!["Bikes are free¹.", "¹ Not on Sundays."], vec!["Bikes are free¹."]]
    );
}

#[test]
fn notes_are_written_below_the_text() {
    let notes = "<w:footnotes xmlns:w='urn:w'><w:footnote w:type='separator' w:id='0'><w:p/></w:footnote>\
        <w:footnote w:id='2'><w:p><w:r><w:t>Not on</w:t></w:r><w:r><w:t> Sundays.</w:t></w:r></w:p></w:footnote></w:footnotes>";
    let text =
        document("<w:p><w:r><w:t>We ship</w:t><w:footnoteReference w:id='2'/><w:t>.</w:t></w:r></w:p>");
    let read = read(&package(&[("word/document.xml", &text), ("word/footnotes.xml", notes)])).unwrap();
    assert_eq!(read.text, "We ship¹.\n\n¹ Not on Sundays.");
}

#[test]
fn a_note_belongs_to_the_row_or_heading_that_refers_to_it() {
    let notes = "<w:footnotes xmlns:w='urn:w'><w:footnote w:id='2'><w:p><w:r><w:t>Not on Sundays.</w:t></w:r></w:p></w:footnote></w:footnotes>";
    let refer = "</w:t><w:footnoteReference w:id='2'/><w:t>";
    let row = |cells: [&str; 2]| {
        let cells = cells.map(|text| format!("<w:tc>{}</w:tc>", p(text)));
        format!("<w:tr>{}</w:tr>", cells.concat())
    };
    let rows = row(["Bikes", &format!("free{refer}")]) + &row(["Dogs", "9 €"]);
    let read = with_parts(&format!("<w:tbl>{rows}</w:tbl>"), "<w:styles/>", &[("word/footnotes.xml", notes)]);
    let shown = crate::statement::shown(&read);
    assert_eq!(shown[0], "Bikes free¹ Dogs 9 € ¹ Not on Sundays.");
    let header = "<w:trPr><w:tblHeader/></w:trPr>".to_owned();
    let rows = row(["Who", "Price"]).replace("<w:tr>", &format!("<w:tr>{header}")) + &rows;
    let read = with_parts(&format!("<w:tbl>{rows}</w:tbl>"), "<w:styles/>", &[("word/footnotes.xml", notes)]);
    let shown = crate::statement::shown(&read);
    assert_eq!(shown[..2], ["Bikes – Price: free¹ ¹ Not on Sundays.", "Dogs – Price: 9 €"]);
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

fn run(properties: &str, text: &str) -> String {
    format!("<w:r><w:rPr>{properties}</w:rPr><w:t xml:space='preserve'>{text}</w:t></w:r>")
}

fn para(properties: &str, content: &[String]) -> String {
    format!("<w:p><w:pPr>{properties}</w:pPr>{}</w:p>", content.concat())
}

fn with_parts(body: &str, styles: &str, more: &[(&str, &str)]) -> Document {
    let styles = format!("<w:styles xmlns:w='urn:w'>{styles}</w:styles>");
    let text = document(body);
    let parts = [("word/document.xml", text.as_str()), ("word/styles.xml", &styles)];
    read(&package(&[&parts, more].concat())).unwrap()
}

#[test]
fn former_properties_are_not_those_of_the_text() {
    let text = [
        para(
            "<w:pStyle w:val='berschrift1'/><w:pPrChange><w:pPr><w:pStyle w:val='Normal'/></w:pPr></w:pPrChange>",
            &[run("", "Heading")],
        ),
        para(
            "<w:pStyle w:val='Normal'/><w:pPrChange><w:pPr><w:pStyle w:val='berschrift1'/><w:numPr><w:numId w:val='1'/></w:numPr>\
            <w:outlineLvl w:val='0'/></w:pPr></w:pPrChange>",
            &[
                run("<w:rPrChange><w:rPr><w:vanish/><w:strike/></w:rPr></w:rPrChange>", "shown"),
                run("<w:vanish/><w:rPrChange><w:rPr><w:vanish w:val='0'/></w:rPr></w:rPrChange>", "hidden"),
            ],
        ),
    ];
    let read = body(&text.concat());
    assert_eq!(read.text, "Heading\n\nshown");
    assert_eq!(headings(&read), [(1, "Heading")]);
    let table = "<w:tbl><w:tr><w:trPr><w:trPrChange><w:trPr><w:tblHeader/><w:del/></w:trPr></w:trPrChange></w:trPr>\
        <w:tc><w:tcPr><w:tcPrChange><w:tcPr><w:gridSpan w:val='3'/><w:vMerge/></w:tcPr></w:tcPrChange></w:tcPr>";
    let cell = |text: &str| format!("<w:tc>{}</w:tc>", p(text));
    let table = format!(
        "{table}{}</w:tc>{}</w:tr><w:tr>{}{}</w:tr></w:tbl>",
        p("A"),
        cell("1"),
        cell("B"),
        cell("2")
    );
    assert_eq!(body(&table).text, "A\t1\nB\t2");
    let styles = "<w:style w:styleId='S'><w:name w:val='S'/><w:rPr><w:rPrChange><w:rPr><w:vanish/></w:rPr></w:rPrChange></w:rPr></w:style>";
    assert_eq!(with_parts(&styled("S", "shown"), styles, &[]).text, "shown");
}

#[test]
fn hidden_and_struck_text_is_left_out_and_noted() {
    let styles = "<w:style w:type='paragraph' w:default='1' w:styleId='Normal'><w:name w:val='Normal'/></w:style>\
        <w:style w:styleId='Base'><w:name w:val='Base'/><w:rPr><w:vanish/></w:rPr></w:style>\
        <w:style w:styleId='Derived'><w:name w:val='D'/><w:basedOn w:val='Base'/></w:style>\
        <w:style w:styleId='Shown'><w:name w:val='S'/><w:basedOn w:val='Base'/><w:rPr><w:vanish w:val='0'/></w:rPr></w:style>\
        <w:style w:styleId='Old'><w:name w:val='O'/><w:rPr><w:strike/></w:rPr></w:style>";
    let notes = "<w:footnotes xmlns:w='urn:w'><w:footnote w:id='2'><w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>All</w:t></w:r></w:p></w:footnote>\
        <w:footnote w:id='3'><w:p><w:pPr><w:pStyle w:val='Shown'/></w:pPr><w:r><w:t>Shown </w:t></w:r><w:r><w:rPr><w:rStyle w:val='Old'/></w:rPr>\
        <w:t>old </w:t></w:r><w:r><w:t>note.</w:t></w:r></w:p></w:footnote></w:footnotes>";
    let read = |body: &str| with_parts(body, styles, &[("word/footnotes.xml", notes)]);
    for hidden in [
        para("", &[run("<w:rStyle w:val='Base'/>", "x")]),
        para("", &[run("<w:rStyle w:val='Derived'/>", "x")]),
        para("<w:pStyle w:val='Derived'/>", &[run("", "x"), run("", "y")]),
        para("", &[run("<w:vanish w:val='on'/>", "x"), run("<w:vanish w:val='true'/>", "y")]),
        para(
            "",
            &[format!("<w:r><w:rPr><w:vanish/></w:rPr><w:t>x</w:t><w:pict>{}</w:pict></w:r>", p("box"))],
        ),
        para("", &[run("<w:rStyle w:val='Base'/>", "x"), run("<w:rStyle w:val='Base'/>", " ")]),
    ] {
        let read = read(&(p("A") + &hidden + &p("B")));
        assert_eq!(read.text, "A\n\nB", "{hidden}");
        let hidden_notes = read.notes.iter().filter(|note| note.contains("of hidden text")).count();
        assert_eq!(hidden_notes, 1, "{hidden}");
    }
    for shown in [
        para("", &[run("<w:rStyle w:val='Shown'/>", "x")]),
        para("<w:pStyle w:val='Base'/>", &[run("<w:vanish w:val='0'/>", "x")]),
        para("<w:pStyle w:val='Base'/>", &[run("<w:rStyle w:val='Derived'/>", "x")]),
        para("<w:rPr><w:vanish/><w:specVanish/></w:rPr>", &[run("", "x")]),
        para("", &[run("<w:specVanish/><w:webHidden/>", "x")]),
        para("", &[run("<w:strike w:val='false'/>", "x")]),
        para("<w:pStyle w:val='Old'/>", &[run("<w:strike w:val='0'/>", "x")]),
    ] {
        assert_eq!(read(&shown).text, "x", "{shown}");
    }
    for struck in ["<w:strike/>", "<w:dstrike/>", "<w:rStyle w:val='Old'/>"] {
        let read = read(&para("", &[run("", "5"), run(struck, "7"), run("", "10 €")]));
        assert_eq!(read.text, "5 10 €", "{struck}");
        assert!(
            read.notes.contains(&"left out 2 passages of struck-through text".to_owned()),
            "{:?}",
            read.notes
        );
    }
    let refers = |id: u8| format!("<w:r><w:t>x</w:t><w:footnoteReference w:id='{id}'/></w:r>");
    assert_eq!(read(&para("", &[refers(2), refers(3)])).text, "xx¹\n\n¹ Shown note.");
    let hidden =
        format!("<w:r><w:rPr><w:vanish/></w:rPr><w:footnoteReference w:id='3'/></w:r>{}", run("", "x"));
    assert_eq!(read(&para("", &[hidden])).text, "x");
    let counted = with_parts(
        &(para("", &[run("<w:vanish/>", "a"), run("", "b"), run("<w:vanish/>", "c")]) + &p("d")),
        styles,
        &[],
    );
    assert_eq!(counted.notes, ["left out 2 passages of hidden text"]);
    let all = package(&[("word/document.xml", &document(&para("", &[run("<w:vanish/>", "a")])))]);
    assert_eq!(super::document(&all).unwrap_err(), ExtractError::OnlyInvisibleText);
}

#[test]
fn raised_and_lowered_runs_do_not_join_numbers() {
    let up = "<w:vertAlign w:val='superscript'/>";
    let down = "<w:vertAlign w:val='subscript'/>";
    let styles = "<w:style w:styleId='Up'><w:name w:val='U'/><w:rPr><w:vertAlign w:val='superscript'/></w:rPr></w:style>";
    for (runs, expected) in [
        (vec![run("", "5"), run(up, "1"), run("", " GB")], "5¹ GB"),
        (vec![run("", "10"), run(up, "1"), run(up, "2"), run("", "0")], "10¹²0"),
        (vec![run("", "H"), run(down, "2"), run("", "O")], "H₂O"),
        (vec![run("", "the 1"), run(up, "s"), run(up, "t"), run("", " day")], "the 1st day"),
        (vec![run("", "2"), run(up, "1"), run("", "/"), run(down, "2"), run("", " l")], "2 1/2 l"),
        (vec![run("", "5"), run(up, "a1"), run("", "0")], "5 a1 0"),
        (vec![run("", "5"), run("<w:rStyle w:val='Up'/>", "1")], "5¹"),
        (vec![run("", "5"), run("<w:rStyle w:val='Up'/><w:vertAlign w:val='baseline'/>", "1")], "51"),
        (
            vec![run("", "5"), run("<w:position w:val='8'/>", "1"), run("<w:position w:val='-8'/>", "2")],
            "5¹₂",
        ),
        (vec![run("", "5"), run("<w:position w:val='1'/>", "1")], "51"),
    ] {
        assert_eq!(with_parts(&para("", &runs), styles, &[]).text, expected);
    }
}

#[test]
fn formulas_keep_their_meaning() {
    let t = |text: &str| format!("<m:r><m:t>{text}</m:t></m:r>");
    let part = |name: &str, content: &str| format!("<m:{name}>{content}</m:{name}>");
    for (formula, expected) in [
        (part("sSup", &(part("e", &t("10")) + &part("sup", &t("6")))), "10⁶"),
        (part("sSub", &(part("e", &t("x")) + &part("sub", &t("max")))), "x_max"),
        (part("f", &(part("num", &t("1")) + &part("den", &t("2")))), "\u{fffd} 12"),
    ] {
        let text = format!(
            "<w:p>{}<m:oMath xmlns:m='urn:m'>{formula}</m:oMath>{}</w:p>",
            run("", "It is "),
            run("", ".")
        );
        assert_eq!(body(&text).text, format!("It is {expected}."), "{formula}");
    }
}

#[test]
fn symbols_are_characters_or_noted() {
    let sym = |font: &str, code: &str| format!("<w:r><w:sym w:font='{font}' w:char='{code}'/></w:r>");
    let read = |runs: &[String]| body(&para("", runs));
    assert_eq!(read(&[run("", "Limit "), sym("Symbol", "F0A3"), run("", " 5")]).text, "Limit ≤ 5");
    assert_eq!(
        read(&[sym("Wingdings", "F0FC"), run("", " yes"), sym("Segoe UI Symbol", "2717")]).text,
        "✓ yes✗"
    );
    assert_eq!(read(&[run("<w:rFonts w:ascii='Symbol'/>", "x \u{f0b3} 5")]).text, "x ≥ 5");
    let unknown =
        read(&[run("", "Limit "), sym("Odd Font", "F0A3"), sym("Symbol", "nonsense"), run("", "5")]);
    assert_eq!(unknown.text, "Limit \u{fffd}\u{fffd}5");
    assert_eq!(unknown.notes, ["wrote \u{fffd} for 2 symbols of a font or formula"]);
    let hidden = "<w:r><w:rPr><w:vanish/></w:rPr><w:sym w:font='Odd' w:char='F0A3'/></w:r>".to_owned();
    assert_eq!(read(&[hidden, run("", "x")]).notes, ["left out 1 passage of hidden text"]);
}

#[test]
fn a_drop_cap_belongs_to_its_word() {
    let cap = |kind: &str| para(&format!("<w:framePr w:dropCap='{kind}' w:lines='3'/>"), &[run("", "O")]);
    assert_eq!(body(&(cap("drop") + &p("") + &p("nce upon a time."))).text, "Once upon a time.");
    assert_eq!(body(&(cap("margin") + &p("nce."))).text, "Once.");
    assert_eq!(body(&(cap("none") + &p("nce."))).text, "O\n\nnce.");
    assert_eq!(body(&(p("A") + &cap("drop"))).text, "A\n\nO");
}

#[test]
fn a_paragraph_goes_on_over_a_deleted_end() {
    let deleted = "<w:rPr><w:del w:id='1'/></w:rPr>";
    let first = "<w:r><w:t>Refunds are not</w:t><w:footnoteReference w:id='2'/></w:r>".to_owned();
    let text = para(deleted, &[first]) + &para(deleted, &[]) + &para("", &[run("", "possible.")]);
    let notes = "<w:footnotes xmlns:w='urn:w'><w:footnote w:id='2'><w:p><w:r><w:t>Never.</w:t></w:r></w:p></w:footnote></w:footnotes>";
    assert_eq!(
        with_parts(&text, "", &[("word/footnotes.xml", notes)]).text,
        "Refunds are not¹ possible.\n\n¹ Never."
    );
    let gone = |text: &str| format!("<w:del><w:r><w:delText>{text}</w:delText></w:r></w:del>");
    let list = "<w:numPr><w:numId w:val='2'/></w:numPr>";
    let items = item("2", 0, "a") + &para(&format!("{list}{deleted}"), &[gone("b")]) + &item("2", 0, "c");
    assert_eq!(body(&items).text, "3. a\n4. c");
    let run_only = para("", &["<w:r><w:rPr><w:del/></w:rPr><w:t>x</w:t></w:r>".into()]) + &p("y");
    assert_eq!(body(&run_only).text, "x\n\ny");
}

#[test]
fn items_have_the_numbers_that_are_printed() {
    let level = |at: usize, more: &str| format!("<w:lvl w:ilvl='{at}'>{more}</w:lvl>");
    let format = |name: &str, text: &str| format!("<w:numFmt w:val='{name}'/><w:lvlText w:val='{text}'/>");
    let kinds = [
        ("1", level(0, &format("lowerLetter", "%1)")) + &level(1, &format("upperRoman", "(%2)"))),
        (
            "2",
            level(0, &format("decimal", "%1."))
                + &level(1, &format("decimal", "%1.%2"))
                + &level(2, &format("lowerLetter", "%1.%2%3")),
        ),
        ("3", "<w:numStyleLink w:val='Own'/>".to_owned()),
        ("4", "<w:styleLink w:val='Own'/>".to_owned() + &level(0, &format("decimalZero", "No. %1"))),
        ("5", level(0, &format("bullet", "")) + &level(1, &format("decimal", "%2."))),
        (
            "6",
            level(0, &format("upperRoman", "%1"))
                + &level(1, &(format("decimal", "%1.%2") + "<w:isLgl/>"))
                + &level(2, "<w:lvlRestart w:val='1'/>"),
        ),
    ];
    let mut numbering: String = kinds
        .iter()
        .map(|(id, levels)| format!("<w:abstractNum w:abstractNumId='{id}'>{levels}</w:abstractNum>"))
        .collect();
    for (id, _) in &kinds {
        numbering += &format!("<w:num w:numId='{id}'><w:abstractNumId w:val='{id}'/></w:num>");
    }
    numbering += "<w:num w:numId='12'><w:abstractNumId w:val='1'/></w:num><w:num w:numId='13'><w:abstractNumId w:val='1'/>\
        <w:lvlOverride w:ilvl='0'><w:startOverride w:val='1'/></w:lvlOverride></w:num><w:num w:numId='14'><w:abstractNumId w:val='1'/>\
        <w:lvlOverride w:ilvl='0'><w:lvl w:ilvl='0'><w:numFmt w:val='lowerRoman'/><w:lvlText w:val='%1.'/></w:lvl></w:lvlOverride></w:num>";
    let numbering = format!("<w:numbering xmlns:w='urn:w'>{numbering}</w:numbering>");
    let markers = |items: &[(&str, usize)]| -> Vec<String> {
        let body: String =
            items.iter().map(|(list, level)| item(list, *level, "x") + &p("between")).collect();
        let read = with_parts(&body, "", &[("word/numbering.xml", &numbering)]);
        read.text
            .split("\n\n")
            .filter(|line| *line != "between")
            .map(|line| line.trim_end_matches(" x").to_owned())
            .collect()
    };
    // Lists of a kind go on with each other's numbers, unless one starts again.
    assert_eq!(
        markers(&[
            ("1", 0),
            ("1", 1),
            ("1", 1),
            ("1", 0),
            ("12", 0),
            ("13", 0),
            ("13", 0),
            ("12", 0),
            ("14", 0)
        ]),
        ["a)", "(I)", "(II)", "b)", "c)", "a)", "b)", "c)", "iv."]
    );
    assert_eq!(
        markers(&[("2", 0), ("2", 1), ("2", 2), ("2", 1), ("2", 0), ("2", 1)]),
        ["1.", "1.1", "1.1a", "1.2", "2.", "2.1"]
    );
    assert_eq!(markers(&[("2", 2)]), ["1.1a"]);
    assert_eq!(markers(&[("3", 0), ("4", 0)]), ["No. 01", "No. 02"]);
    assert_eq!(markers(&[("5", 0), ("5", 1), ("5", 1), ("5", 0), ("5", 1)]), ["-", "1.", "2.", "-", "1."]);
    assert_eq!(
        markers(&[("6", 0), ("6", 0), ("6", 1), ("6", 2), ("6", 1), ("6", 2), ("6", 0), ("6", 2)]),
        ["I", "II", "2.1", "1.", "2.2", "2.", "III", "1."]
    );
    assert_eq!(markers(&vec![("1", 0); 28]).last().map(String::as_str), Some("bb)"));
}

#[test]
fn numbers_of_headings_and_cells_are_printed() {
    let heading = |text: &str| {
        format!(
            "<w:p><w:pPr><w:outlineLvl w:val='0'/><w:numPr><w:numId w:val='2'/></w:numPr></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"
        )
    };
    let read = body(&(heading("Scope") + &p("A") + &heading("") + &heading("Terms") + &p("B")));
    assert_eq!(read.text, "3. Scope\n\nA\n\n5. Terms\n\nB");
    let row = |text: &str| format!("<w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr>", item("2", 0, ""), p(text));
    assert_eq!(body(&format!("<w:tbl>{}{}</w:tbl>", row("A"), row("B"))).text, "3.\tA\n4.\tB");
}

#[test]
fn only_rows_that_the_file_declares_are_headers() {
    let row = |properties: &str, cells: [&str; 2]| {
        let cells: String = cells.iter().map(|text| format!("<w:tc>{}</w:tc>", p(text))).collect();
        format!("<w:tr><w:trPr>{properties}</w:trPr>{cells}</w:tr>")
    };
    let table = |first: &str| {
        body(&format!(
            "<w:tbl>{}{}{}</w:tbl>",
            row(first, ["Price", "9 €"]),
            row("", ["Term", "1 year"]),
            row("<w:del/>", ["Fee", "3 €"])
        ))
    };
    let found = |read: &Document| {
        (read.blocks[0].children[0].kind == BlockKind::Row { is_header: true }, read.text.clone())
    };
    assert_eq!(found(&table("")), (false, "Price\t9 €\nTerm\t1 year".to_owned()));
    assert_eq!(found(&table("<w:tblHeader w:val='0'/>")), (false, "Price\t9 €\nTerm\t1 year".to_owned()));
    assert_eq!(found(&table("<w:tblHeader/>")), (true, "Price\t9 €\nTerm\t1 year".to_owned()));
}

#[test]
fn deleted_and_hidden_rows_and_cells_are_left_out() {
    let cell =
        |properties: &str, text: &str| format!("<w:tc><w:tcPr>{properties}</w:tcPr>{}</w:tc>", p(text));
    let row = |properties: &str, cells: &[String]| {
        format!("<w:tr><w:trPr>{properties}</w:trPr>{}</w:tr>", cells.concat())
    };
    let table = [
        row("<w:del w:id='1'/><w:tblHeader/>", &[cell("", "Old"), cell("", "Header")]),
        row("", &[cell("", "A"), cell("<w:cellDel w:id='2'/>", "gone"), cell("", "1")]),
        row("<w:hidden/>", &[cell("", "unseen")]),
        row("<w:gridBefore w:val='1'/>", &[cell("", "2")]),
    ];
    let read = body(&format!("<w:tbl>{}</w:tbl>", table.concat()));
    assert_eq!(read.text, "A\t1\n\t2");
    assert_eq!(read.notes, ["left out 1 passage of hidden text"]);
}

#[test]
fn text_of_hostile_depth_is_read_quickly() {
    let runs =
        format!("<w:p>{}<w:t>x</w:t>{}</w:p>", "<w:r><w:t>a</w:t>".repeat(50_000), "</w:r>".repeat(50_000));
    assert!(body(&runs).text.starts_with("aaa"));
    let boxes = format!("{}x{}", "<w:p><w:r><w:t>a</w:t>".repeat(20_000), "</w:r></w:p>".repeat(20_000));
    assert!(body(&boxes).text.ends_with('a'));
    let powers = format!(
        "<w:p><m:oMath xmlns:m='urn:m'>{}<m:r><m:t>2</m:t></m:r>{}</m:oMath></w:p>",
        "<m:sSup><m:e><m:r><m:t>2</m:t></m:r></m:e><m:sup>".repeat(20_000),
        "</m:sup></m:sSup>".repeat(20_000)
    );
    assert!(body(&powers).text.starts_with("2^(2^("));
}

#[test]
fn bold_paragraphs_and_cells_are_marked() {
    let bold = |text: &str| para("", &[run("<w:b/>", text)]);
    let strong = |read: &Document| -> Vec<String> {
        read.marks.iter().map(|mark| read.slice(&mark.range).to_owned()).collect()
    };
    let partly = para("", &[run("<w:b/>", "Note:"), run("", " Theft is common.")]);
    assert_eq!(strong(&body(&(bold("Not covered") + &partly))), ["Not covered"]);
    let styles = "<w:style w:styleId='Up'><w:name w:val='U'/><w:rPr><w:b/></w:rPr></w:style>";
    let styled =
        styled("Up", "Not covered") + &para("<w:pStyle w:val='Up'/>", &[run("<w:b w:val='0'/>", "Fire")]);
    assert_eq!(strong(&with_parts(&styled, styles, &[])), ["Not covered"]);
    let row = |cells: [String; 2]| {
        format!("<w:tr>{}</w:tr>", cells.map(|cell| format!("<w:tc>{cell}</w:tc>")).concat())
    };
    let table = row([bold("Damage"), bold("Excluded")]) + &row([p("Theft"), p("yes")]);
    assert_eq!(strong(&body(&format!("<w:tbl>{table}</w:tbl>"))), ["Damage", "Excluded"]);
}

#[test]
fn a_table_that_may_have_a_header_stays_together() {
    let table = |rows: &[[&str; 2]]| {
        let row = |cells: &[&str; 2]| {
            format!("<w:tr>{}</w:tr>", cells.map(|cell| format!("<w:tc>{}</w:tc>", p(cell))).concat())
        };
        body(&format!("<w:tbl>{}</w:tbl>", rows.iter().map(row).collect::<String>()))
    };
    let unclear = table(&[["Damage", "Excluded"], ["Theft", "yes"], ["Fire", "no"]]);
    assert_eq!(unclear.blocks[0].kind, BlockKind::Code);
    assert_eq!(unclear.text, "Damage\tExcluded\nTheft\tyes\nFire\tno");
    assert_eq!(table(&[["Price", "9 €"], ["Term", "1 year"]]).blocks[0].kind, BlockKind::Table);
}

#[test]
fn a_typed_bullet_begins_an_item() {
    let read = body(&(p("Excluded:") + &p("- Theft") + &p("•  War") + &p("- 5 °C") + &p("All else.")));
    assert_eq!(read.text, "Excluded:\n\n- Theft\n- War\n\n- 5 °C\n\nAll else.");
    assert_eq!(read.blocks[1].kind, BlockKind::List);
    let read = body(&(p("Excluded:") + &p("a) Theft") + &p("b) War") + &p("24. Dezember")));
    assert_eq!((read.blocks.len(), read.blocks[1].children.len()), (3, 2));
}

#[test]
fn bullets_below_a_numbered_item_are_inside_it() {
    let text = [
        item("2", 0, "Excluded are:"),
        item("1", 0, "meters"),
        item("1", 0, "cables"),
        item("2", 0, "Prices"),
    ];
    assert_eq!(body(&text.concat()).text, "3. Excluded are:\n  - meters\n  - cables\n4. Prices");
    let typed = item("2", 0, "Excluded are:") + &p("a) meters") + &p("b) cables") + &item("2", 0, "Prices");
    assert_eq!(body(&typed).blocks[0].children.len(), 2);
}

#[test]
fn a_typed_mark_of_a_condition_is_no_bullet() {
    let read = body(&(p("Free delivery*") + &p("* from 50 EUR")));
    assert_eq!(read.text, "Free delivery*\n\n* from 50 EUR");
}
