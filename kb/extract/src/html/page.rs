//! Reads the main part of a page into the model. Walks the tree without recursion, because elements may be nested to any depth.

use std::collections::{HashMap, HashSet};

use ego_tree::{NodeId, NodeRef, iter::Edge};
use scraper::{ElementRef, Html, Node, node::Element};

use super::cells::TableReader;
use super::elements::{anchor, heading_level, is_block, is_paragraph, parts};
use super::layout::{
    follows_alike, formula_shift, has_word, is_between_words, is_name, is_named_box, is_repeated, role,
};
use super::reading::{PageContext, Reading, has_text};
use super::style::Effect;
use super::{icon, select};
use crate::builder::{Builder, Inline};
use crate::document::{Document, MarkKind};
use crate::left_out::LeftOut;
use crate::numerals::{letters, roman};
use crate::shifted::{Line, Shift};
use crate::{ExtractError, Properties};

/// Marks behind a word that lead to a condition.
const CONDITION_MARKS: [char; 3] = ['*', '†', '‡'];
/// Maximum text of a page that waits for a script to show its content: "Loading, please wait."
const MAX_LOADING_BYTES: usize = 100;
const NOTE_COVERED: &str = "its content is hidden until a script shows it";
/// Nodes that are searched for one that changes what is around them.
const MAX_SEARCHED_NODES: usize = 500;

/// Reads the parts of the page with the content, or else the whole page.
pub(super) fn read(html: &Html, properties: Properties) -> Result<Document, ExtractError> {
    let page = PageContext::from_html(html);
    let notes = notes(html);
    let read = |parts: &[NodeRef<'_, Node>], is_main: bool| {
        let mut reader = Reader::new(is_main, &page, &notes);
        parts.iter().for_each(|part| reader.read(*part));
        if is_main && parts.iter().any(has_mark) {
            for condition in footer_conditions(html, &page) {
                reader.builder.heading(1, Inline::default(), None);
                reader.read(*condition);
            }
        }
        reader.left_out.notes().into_iter().for_each(|note| reader.builder.left_out(note));
        reader.builder.finish(properties.clone())
    };
    let whole = || read(&[html.tree.root()], false);
    let is_main = |element: &Element| element.name() == "main" || element.attr("role") == Some("main");
    let has_content =
        |read: &Result<Document, _>| !matches!(read, Err(ExtractError::Empty | ExtractError::NoContent));
    let main = parts(html, &page, is_main);
    if !main.shown.is_empty() {
        return Some(read(&main.shown, true)).filter(has_content).unwrap_or_else(whole);
    }
    // A single article may be the whole content, or a small part of it.
    let articles = parts(html, &page, |element| element.name() == "article");
    let article = articles.shown.first().map(|article| read(&[*article], true));
    let whole = whole();
    let covered = if main.covered.is_empty() { articles.covered } else { main.covered };
    if !has_content(&whole) || whole.as_ref().is_ok_and(|page| page.text.len() <= MAX_LOADING_BYTES) {
        let read = Some(read(&covered, true)).filter(has_content);
        if let Some(Ok(mut document)) = read {
            document.notes.push(NOTE_COVERED.to_owned());
            return Ok(document);
        }
    }
    match (article, &whole) {
        (Some(Ok(article)), Ok(all)) if article.text.len() >= all.text.len() / 2 => Ok(article),
        _ => whole,
    }
}

/// Returns whether a part has the mark of a condition behind a word.
fn has_mark(part: &NodeRef<'_, Node>) -> bool {
    let texts = part.descendants().filter_map(|node| node.value().as_text());
    texts.into_iter().any(|text| text.contains(CONDITION_MARKS))
}

/// Conditions below the content of the page, in a footer of the site: "* Only in May."
fn footer_conditions<'a>(html: &'a Html, page: &PageContext) -> impl Iterator<Item = ElementRef<'a>> {
    let is_left_out = |element: ElementRef<'_>| {
        let mut above = element.ancestors().filter_map(ElementRef::wrap);
        page.hidden.hiding(element).is_some()
            || above.any(|above| {
                matches!(above.value().name(), "main" | "article" | "p" | "li" | "small")
                    || page.hidden.hiding(above).is_some()
            })
    };
    select(html, "footer p, footer li, footer small, footer div").filter(move |element| {
        element
            .text()
            .find(|text| !text.trim().is_empty())
            .is_some_and(|text| text.trim_start().starts_with(CONDITION_MARKS))
            && !element.child_elements().any(is_paragraph)
            && !is_left_out(*element)
    })
}

