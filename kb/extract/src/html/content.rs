//! Reads the main part of a page. Walks the tree without recursion, because elements may be nested to any depth.

use ego_tree::{NodeId, NodeRef, iter::Edge};
use scraper::{ElementRef, Html, Node, node::Element};

use super::{
    formula,
    hidden::is_apart,
    inline::Inline,
    reading::{PageContext, Reading, has_text, is_disclosure, label},
    table::{Table, TableBuilder},
};
use crate::{ExtractError, Section, composer::Composer, left_out::LeftOut, shifted::Shift};

/// What is read of a page.
pub(super) struct Content {
    pub(super) text: String,
    /// The first heading of level 1.
    pub(super) heading: Option<String>,
    pub(super) sections: Vec<Section>,
    pub(super) notes: Vec<String>,
}

/// A longer id is not used.
const MAX_ANCHOR_BYTES: usize = 200;

/// The level of an element with the role of a heading that names none.
const DEFAULT_HEADING_LEVEL: usize = 2;

/// Elements that start and end a paragraph.
const BLOCKS: [&str; 32] = [
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
    "ul",
    "ol",
    "dl",
    "dir",
    "menu",
    "pre",
    "listing",
    "xmp",
];

/// Reads the parts of the page with the content, or else the whole page.
pub(super) fn read(html: &Html) -> Result<Content, ExtractError> {
    let page = PageContext::from_html(html);
    let whole = || render(&[html.tree.root()], false, &page);
    let is_main = |element: &Element| element.name() == "main" || element.attr("role") == Some("main");
    let main = parts(html, &page, is_main);
    if !main.is_empty() {
        let has_text = |content: &Result<Content, _>| {
            !matches!(content, Err(ExtractError::Empty | ExtractError::NoContent))
        };
        return Some(render(&main, true, &page)).filter(has_text).unwrap_or_else(whole);
    }
    // A single article may be the whole content, or a small part of it.
    let articles = parts(html, &page, |element| element.name() == "article");
    let article = articles.first().map(|article| render(&[*article], true, &page));
    let whole = whole();
    match (article, &whole) {
        (Some(Ok(article)), Ok(all)) if article.text.len() >= all.text.len() / 2 => Ok(article),
        _ => whole,
    }
}

/// The outermost elements of a kind that are not hidden. Elements inside hidden ones count only if all are, because some pages
/// are hidden as a whole until a script shows them.
pub(super) fn parts<'a>(
    html: &'a Html,
    page: &PageContext,
    is_kind: impl Fn(&Element) -> bool,
) -> Vec<NodeRef<'a, Node>> {
    let (mut shown, mut covered) = (Vec::new(), Vec::new());
    let mut open = None;
    let mut hidden = None;
    for edge in html.tree.root().traverse() {
        match edge {
            Edge::Open(node) if open.is_none() => {
                let Some(element) = ElementRef::wrap(node) else { continue };
                let is_hidden = page.hides(element);
                if is_kind(element.value()) && !is_hidden {
                    open = Some(node.id());
                    if hidden.is_none() { shown.push(node) } else { covered.push(node) }
                } else if is_hidden && hidden.is_none() {
                    hidden = Some(node.id());
                }
            }
            Edge::Open(_) => {}
            Edge::Close(node) => {
                open = open.filter(|open| *open != node.id());
                hidden = hidden.filter(|hidden| *hidden != node.id());
            }
        }
    }
    if shown.is_empty() { covered } else { shown }
}

