//! Reads a Word document.

mod body;
mod numbering;
mod package;
mod styles;
mod symbols;
mod text;

use super::{ExtractError, Properties, document::Document, properties, xml};
use numbering::Numbering;
use package::Package;
use styles::Styles;

/// Reads a document into the model.
pub(crate) fn document(bytes: &[u8]) -> Result<Document, ExtractError> {
    let mut package = Package::open(bytes)?;
    let main = package.main_part()?;
    let folder = main.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let mut sibling = |name: &str| package.part(&format!("{folder}/{name}"));
    let styles = sibling("styles.xml")?.map(|xml| Styles::read(&xml)).transpose()?.unwrap_or_default();
    let numbering =
        sibling("numbering.xml")?.map(|xml| Numbering::read(&xml)).transpose()?.unwrap_or_default();
    let footnotes = sibling("footnotes.xml")?.unwrap_or_default();
    let endnotes = sibling("endnotes.xml")?.unwrap_or_default();
    let core = package.part("docProps/core.xml")?.unwrap_or_default();
    let document = package.part(&main)?.ok_or_else(|| broken("its text is missing"))?;
    drop(package);

    let (builder, has_hidden) = body::read(&document, &styles, numbering, &footnotes, &endnotes)?;
    let mut properties = core_properties(&core);
    properties.language = properties.language.or(styles.language);
    builder.finish(properties).map_err(|error| match error {
        ExtractError::Empty if has_hidden => ExtractError::OnlyInvisibleText,
        error => error,
    })
}

/// Properties of the document; an error in them does not prevent reading the text.
fn core_properties(core: &str) -> Properties {
    let mut properties = Properties::default();
    let _ = xml::texts(core, |element, text| match element {
        "title" => properties.title = properties::document_title(text),
        "language" => properties.language = properties::language(text),
        _ => {}
    });
    properties
}

fn broken(reason: &str) -> ExtractError {
    ExtractError::Broken(reason.to_owned())
}

#[cfg(test)]
mod tests;
