use super::*;
use crate::{Format, document, document::BlockKind};

#[path = "../../tests/support/pdf.rs"]
#[allow(dead_code, reason = "the integration tests use the rest")]
mod pdf;

use pdf::{Pdf as Writer, lines};

fn one_page(operators: &str) -> String {
    let mut writer = Writer::new();
    writer.page("", operators);
    super::document(&writer.finish("")).unwrap().text
}

#[test]
fn words_are_separated_by_visible_gaps() {
    let kerned = "BT /F 12 Tf 50 700 Td [(Re) 20 (funds) -400 (take) -30 (n)] TJ ET BT /F 12 Tf 200 700 Td (30 days) Tj ET";
    assert_eq!(one_page(kerned), "Refunds taken 30 days");
    let raised = "BT /F 12 Tf 50 700 Td (x) Tj /F 8 Tf 5 Ts (2) Tj /F 12 Tf 0 Ts (+) Tj ET";
    assert_eq!(one_page(raised), "x²+");
}

#[test]
fn text_drawn_twice_to_look_bold_is_read_once() {
    let bold =
        format!("{}{}", lines(12.0, 50.0, 700.0, &["All bold"]), lines(12.0, 50.4, 700.0, &["All bold"]));
    assert_eq!(one_page(&bold), "All bold");
    assert_eq!(one_page(&format!("2 Tr {}", lines(12.0, 50.0, 700.0, &["Outlined"]))), "Outlined");
}

#[test]
fn marked_content_replaces_its_glyphs() {
    let line = |y: f64, text: &str| lines(12.0, 50.0, y, &[text]);
    let marked = format!(
        "/Artifact BMC {} EMC /Span << /ActualText (fi) >> BDC {} EMC {}",
        line(790.0, "Header"),
        line(700.0, "XY"),
        line(600.0, "Text")
    );
    assert_eq!(one_page(&marked), "fi\n\nText");
}

#[test]
fn text_outside_the_page_is_not_read_but_noted() {
    let both =
        format!("{}{}", lines(12.0, 50.0, 700.0, &["Inside"]), lines(12.0, 5000.0, 700.0, &["Outside"]));
    let mut writer = Writer::new();
    writer.page("", &both);
    let read = super::document(&writer.finish("")).unwrap();
    assert_eq!(read.text, "Inside");
    assert_eq!(read.notes, ["page 1 has text that no reader sees, which was left out"]);
}

/// The pages, and the blocks that begin on each.
fn sections(read: &Document) -> Vec<(u32, Vec<&str>)> {
    let mut sections: Vec<(u32, Vec<&str>)> = Vec::new();
    for block in &read.blocks {
        let page = read.place(block.range.start).and_then(|place| place.page).unwrap();
        let text = &read.text[block.range.clone()];
        match sections.last_mut() {
            Some((last, texts)) if *last == page => texts.push(text),
            _ => sections.push((page, vec![text])),
        }
    }
    sections
}

#[test]
fn text_that_goes_on_over_a_page_break_is_on_the_page_where_it_begins() {
    let mut writer = Writer::new();
    let footer = |page: u32| lines(9.0, 50.0, 40.0, &[&format!("Page {page} of 3")]);
    let first = ["Every customer may cancel an order before it is shipped. Refunds are not"];
    writer.page("", &format!("{}{}", lines(11.0, 50.0, 700.0, &first), footer(1)));
    let second = ["possible after 30 days.", "", "We do not ship to these coun-"];
    writer.page("", &format!("{}{}", footer(2), lines(11.0, 50.0, 700.0, &second)));
    let third = ["tries:", "", "- Norway", "- Iceland", "", "Other countries are fine."];
    writer.page("", &format!("{}{}", lines(11.0, 50.0, 700.0, &third), footer(3)));
    let read = super::document(&writer.finish("")).unwrap();
    let refunds =
        "Every customer may cancel an order before it is shipped. Refunds are not possible after 30 days.";
    let expected = [
        (1, vec![refunds]),
        (2, vec!["We do not ship to these countries:", "- Norway\n- Iceland"]),
        (3, vec!["Other countries are fine."]),
    ];
    assert_eq!(sections(&read), expected);
    assert_eq!(read.notes, ["3 lines of running headers, footers and page numbers were left out"]);
}

