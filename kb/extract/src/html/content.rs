//! Reads the main part of a page. Walks the tree without recursion, because elements may be nested to any depth.

use std::collections::HashSet;

use ego_tree::{NodeId, NodeRef, iter::Edge};
use scraper::{ElementRef, Html, Node, node::Element};

use super::{hidden::Hidden, inline::Inline, name, select, table::TableBuilder};
use crate::{ExtractError, Section, composer::Composer};

type Content = (String, Option<String>, Vec<Section>);

/// A longer id is not used.
const MAX_ANCHOR_BYTES: usize = 200;

/// Elements that browsers do not show as text, or that are not content.
const SKIPPED: [&str; 33] = [
    "script",
    "style",
    "template",
    "noscript",
    "head",
    "title",
    "nav",
    "svg",
    "canvas",
    "audio",
    "video",
    "picture",
    "iframe",
    "object",
    "embed",
    "map",
    "button",
    "select",
    "option",
    "textarea",
    "input",
    "datalist",
    "progress",
    "meter",
    "menu",
    "dialog",
    "rt",
    "rp",
    "frameset",
    "noframes",
    "annotation",
    "annotation-xml",
    "noembed",
];
/// Elements that are not content unless they are inside the main part or an article.
const OUTSIDE_CONTENT: [&str; 3] = ["header", "footer", "aside"];
const ROLES_OUTSIDE_CONTENT: [&str; 3] = ["banner", "contentinfo", "complementary"];
/// Roles that, like `nav`, are never content.
const ROLES_SKIPPED: [&str; 4] = ["navigation", "search", "menu", "menubar"];
/// Elements that start and end a paragraph.
const BLOCKS: [&str; 24] = [
    "p",
    "div",
    "section",
    "article",
    "main",
    "body",
    "html",
    "header",
    "footer",
    "aside",
    "blockquote",
    "figure",
    "figcaption",
    "address",
    "details",
    "summary",
    "fieldset",
    "legend",
    "form",
    "center",
    "hr",
    "caption",
    "hgroup",
    "search",
];

/// Reads the part of the page with the content, or else the whole page.
pub(super) fn read(html: &Html) -> Result<Content, ExtractError> {
    let page = PageContext { layout_tables: layout_tables(html), hidden: Hidden::from_html(html) };
    let whole = || render(html.tree.root(), false, &page);
    let part = |selector: &str| select(html, selector).find(|element| !page.hidden.includes(*element));
    let has_text =
        |content: &Result<Content, _>| !matches!(content, Err(ExtractError::Empty | ExtractError::NoContent));
    if let Some(main) = part("main, [role=main]") {
        return Some(render(*main, true, &page)).filter(has_text).unwrap_or_else(whole);
    }
    // A single article may be the whole content, or a small part of it.
    let article = part("article").map(|article| render(*article, true, &page));
    let whole = whole();
    match (article, &whole) {
        (Some(Ok(article)), Ok((all, ..))) if article.0.len() >= all.len() / 2 => Ok(article),
        _ => whole,
    }
}

/// Tables that only lay out the page: those that contain a table or a heading, or declare it. Their cells are read as parts of
/// the page.
fn layout_tables(html: &Html) -> HashSet<NodeId> {
    let mut layout = HashSet::new();
    let mut open: Vec<NodeId> = Vec::new();
    for edge in html.tree.root().traverse() {
        match edge {
            Edge::Open(node) => match name(node.value()) {
                "table" => {
                    layout.extend(open.last());
                    let role = node.value().as_element().and_then(|table| table.attr("role"));
                    if matches!(role, Some("presentation" | "none")) {
                        layout.insert(node.id());
                    }
                    open.push(node.id());
                }
                "h1" | "h2" | "h3" => layout.extend(open.last()),
                _ => {}
            },
            Edge::Close(node) if name(node.value()) == "table" => {
                open.pop();
            }
            Edge::Close(_) => {}
        }
    }
    layout
}

/// Facts about the whole page.
struct PageContext {
    layout_tables: HashSet<NodeId>,
    hidden: Hidden,
}

fn render(part: NodeRef<'_, Node>, is_main: bool, page: &PageContext) -> Result<Content, ExtractError> {
    let mut renderer = Renderer::new(is_main, page);
    for edge in part.traverse() {
        match edge {
            Edge::Open(node) => renderer.open(&node),
            Edge::Close(node) => renderer.close(&node),
        }
        if renderer.composer.is_full() {
            break;
        }
    }
    renderer.flush();
    renderer.composer.finish()
}

