//! The bookmarks of a PDF, which are its headings with their pages.

use std::collections::{HashMap, HashSet};

use hayro_interpret::hayro_syntax::{
    Pdf,
    object::{Array, Dict, MaybeRef, Name, Object, ObjectIdentifier, String as PdfString},
};

use super::info;
use crate::clean::one_line;

const MAX_BOOKMARKS: usize = 10_000;
const MAX_DEPTH: u8 = 12;
/// Maximum number of nodes in the tree of named destinations.
const MAX_NODES: usize = 50_000;

/// A bookmark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bookmark {
    /// 1 is the outermost.
    pub(super) level: u8,
    pub(super) title: String,
    /// Index of the page.
    pub(super) page: usize,
}

/// Bookmarks in document order; empty if there are none or they have no targets.
pub(super) fn read(pdf: &Pdf) -> Vec<Bookmark> {
    let Some(catalog) = info::catalog(pdf) else { return Vec::new() };
    let Some(first) = catalog.get::<Dict<'_>>(b"Outlines").and_then(|root| root.get::<Dict<'_>>(b"First"))
    else {
        return Vec::new();
    };
    let places = Places::new(pdf, &catalog);
    let mut bookmarks: Vec<Bookmark> = Vec::new();
    let mut seen = HashSet::new();
    let mut stack = vec![(1, first)];
    while let Some((level, item)) = stack.pop() {
        if bookmarks.len() >= MAX_BOOKMARKS || !item.obj_id().is_none_or(|id| seen.insert(id)) {
            break;
        }
        let title =
            item.get::<PdfString<'_>>(b"Title").map(|title| one_line(&info::decode_text(title.as_bytes())));
        if let (Some(title), Some(page)) =
            (title.filter(|title| !title.is_empty()), places.target_page(&item))
        {
            bookmarks.push(Bookmark { level, title, page });
        }
        stack.extend(item.get::<Dict<'_>>(b"Next").map(|next| (level, next)));
        if level < MAX_DEPTH {
            stack.extend(item.get::<Dict<'_>>(b"First").map(|child| (level + 1, child)));
        }
    }
    // Bookmarks that go backwards are not headings of the text.
    let is_in_order = bookmarks.windows(2).all(|pair| pair[0].page <= pair[1].page);
    if is_in_order { bookmarks } else { Vec::new() }
}

/// Named destinations of links and bookmarks.
struct Places<'a> {
    pages: HashMap<ObjectIdentifier, usize>,
    named: HashMap<Vec<u8>, Object<'a>>,
}

impl<'a> Places<'a> {
    fn new(pdf: &'a Pdf, catalog: &Dict<'a>) -> Self {
        let id = |(at, page): (usize, &hayro_interpret::hayro_syntax::page::Page<'_>)| {
            Some((page.raw().obj_id()?, at))
        };
        let pages = pdf.pages().iter().enumerate().filter_map(id).collect();
        let mut named = HashMap::new();
        let mut nodes: Vec<Dict<'a>> = Vec::new();
        nodes.extend(catalog.get::<Dict<'a>>(b"Names").and_then(|names| names.get::<Dict<'a>>(b"Dests")));
        let mut visited = 0;
        while let Some(node) = nodes.pop().filter(|_| visited < MAX_NODES) {
            visited += 1;
            nodes.extend(node.get::<Array<'a>>(b"Kids").iter().flat_map(|kids| kids.iter::<Dict<'a>>()));
            if let Some(names) = node.get::<Array<'a>>(b"Names") {
                let mut entries = names.iter::<Object<'a>>().take(MAX_NODES);
                while let (Some(key), Some(value)) = (entries.next(), entries.next()) {
                    named.extend(key.into_string().map(|key| (key.as_bytes().to_vec(), value)));
                }
            }
        }
        // The form before PDF 1.2.
        if let Some(old) = catalog.get::<Dict<'a>>(b"Dests") {
            for name in old.keys().take(MAX_NODES) {
                named.extend(old.get::<Object<'a>>(&*name).map(|value| (name.to_vec(), value)));
            }
        }
        Self { pages, named }
    }

    fn target_page(&self, bookmark: &Dict<'a>) -> Option<usize> {
        let target = bookmark.get::<Object<'a>>(b"Dest").or_else(|| {
            let action = bookmark.get::<Dict<'a>>(b"A")?;
            let goes_to = action.get::<Name<'_>>(b"S").is_some_and(|kind| &*kind == b"GoTo");
            goes_to.then(|| action.get::<Object<'a>>(b"D")).flatten()
        })?;
        let target = match target {
            Object::String(name) => self.named.get(name.as_bytes())?.clone(),
            Object::Name(name) => self.named.get(&*name)?.clone(),
            other => other,
        };
        let array = match target {
            Object::Dict(dict) => dict.get::<Array<'a>>(b"D")?,
            other => other.into_array()?,
        };
        let MaybeRef::Ref(page) = array.raw_iter().next()? else { return None };
        self.pages.get(&page.into()).copied()
    }
}
