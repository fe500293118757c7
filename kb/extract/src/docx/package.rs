//! The parts of a Word document, which is a ZIP archive. Nothing is written to disk, so names in it cannot do harm.

use std::io::{Cursor, Read};

use zip::{ZipArchive, result::ZipError};

use super::broken;
use crate::{ExtractError, encoding, xml};

/// Maximum decompressed size of all parts. Text compresses to about a tenth; images are not decompressed.
const MAX_UNPACKED_BYTES: u64 = 64 * 1024 * 1024;
/// Maximum number of parts; each image and font is one.
const MAX_PARTS: usize = 20_000;

pub(super) struct Package<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    unpacked: u64,
}

impl<'a> Package<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, ExtractError> {
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| zip_error(&error))?;
        if archive.len() > MAX_PARTS {
            return Err(broken(&format!("its archive has more than {MAX_PARTS} files")));
        }
        Ok(Self { archive, unpacked: 0 })
    }

    /// The name of the part with the text, from the relationships of the package.
    pub(super) fn main_part(&mut self) -> Result<String, ExtractError> {
        let usual = "word/document.xml";
        let mut target = None;
        if let Some(relationships) = self.part("_rels/.rels")? {
            xml::walk(&relationships, |step| {
                let xml::Step::Open(_, element) = step else { return };
                let is_document =
                    element.attribute("Type").is_some_and(|kind| kind.ends_with("/officeDocument"));
                if is_document && target.is_none() {
                    target = element.attribute("Target").map(|name| name.trim_start_matches('/').to_owned());
                }
            })?;
        }
        let name = target.filter(|name| self.position(name).is_some()).unwrap_or_else(|| usual.to_owned());
        if self.position(&name).is_some() && !name.starts_with("xl/") && !name.starts_with("ppt/") {
            return Ok(name);
        }
        let found = if self.has_folder("xl/") {
            "an Excel workbook"
        } else if self.has_folder("ppt/") {
            "a PowerPoint presentation"
        } else if self.position("content.xml").is_some() {
            "an OpenDocument file"
        } else {
            "a ZIP archive"
        };
        let expected = crate::sniff::name(crate::Format::Docx).to_owned();
        Err(ExtractError::WrongFormat { found: found.to_owned(), expected })
    }

    /// The text of a part; `None` if it does not exist.
    pub(super) fn part(&mut self, name: &str) -> Result<Option<String>, ExtractError> {
        let Some(position) = self.position(name) else { return Ok(None) };
        let file = self.archive.by_index(position).map_err(|error| zip_error(&error))?;
        let mut bytes = Vec::new();
        let left = MAX_UNPACKED_BYTES - self.unpacked;
        // The size that the archive declares is not trusted.
        let read =
            file.take(left + 1).read_to_end(&mut bytes).map_err(|error| broken(&error.to_string()))? as u64;
        if read > left {
            return Err(ExtractError::UnpacksTooLarge(MAX_UNPACKED_BYTES));
        }
        self.unpacked += read;
        let (text, _) =
            encoding::decode(&bytes, None).map_err(|_| broken(&format!("{name} in it is not text")))?;
        Ok(Some(text))
    }

    /// Names of parts are case-insensitive.
    fn position(&self, name: &str) -> Option<usize> {
        self.archive.file_names_raw().position(|found| found.eq_ignore_ascii_case(name.as_bytes()))
    }

    fn has_folder(&self, folder: &str) -> bool {
        self.archive.file_names_raw().any(|name| name.starts_with(folder.as_bytes()))
    }
}

fn zip_error(error: &ZipError) -> ExtractError {
    let reason = error.to_string();
    if reason.to_lowercase().contains("password") { ExtractError::Encrypted } else { broken(&reason) }
}
