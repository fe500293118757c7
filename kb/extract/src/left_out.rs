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
        let notes = [
            (self.hidden, "left out", ["passage", "passages"], "of hidden text"),
            (self.struck, "left out", ["passage", "passages"], "of struck-through text"),
            (
                self.pictures,
                "left out",
                ["picture, video or field", "pictures, videos and fields"],
                "without a description",
            ),
            (self.symbols, "wrote \u{fffd} for", ["symbol", "symbols"], "of a font or formula"),
        ];
        let note = |(count, verb, [one, several], what): (usize, &str, [&str; 2], &str)| {
            (count > 0).then(|| format!("{verb} {count} {} {what}", if count == 1 { one } else { several }))
        };
        notes.into_iter().filter_map(note).collect()
    }
}
