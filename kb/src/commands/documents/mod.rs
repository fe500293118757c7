//! `kb list`, `kb show`, `kb enable`, `kb disable` and `kb remove`.

mod change;
mod list;
mod show;

pub(super) use change::{remove, set_enabled};
pub(super) use list::list;
pub(super) use show::show;

use crate::knowledge_base::{Precision, StoredDocument, select};

/// The documents with these names, without duplicates, in the order of the names.
fn selected<'a>(
    documents: &'a [StoredDocument],
    names: &[String],
    precision: Precision,
) -> anyhow::Result<Vec<&'a StoredDocument>> {
    let mut chosen: Vec<&StoredDocument> = Vec::new();
    for name in names {
        for document in select(documents, name, precision)? {
            if chosen.iter().all(|earlier| earlier.id != document.id) {
                chosen.push(document);
            }
        }
    }
    Ok(chosen)
}
