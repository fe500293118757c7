//! Parses one sitemap (sitemaps.org): an index, a set of pages, or plain text; gzipped or not.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::MultiGzDecoder;
use quick_xml::NsReader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::name::{Namespace, ResolveResult};

use crate::error::SitemapError;

/// Maximum uncompressed size: 50 MB (sitemaps.org).
pub(crate) const MAX_BYTES: usize = 50 * 1024 * 1024;

/// Maximum entries of one sitemap or index (sitemaps.org).
pub(crate) const MAX_ENTRIES: usize = 50_000;

/// Maximum size of an entry in bytes. Longer entries are truncated and are then still too long for an address.
const MAX_ENTRY_BYTES: usize = 4_096;

/// Maximum nesting of elements. A sitemap needs three levels, extensions for images and languages a few more.
const MAX_DEPTH: usize = 64;

/// The entries of a sitemap, verbatim.
#[derive(Debug, PartialEq)]
pub(crate) enum Entries {
    Pages(Vec<String>),
    Sitemaps(Vec<String>),
}

pub(crate) fn parse(bytes: &[u8]) -> Result<Entries, SitemapError> {
    let bytes = unpacked(bytes)?;
    // Only addresses matter, and valid ones are ASCII; those that do not decode are rejected when they are parsed.
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('<') { from_xml(text) } else { from_text(text) }
}

fn unpacked(bytes: &[u8]) -> Result<Cow<'_, [u8]>, SitemapError> {
    const GZIP: [u8; 2] = [0x1f, 0x8b];
    let unpacked = if bytes.starts_with(&GZIP) {
        let mut unpacked = Vec::new();
        let mut decoder = MultiGzDecoder::new(bytes).take(MAX_BYTES as u64 + 1);
        decoder.read_to_end(&mut unpacked).map_err(|_| SitemapError::Gzip)?;
        Cow::Owned(unpacked)
    } else {
        Cow::Borrowed(bytes)
    };
    if unpacked.len() > MAX_BYTES { Err(SitemapError::TooLarge(MAX_BYTES)) } else { Ok(unpacked) }
}

fn from_text(text: &str) -> Result<Entries, SitemapError> {
    let lines: Vec<String> =
        text.lines().map(str::trim).filter(|line| !line.is_empty()).take(MAX_ENTRIES + 1).map(cut).collect();
    if lines.len() > MAX_ENTRIES {
        return Err(SitemapError::TooManyEntries(MAX_ENTRIES));
    }
    // An error page or another format must not count as a site without pages.
    if !lines.iter().any(|line| line.starts_with("http")) {
        return Err(SitemapError::Text);
    }
    Ok(Entries::Pages(lines))
}

fn cut(line: &str) -> String {
    line[..line.floor_char_boundary(MAX_ENTRY_BYTES)].to_owned()
}

/// Entries are `url/loc` or `sitemap/loc` directly below the root, in its namespace: `image:loc` is not a page.
fn from_xml(text: &str) -> Result<Entries, SitemapError> {
    let mut reader = NsReader::from_str(text);
    // Queries often contain an unescaped “&”, whose meaning is clear.
    reader.config_mut().allow_dangling_amp = true;
    let mut walk = Walk::default();
    loop {
        let at = reader.buffer_position();
        let broken = |reason: String| SitemapError::Xml { at, reason };
        let (namespace, event) = reader.read_resolved_event().map_err(|error| broken(error.to_string()))?;
        match event {
            Event::Start(element) => {
                walk.enter(&namespace, &element)?;
                if walk.depth > MAX_DEPTH {
                    return Err(broken(format!("elements are nested more than {MAX_DEPTH} deep")));
                }
            }
            Event::Empty(element) => {
                walk.enter(&namespace, &element)?;
                walk.leave()?;
            }
            Event::End(_) => walk.leave()?,
            Event::Text(text) => walk.text(&text.xml10_content()),
            Event::CData(text) => walk.text(&text),
            Event::GeneralRef(reference) => walk.text(&resolved(&reference).map_err(broken)?),
            Event::Eof => return walk.finish().ok_or_else(|| broken("the text ends too early".to_owned())),
            Event::Decl(_) | Event::PI(_) | Event::DocType(_) | Event::Comment(_) => {}
        }
    }
}

/// Resolves character references and the five entities of XML. Entities declared in the file are not expanded: that would turn
/// a kilobyte into a gigabyte.
fn resolved(reference: &BytesRef<'_>) -> Result<String, String> {
    match reference.resolve_char_ref() {
        Ok(Some(character)) => Ok(character.into()),
        Ok(None) => resolve_xml_entity(reference)
            .map(str::to_owned)
            .ok_or_else(|| format!("unknown entity &{};", &**reference)),
        Err(error) => Err(error.to_string()),
    }
}