#[test]
fn a_list_that_goes_on_over_a_page_break_is_one_list() {
    let bullets = [["We ship to:", "- Norway", "- Iceland and other"], ["countries", "- Malta", "After it."]];
    let numbers = [["To return it:", "1. Pack it.", "2. Send it"], ["to us.", "3. Wait.", "After it."]];
    let names =
        [["Refunds", "1. Take 30 days.", "2. Are free"], ["for all.", "3. Need a receipt.", "After it."]];
    let read = |pages: [[&str; 3]; 2]| {
        let mut writer = Writer::new();
        for page in pages {
            writer.page("", &set(11.0, 22.0, 700.0, &page));
        }
        super::document(&writer.finish("")).unwrap()
    };
    assert_eq!(
        sections(&read(bullets)),
        [
            (1, vec!["We ship to:", "- Norway\n- Iceland and other countries\n- Malta"]),
            (2, vec!["After it."])
        ]
    );
    assert_eq!(
        sections(&read(numbers)),
        [(1, vec!["To return it:", "1. Pack it.\n2. Send it to us.\n3. Wait."]), (2, vec!["After it."])]
    );
    // Numbered paragraphs without an introduction may be a whole contract, and each is on its page.
    assert_eq!(
        sections(&read(names)),
        [
            (1, vec!["Refunds", "1. Take 30 days.", "2. Are free for all."]),
            (2, vec!["3. Need a receipt.", "After it."])
        ]
    );
}

/// Operators that show lines with this distance.
fn set(size: f64, leading: f64, y: f64, texts: &[&str]) -> String {
    let line = |(at, text): (usize, &&str)| lines(size, 50.0, y - leading * at as f64, &[text]);
    texts.iter().enumerate().map(line).collect()
}

#[test]
fn code_and_tables_do_not_divide_the_paragraphs_of_their_page() {
    let body = [
        "Please note that after the end of the trial period the monthly fee for premium accounts is",
        "not refundable when the contract is cancelled by the customer, and the fee for the setup of",
        "Vienna accounts will be charged in any case when the contract is signed.",
    ];
    let code = ["let account = open();", "account.cancel();", "account.close();", "drop(account);", "end();"];
    let rows = |y: f64| {
        let row = |at: u32| {
            let y = y - 12.5 * f64::from(at);
            format!("{}{}", lines(11.0, 50.0, y, &["Plan of the customer"]), lines(11.0, 400.0, y, &["30"]))
        };
        (0..8).map(row).collect::<String>()
    };
    for leading in [13.0, 17.0, 20.0, 21.5] {
        for others in [set(9.0, 10.5, 300.0, &code), rows(300.0)] {
            for page in [
                format!("{}{others}", set(11.0, leading, 700.0, &body)),
                format!("{}{others}{}", set(11.0, leading, 700.0, &body), set(11.0, leading, 600.0, &body)),
            ] {
                let text = one_page(&page);
                assert!(text.contains(&body.join(" ")), "{leading}: {text}");
            }
        }
    }
}

#[test]
fn the_last_row_of_a_table_is_not_part_of_the_text_below_it() {
    let long =
        "Please note that after the end of the trial period the monthly fee for premium accounts is due.";
    let cells =
        [(50.0, "Plan of the customer"), (165.0, "Fee per month and year"), (296.0, "Notice in months")];
    let last = (392.0, "End of the contract or account");
    let row =
        |y: f64| cells.iter().chain([&last]).map(|(x, text)| lines(11.0, *x, y, &[text])).collect::<String>();
    let rows: String = (0..4).map(|at| row(700.0 - 13.0 * f64::from(at))).collect();
    let text = one_page(&format!("{rows}{}", set(11.0, 13.0, 640.0, &[long; 3])));
    assert!(text.contains("account\n\nPlease note"), "{text}");
}