struct Renderer<'a> {
    composer: Composer,
    inline: Inline,
    page: &'a PageContext,
    /// The outermost element that is skipped.
    skipped: Option<NodeId>,
    /// Number of open main or article elements, whose header and footer are content.
    articles: usize,
    preformatted: Option<NodeId>,
    lists: Vec<List>,
    table: Option<(NodeId, TableBuilder)>,
    is_in_cell: bool,
}

struct List {
    /// Number of the next item of an ordered list.
    number: Option<i64>,
    /// Terms that the next definition explains.
    terms: Vec<String>,
}

impl<'a> Renderer<'a> {
    fn new(is_main: bool, page: &'a PageContext) -> Self {
        Self {
            composer: Composer::default(),
            inline: Inline::default(),
            page,
            skipped: None,
            articles: usize::from(is_main),
            preformatted: None,
            lists: Vec::new(),
            table: None,
            is_in_cell: false,
        }
    }

    fn open(&mut self, node: &NodeRef<'_, Node>) {
        if self.skipped.is_some() {
            return;
        }
        match *node.value() {
            // White space between cells is ignored.
            Node::Text(_) if self.table.is_some() && !self.is_in_cell => {}
            Node::Text(ref text) if self.preformatted.is_some() => self.inline.push_preformatted(text),
            Node::Text(ref text) => self.inline.push(text),
            Node::Element(ref element) => match ElementRef::wrap(*node) {
                Some(wrapped) if self.is_skipped(wrapped) => self.skipped = Some(node.id()),
                _ => self.open_element(node.id(), element),
            },
            _ => {}
        }
    }

    fn close(&mut self, node: &NodeRef<'_, Node>) {
        match self.skipped {
            Some(skipped) if skipped == node.id() => self.skipped = None,
            Some(_) => {}
            None => {
                if let Some(element) = ElementRef::wrap(*node) {
                    self.close_element(element);
                }
            }
        }
    }

    fn is_skipped(&self, wrapped: ElementRef<'_>) -> bool {
        let element = wrapped.value();
        let role = element.attr("role").unwrap_or_default();
        let is_outside = OUTSIDE_CONTENT.contains(&element.name()) || ROLES_OUTSIDE_CONTENT.contains(&role);
        let is_never_content = SKIPPED.contains(&element.name()) || ROLES_SKIPPED.contains(&role);
        is_never_content || self.page.hidden.includes(wrapped) || (is_outside && self.articles == 0)
    }

    fn open_element(&mut self, id: NodeId, element: &Element) {
        if self.preformatted.is_some() {
            if element.name() == "br" {
                self.inline.push_preformatted("\n");
            }
            return;
        }
        match element.name() {
            "article" | "main" => self.articles += 1,
            "br" => return self.inline.line_break(),
            "q" => return self.inline.push("“"),
            _ => {}
        }
        if self.table.is_some() {
            return self.open_in_table(element.name());
        }
        match element.name() {
            "pre" | "listing" | "xmp" => {
                self.flush();
                self.preformatted = Some(id);
            }
            "ul" | "ol" | "dl" => self.open_list(element),
            "li" if !self.lists.is_empty() => self.open_item(element),
            "dd" if !self.lists.is_empty() => self.open_definition(),
            "table" => {
                self.flush();
                if !self.page.layout_tables.contains(&id) {
                    self.table = Some((id, TableBuilder::default()));
                }
            }
            name if is_block(name) => self.flush(),
            _ => {}
        }
    }

