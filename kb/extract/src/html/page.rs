//! Reads the main part of a page into the model. Walks the tree without recursion, because elements may be nested to any depth.

use std::collections::{HashMap, HashSet};

use ego_tree::{NodeId, NodeRef, iter::Edge};
use scraper::{ElementRef, Html, Node, node::Element};

use super::elements::{anchor, heading_level, is_block, is_paragraph, parts};
use super::formula;
use super::hidden::is_apart;
use super::reading::{PageContext, Reading, has_text};
use super::select;
use crate::builder::{Builder, Inline, Rows, TableRow, Text};
use crate::document::{Document, MarkKind};
use crate::left_out::LeftOut;
use crate::shifted::Shift;
use crate::{ExtractError, Properties};

/// Maximum colspan and rowspan.
const MAX_SPAN: usize = 50;
/// The attribute with which other readers name a box or tab.
pub(crate) const LABEL_ATTRIBUTE: &str = "data-evidence-label";

/// Reads the parts of the page with the content, or else the whole page.
pub(super) fn read(html: &Html, properties: Properties) -> Result<Document, ExtractError> {
    let page = PageContext::from_html(html);
    let notes = notes(html);
    let read = |parts: &[NodeRef<'_, Node>], is_main: bool| {
        let mut reader = Reader::new(is_main, &page, &notes);
        for part in parts {
            reader.read(*part);
        }
        reader.left_out.notes().into_iter().for_each(|note| reader.builder.left_out(note));
        reader.builder.finish(properties.clone())
    };
    let whole = || read(&[html.tree.root()], false);
    let is_main = |element: &Element| element.name() == "main" || element.attr("role") == Some("main");
    let main = parts(html, &page, is_main);
    if !main.is_empty() {
        let has_content =
            |read: &Result<Document, _>| !matches!(read, Err(ExtractError::Empty | ExtractError::NoContent));
        return Some(read(&main, true)).filter(has_content).unwrap_or_else(whole);
    }
    // A single article may be the whole content, or a small part of it.
    let articles = parts(html, &page, |element| element.name() == "article");
    let article = articles.first().map(|article| read(&[*article], true));
    let whole = whole();
    match (article, &whole) {
        (Some(Ok(article)), Ok(all)) if article.text.len() >= all.text.len() / 2 => Ok(article),
        _ => whole,
    }
}

/// The ids of footnotes: elements that a raised link leads to.
fn notes(html: &Html) -> HashSet<String> {
    let targets =
        select(html, "sup a[href^='#'], a[role=doc-noteref]").filter_map(|link| fragment(link.value()));
    let ids: HashSet<String> =
        select(html, "[id]").filter_map(|element| element.attr("id").map(str::to_owned)).collect();
    targets.filter(|target| ids.contains(target)).collect()
}

fn fragment(link: &Element) -> Option<String> {
    link.attr("href")?.strip_prefix('#').filter(|id| !id.is_empty()).map(str::to_owned)
}

struct Reader<'a> {
    builder: Builder,
    inline: Inline,
    page: &'a PageContext,
    notes: &'a HashSet<String>,
    /// The outermost element that is skipped.
    skipped: Option<NodeId>,
    /// Number of open main or article elements, whose header and footer are content.
    articles: usize,
    preformatted: Option<(NodeId, String)>,
    /// The open elements that opened a group, list, item or note, each with the number of blocks to close.
    open: HashMap<NodeId, usize>,
    lists: Vec<List>,
    /// The open sections and boxes, each with the level of its heading and the bytes that were written up to that.
    sections: Vec<(NodeId, Option<(u8, usize)>)>,
    table: Option<(NodeId, TableReader)>,
    is_in_cell: bool,
    left_out: LeftOut,
}

struct List {
    /// Number of the next item of an ordered list, and its kind of numbers.
    number: Option<(i64, Numbers)>,
    /// Whether a term of a list of definitions opened a group.
    is_in_entry: bool,
    /// Whether the last element was a term.
    is_after_term: bool,
}

