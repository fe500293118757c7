//! Rows of Markdown tables as text that can be read without the table.

/// A row with column names for embedding: `Day: Monday; Opening hours: closed`. The unchanged row if the number of its cells
/// differs from that of the header.
pub fn named_cells(header: &str, row: &str) -> String {
    let Some(cells) = named(header, row) else { return row.to_owned() };
    let named = cells
        .iter()
        .map(|(name, cell)| if name.is_empty() { cell.clone() } else { format!("{name}: {cell}") });
    named.collect::<Vec<_>>().join("; ")
}

/// A row as answers show it: `Monday: closed`, or with more columns `Standard – Delivery time: 2 to 4 days; Price: 4.90 euros`.
/// The first cell is the subject, the header names the others. The result is still Markdown.
pub fn row_text(header: &str, row: &str) -> Option<String> {
    let cells = named(header, row)?;
    let ((_, first), others) = cells.split_first()?;
    match others {
        [] => None,
        [(_, cell)] => Some(format!("{first}: {cell}")),
        others => {
            let others = others.iter().filter(|(_, cell)| !cell.is_empty());
            let others: Vec<_> = others.map(|(name, cell)| format!("{name}: {cell}")).collect();
            Some(format!("{first} – {}", others.join("; ")))
        }
    }
}

/// The first cell of a row, which says what the row is about.
pub(crate) fn row_label(row: &str) -> &str {
    cells(row).next().unwrap_or_default().trim()
}

/// The cells of a row with their column names. `None` if the numbers of cells differ.
fn named(header: &str, row: &str) -> Option<Vec<(String, String)>> {
    // Counted first, because many rows may have one long header.
    let number = cells(row).count();
    if number < 2 || cells(header).take(number + 1).count() != number {
        return None;
    }
    let owned = |cell: &str| cell.trim().to_owned();
    Some(cells(header).map(owned).zip(cells(row).map(owned)).collect())
}

/// The cells of a row, which may have bars at its ends. `\|` is a bar inside a cell.
fn cells(row: &str) -> impl Iterator<Item = &str> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let row = row.strip_suffix('|').filter(|rest| !rest.ends_with('\\')).unwrap_or(row);
    let mut is_escaped = false;
    row.split(move |c| {
        #[cfg(test)]
        crate::work::add(1);
        let is_bar = c == '|' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_bar
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_two_columns_becomes_name_and_value() {
        assert_eq!(row_text("| Day | Hours |", "Monday | closed").as_deref(), Some("Monday: closed"));
        assert_eq!(named_cells("| Day | Hours |", "Monday | closed"), "Day: Monday; Hours: closed");
    }

    #[test]
    fn columns_after_the_first_are_named_if_there_are_several() {
        let header = "| Method | Time | Price | Free from |";
        assert_eq!(
            row_text(header, "Express | next day | 12.90 euros | never").as_deref(),
            Some("Express – Time: next day; Price: 12.90 euros; Free from: never")
        );
        assert_eq!(
            row_text(header, "Express | next day | | never").as_deref(),
            Some("Express – Time: next day; Free from: never")
        );
    }

    #[test]
    fn a_row_that_does_not_match_its_header_is_unchanged() {
        assert_eq!(row_text("| A | B | C |", "1 | 2"), None);
        assert_eq!(named_cells("| A | B | C |", "1 | 2"), "1 | 2");
        assert_eq!(row_text("| A |", "| 1 |"), None);
    }

    #[test]
    fn an_escaped_bar_is_part_of_its_cell() {
        assert_eq!(row_text("| Key | Means |", r"a \| b | or").as_deref(), Some(r"a \| b: or"));
        assert!(cells(r"| a | b \|").map(str::trim).eq(["a", r"b \|"]));
    }
}