    fn close_element(&mut self, wrapped: ElementRef<'_>) {
        let (id, element) = (wrapped.id(), wrapped.value());
        if let Some(preformatted) = self.preformatted {
            if preformatted == id {
                self.preformatted = None;
                let code = self.inline.take();
                self.composer.code(&code);
            }
            return;
        }
        match element.name() {
            "article" | "main" => self.articles = self.articles.saturating_sub(1),
            "q" => return self.inline.push("”"),
            _ => {}
        }
        if self.table.is_some() {
            return self.close_in_table(id, element);
        }
        match element.name() {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let level = element.name().as_bytes().get(1).map_or(1, |digit| usize::from(digit - b'0'));
                let text = self.inline.take();
                // Many generators add a link to the heading itself.
                let text = text.trim().trim_end_matches(['¶', '#', '🔗']);
                self.composer.heading_with_anchor(level, text, anchor(wrapped));
            }
            "ul" | "ol" | "dl" => self.close_list(),
            "li" | "dd" if !self.lists.is_empty() => {
                self.flush();
                self.composer.close();
            }
            "dt" if !self.lists.is_empty() => self.note_term(),
            name if is_block(name) => self.flush(),
            _ => {}
        }
    }

    fn open_list(&mut self, element: &Element) {
        self.flush();
        self.composer.open_list();
        let start = element.attr("start").and_then(|start| start.trim().parse().ok()).unwrap_or(1);
        self.lists.push(List { number: (element.name() == "ol").then_some(start), terms: Vec::new() });
    }

    fn open_item(&mut self, element: &Element) {
        self.flush();
        let marker = match self.lists.last_mut().and_then(|list| list.number.as_mut()) {
            Some(number) => {
                *number =
                    element.attr("value").and_then(|value| value.trim().parse().ok()).unwrap_or(*number);
                let marker = format!("{number}.");
                *number = number.saturating_add(1);
                marker
            }
            None => "-".to_owned(),
        };
        self.composer.open_item(&marker);
    }

    /// Writes "Term: definition", so that a sentence of the definition names its subject.
    fn open_definition(&mut self) {
        self.flush();
        self.composer.open_item("-");
        let terms = self.lists.last_mut().map(|list| std::mem::take(&mut list.terms)).unwrap_or_default();
        if !terms.is_empty() {
            let terms = terms.join(", ");
            self.inline.push(terms.trim_end_matches(':'));
            self.inline.push(": ");
        }
    }

    fn note_term(&mut self) {
        let term = self.inline.take().trim().to_owned();
        match self.lists.last_mut() {
            Some(list) if !term.is_empty() => list.terms.push(term),
            _ => {}
        }
    }

    fn close_list(&mut self) {
        self.flush();
        if self.lists.last().is_some_and(|list| !list.terms.is_empty()) {
            self.open_definition();
            self.flush();
            self.composer.close();
        }
        self.lists.pop();
        self.composer.close();
    }

    fn open_in_table(&mut self, name: &str) {
        match name {
            "tr" => {
                if let Some((_, table)) = &mut self.table {
                    table.start_row();
                }
            }
            "td" | "th" | "caption" => {
                self.inline.take();
                self.is_in_cell = true;
            }
            name if is_block(name) || matches!(name, "li" | "dt" | "dd" | "ul" | "ol" | "pre") => {
                self.inline.gap()
            }
            _ => {}
        }
    }

    fn close_in_table(&mut self, id: NodeId, element: &Element) {
        let Some((table_id, table)) = &mut self.table else { return };
        match element.name() {
            "td" | "th" => {
                let text = self.inline.take();
                let is_header = element.name() == "th";
                table.cell(text.trim(), is_header, element.attr("colspan"), element.attr("rowspan"));
                self.is_in_cell = false;
            }
            "caption" => {
                let caption = self.inline.take();
                self.composer.paragraph(&caption);
                self.is_in_cell = false;
            }
            "table" if *table_id == id => {
                let (rows, has_header) = std::mem::take(table).finish();
                self.table = None;
                self.is_in_cell = false;
                self.composer.table(&rows, has_header);
            }
            name if is_block(name) || matches!(name, "li" | "dt" | "dd" | "pre") => self.inline.gap(),
            _ => {}
        }
    }

    /// Writes the current paragraph.
    fn flush(&mut self) {
        let text = self.inline.take();
        self.composer.paragraph(&text);
    }
}

/// The id at which a page opens to show a heading: its own, that of an element in it, or that of the section that it begins.
fn anchor(heading: ElementRef<'_>) -> Option<String> {
    let inside = heading.descendent_elements().find_map(|element| target(element.value()));
    let section = || {
        let parent = heading.parent().and_then(ElementRef::wrap)?;
        let begins = parent.child_elements().next() == Some(heading);
        target(parent.value()).filter(|_| begins && parent.value().name() == "section")
    };
    inside.or_else(section)
}

/// The `id`, or the `name` of an `<a>`, if it can be the fragment of an address.
fn target(element: &Element) -> Option<String> {
    let name = || element.attr("name").filter(|_| element.name() == "a");
    let is_fragment = |id: &&str| {
        (1..=MAX_ANCHOR_BYTES).contains(&id.len())
            && !id.contains(|c: char| c.is_whitespace() || c.is_control())
            && !id.contains(":~:")
    };
    element.attr("id").or_else(name).filter(is_fragment).map(str::to_owned)
}

fn is_block(name: &str) -> bool {
    BLOCKS.contains(&name)
        || matches!(
            name,
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "li" | "dt" | "dd" | "tr" | "td" | "th" | "table"
        )
}
