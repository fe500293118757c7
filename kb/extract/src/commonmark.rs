//! Markdown, read as the HTML that it stands for.

use std::collections::{HashMap, HashSet};

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

use crate::document::Document;
use crate::markers::is_item;
use crate::{ExtractError, notation};

/// Maximum nesting of lists and quotations; deeper ones are read flat.
const MAX_DEPTH: usize = 100;
/// Elements of HTML. Any other tag that is never closed is a placeholder that the author forgot to escape, such as `<name>`.
const ELEMENTS: &str = " \
    a abbr address area article aside audio b base bdi bdo blockquote body br button canvas caption center cite code \
    col colgroup data datalist dd del details dfn dialog div dl dt em embed fieldset figcaption figure font footer \
    form h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend li link main map mark \
    math menu meta meter nav noscript object ol optgroup option output p picture pre progress q rp rt ruby s samp \
    script search section select small source span strike strong style sub summary sup svg table tbody td template \
    textarea tfoot th thead time tr track tt \
";

pub(crate) fn document(text: &str) -> Result<Document, ExtractError> {
    let (source, left_out) = notation::rewrite(text);
    let mut document = crate::html::document(&page(&source))?;
    document.notes.splice(0..0, left_out);
    Ok(document)
}

fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_DEFINITION_LIST
}

fn page(source: &str) -> String {
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut number = |name: &CowStr<'_>| {
        let next = numbers.len() + 1;
        *numbers.entry(name.to_string()).or_insert(next)
    };
    let closed = notation::closed(&source.to_lowercase());
    let mut events = Parser::new_ext(source, options()).peekable();
    let events = std::iter::from_fn(|| {
        let event = events.next()?;
        // "• …" and "(a) …" are lines to the reader of the source, though Markdown joins them.
        let is_line = |next: &Event<'_>| {
            let is_item = |text: &str| is_item(text) && !text.starts_with(|c: char| c.is_ascii_digit());
            matches!(next, Event::Text(text) if is_item(text) || text.ends_with(':'))
        };
        match event {
            Event::SoftBreak if events.peek().is_some_and(is_line) => Some(Event::HardBreak),
            other => Some(other),
        }
    });
    let mut depth = 0_usize;
    let events = events.map(|event| match event {
        Event::Start(Tag::BlockQuote(_) | Tag::List(_) | Tag::Item) if depth >= MAX_DEPTH => {
            depth += 1;
            Event::Html("<br>".into())
        }
        Event::Start(Tag::BlockQuote(_) | Tag::List(_) | Tag::Item) => {
            depth += 1;
            event
        }
        Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item) => {
            depth = depth.saturating_sub(1);
            if depth >= MAX_DEPTH { Event::Html("<br>".into()) } else { event }
        }
        Event::FootnoteReference(name) => {
            let number = number(&name);
            Event::InlineHtml(format!("<sup><a href=\"#footnote-{number}\">{number}</a></sup>").into())
        }
        Event::Start(Tag::FootnoteDefinition(name)) => {
            Event::Html(format!("\n<div id=\"footnote-{}\">\n", number(&name)).into())
        }
        Event::End(TagEnd::FootnoteDefinition) => Event::Html("</div>\n".into()),
        Event::InlineHtml(tag) | Event::Html(tag) if is_placeholder(&tag, &closed) => Event::Text(tag),
        other => other,
    });
    let mut page = String::with_capacity(2 * source.len());
    page.push_str("<main>");
    html::push_html(&mut page, events);
    page.push_str("</main>");
    // A picture without a description is not one without meaning.
    page.replace("\" alt=\"\" />", "\" />")
}

/// A tag without attributes, of no element, that is never closed: `restore --from <backup>`.
fn is_placeholder(tag: &str, closed: &HashSet<String>) -> bool {
    let name = tag.trim().strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).unwrap_or_default();
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' '));
    let first = name.split(' ').next().unwrap_or_default().to_ascii_lowercase();
    is_name && !ELEMENTS.contains(&format!(" {first} ")) && !closed.contains(&first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(markdown: &str) -> String {
        document(markdown).unwrap().text
    }

    #[test]
    fn the_text_has_no_markup() {
        assert_eq!(
            text(
                "# A *title*\n\nMain Street 5\\\n10115 **Berlin** &euro; 5&nbsp;000 [here](x \"y. Z\") <!-- no --> `a*b*`"
            ),
            "A title\n\nMain Street 5\n10115 Berlin € 5 000 here a*b*"
        );
        assert_eq!(text("| S<br>M | 5<br>10 € |\n|---|---|\n| x | ~~9~~ 8 |"), "S\nM\t5\n10 €\nx\t8");
    }

    #[test]
    fn text_between_two_rules_is_text() {
        assert_eq!(
            text("# H\n\n---\n**Refunds** take 5 days.\n\n## S\n\nDaily.\n\n---\n"),
            "H\n\nRefunds take 5 days.\n\nS\n\nDaily."
        );
    }

    #[test]
    fn invisible_html_is_no_text() {
        assert_eq!(
            text(
                "<script setup>\nconst price = 5\n</script>\n\nSeen.\n\n<div style=\"display:none\">Internal</div>\n\nToo."
            ),
            "Seen.\n\nToo."
        );
    }

    #[test]
    fn placeholders_are_text_and_elements_are_not() {
        assert_eq!(
            text("Run restore --from <backup> now. <Tabs>x</Tabs> <b>y</b>"),
            "Run restore --from <backup> now. x y"
        );
    }

    #[test]
    fn deep_lists_and_quotations_are_read_flat() {
        let lists: String = (0..3000).map(|depth| format!("{}- a{depth}\n", "  ".repeat(depth))).collect();
        for markdown in [format!("{} deep", ">".repeat(20_000)), lists + &"  ".repeat(3000) + "- deep"] {
            assert!(text(&markdown).ends_with("deep"));
        }
    }

    #[test]
    fn a_picture_without_a_description_is_not_blank() {
        let read = document("Sold out:\n\n![](a.png)\n\n| A | B |\n|---|---|\n| x | ![](b7.png) |").unwrap();
        assert_eq!(read.text, "Sold out:\n\nA\tB\nx\t\u{fffd}");
        assert_eq!(read.notes, ["left out 2 pictures, videos and fields without a description"]);
    }

    #[test]
    fn footnotes_lead_to_their_text() {
        let read = document("Free.[^a]\n\n[^a]: Only above 9 €.").unwrap();
        let reference = &read.references[0];
        assert_eq!((read.slice(&reference.range), read.slice(&reference.note)), ("¹", "Only above 9 €."));
    }
}
