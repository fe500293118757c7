//! Properties of a PDF.

use hayro_interpret::hayro_syntax::{
    Pdf,
    object::{Dict, Stream, String as PdfString},
};

use crate::{Properties, clean::visible, properties, xml};

pub(super) fn read(pdf: &Pdf) -> Properties {
    let catalog = catalog(pdf).unwrap_or_default();
    let title = pdf.metadata().title.as_deref().map(decode_text);
    let language = catalog.get::<PdfString<'_>>(b"Lang").map(|language| decode_text(language.as_bytes()));
    let (xmp_title, xmp_language) =
        catalog.get::<Stream<'_>>(b"Metadata").map(|xmp| read_xmp(&xmp)).unwrap_or_default();
    let first = |candidates: [Option<String>; 2], check: fn(&str) -> Option<String>| {
        candidates.into_iter().flatten().find_map(|text| check(&text))
    };
    Properties {
        title: first([title, xmp_title], properties::document_title),
        language: first([language, xmp_language], properties::language),
        ..Properties::default()
    }
}

pub(super) fn catalog(pdf: &Pdf) -> Option<Dict<'_>> {
    pdf.xref().get(pdf.xref().root_id())
}

/// The number of pages in the root of the page tree.
pub(super) fn page_count(pdf: &Pdf) -> Option<usize> {
    usize::try_from(catalog(pdf)?.get::<Dict<'_>>(b"Pages")?.get::<i32>(b"Count")?).ok()
}

/// Decodes text outside of pages: UTF-16 or UTF-8 with a byte order mark, otherwise approximately Latin-1.
pub(super) fn decode_text(bytes: &[u8]) -> String {
    let encoding =
        encoding_rs::Encoding::for_bom(bytes).map_or(encoding_rs::WINDOWS_1252, |(encoding, _)| encoding);
    visible(&encoding.decode(bytes).0)
}

/// Title and language of the XMP packet.
fn read_xmp(packet: &Stream<'_>) -> (Option<String>, Option<String>) {
    let (mut title, mut language) = (None, None);
    let data = packet.decoded_data().unwrap_or_default();
    let mut first = None;
    // Values before an error are kept.
    let _ = xml::texts(&String::from_utf8_lossy(&data), |element, text| match element {
        "li" => _ = first.get_or_insert_with(|| text.to_owned()),
        "Alt" | "Bag" | "Seq" => {}
        property => {
            let value = first.take();
            match property {
                "title" => title = title.take().or(value),
                "language" => language = language.take().or(value),
                _ => {}
            }
        }
    });
    (title, language)
}