fn render(parts: &[NodeRef<'_, Node>], is_main: bool, page: &PageContext) -> Result<Content, ExtractError> {
    let mut renderer = Renderer::new(is_main, page);
    for edge in parts.iter().flat_map(NodeRef::traverse) {
        match edge {
            Edge::Open(node) => renderer.open(&node),
            Edge::Close(node) => renderer.close(&node),
        }
        if renderer.composer.is_full() {
            break;
        }
    }
    renderer.flush();
    let notes = renderer.left_out.notes();
    let (text, heading, sections) = renderer.composer.finish()?;
    Ok(Content { text, heading, sections, notes })
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
    left_out: LeftOut,
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
            left_out: LeftOut::default(),
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
            Node::Element(_) => {
                ElementRef::wrap(*node).into_iter().for_each(|element| self.open_element(element))
            }
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

    fn open_element(&mut self, wrapped: ElementRef<'_>) {
        let reading = match self.page.reading(wrapped, self.articles > 0) {
            Reading::Content if formula::is_degree(wrapped) => Reading::NotShown,
            reading => reading,
        };
        match &reading {
            Reading::Content => return self.open_content(wrapped),
            Reading::NotShown => {}
            Reading::NotContent => self.inline.apart(),
            // Outside of the main part, scripts hide menus and dialogs.
            Reading::Hidden => self.left_out.hidden += usize::from(self.articles > 0 && has_text(wrapped)),
            Reading::Struck => {
                self.inline.apart();
                self.left_out.struck += usize::from(has_text(wrapped));
            }
            Reading::Text(text) => self.inline.push_apart(text),
        }
        self.skipped = Some(wrapped.id());
    }

    fn open_content(&mut self, wrapped: ElementRef<'_>) {
        let (id, element) = (wrapped.id(), wrapped.value());
        self.open_shifted(wrapped);
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
            "mfenced" => return self.inline.push("("),
            "mtr" | "mtd" => return self.inline.gap(),
            _ if is_apart(wrapped) => self.inline.gap(),
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
                if !self.page.is_layout(id) {
                    self.table = Some((id, TableBuilder::default()));
                }
            }
            _ if is_paragraph(wrapped) => self.flush(),
            _ => {}
        }
    }

    /// Opens the parts that an element raises, lowers or groups.
    fn open_shifted(&mut self, wrapped: ElementRef<'_>) {
        for (before, shift) in formula::parts(wrapped) {
            self.inline.push(&before);
            self.inline.open(shift);
        }
        if let Some(shift) = self.shift(wrapped) {
            self.inline.open(shift);
        }
    }

    fn close_shifted(&mut self, wrapped: ElementRef<'_>) {
        if self.shift(wrapped).is_some() {
            self.inline.close();
        }
        for _ in formula::parts(wrapped) {
            self.inline.close();
        }
    }

    fn shift(&self, wrapped: ElementRef<'_>) -> Option<Shift> {
        let is_inline =
            !is_paragraph(wrapped) && !matches!(wrapped.value().name(), "td" | "th" | "tr" | "img");
        self.page.shift(wrapped).filter(|_| is_inline)
    }

    fn close_element(&mut self, wrapped: ElementRef<'_>) {
        let (id, element) = (wrapped.id(), wrapped.value());
        self.close_shifted(wrapped);
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
            "mfenced" => return self.inline.push(")"),
            _ if is_apart(wrapped) => self.inline.gap(),
            _ => {}
        }
        if self.table.is_some() {
            return self.close_in_table(id, element);
        }
        if let Some(level) = heading_level(element) {
            return self.close_heading(level, wrapped);
        }
        match element.name() {
            "ul" | "ol" | "dl" => self.close_list(),
            "li" | "dd" if !self.lists.is_empty() => {
                self.flush();
                self.composer.close();
            }
            "dt" if !self.lists.is_empty() => self.note_term(),
            _ if is_paragraph(wrapped) => self.flush(),
            _ => {}
        }
    }

    fn close_heading(&mut self, level: usize, wrapped: ElementRef<'_>) {
        let text = self.inline.take();
        // Many generators add a link to the heading itself.
        let text = text.trim().trim_end_matches(['¶', '#', '🔗']);
        if text.trim().is_empty() && self.lists.is_empty() {
            // What follows is not about the heading before.
            self.composer.under(level, "");
        } else {
            self.composer.heading_with_anchor(level, text, anchor(wrapped));
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
        let Some((_, table)) = &mut self.table else { return };
        match name {
            "thead" | "tbody" | "tfoot" => table.set_in_head(name == "thead"),
            "tr" => table.start_row(),
            "td" | "th" | "caption" => {
                self.inline.take();
                self.is_in_cell = true;
            }
            name if is_block(name) => self.inline.gap(),
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
                let table = std::mem::take(table).finish();
                self.table = None;
                self.is_in_cell = false;
                self.write_table(table);
            }
            "thead" => table.set_in_head(false),
            name if is_block(name) => self.inline.gap(),
            _ => {}
        }
    }

    /// Writes each group of rows as a table of its own below the group's name, so that each row is found with it.
    fn write_table(&mut self, table: Table) {
        for group in table.groups {
            let label = group.label.unwrap_or_default();
            let is_open =
                label.ends_with(|c: char| c.is_alphanumeric() || c == ')') && !group.rows.is_empty();
            self.composer.paragraph(&format!("{label}{}", if is_open { ":" } else { "" }));
            if group.rows.is_empty() || self.composer.is_full() {
                continue;
            }
            let rows: Vec<_> = table.header.clone().into_iter().chain(group.rows).collect();
            self.composer.table(&rows, table.header.is_some());
        }
    }

    /// Writes the current paragraph.
    fn flush(&mut self) {
        let text = self.inline.take();
        self.composer.paragraph(&text);
    }
}

/// The id at which a page opens to show a heading: its own, that of an element in it, or that of the section that it begins.
pub(super) fn anchor(heading: ElementRef<'_>) -> Option<String> {
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

pub(super) fn heading_level(element: &Element) -> Option<usize> {
    if let "h1" | "h2" | "h3" | "h4" | "h5" | "h6" = element.name() {
        return element.name().get(1..)?.parse().ok();
    }
    let level = || element.attr("aria-level").and_then(|level| level.trim().parse().ok());
    (element.attr("role") == Some("heading")).then(|| level().unwrap_or(DEFAULT_HEADING_LEVEL).max(1))
}

/// Whether an element starts and ends a paragraph.
pub(super) fn is_paragraph(wrapped: ElementRef<'_>) -> bool {
    let element = wrapped.value();
    is_block(element.name())
        || heading_level(element).is_some()
        || (is_disclosure(element) && label(wrapped).is_none())
}

pub(super) fn is_block(name: &str) -> bool {
    BLOCKS.contains(&name)
        || matches!(
            name,
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "li" | "dt" | "dd" | "tr" | "td" | "th" | "table"
        )
}