#[derive(Clone, Copy)]
enum Numbers {
    Decimal,
    Letters { is_upper: bool },
    Roman { is_upper: bool },
}

impl<'a> Reader<'a> {
    fn new(is_main: bool, page: &'a PageContext, notes: &'a HashSet<String>) -> Self {
        Self {
            builder: Builder::default(),
            inline: Inline::default(),
            page,
            notes,
            skipped: None,
            articles: usize::from(is_main),
            preformatted: None,
            open: HashMap::new(),
            lists: Vec::new(),
            sections: Vec::new(),
            table: None,
            is_in_cell: false,
            left_out: LeftOut::default(),
        }
    }

    fn read(&mut self, part: NodeRef<'_, Node>) {
        for edge in part.traverse() {
            match edge {
                Edge::Open(node) => self.open(&node),
                Edge::Close(node) => self.close(&node),
            }
            if self.builder.is_full() {
                break;
            }
        }
        self.flush();
    }

    fn open(&mut self, node: &NodeRef<'_, Node>) {
        if self.skipped.is_some() {
            return;
        }
        match *node.value() {
            // White space between cells is ignored.
            Node::Text(_) if self.table.is_some() && !self.is_in_cell => {}
            Node::Text(ref text) => match &mut self.preformatted {
                Some((_, code)) => code.push_str(text),
                None => self.inline.push(text),
            },
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
        if let Some((_, code)) = &mut self.preformatted {
            if element.name() == "br" {
                code.push('\n');
            }
            return;
        }
        self.open_shifted(wrapped);
        match element.name() {
            "article" | "main" => self.articles += 1,
            "br" => return self.inline.line_break(),
            "q" => return self.inline.push("“"),
            "mfenced" => return self.inline.push("("),
            "mtr" | "mtd" => return self.inline.gap(),
            "a" if self.is_reference(wrapped) => {
                let label = fragment(element).unwrap_or_default();
                return self.inline.reference(&label);
            }
            name => {
                if is_apart(wrapped) {
                    self.inline.gap();
                }
                if let Some(mark) = mark(name, element) {
                    return self.inline.open(mark);
                }
            }
        }
        if self.table.is_some() {
            return self.open_in_table(element.name());
        }
        if is_paragraph(wrapped) {
            self.flush();
        }
        if element.attr("id").is_some_and(|label| self.notes.contains(label)) && element.name() != "a" {
            self.open_note(wrapped);
        }
        match element.name() {
            "pre" | "listing" | "xmp" => self.preformatted = Some((id, String::new())),
            "ul" | "ol" | "dl" => self.open_list(wrapped),
            "li" if !self.lists.is_empty() => self.open_item(wrapped),
            "dt" | "dd" if !self.lists.is_empty() => self.open_entry(element.name()),
            "section" | "aside" => self.sections.push((id, None)),
            "blockquote" | "details" => self.open_group(id),
            "table" if !self.page.is_layout(id) => self.table = Some((id, TableReader::default())),
            _ => {
                if let Some(label) = element.attr(LABEL_ATTRIBUTE) {
                    self.open_group(id);
                    self.label(Inline::from_text(label));
                }
            }
        }
    }

    /// Opens the parts that an element raises, lowers or groups.
    fn open_shifted(&mut self, wrapped: ElementRef<'_>) {
        for (before, shift) in formula::parts(wrapped) {
            self.inline.push(&before);
            self.inline.open_shift(shift);
        }
        if let Some(shift) = self.shift(wrapped) {
            self.inline.open_shift(shift);
        }
    }

    fn close_shifted(&mut self, wrapped: ElementRef<'_>) {
        if self.shift(wrapped).is_some() {
            self.inline.close_shift();
        }
        for _ in formula::parts(wrapped) {
            self.inline.close_shift();
        }
    }

    fn shift(&self, wrapped: ElementRef<'_>) -> Option<Shift> {
        let is_inline =
            !is_paragraph(wrapped) && !matches!(wrapped.value().name(), "td" | "th" | "tr" | "img");
        self.page.shift(wrapped).filter(|_| is_inline)
    }

    fn close_element(&mut self, wrapped: ElementRef<'_>) {
        let (id, element) = (wrapped.id(), wrapped.value());
        if let Some((preformatted, _)) = &self.preformatted {
            if *preformatted == id
                && let Some((_, code)) = self.preformatted.take()
            {
                self.builder.code(&code);
                self.close_blocks(id);
            }
            return;
        }
        self.close_shifted(wrapped);
        match element.name() {
            "article" | "main" => self.articles = self.articles.saturating_sub(1),
            "q" => return self.inline.push("”"),
            "mfenced" => return self.inline.push(")"),
            name => {
                if let Some(mark) = mark(name, element) {
                    return self.inline.close(mark);
                }
                if is_apart(wrapped) {
                    self.inline.gap();
                }
            }
        }
        if self.table.is_some() {
            return self.close_in_table(id, element);
        }
        if let Some(level) = heading_level(element) {
            // Many generators add a link to the heading itself.
            let text = std::mem::take(&mut self.inline).without_end(&['¶', '#', '🔗']);
            let level = u8::try_from(level).unwrap_or(u8::MAX);
            self.builder.heading(level, text, anchor(wrapped));
            let written = self.builder.written();
            self.sections.iter_mut().for_each(|(_, heading)| _ = heading.get_or_insert((level, written)));
        }
        match element.name() {
            "summary" | "legend" => self.take_label(),
            "dt" if !self.lists.is_empty() => {
                self.take_label();
                if let Some(list) = self.lists.last_mut() {
                    list.is_after_term = true;
                }
            }
            "ul" | "ol" | "dl" => self.close_list(),
            _ if is_paragraph(wrapped) => self.flush(),
            _ => {}
        }
        self.close_blocks(id);
    }

    /// Closes what an element has opened. A heading does not hold behind the section that it begins.
    fn close_blocks(&mut self, id: NodeId) {
        if let Some((_, Some((level, written)))) = self.sections.pop_if(|(section, _)| *section == id)
            && level > 1
            && self.builder.written() > written
        {
            self.builder.heading(level, Inline::default(), None);
        }
        for _ in 0..self.open.remove(&id).unwrap_or(0) {
            self.builder.close();
        }
    }

    fn take_label(&mut self) {
        let text = std::mem::take(&mut self.inline);
        self.label(text);
    }

    /// A name that asks is a question that the rest answers.
    fn label(&mut self, text: Inline) {
        if text.text().trim_end().ends_with(['?', '？', '؟']) {
            self.builder.question(text);
        } else {
            self.builder.label(text);
        }
    }

    fn open_group(&mut self, id: NodeId) {
        self.builder.open_group();
        *self.open.entry(id).or_default() += 1;
    }

    fn open_note(&mut self, element: ElementRef<'_>) {
        let label = element.attr("id").unwrap_or_default().to_owned();
        if element.value().name() == "li" {
            // The item is opened first.
            return;
        }
        self.builder.open_note(&label);
        *self.open.entry(element.id()).or_default() += 1;
    }

    fn open_list(&mut self, wrapped: ElementRef<'_>) {
        let element = wrapped.value();
        let is_definitions = element.name() == "dl";
        if !is_definitions {
            self.builder.open_list();
            *self.open.entry(wrapped.id()).or_default() += 1;
        }
        let start = element.attr("start").and_then(|start| start.trim().parse().ok()).unwrap_or(1);
        let numbers = match element.attr("type") {
            Some("a") => Numbers::Letters { is_upper: false },
            Some("A") => Numbers::Letters { is_upper: true },
            Some("i") => Numbers::Roman { is_upper: false },
            Some("I") => Numbers::Roman { is_upper: true },
            _ => Numbers::Decimal,
        };
        let number = (element.name() == "ol").then_some((start, numbers));
        self.lists.push(List { number, is_in_entry: false, is_after_term: false });
    }

    fn open_item(&mut self, wrapped: ElementRef<'_>) {
        let element = wrapped.value();
        let marker = match self.lists.last_mut().and_then(|list| list.number.as_mut()) {
            Some((number, numbers)) => {
                *number =
                    element.attr("value").and_then(|value| value.trim().parse().ok()).unwrap_or(*number);
                let marker = numbers.marker(*number);
                *number = number.saturating_add(1);
                marker
            }
            None => "-".to_owned(),
        };
        self.builder.open_item(&marker, !has_open_box(wrapped));
        *self.open.entry(wrapped.id()).or_default() += 1;
        let label = element.attr("id").filter(|id| self.notes.contains(*id)).map(str::to_owned);
        if let Some(label) = label {
            self.builder.open_note(&label);
            *self.open.entry(wrapped.id()).or_default() += 1;
        }
    }

    /// A term and its definitions are a group with the term as its label.
    fn open_entry(&mut self, name: &str) {
        let Some(list) = self.lists.last_mut() else { return };
        let is_new = name == "dt" && !list.is_after_term;
        if is_new && std::mem::take(&mut list.is_in_entry) {
            self.builder.close();
        }
        if !list.is_in_entry {
            list.is_in_entry = true;
            self.builder.open_group();
        }
        if name == "dd" {
            list.is_after_term = false;
        }
    }

    fn close_list(&mut self) {
        self.flush();
        if self.lists.pop().is_some_and(|list| list.is_in_entry) {
            self.builder.close();
        }
    }

    fn is_reference(&self, link: ElementRef<'_>) -> bool {
        let is_raised =
            || link.parent().and_then(ElementRef::wrap).is_some_and(|parent| parent.value().name() == "sup");
        let is_raised = is_raised() || link.attr("role") == Some("doc-noteref");
        is_raised && fragment(link.value()).is_some_and(|label| self.notes.contains(&label))
    }

    fn open_in_table(&mut self, name: &str) {
        let Some((_, table)) = &mut self.table else { return };
        match name {
            "thead" => table.is_in_head = true,
            "tr" => table.start_row(),
            "td" | "th" | "caption" => {
                self.inline = Inline::default();
                self.is_in_cell = true;
            }
            name if is_block(name) => self.inline.line_break(),
            _ => {}
        }
    }

    fn close_in_table(&mut self, id: NodeId, element: &Element) {
        let Some((table_id, table)) = &mut self.table else { return };
        match element.name() {
            "thead" => {
                table.end_row();
                table.is_in_head = false;
            }
            "td" | "th" => {
                let text = std::mem::take(&mut self.inline).finish();
                table.cell(text, element.name() == "th", element.attr("colspan"), element.attr("rowspan"));
                self.is_in_cell = false;
            }
            "caption" => {
                table.caption = std::mem::take(&mut self.inline).finish();
                self.is_in_cell = false;
            }
            "table" if *table_id == id => {
                let rows = std::mem::take(table).finish();
                self.table = None;
                self.is_in_cell = false;
                self.builder.table(rows);
            }
            name if is_block(name) => self.inline.line_break(),
            _ => {}
        }
    }

    /// Writes the current paragraph.
    fn flush(&mut self) {
        let text = std::mem::take(&mut self.inline);
        self.builder.paragraph(text);
    }
}

impl Numbers {
    fn marker(self, number: i64) -> String {
        let cased = |text: String, is_upper: bool| if is_upper { text.to_uppercase() } else { text };
        let text = match self {
            Self::Decimal => number.to_string(),
            Self::Letters { is_upper } => cased(letters(number), is_upper),
            Self::Roman { is_upper } => cased(roman(number), is_upper),
        };
        format!("{text}.")
    }
}

/// a, b, …, z, aa, ab, … as CSS counts.
fn letters(number: i64) -> String {
    let mut rest = number;
    let mut letters = Vec::new();
    while rest > 0 {
        rest -= 1;
        letters.push(char::from(b'a' + u8::try_from(rest % 26).unwrap_or_default()));
        rest /= 26;
    }
    if letters.is_empty() { number.to_string() } else { letters.into_iter().rev().collect() }
}

fn roman(number: i64) -> String {
    const DIGITS: [(i64, &str); 13] = [
        (1000, "m"),
        (900, "cm"),
        (500, "d"),
        (400, "cd"),
        (100, "c"),
        (90, "xc"),
        (50, "l"),
        (40, "xl"),
        (10, "x"),
        (9, "ix"),
        (5, "v"),
        (4, "iv"),
        (1, "i"),
    ];
    if !(1..4000).contains(&number) {
        return number.to_string();
    }
    let mut rest = number;
    let mut roman = String::new();
    for (value, digit) in DIGITS {
        while rest >= value {
            roman.push_str(digit);
            rest -= value;
        }
    }
    roman
}

/// Whether an item begins with a task box that is not ticked.
fn has_open_box(item: ElementRef<'_>) -> bool {
    let boxes = item
        .descendent_elements()
        .take_while(|inner| inner.id() == item.id() || !matches!(inner.value().name(), "ul" | "ol"));
    let mut boxes = boxes.filter(|inner| {
        inner.value().name() == "input"
            && inner.attr("type").is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox"))
    });
    boxes.next().is_some_and(|first| first.attr("checked").is_none())
}

fn mark(name: &str, element: &Element) -> Option<MarkKind> {
    match name {
        "code" | "kbd" | "samp" | "tt" => Some(MarkKind::Code),
        "a" if element.attr("href").is_some() => Some(MarkKind::Link),
        "em" | "i" | "cite" | "var" | "dfn" => Some(MarkKind::Emphasis),
        "strong" | "b" => Some(MarkKind::Strong),
        _ => None,
    }
}

/// A data table, not a layout table.
#[derive(Default)]
struct TableReader {
    caption: Text,
    rows: Vec<TableRow>,
    is_in_head: bool,
    /// For each column, how many more rows the cell above spans, and its text.
    reaching: Vec<(usize, Text)>,
    /// Whether all cells of the open row that are not blank are header cells.
    has_only_headers: bool,
    own_cells: usize,
}

impl TableReader {
    fn start_row(&mut self) {
        self.end_row();
        self.rows.push(TableRow::default());
        self.has_only_headers = true;
        self.own_cells = 0;
        self.fill_from_above();
    }