#[test]
fn short_lines_far_apart_are_paragraphs() {
    let long =
        "Please note that after the end of the trial period the monthly fee for premium accounts is due";
    let page = ["Opening hours", "Monday to Friday", "Where to find us", long, long, long, "And more"];
    let text = one_page(&format!("{}{}", set(11.0, 13.0, 700.0, &[long; 5]), set(11.0, 21.0, 500.0, &page)));
    assert!(text.contains("Opening hours\n\nMonday to Friday\n\nWhere to find us\n\nPlease"), "{text}");
}

#[test]
fn left_out_lines_are_noted_with_their_number() {
    let mut writer = Writer::new();
    let contents = ["Contents", "1. Refunds ........ 2", "2. Shipping ........ 2", "3. Returns ........ 3"];
    writer.page("", &lines(11.0, 50.0, 700.0, &contents));
    let header = lines(9.0, 50.0, 780.0, &["Example Ltd.", "Manual"]);
    writer.page("", &format!("/Artifact BMC {header} EMC {}", lines(11.0, 50.0, 700.0, &["Text."])));
    let read = super::document(&writer.finish("")).unwrap();
    assert_eq!(sections(&read), [(2, vec!["Text."])]);
    let notes = [
        "2 lines of running headers, footers and page numbers were left out",
        "4 lines of a table of contents were left out",
    ];
    assert_eq!(read.notes, notes);

    let mut writer = Writer::new();
    writer.page("", &lines(11.0, 50.0, 700.0, &contents));
    assert_eq!(document(&writer.finish(""), Format::Pdf).unwrap_err(), ExtractError::NoContent);
}

#[test]
fn raised_figures_do_not_change_the_number_before_them() {
    let text = "BT /F 12 Tf 50 700 Td (The limit is 5) Tj /F 8 Tf 4 Ts (1) Tj /F 12 Tf 0 Ts ( GB on the 1) Tj \
                /F 8 Tf 4 Ts (st) Tj /F 12 Tf 0 Ts ( and 10) Tj /F 8 Tf 4 Ts (6,7) Tj /F 12 Tf 0 Ts (rows) Tj ET";
    assert_eq!(one_page(text), "The limit is 5¹ GB on the 1st and 10⁶,⁷rows");
}

#[test]
fn bookmarks_are_headings_on_their_pages() {
    let mut writer = Writer::new();
    let first = writer.page("", &lines(12.0, 50.0, 700.0, &["1. Refunds", "", "Within 30 days."]));
    let second = writer.page("", &lines(12.0, 50.0, 700.0, &["More of it."]));
    let third = writer.page("", &lines(12.0, 50.0, 700.0, &["Shipping is free."]));
    let child = writer.add(format!("<< /Title (Exceptions) /Dest [{second} 0 R /Fit] >>"));
    let last = writer.add("<< /Title <FEFF005600650072> /A << /S /GoTo /D (ship) >> >>");
    let item = writer
        .add(format!("<< /Title (Refunds) /Dest [{first} 0 R /Fit] /First {child} 0 R /Next {last} 0 R >>"));
    let catalog = format!(
        "/Outlines << /First {item} 0 R >> /Names << /Dests << /Kids [<< /Names [(ship) [{third} 0 R]] >>] >> >>"
    );
    let read = super::document(&writer.finish(&catalog)).unwrap();
    let heading = |block: &crate::document::Block| match block.kind {
        BlockKind::Heading { level } => {
            let page = read.place(block.range.start).and_then(|place| place.page);
            Some((page.unwrap(), level, &read.text[block.range.clone()]))
        }
        _ => None,
    };
    let found: Vec<_> = read.blocks.iter().filter_map(heading).collect();
    assert_eq!(found, [(1, 1, "1. Refunds"), (2, 2, "Exceptions"), (3, 1, "Ver")]);
}