/// The ids of footnotes: elements that a raised link leads to.
fn notes(html: &Html) -> HashSet<String> {
    let links = select(html, "a[href^='#']").filter(|link| is_raised(*link));
    let targets = links.filter_map(|link| fragment(link.value()));
    let ids: HashSet<String> =
        select(html, "[id]").filter_map(|element| element.attr("id").map(str::to_owned)).collect();
    targets.filter(|target| ids.contains(target)).collect()
}

/// Returns whether a link looks like the number of a note: `<sup><a>`, `<a><sup>`.
fn is_raised(link: ElementRef<'_>) -> bool {
    let is_sup = |element: ElementRef<'_>| element.value().name() == "sup";
    link.ancestors().take(2).filter_map(ElementRef::wrap).any(is_sup)
        || link.children().count() == 1 && link.child_elements().next().is_some_and(is_sup)
        || link.attr("role") == Some("doc-noteref")
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
    preformatted: Option<(NodeId, Line)>,
    /// The open elements that opened a group, list, item or note, each with the number of blocks to close.
    open: HashMap<NodeId, usize>,
    lists: Vec<List>,
    /// The open sections and boxes, each with the level of its heading and the bytes that were written up to that.
    sections: Vec<(NodeId, Option<(u8, usize)>)>,
    /// The open element whose text is a heading or names the blocks around it.
    name: Option<ElementRef<'a>>,
    table: Option<(NodeId, TableReader)>,
    is_in_cell: bool,
    /// The sign that the open cell shows without text.
    sign: Option<String>,
    /// True if the open paragraph has words of its own, not only those of pictures.
    has_words: bool,
    /// True if something without text was shown since the last paragraph.
    has_gap: bool,
    left_out: LeftOut,
}

struct List {
    /// Numbers of the items of an ordered list.
    numbers: Option<Numbers>,
    /// True if a term of a list of definitions opened a group.
    is_in_entry: bool,
}

