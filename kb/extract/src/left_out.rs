//! Counts what is left out of a document on purpose, so that nothing is lost in silence.

/// "2, 3 and 4 more", with at most `most` numbers by name.
pub(crate) fn named(numbers: &[impl ToString], most: usize) -> String {
    let named: Vec<String> = numbers.iter().take(most).map(ToString::to_string).collect();
    let more = numbers.len() - named.len();
    named.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

/// Text that the readers leave out or cannot read.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    /// Passages that the page does not show.
    pub(crate) hidden: usize,
    /// Passages that the page shows struck through.
    pub(crate) struck: usize,
    /// Pictures and the like without a description.
    pub(crate) pictures: usize,
    /// Symbols of fonts whose characters are unknown, and parts of formulas that do not fit on a line.
    pub(crate) symbols: usize,
}

impl LeftOut {
    /// A note for each kind.
    pub(crate) fn notes(&self) -> Vec<String> {
        let passages = |count: usize| format!("{count} passage{}", if count == 1 { "" } else { "s" });
        let mut notes = Vec::new();
        if self.hidden > 0 {
            notes.push(format!("left out {} of hidden text", passages(self.hidden)));
        }
        if self.struck > 0 {
            notes.push(format!("left out {} of struck-through text", passages(self.struck)));
        }
        if self.pictures > 0 {
            let pictures =
                if self.pictures == 1 { "picture, video or field" } else { "pictures, videos and fields" };
            notes.push(format!("left out {} {pictures} without a description", self.pictures));
        }
        if self.symbols > 0 {
            let symbols = if self.symbols == 1 { "symbol" } else { "symbols" };
            notes.push(format!("wrote \u{fffd} for {} {symbols} of a font or formula", self.symbols));
        }
        notes
    }
}