#[test]
fn properties_are_read_unless_a_program_generated_them() {
    let with = |info: &str, xmp: &str| {
        let mut writer = Writer::new();
        writer.page("", &lines(12.0, 50.0, 700.0, &["Text"]));
        let packet = writer.add_stream("/Type /Metadata /Subtype /XML", xmp.as_bytes());
        let info_number = writer.add(format!("<< {info} >>"));
        let file = writer.finish(&format!("/Metadata {packet} 0 R /Lang (de-AT)"));
        let file = String::from_utf8(file)
            .unwrap()
            .replace("/Root 1 0 R", &format!("/Root 1 0 R /Info {info_number} 0 R"));
        super::document(file.as_bytes()).unwrap().properties
    };
    let xmp = "<x:xmpmeta xmlns:x='x'><dc:title xmlns:dc='d'><rdf:Alt xmlns:rdf='r'><rdf:li>Rules &amp; more</rdf:li></rdf:Alt>\
        </dc:title></x:xmpmeta>";
    assert_eq!(with("/Title (Refunds)", xmp).title.as_deref(), Some("Refunds"));
    let properties = with("/Title (Microsoft Word - a.docx)", xmp);
    assert_eq!(
        (properties.title.as_deref(), properties.language.as_deref()),
        (Some("Rules & more"), Some("de-at"))
    );
    assert_eq!(with("", "<not xml").title, None);
}

#[test]
fn pages_of_images_are_noted_or_refused() {
    let image =
        "/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray";
    let scan = |with_text: bool| {
        let mut writer = Writer::new();
        let image = writer.add_stream(image, b"x");
        writer.page(&format!("/Resources << /XObject << /I {image} 0 R >> >>"), "/I Do");
        if with_text {
            writer.page("", &lines(12.0, 50.0, 700.0, &["Text"]));
        }
        document(&writer.finish(""), Format::Pdf)
    };
    assert_eq!(scan(false).unwrap_err(), ExtractError::Scanned);
    let read = scan(true).unwrap();
    assert_eq!(sections(&read), [(2, vec!["Text"])]);
    assert_eq!(read.notes, ["page 1 has no text, only images"]);
}

/// A page with an image, as in a scan with a text layer.
fn with_image(operators: &str) -> Result<Document, ExtractError> {
    let mut writer = Writer::new();
    let image = writer.add_stream(
        "/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray",
        b"x",
    );
    let resources = format!("/Resources << /Font << /F 3 0 R >> /XObject << /I {image} 0 R >> >>");
    writer.page(&resources, &format!("q 600 0 0 800 0 0 cm /I Do Q {operators}"));
    document(&writer.finish(""), Format::Pdf)
}

#[test]
fn text_without_ink_is_read_only_on_scans() {
    let line = |y: f64, text: &str| lines(12.0, 50.0, y, &[text]);
    let (seen, unseen) = (line(700.0, "Seen"), format!("q 3 Tr {} Q", line(600.0, "Unseen")));
    let scan = with_image(&unseen).unwrap();
    assert_eq!((scan.text.as_str(), scan.notes.len()), ("Unseen", 0));

    let note = vec!["page 1 has text that no reader sees, which was left out".to_owned()];
    let both = with_image(&format!("{seen}{unseen}")).unwrap();
    assert_eq!((both.text.as_str(), &both.notes), ("Seen", &note));
    let mut writer = Writer::new();
    writer.page("", &format!("{unseen} {seen}"));
    let read = document(&writer.finish(""), Format::Pdf).unwrap();
    assert_eq!((read.text.as_str(), &read.notes), ("Seen", &note));

    let mut writer = Writer::new();
    writer.page("", &unseen);
    assert_eq!(document(&writer.finish(""), Format::Pdf).unwrap_err(), ExtractError::OnlyInvisibleText);
}

