use super::*;
use crate::{Format, extract};

#[path = "../../tests/support/pdf.rs"]
#[allow(dead_code, reason = "the integration tests use the rest")]
mod pdf;

use pdf::{Pdf as Writer, lines};

fn one_page(operators: &str) -> String {
    let mut writer = Writer::new();
    writer.page("", operators);
    read(&writer.finish("")).unwrap().text
}

#[test]
fn words_are_separated_by_visible_gaps() {
    let kerned = "BT /F 12 Tf 50 700 Td [(Re) 20 (funds) -400 (take) -30 (n)] TJ ET BT /F 12 Tf 200 700 Td (30 days) Tj ET";
    assert_eq!(one_page(kerned), "Refunds taken 30 days");
    let raised = "BT /F 12 Tf 50 700 Td (x) Tj /F 8 Tf 5 Ts (2) Tj /F 12 Tf 0 Ts (+) Tj ET";
    assert_eq!(one_page(raised), "x2+");
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
fn text_outside_the_page_is_not_read() {
    let both =
        format!("{}{}", lines(12.0, 50.0, 700.0, &["Inside"]), lines(12.0, 5000.0, 700.0, &["Outside"]));
    assert_eq!(one_page(&both), "Inside");
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
    let read = read(&writer.finish(&catalog)).unwrap();
    let found: Vec<_> = read.sections.iter().map(|s| (s.page.unwrap(), s.headings.join("/"))).collect();
    assert_eq!(
        found,
        [(1, "1. Refunds"), (2, "1. Refunds/Exceptions"), (3, "Ver")]
            .map(|(page, path)| (page, path.to_owned()))
    );
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
        read(file.as_bytes()).unwrap().properties
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
        extract(&writer.finish(""), Format::Pdf)
    };
    assert_eq!(scan(false).unwrap_err(), ExtractError::Scanned);
    let read = scan(true).unwrap();
    assert_eq!(
        (read.sections[0].page, read.notes),
        (Some(2), vec!["page 1 has no text, only images".to_owned()])
    );
}

/// A page with an image, as in a scan with a text layer.
fn with_image(operators: &str) -> Result<Extracted, ExtractError> {
    let mut writer = Writer::new();
    let image = writer.add_stream(
        "/Type /XObject /Subtype /Image /Width 1 /Height 1 /BitsPerComponent 8 /ColorSpace /DeviceGray",
        b"x",
    );
    let resources = format!("/Resources << /Font << /F 3 0 R >> /XObject << /I {image} 0 R >> >>");
    writer.page(&resources, &format!("q 600 0 0 800 0 0 cm /I Do Q {operators}"));
    extract(&writer.finish(""), Format::Pdf)
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
    let read = extract(&writer.finish(""), Format::Pdf).unwrap();
    assert_eq!((read.text.as_str(), &read.notes), ("Seen", &note));

    let mut writer = Writer::new();
    writer.page("", &unseen);
    assert_eq!(extract(&writer.finish(""), Format::Pdf).unwrap_err(), ExtractError::OnlyInvisibleText);
}

#[test]
fn text_drawn_with_and_without_ink_is_read_once() {
    let line = lines(12.0, 50.0, 700.0, &["Twice"]);
    let mut writer = Writer::new();
    writer.page("", &format!("q 3 Tr {line} Q {line}"));
    let read = extract(&writer.finish(""), Format::Pdf).unwrap();
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
    let read = extract(&writer.finish(""), Format::Pdf).unwrap();
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
    assert_eq!(read(&writer.finish("")).unwrap().text, "Seen");
}

#[test]
fn fonts_without_character_mapping_are_an_error() {
    let mut writer = Writer::new();
    let font = writer.add(
        "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1 1] /FontMatrix [1 0 0 1 0 0] /CharProcs << >> /Encoding << \
        /Differences [65 /shape1 /shape2] >> /FirstChar 65 /LastChar 66 /Widths [1 1] >>",
    );
    writer.page(&format!("/Resources << /Font << /F {font} 0 R >> >>"), &lines(12.0, 50.0, 700.0, &["AB"]));
    assert_eq!(extract(&writer.finish(""), Format::Pdf).unwrap_err(), ExtractError::NoCharacters);
}

#[test]
fn an_empty_page_is_empty() {
    let mut writer = Writer::new();
    writer.page("", "0 0 m 9 9 l S");
    assert_eq!(extract(&writer.finish(""), Format::Pdf).unwrap_err(), ExtractError::Empty);
}