/// The state of the parser.
#[derive(Default)]
struct Walk {
    /// Number of open elements.
    depth: usize,
    /// Number of them, from the root on, that lead to an entry.
    leading: usize,
    /// Namespace of the root, and the name of the children that contain entries.
    root: Option<(Option<String>, &'static str)>,
    /// The entry that is being read.
    entry: Option<String>,
    entries: Vec<String>,
}

impl Walk {
    fn enter(&mut self, namespace: &ResolveResult<'_>, element: &BytesStart<'_>) -> Result<(), SitemapError> {
        let namespace = match namespace {
            ResolveResult::Bound(Namespace(name)) => Some(*name),
            ResolveResult::Unbound => None,
            ResolveResult::Unknown(prefix) => Some(prefix.as_str()),
        };
        let name = element.local_name();
        let Some((expected, child)) = &self.root else {
            let child = match name.as_ref() {
                "urlset" => "url",
                "sitemapindex" => "sitemap",
                other => return Err(SitemapError::Root(other.chars().take(40).collect())),
            };
            self.root = Some((namespace.map(str::to_owned), child));
            (self.depth, self.leading) = (1, 1);
            return Ok(());
        };
        let wanted = ["", child, "loc"].get(self.depth).copied().unwrap_or_default();
        let leads = self.leading == self.depth && namespace == expected.as_deref() && name.as_ref() == wanted;
        self.depth += 1;
        self.leading += usize::from(leads);
        if leads && self.depth == 3 {
            self.entry = Some(String::new());
        }
        Ok(())
    }

    fn leave(&mut self) -> Result<(), SitemapError> {
        self.depth = self.depth.saturating_sub(1);
        self.leading = self.leading.min(self.depth);
        if self.depth == 2
            && let Some(entry) = self.entry.take()
        {
            self.entries.push(entry);
            if self.entries.len() > MAX_ENTRIES {
                return Err(SitemapError::TooManyEntries(MAX_ENTRIES));
            }
        }
        Ok(())
    }

    fn text(&mut self, text: &str) {
        if let Some(entry) = &mut self.entry {
            let room = MAX_ENTRY_BYTES.saturating_sub(entry.len());
            entry.push_str(&text[..text.floor_char_boundary(room)]);
        }
    }