struct Numbers {
    next: i64,
    step: i64,
    /// As the attribute of the list names it: a, A, i, I.
    kind: String,
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
            name: None,
            table: None,
            is_in_cell: false,
            sign: None,
            has_words: false,
            has_gap: false,
            left_out: LeftOut::default(),
        }
    }

    fn read(&mut self, part: NodeRef<'a, Node>) {
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

    fn open(&mut self, node: &NodeRef<'a, Node>) {
        if self.skipped.is_some() {
            return;
        }
        match *node.value() {
            // White space between cells is ignored.
            Node::Text(_) if self.table.is_some() && !self.is_in_cell => {}
            Node::Text(ref text) => match &mut self.preformatted {
                Some((_, code)) => code.push(text),
                None => {
                    self.has_words |= !text.trim().is_empty();
                    self.inline.push(text);
                }
            },
            Node::Element(_) => {
                ElementRef::wrap(*node).into_iter().for_each(|element| self.open_element(element))
            }
            _ => {}
        }
    }

    fn close(&mut self, node: &NodeRef<'a, Node>) {
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

    fn open_element(&mut self, wrapped: ElementRef<'a>) {
        match &self.page.reading(wrapped, self.articles > 0) {
            Reading::Content => return self.open_content(wrapped),
            // "Click Save to go on."
            Reading::NotContent
                if wrapped.value().name() == "button" && is_between_words(wrapped) && has_word(wrapped) =>
            {
                return self.inline.apart();
            }
            Reading::NotContent => self.leave_out(wrapped),
            // Outside of the main part, scripts hide menus and dialogs.
            Reading::Hidden => {
                self.has_gap |= is_paragraph(wrapped) && has_text(wrapped);
                self.left_out.hidden += usize::from(self.articles > 0 && has_text(wrapped));
            }
            Reading::NotShown => {
                // Icons are hidden from screen readers only.
                if wrapped.attr("aria-hidden") == Some("true") {
                    self.note_sign(wrapped);
                }
                self.has_gap |= is_paragraph(wrapped) && has_text(wrapped);
            }
            Reading::Struck => {
                self.inline.apart();
                self.left_out.struck += usize::from(has_text(wrapped));
            }
            Reading::Text(text) => {
                self.has_words |= wrapped.attr("data-cfemail").is_some();
                self.inline.push_apart(text);
            }
        }
        self.skipped = Some(wrapped.id());
    }

    /// Notes what the open cell shows if it has no text.
    fn note_sign(&mut self, wrapped: ElementRef<'_>) {
        if self.is_in_cell && self.sign.is_none() {
            self.sign = icon::in_cell(wrapped);
        }
    }

    fn leave_out(&mut self, wrapped: ElementRef<'_>) {
        self.inline.apart();
        self.note_sign(wrapped);
        if !icon::is_unseen(wrapped.value()) {
            return;
        }
        self.left_out.pictures += 1;
        if is_between_words(wrapped) {
            self.inline.push_apart(icon::UNKNOWN);
        } else {
            self.has_gap |= self.inline.text().is_empty();
        }
    }

    fn open_content(&mut self, wrapped: ElementRef<'a>) {
        let (id, element) = (wrapped.id(), wrapped.value());
        let raised = self.preformatted.is_some().then(|| self.shift(wrapped)).flatten();
        if let Some((_, code)) = &mut self.preformatted {
            if element.name() == "br" {
                code.push("\n");
            }
            return raised.into_iter().for_each(|shift| code.open(shift));
        }
        self.shift(wrapped).into_iter().for_each(|shift| self.inline.open_shift(shift));
        match element.name() {
            "article" | "main" => self.articles += 1,
            "br" if self.table.is_none() && self.inline.text().ends_with('\n') => return self.flush(),
            "br" => return self.inline.line_break(),
            "q" => return self.inline.push("“"),
            // Their signs are not in the text.
            "mfrac" | "mroot" | "msqrt" | "mfenced" | "mtable" => {
                self.left_out.symbols += 1;
                return self.inline.push_apart(icon::UNKNOWN);
            }
            "mtr" | "mtd" => return self.inline.gap(),
            "a" if self.is_reference(wrapped) => {
                let label = fragment(element).unwrap_or_default();
                return self.inline.reference(&label);
            }
            name => {
                self.set_apart(wrapped);
                self.note_sign(wrapped);
                if let Some(mark) = mark(name, element) {
                    return self.inline.open(mark);
                }
            }
        }
        if self.table.is_some() {
            self.open_in_table(role(element));
            if matches!(role(element), "td" | "th") {
                self.note_sign(wrapped);
            }
            return;
        }
        if is_paragraph(wrapped) {
            // A name ends where other blocks begin.
            if element.name() != "dt" && !self.inline.text().is_empty() {
                self.end_name();
            }
            self.flush();
        }
        if let Some(tab) = self.page.tabs.name(id) {
            self.end_name();
            self.flush();
            self.open_group(id);
            self.label(Inline::from_text(tab));
        }
        // An item is opened before its note.
        if !matches!(element.name(), "a" | "li") {
            self.open_note(wrapped);
        }
        match element.name() {
            "pre" | "listing" | "xmp" => self.preformatted = Some((id, Line::default())),
            "ul" | "ol" | "dl" | "menu" => self.open_list(wrapped),
            "li" if !self.lists.is_empty() => self.open_item(wrapped),
            "dt" | "dd" if !self.lists.is_empty() => self.open_entry(element.name()),
            "blockquote" | "details" | "fieldset" => self.open_group(id),
            "table" if self.page.layout_tables.contains(&id) => {}
            _ if role(element) == "table" => self.table = Some((id, TableReader::default())),
            _ if is_named_box(wrapped) => self.open_group(id),
            "section" | "aside" => self.sections.push((id, None)),
            _ if is_repeated(wrapped) => self.sections.push((id, None)),
            _ => {}
        }
        let names = match element.name() {
            "summary" | "legend" => true,
            "dt" => !self.lists.is_empty(),
            _ => heading_level(element).is_some() || (self.builder.is_group_empty() && is_name(element)),
        };
        if names {
            self.name = self.name.or(Some(wrapped));
        }
    }

    /// Separates words that a style shows apart, or that are in elements next to each other without a space.
    fn set_apart(&mut self, wrapped: ElementRef<'_>) {
        if self.page.hidden.has_effect(wrapped, Effect::Apart) {
            self.inline.gap();
        }
        let parent = wrapped.parent().and_then(ElementRef::wrap);
        if (parent.is_some_and(|parent| self.page.hidden.sets_children_apart(parent))
            || follows_alike(wrapped))
            && !self.inline.is_in(MarkKind::Code)
        {
            self.inline.apart();
        }
    }

    fn shift(&self, wrapped: ElementRef<'_>) -> Option<Shift> {
        let is_inline =
            !is_paragraph(wrapped) && !matches!(wrapped.value().name(), "td" | "th" | "tr" | "img");
        formula_shift(wrapped).or_else(|| self.page.hidden.shift(wrapped).filter(|_| is_inline))
    }

    fn close_element(&mut self, wrapped: ElementRef<'a>) {
        let (id, element) = (wrapped.id(), wrapped.value());
        let raised = self.preformatted.is_some().then(|| self.shift(wrapped)).flatten();
        if let Some((preformatted, code)) = &mut self.preformatted {
            raised.into_iter().for_each(|_| code.close());
            if *preformatted == id
                && let Some((_, mut code)) = self.preformatted.take()
            {
                self.builder.code(&code.take());
                self.close_blocks(id);
            }
            return;
        }
        self.shift(wrapped).into_iter().for_each(|_| self.inline.close_shift());
        match element.name() {
            "article" | "main" => self.articles = self.articles.saturating_sub(1),
            "button" => self.inline.apart(),
            "q" => return self.inline.push("”"),
            name => {
                if self.page.hidden.has_effect(wrapped, Effect::Apart) {
                    self.inline.gap();
                }
                if let Some(mark) = mark(name, element) {
                    return self.inline.close(mark);
                }
            }
        }
        if self.table.is_some() {
            return self.close_in_table(id, element);
        }
        // A definition may have several terms.
        if self.name == Some(wrapped) && element.name() != "dt" {
            self.end_name();
        }
        match element.name() {
            "ul" | "ol" | "dl" | "menu" => self.close_list(),
            _ if is_paragraph(wrapped) => self.flush(),
            _ => {}
        }
        self.close_blocks(id);
    }

    /// Writes the text of an element that names what follows or what is around it.
    fn end_name(&mut self) {
        let Some(element) = self.name.take() else { return };
        let text = std::mem::take(&mut self.inline);
        let Some(level) = heading_level(element.value()).filter(|_| !self.builder.is_group_empty()) else {
            return self.label(text);
        };
        // Many generators add a link to the heading itself.
        let text = text.without_end(&['¶', '#', '🔗']);
        let level = u8::try_from(level).unwrap_or(u8::MAX);
        self.builder.heading(level, text, anchor(element));
        let written = self.builder.written();
        self.sections.iter_mut().for_each(|(_, heading)| _ = heading.get_or_insert((level, written)));
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

    /// A name that asks is a question that the rest answers.
    fn label(&mut self, text: Inline) {
        if text.text().trim_end().ends_with(['?', '？', '؟']) {
            self.builder.question(text);
        } else if self.builder.is_group_empty() {
            self.builder.label(text.without_end(&['¶', '#', '🔗']));
        } else {
            self.builder.paragraph(text);
        }
    }

    fn open_group(&mut self, id: NodeId) {
        self.builder.open_group();
        *self.open.entry(id).or_default() += 1;
    }

    /// Opens a note if an element is one.
    fn open_note(&mut self, element: ElementRef<'_>) {
        if let Some(label) = element.attr("id").filter(|id| self.notes.contains(*id)) {
            self.builder.open_note(label);
            *self.open.entry(element.id()).or_default() += 1;
        }
    }

    fn open_list(&mut self, wrapped: ElementRef<'_>) {
        let element = wrapped.value();
        let is_definitions = element.name() == "dl";
        if !is_definitions {
            self.builder.open_list();
            *self.open.entry(wrapped.id()).or_default() += 1;
        }
        let is_reversed = element.attr("reversed").is_some();
        let items = || wrapped.child_elements().filter(|item| item.value().name() == "li").count();
        let first = if is_reversed { i64::try_from(items()).unwrap_or(i64::MAX) } else { 1 };
        let start = element.attr("start").and_then(|start| start.trim().parse().ok()).unwrap_or(first);
        let kind = self.page.hidden.numbers(wrapped).or(element.attr("type")).unwrap_or_default().to_owned();
        let has_numbers = element.name() == "ol" && !self.page.hidden.has_effect(wrapped, Effect::NoMarkers);
        let numbers = Numbers { next: start, step: if is_reversed { -1 } else { 1 }, kind };
        self.lists.push(List { numbers: has_numbers.then_some(numbers), is_in_entry: false });
    }

    fn open_item(&mut self, wrapped: ElementRef<'_>) {
        let element = wrapped.value();
        let number = element.attr("value").and_then(|value| value.trim().parse().ok());
        let numbers = self.lists.last_mut().and_then(|list| list.numbers.as_mut());
        let marker = numbers.map_or_else(|| "-".to_owned(), |numbers| numbers.marker(number));
        self.builder.open_item(&marker, !has_open_box(wrapped));
        *self.open.entry(wrapped.id()).or_default() += 1;
        self.open_note(wrapped);
    }

    /// A term and its definitions are a group with the term as its label.
    fn open_entry(&mut self, name: &str) {
        let is_other_term = name == "dt" && self.name.is_some();
        if is_other_term && !self.inline.text().is_empty() {
            let is_question = self.inline.text().trim_end().ends_with(['?', '？', '؟']);
            self.inline.push(if is_question { " " } else { ", " });
        }
        let Some(list) = self.lists.last_mut() else { return };
        if name == "dt" && !is_other_term && std::mem::take(&mut list.is_in_entry) {
            self.builder.close();
        }
        if !std::mem::replace(&mut list.is_in_entry, true) {
            self.builder.open_group();
        }
    }

    fn close_list(&mut self) {
        self.end_name();
        self.flush();
        if self.lists.pop().is_some_and(|list| list.is_in_entry) {
            self.builder.close();
        }
    }

    fn is_reference(&self, link: ElementRef<'_>) -> bool {
        is_raised(link) && fragment(link.value()).is_some_and(|label| self.notes.contains(&label))
    }

    fn open_in_table(&mut self, name: &str) {
        let Some((_, table)) = &mut self.table else { return };
        match name {
            "thead" => table.is_in_head = true,
            "tr" => table.start_row(),
            "td" | "th" | "caption" => {
                self.inline = Inline::default();
                self.is_in_cell = true;
                self.sign = None;
            }
            name if is_block(name) => self.inline.line_break(),
            _ => {}
        }
    }

    fn close_in_table(&mut self, id: NodeId, element: &Element) {
        let Some((table_id, table)) = &mut self.table else { return };
        match role(element) {
            "thead" => {
                table.end_row();
                table.is_in_head = false;
            }
            "td" | "th" => {
                // A picture in the first cell shows what the row is about.
                let is_known = |sign: &String| sign != icon::UNKNOWN || !table.is_row_empty();
                if let Some(sign) = self.sign.take().filter(|sign| is_known(sign))
                    && self.inline.text().trim().is_empty()
                {
                    self.inline.push(&sign);
                }
                let text = std::mem::take(&mut self.inline).finish();
                table.cell(text, role(element) == "th", element.attr("colspan"), element.attr("rowspan"));
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
        if self.name.is_some() {
            return self.inline.apart();
        }
        let text = std::mem::take(&mut self.inline);
        let is_blank = text.text().trim().is_empty();
        self.builder.paragraph(text);
        // A picture alone announces nothing.
        let has_words = std::mem::take(&mut self.has_words);
        if std::mem::take(&mut self.has_gap) && is_blank || !(is_blank || has_words) {
            self.builder.gap();
        }
    }
}

impl Numbers {
    /// The marker of the next item, whose number may be given.
    fn marker(&mut self, number: Option<i64>) -> String {
        let number = number.unwrap_or(self.next);
        self.next = number.saturating_add(self.step);
        let text = match self.kind.as_str() {
            "a" | "A" => letters(number),
            "i" | "I" => roman(number),
            _ => None,
        };
        let text = text.unwrap_or_else(|| number.to_string());
        if matches!(self.kind.as_str(), "A" | "I") {
            format!("{}.", text.to_uppercase())
        } else {
            format!("{text}.")
        }
    }
}

/// Returns whether an item begins with a task box that is not ticked.
fn has_open_box(item: ElementRef<'_>) -> bool {
    let boxes = item
        .descendent_elements()
        .take(MAX_SEARCHED_NODES)
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

#[cfg(test)]
mod tests;
