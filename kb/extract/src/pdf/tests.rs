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
fn words_are_apart_where_a_reader_sees_them_apart() {
    let kerned = "BT /F 12 Tf 50 700 Td [(Re) 20 (funds) -400 (take) -30 (n)] TJ ET BT /F 12 Tf 200 700 Td (30 days) Tj ET";
    assert_eq!(one_page(kerned), "Refunds taken 30 days");
    let raised = "BT /F 12 Tf 50 700 Td (x) Tj /F 8 Tf 5 Ts (2) Tj /F 12 Tf 0 Ts (+) Tj ET";
    assert_eq!(one_page(raised), "x2+");
}

#[test]
fn what_is_drawn_twice_to_look_bold_is_read_once() {
    let bold =
        format!("{}{}", lines(12.0, 50.0, 700.0, &["All bold"]), lines(12.0, 50.4, 700.0, &["All bold"]));
    assert_eq!(one_page(&bold), "All bold");
    assert_eq!(one_page(&format!("2 Tr {}", lines(12.0, 50.0, 700.0, &["Outlined"]))), "Outlined");
}

#[test]
fn marked_content_says_what_glyphs_mean() {
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
fn properties_come_from_the_file_unless_a_program_made_them_up() {
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

#[test]
fn fonts_without_characters_are_named() {
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