#[test]
fn text_drawn_with_and_without_ink_is_read_once() {
    let line = lines(12.0, 50.0, 700.0, &["Twice"]);
    let mut writer = Writer::new();
    writer.page("", &format!("q 3 Tr {line} Q {line}"));
    let read = document(&writer.finish(""), Format::Pdf).unwrap();
    assert_eq!((read.text.as_str(), read.notes.len()), ("Twice", 0));
}

#[test]
fn white_text_is_read_only_on_a_coloured_background() {
    let line = |y: f64, text: &str| lines(12.0, 50.0, y, &[text]);
    let text = format!(
        "{} 0 0 0.5 rg 40 590 200 30 re f 1 g {} {} 0 g {}",
        line(700.0, "Black."),
        line(600.0, "White on blue."),
        line(500.0, "White on white."),
        line(400.0, "Black again.")
    );
    let mut writer = Writer::new();
    writer.page("", &text);
    let read = document(&writer.finish(""), Format::Pdf).unwrap();
    assert_eq!(read.text, "Black.\n\nWhite on blue.\n\nBlack again.");
    assert_eq!(read.notes, ["page 1 has text that no reader sees, which was left out"]);

    let on_white =
        one_page(&format!("1 g 0 0 600 800 re f {} 0 g {}", line(700.0, "Unseen"), line(600.0, "Seen")));
    assert_eq!(on_white, "Seen");
    let outlined = one_page(&format!("1 g 0 G 2 Tr {}", line(700.0, "White with black edges")));
    assert_eq!(outlined, "White with black edges");
    assert!(with_image(&format!("1 g {}", line(700.0, "On a picture"))).unwrap().text.contains("picture"));
}

#[test]
fn text_with_an_opacity_of_0_is_not_read() {
    let mut writer = Writer::new();
    let resources = "/Resources << /Font << /F 3 0 R >> /ExtGState << /G << /ca 0 >> >> >>";
    let line = |y: f64, text: &str| lines(12.0, 50.0, y, &[text]);
    writer.page(resources, &format!("q /G gs {} Q {}", line(700.0, "Unseen"), line(600.0, "Seen")));
    assert_eq!(super::document(&writer.finish("")).unwrap().text, "Seen");
}

#[test]
fn fonts_without_character_mapping_are_an_error() {
    let mut writer = Writer::new();
    let font = writer.add(
        "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1 1] /FontMatrix [1 0 0 1 0 0] /CharProcs << >> /Encoding << \
        /Differences [65 /shape1 /shape2] >> /FirstChar 65 /LastChar 66 /Widths [1 1] >>",
    );
    writer.page(&format!("/Resources << /Font << /F {font} 0 R >> >>"), &lines(12.0, 50.0, 700.0, &["AB"]));
    assert_eq!(document(&writer.finish(""), Format::Pdf).unwrap_err(), ExtractError::NoCharacters);
}

#[test]
fn an_empty_page_is_empty() {
    let mut writer = Writer::new();
    writer.page("", "0 0 m 9 9 l S");
    assert_eq!(document(&writer.finish(""), Format::Pdf).unwrap_err(), ExtractError::Empty);
}

/// The kind of each block and its text, with bars between cells.
fn shown(operators: &str) -> Vec<String> {
    let mut writer = Writer::new();
    writer.page("", operators);
    let read = super::document(&writer.finish("")).unwrap();
    let block = |block: &crate::document::Block| {
        let text = read.text[block.range.clone()].replace('\t', "|").replace('\n', "/");
        let headers =
            block.children.iter().filter(|row| row.kind == BlockKind::Row { is_header: true }).count();
        format!("{:?}{headers} {text}", block.kind)
    };
    read.blocks.iter().map(block).collect()
}