    fn cell(&mut self, text: Text, is_header: bool, columns: Option<&str>, rows: Option<&str>) {
        if self.rows.is_empty() {
            self.start_row();
        }
        // The corner of a table may be an ordinary cell.
        self.has_only_headers &= is_header || (self.own_cells == 0 && text.is_blank());
        self.own_cells += 1;
        let span =
            |value: Option<&str>| value.and_then(|v| v.trim().parse().ok()).unwrap_or(1).clamp(1, MAX_SPAN);
        for at in 0..span(columns) {
            // A cell over several columns is written once, one over several rows in each row.
            let text = if at == 0 { text.clone() } else { Text::default() };
            let Some(row) = self.rows.last_mut() else { return };
            if self.reaching.len() <= row.cells.len() {
                self.reaching.resize(row.cells.len() + 1, (0, Text::default()));
            }
            if let Some(below) = self.reaching.get_mut(row.cells.len()) {
                *below = (span(rows) - 1, text.clone());
            }
            row.cells.push(text);
        }
        self.fill_from_above();
    }

    /// A row is a header where the file says so: in the head of the table, or by its cells.
    fn end_row(&mut self) {
        if let Some(row) = self.rows.last_mut() {
            // A single cell over all columns names a group, whatever its element.
            let is_group = self.own_cells == 1 && row.cells.len() > 1;
            row.is_header = row.is_header
                || (!row.cells.is_empty() && (self.is_in_head || self.has_only_headers || is_group));
        }
    }

    fn finish(mut self) -> Rows {
        self.end_row();
        Rows { caption: self.caption, rows: self.rows }
    }

    fn fill_from_above(&mut self) {
        let Some(row) = self.rows.last_mut() else { return };
        while let Some((rows, text)) = self.reaching.get_mut(row.cells.len())
            && *rows > 0
        {
            *rows -= 1;
            row.cells.push(text.clone());
        }
    }
}
