//! Reads the main part of a web page and the properties in its head.

mod cells;
mod elements;
mod hidden;
pub(crate) mod icon;
mod layout;
mod page;
mod parse;
mod reading;
mod style;
mod tabs;

use encoding_rs::Encoding;
use scraper::{ElementRef, Html, Node, Selector};

use super::{ExtractError, Properties, properties};

/// Bytes that are searched for a declaration of the encoding; browsers search 1024.
const DECLARATION_BYTES: usize = 4096;

/// Time in which people read why they are led elsewhere.
const MAX_NOTICE_SECONDS: f32 = 10.0;

/// Reads a page into the model.
pub(crate) fn document(page: &str) -> Result<crate::document::Document, ExtractError> {
    let html = parse::parse(page)?;
    page::read(&html, head(&html)?)
}

/// The encoding that `<meta charset>`, its old form or an XML declaration names.
pub(crate) fn declared_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(bytes.get(..DECLARATION_BYTES).unwrap_or(bytes)).to_ascii_lowercase();
    let after = |name: &str| Some(head.split_once(name)?.1.trim_start_matches([' ', '=', '"', '\'']));
    let value = after("charset").or_else(|| after("encoding="))?;
    let label = value.split(|c: char| !(c.is_ascii_alphanumeric() || "-_:".contains(c))).next()?;
    // As in browsers: a page whose declaration is readable as ASCII is not UTF-16.
    Encoding::for_label(label.as_bytes()).map(Encoding::output_encoding)
}

/// Names of the elements that address our robot.
const ROBOTS: [&str; 2] = ["robots", "evidencechatbot"];

/// # Errors
/// If the page must not be indexed, or names an audience that cannot be read.
fn head(html: &Html) -> Result<Properties, ExtractError> {
    let named =
        select(html, "meta").filter_map(|element| Some((element.attr("name")?, element.attr("content")?)));
    let mut audience = None;
    let refresh = select(html, "meta[http-equiv='refresh' i][content]").next();
    let leads_to = refresh.and_then(|element| refresh_target(element.attr("content")?));
    for (name, content) in named {
        let name = name.trim().to_ascii_lowercase();
        if ROBOTS.contains(&name.as_str()) && properties::forbids_indexing(content) {
            let reason = format!("`<meta name=\"{name}\" content=\"noindex\">`");
            return Err(ExtractError::NotPublished(reason));
        }
        // Without a colon, it is the old tag for search engines: "all".
        if name == "evidence-chat:audience" || (name == "audience" && content.contains(':')) {
            let refused = |reason: String| ExtractError::Audience(reason);
            let declared = crate::audience(content.split(',')).map_err(|error| refused(error.to_string()))?;
            if audience.replace(declared).is_some() {
                return Err(refused("the page has two".to_owned()));
            }
        }
    }
    if let Some(to) = leads_to {
        return Err(ExtractError::Redirect(to.chars().take(200).collect()));
    }

    let meta = |property: &str| {
        let matches = |element: &ElementRef<'_>| {
            element
                .attr("property")
                .or_else(|| element.attr("name"))
                .is_some_and(|p| p.eq_ignore_ascii_case(property))
        };
        select(html, "meta").find(matches).and_then(|element| element.attr("content"))
    };
    // Excludes the title of an SVG inside the page.
    let title = select(html, "head > title").next().map(|title| title.text().collect::<String>());
    let canonical = select(html, "link[rel~='canonical' i]").next().and_then(|link| link.attr("href"));
    let language = html.root_element().attr("lang").or_else(|| html.root_element().attr("xml:lang"));
    Ok(Properties {
        title: title.as_deref().and_then(properties::title).or_else(|| properties::title(meta("og:title")?)),
        url: canonical.and_then(properties::url).or_else(|| properties::url(meta("og:url")?)),
        language: language.and_then(properties::language),
        audience,
    })
}

/// The address to which `0; url=/login` leads. A page with a longer time than that to read a notice is a page.
pub fn refresh_target(content: &str) -> Option<&str> {
    let (seconds, rest) = content.split_once([';', ','])?;
    let is_soon = seconds.trim().parse::<f32>().is_ok_and(|seconds| seconds <= MAX_NOTICE_SECONDS);
    let (name, address) = rest.split_once('=')?;
    let address = address.trim().trim_matches(['"', '\'']);
    (is_soon && name.trim().eq_ignore_ascii_case("url") && !address.is_empty()).then_some(address)
}

/// Elements by a constant selector, which is valid.
fn select<'a>(html: &'a Html, selector: &str) -> impl Iterator<Item = ElementRef<'a>> + use<'a> {
    let found: Vec<_> =
        Selector::parse(selector).map(|selector| html.select(&selector).collect()).unwrap_or_default();
    found.into_iter()
}

/// The name of an element, empty for other nodes.
fn name(node: &Node) -> &str {
    node.as_element().map_or("", |element| element.name())
}

#[cfg(test)]
mod tests;