#[test]
fn rows_of_cells_are_a_table_with_the_lines_of_each_cell() {
    let cell = |x: f64, y: f64, texts: &[&str]| lines(11.0, x, y, texts);
    let head =
        [(50.0, "TERM"), (200.0, "XML"), (400.0, "JSON")].map(|(x, text)| cell(x, 700.0, &[text])).concat();
    let first = cell(50.0, 680.0, &["Field"])
        + &cell(200.0, 680.0, &["A single element", "or node"])
        + &cell(400.0, 680.0, &["A single object", "that can", "hold a value"]);
    let second = cell(50.0, 630.0, &["Flag"])
        + &cell(200.0, 630.0, &["Attribute"])
        + &cell(400.0, 630.0, &["Property"]);
    let below = cell(50.0, 590.0, &["These terms are used in all of the documents."]);
    assert_eq!(
        shown(&(head + &first + &second + &below)),
        [
            "Table1 TERM|XML|JSON/Field|A single element or node|A single object that can hold a value/Flag|Attribute|Property",
            "Paragraph0 These terms are used in all of the documents.",
        ]
    );
}

#[test]
fn a_table_without_a_clear_header_stays_together() {
    let row =
        |y: f64, cells: [&str; 2]| lines(11.0, 50.0, y, &[cells[0]]) + &lines(11.0, 300.0, y, &[cells[1]]);
    let rows = |cells: &[[&str; 2]]| -> String {
        cells.iter().enumerate().map(|(at, cells)| row(700.0 - 14.0 * at as f64, *cells)).collect()
    };
    assert_eq!(
        shown(&rows(&[["Damage", "Excluded"], ["Theft", "yes"], ["Fire", "no"]])),
        ["Code0 Damage|Excluded/Theft|yes/Fire|no"]
    );
    assert_eq!(shown(&rows(&[["Coffee", "2.50"], ["Tea", "2.00"]])), ["Table0 Coffee|2.50/Tea|2.00"]);
    assert_eq!(shown(&rows(&[["1.", "Theft"], ["2.", "War"]])), ["Paragraph0 1. Theft", "Paragraph0 2. War"]);
    let leaders = lines(11.0, 50.0, 700.0, &["Coffee ........ 2.50", "Cake ........ sold out"]);
    assert_eq!(shown(&leaders), ["Table0 Coffee|2.50/Cake|sold out"]);
}

#[test]
fn a_raised_number_refers_to_the_note_at_the_bottom_of_its_page() {
    let page = |text: &str, note: &str| {
        format!(
            "BT /F 12 Tf 50 700 Td ({text}) Tj /F 8 Tf 5 Ts (1) Tj /F 12 Tf 0 Ts (.) Tj ET BT /F 9 Tf 50 60 Td /F 6 Tf 3 Ts (1) Tj /F 9 \
             Tf 0 Ts ( {note}) Tj ET"
        )
    };
    let mut writer = Writer::new();
    writer.page("", &page("Delivery is free", "Only in May."));
    writer.page("", &page("Returns are free", "Only for members."));
    let read = super::document(&writer.finish("")).unwrap();
    let references: Vec<_> = read.references.iter().map(|found| read.slice(&found.note)).collect();
    assert_eq!(references, ["¹ Only in May.", "¹ Only for members."]);
    let text = |block: &crate::document::Block| read.slice(&block.range).to_owned();
    assert!(read.blocks.iter().any(|block| block.kind == BlockKind::Note && text(block) == "¹ Only in May."));
}

#[test]
fn a_cell_with_more_lines_may_begin_above_the_others_of_its_row() {
    let row = |y: f64, cells: [&str; 3]| -> String {
        [50.0, 200.0, 400.0].iter().zip(cells).map(|(x, cell)| lines(11.0, *x, y, &[cell])).collect()
    };
    let operators = row(700.0, ["RISK", "COVERED", "EXCLUDED"])
        + &row(675.0, ["Theft", "yes", "cash"])
        + &lines(11.0, 50.0, 640.0, &["Water"])
        + &lines(11.0, 200.0, 640.0, &["yes"])
        + &lines(11.0, 400.0, 646.6, &["floods and", "ground water"])
        + &row(605.0, ["Fire", "yes", "none"]);
    assert_eq!(
        shown(&operators),
        ["Table1 RISK|COVERED|EXCLUDED/Theft|yes|cash/Water|yes|floods and ground water/Fire|yes|none"]
    );
}