    fn finish(self) -> Option<Entries> {
        match self.root? {
            _ if self.depth > 0 => None,
            (_, "url") => Some(Entries::Pages(self.entries)),
            _ => Some(Entries::Sitemaps(self.entries)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    const NAMESPACE: &str = r#"xmlns="http://www.sitemaps.org/schemas/sitemap/0.9""#;

    fn pages(xml: &str) -> Vec<String> {
        match parse(xml.as_bytes()).unwrap() {
            Entries::Pages(pages) => pages,
            Entries::Sitemaps(_) => panic!("an index"),
        }
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn pages_are_distinguished_from_sitemaps() {
        let pages = format!(
            "<?xml version='1.0'?>\n<urlset {NAMESPACE}><url><loc>a</loc><lastmod>2020</lastmod></url></urlset>"
        );
        assert_eq!(parse(pages.as_bytes()).unwrap(), Entries::Pages(vec!["a".into()]));
        let index =
            format!("<sitemapindex {NAMESPACE}><sitemap><loc>a</loc></sitemap><sitemap/></sitemapindex>");
        assert_eq!(parse(index.as_bytes()).unwrap(), Entries::Sitemaps(vec!["a".into()]));
        assert_eq!(parse(b"<urlset/>").unwrap(), Entries::Pages(vec![]));
    }

    #[test]
    fn only_elements_in_the_namespace_of_the_root_count() {
        let xml = r#"<s:urlset xmlns:s="urn:s" xmlns:i="urn:i">
            <s:url><s:loc>a</s:loc><i:loc>no</i:loc><i:image><i:loc>no</i:loc><s:loc>no</s:loc></i:image></s:url>
            <i:url><s:loc>no</s:loc></i:url><s:loc>no</s:loc><url><loc>no</loc></url>
            <x:url xmlns:x="urn:s"><x:loc>b</x:loc></x:url></s:urlset>"#;
        assert_eq!(pages(xml), ["a", "b"]);
        assert_eq!(pages("<urlset><url><loc>a</loc></url></urlset>"), ["a"]);
    }

    #[test]
    fn addresses_are_unescaped() {
        let xml = "<urlset><url><loc>a?b&amp;c&#38;d&#x26;e&lt;</loc></url><url><loc><![CDATA[a&b]]></loc></url>\
                   <url><loc>a?b=1&c=2</loc></url><url><loc>a<!-- no -->b</loc></url></urlset>";
        assert_eq!(pages(xml), ["a?b&c&d&e<", "a&b", "a?b=1&c=2", "ab"]);
    }

    #[test]
    fn plain_text_has_one_address_per_line() {
        assert_eq!(
            pages("\u{feff}http://h/a\r\n\r\n  http://h/b \nhttp://h/c"),
            ["http://h/a", "http://h/b", "http://h/c"]
        );
        assert_eq!(parse(b"{\"error\": 1}"), Err(SitemapError::Text));
        assert_eq!(parse(b""), Err(SitemapError::Text));
        assert_eq!(parse(&[0xff, 0xfe, b'<', 0, b'u', 0]), Err(SitemapError::Text));
    }

    #[test]
    fn gzip_with_several_members_is_uncompressed() {
        let (one, other) = (gzip(b"<urlset><url><loc>a</loc>"), gzip(b"</url></urlset>"));
        assert_eq!(parse(&[one, other].concat()).unwrap(), Entries::Pages(vec!["a".into()]));
    }

    #[test]
    fn damaged_gzip_is_an_error() {
        let whole = gzip(b"<urlset></urlset>");
        assert_eq!(parse(&whole[..whole.len() - 4]), Err(SitemapError::Gzip));
        assert_eq!(parse(&[0x1f, 0x8b, 1, 2, 3]), Err(SitemapError::Gzip));
    }

    #[test]
    fn a_gzip_bomb_is_stopped_at_the_limit() {
        let bomb = gzip(&vec![b' '; 2 * MAX_BYTES]);
        assert!(bomb.len() < MAX_BYTES / 10);
        assert_eq!(parse(&bomb), Err(SitemapError::TooLarge(MAX_BYTES)));
    }

    #[test]
    fn the_number_of_entries_is_limited() {
        let xml = |count| format!("<urlset>{}</urlset>", "<url><loc>a</loc></url>".repeat(count));
        assert_eq!(pages(&xml(MAX_ENTRIES)).len(), MAX_ENTRIES);
        assert_eq!(parse(xml(300_000).as_bytes()), Err(SitemapError::TooManyEntries(MAX_ENTRIES)));
        assert_eq!(
            parse("http://h/\n".repeat(MAX_ENTRIES + 1).as_bytes()),
            Err(SitemapError::TooManyEntries(MAX_ENTRIES))
        );
    }

    #[test]
    fn broken_xml_says_where_and_why() {
        for (xml, reason) in [
            ("<urlset><url><loc>a</loc>", "ends too early"),
            ("<urlset><url></urlset>", "expected `</url>`"),
            ("<urlset><url><loc>a</loc", ""),
            ("<!-- only a comment -->", "ends too early"),
            ("<urlset>&eacute;</urlset>", "unknown entity &eacute;"),
            ("<urlset>&#0;</urlset>", ""),
        ] {
            match parse(xml.as_bytes()) {
                Err(SitemapError::Xml { reason: found, .. }) => {
                    assert!(found.contains(reason), "{xml}: {found}")
                }
                other => panic!("{xml}: {other:?}"),
            }
        }
    }

    #[test]
    fn another_document_is_reported_with_its_root_element() {
        for (document, root) in [("<!doctype html><html><body>", "html"), ("<rss version='2.0'>", "rss")] {
            assert_eq!(parse(document.as_bytes()), Err(SitemapError::Root(root.into())));
        }
    }

    #[test]
    fn declared_entities_are_not_expanded() {
        let mut laughs = String::from("<!DOCTYPE urlset [<!ENTITY a0 'ha'>");
        for level in 1..20 {
            laughs.push_str(&format!("<!ENTITY a{level} '{}'>", format!("&a{};", level - 1).repeat(10)));
        }
        laughs.push_str("]><urlset><url><loc>&a19;</loc></url></urlset>");
        assert!(
            matches!(parse(laughs.as_bytes()), Err(SitemapError::Xml { reason, .. }) if reason == "unknown entity &a19;")
        );
        let outside = r#"<!DOCTYPE u [<!ENTITY x SYSTEM "file:///etc/passwd">]><urlset><url><loc>&x;</loc></url></urlset>"#;
        assert!(matches!(parse(outside.as_bytes()), Err(SitemapError::Xml { .. })));
    }

    #[test]
    fn nesting_and_entries_are_bounded() {
        let deep = format!("<urlset>{}", "<a>".repeat(1_000_000));
        assert!(
            matches!(parse(deep.as_bytes()), Err(SitemapError::Xml { reason, .. }) if reason.contains("deep"))
        );
        let long = format!("<urlset><url><loc>{}</loc></url></urlset>", "ä&amp;".repeat(1_000_000));
        assert!(pages(&long)[0].len() <= MAX_ENTRY_BYTES);
    }

    #[test]
    fn invalid_utf_8_affects_only_its_own_entry() {
        let xml = b"<urlset><url><loc>a\xe4</loc><title>\xff</title></url><url><loc>b</loc></url></urlset>";
        assert_eq!(parse(xml).unwrap(), Entries::Pages(vec!["a\u{fffd}".into(), "b".into()]));
    }
}