#[test]
fn names_of_columns_may_be_as_far_apart_as_each_other() {
    let row = |y: f64, cells: [&str; 3]| -> String {
        [50.0, 87.0, 119.0].iter().zip(cells).map(|(x, cell)| lines(11.0, *x, y, &[cell])).collect()
    };
    let operators = row(700.0, ["Item", "Qty", "Price"])
        + &row(680.0, ["Bed", "2", "80.00"])
        + &row(660.0, ["Cup", "1", "9.00"]);
    assert_eq!(shown(&operators), ["Table1 Item|Qty|Price/Bed|2|80.00/Cup|1|9.00"]);
}

#[test]
fn a_table_goes_on_on_the_next_page() {
    let row = |y: f64, cells: [&str; 3]| -> String {
        [50.0, 200.0, 400.0].iter().zip(cells).map(|(x, cell)| lines(11.0, *x, y, &[cell])).collect()
    };
    let names = ["PLAN", "PRICE", "NOT INCLUDED"];
    for has_names in [false, true] {
        let mut writer = Writer::new();
        let rows = [["Basic", "9", "chat"], ["Plus", "19", "phone"]];
        let page = row(700.0, names) + &row(680.0, rows[0]) + &row(660.0, rows[1]);
        writer.page("", &(lines(11.0, 50.0, 730.0, &["All prices are monthly."]) + &page));
        let first = if has_names { row(720.0, names) } else { String::new() };
        writer
            .page("", &(first + &row(700.0, ["Pro", "49", "visits"]) + &row(680.0, ["Max", "99", "calls"])));
        let read = super::document(&writer.finish("")).unwrap();
        let table =
            "PLAN\tPRICE\tNOT INCLUDED\nBasic\t9\tchat\nPlus\t19\tphone\nPro\t49\tvisits\nMax\t99\tcalls";
        assert_eq!(read.text, format!("All prices are monthly.\n\n{table}"));
        assert_eq!(read.blocks.len(), 2);
    }
}

#[test]
fn a_row_goes_on_on_the_next_page() {
    let row = |y: f64, cells: [&str; 3]| -> String {
        [50.0, 200.0, 400.0].iter().zip(cells).map(|(x, cell)| lines(11.0, *x, y, &[cell])).collect()
    };
    let mut writer = Writer::new();
    let names = row(700.0, ["RISK", "COVERED", "EXCLUDED"]);
    writer.page("", &(names + &row(680.0, ["Theft", "Bikes up to", "Cash"])));
    writer.page(
        "",
        &(row(700.0, ["in rooms", "900 EUR", "and cards"]) + &row(680.0, ["Fire", "Yes", "Forests"])),
    );
    let text = super::document(&writer.finish("")).unwrap().text;
    let rows =
        "RISK\tCOVERED\tEXCLUDED\nTheft in rooms\tBikes up to 900 EUR\tCash and cards\nFire\tYes\tForests";
    assert_eq!(text, rows);
}

#[test]
fn lines_with_marks_of_conditions_are_paragraphs() {
    let notes = lines(8.0, 50.0, 600.0, &["* from 50 EUR", "** not for batteries"]);
    assert_eq!(shown(&notes), ["Paragraph0 * from 50 EUR", "Paragraph0 ** not for batteries"]);
}

#[test]
fn letters_below_an_open_sentence_are_its_items() {
    let clauses = ["(1) The car is insured.", "(2) Not insured are", "a) tyres,", "b) glass."];
    assert_eq!(
        shown(&lines(11.0, 50.0, 700.0, &clauses)),
        ["Paragraph0 (1) The car is insured.", "Paragraph0 (2) Not insured are", "List0 a) tyres,/b) glass."]
    );
}
