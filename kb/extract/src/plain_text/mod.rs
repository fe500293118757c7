//! Reads plain text: headings, paragraphs, lists, tables and questions as a reader sees them.
//!
//! Where the structure is not clear, lines stay together as they are in the file, so that none is quoted without the others.

mod columns;
mod headings;

use std::collections::HashSet;

use super::{ExtractError, Properties};
use crate::builder::{Builder, Inline};
use crate::clean::ends_sentence;
use crate::document::Document;
use crate::markers::{Marker, Markers};
use crate::notation::indentation;
use headings::Part;

/// Maximum length of a label or question.
const MAX_LABEL_CHARS: usize = 200;
/// Lines of a text are wrapped at its margin if it is at least as wide as this.
const MIN_MARGIN: usize = 50;
/// Maximum nesting of quotations and labelled parts.
const MAX_DEPTH: usize = 6;

/// Reads a text file. Its first line is the title, if it stands alone and is no sentence.
pub(crate) fn document(text: &str) -> Result<Document, ExtractError> {
    let margin = text.lines().map(|line| line.trim_end().chars().count()).max().unwrap_or_default();
    let mut reader = Reader { margin, ..Reader::default() };
    reader.markers.note_marks(text);
    let lines: Vec<&str> = text.lines().collect();
    let mut title = None;
    for part in headings::parts(&lines) {
        match part {
            Part::Text(range) => reader.read(lines.get(range).unwrap_or_default(), 0),
            Part::Heading { level, text, is_first } => {
                reader.close_lists(0);
                title = is_first.then(|| text.to_owned()).or(title);
                reader.markers.counters.note_heading(text);
                reader.builder.heading(level, Inline::from_text(text), None);
            }
            Part::Verbatim(range) => reader.builder.code(&lines.get(range).unwrap_or_default().join("\n")),
        }
    }
    reader.builder.finish(Properties { title, ..Properties::default() })
}

#[derive(Default)]
struct Reader {
    builder: Builder,
    /// Width of the longest line.
    margin: usize,
    markers: Markers,
    /// The styles of numbers with text between one and the next: "1. Scope", a line, "2. Prices".
    titles: HashSet<String>,
    /// The lists whose last item is open, outermost first.
    lists: Vec<List>,
}

struct List {
    /// Columns of the marker and of the text.
    marker: usize,
    text: usize,
    style: String,
    /// Of "1.2.3": 3.
    depth: usize,
}

impl Reader {
    fn read(&mut self, lines: &[&str], depth: usize) {
        let outside = std::mem::take(&mut self.lists);
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            let from = lines.get(at..).unwrap_or_default();
            let text = line.trim();
            let is_rule = !text.contains(char::is_alphanumeric) && text.len() > 2;
            if text.is_empty() {
                at += 1;
                continue;
            }
            if let Some(marker) = self.marker(lines, at) {
                self.markers.counters.note(&marker);
                self.open_item(line, &marker);
                let length = 1 + self.lines_of_item(lines, at, &marker);
                let more = from.iter().take(length).skip(1).map(|line| line.trim());
                let of_item: Vec<&str> = [marker.rest].into_iter().chain(more).collect();
                self.paragraph(&of_item);
                at += length;
                continue;
            }
            self.close_lists(indentation(line));
            let quoted = from.iter().take_while(|line| quoted(line).is_some()).count();
            if quoted > 0 && depth < MAX_DEPTH {
                let inside: Vec<&str> =
                    from.iter().take(quoted).filter_map(|line| self::quoted(line)).collect();
                let text = inside.join(" ");
                if text.trim().ends_with('?') && !text.contains(['.', '!']) {
                    // The answer stands right below it.
                    self.builder.paragraph(Inline::from_text(&text));
                } else {
                    self.builder.open_group();
                    self.read(&inside, depth + 1);
                    self.builder.close();
                }
                at += quoted;
            } else if let Some((length, table)) = columns::table(from) {
                match table {
                    Some(table) => self.builder.table(table),
                    None => self.builder.code(&from.get(..length).unwrap_or_default().join("\n")),
                }
                at += length;
            } else if is_rule {
                at += 1;
            } else if let Some(length) = self.labelled(lines, at).filter(|_| depth < MAX_DEPTH) {
                self.builder.open_group();
                if text.ends_with(['?', '？']) {
                    self.builder.question(Inline::from_text(text));
                } else {
                    self.builder.label(Inline::from_text(text));
                }
                self.read(from.get(1..length).unwrap_or_default(), depth + 1);
                self.builder.close();
                at += length;
            } else if let Some(length) = self.question(from) {
                let question: Vec<&str> = from.iter().take(length).map(|line| line.trim()).collect();
                self.builder.question(Inline::from_text(&question.join(" ")));
                at += length;
            } else {
                let length = self.lines_of_paragraph(lines, at);
                self.paragraph(&from.iter().take(length).map(|line| line.trim()).collect::<Vec<_>>());
                at += length;
            }
        }
        self.close_lists(0);
        self.lists = outside;
    }

    /// Writes lines; those that only the margin divides are joined.
    fn paragraph(&mut self, lines: &[&str]) {
        let mut text = String::new();
        let mut before = "";
        for line in lines {
            if !text.is_empty() {
                text.push(if self.goes_on(before, line) { ' ' } else { '\n' });
            }
            text.push_str(line);
            before = line;
        }
        self.builder.paragraph(Inline::from_text(&text));
    }

    /// Returns whether a sentence goes on in the next line.
    fn goes_on(&self, line: &str, next: &str) -> bool {
        let next = next.trim_start();
        let first_word = next.split(' ').next().unwrap_or_default().chars().count();
        let is_broken =
            || self.margin >= MIN_MARGIN && line.trim_end().chars().count() + 1 + first_word > self.margin;
        !ends_sentence(line) && (next.starts_with(char::is_lowercase) || is_broken())
    }

    fn marker<'l>(&self, lines: &[&'l str], at: usize) -> Option<Marker<'l>> {
        self.markers.item(lines, at, |style| self.lists.iter().any(|list| list.style == style))
    }

    fn open_item(&mut self, line: &str, marker: &Marker<'_>) {
        let column = indentation(line);
        let is_sibling =
            |list: &List| list.style == marker.style && list.marker <= column && column < list.text;
        let is_known = self.lists.iter().any(is_sibling);
        while let Some(list) = self.lists.last().filter(|list| !is_sibling(list)) {
            // Without a list of its own, an item at the column of another marker is part of it, unless its number says otherwise: it has
            // as many parts, or goes on with a list that has ended.
            let is_apart = marker.depth > 1 && list.depth >= marker.depth || !is_known && marker.value > 1;
            let is_outside = column < list.marker || column < list.text && is_apart;
            if !is_known && !is_outside {
                break;
            }
            if is_known && column >= list.text {
                break;
            }
            self.lists.pop();
            self.builder.close_items(1);
        }
        let is_next = self.lists.last().is_some_and(is_sibling);
        if is_next {
            self.lists.pop();
            self.builder.close();
        } else {
            self.builder.open_list();
        }
        let before_text = line.trim().chars().count().saturating_sub(marker.rest.chars().count());
        self.lists.push(List {
            marker: column,
            text: column + before_text,
            style: marker.style.clone(),
            depth: marker.depth,
        });
        self.builder.open_item(marker.text, marker.is_ticked);
    }

    /// Closes the items whose text begins right of a column.
    fn close_lists(&mut self, column: usize) {
        while self.lists.pop_if(|list| column == 0 || column < list.text).is_some() {
            self.builder.close_items(1);
        }
    }

    /// Lines below an item that belong to it: those set in further, those in which its sentence goes on, and all lines of a block with
    /// one item only, or of one whose numbers stand above text.
    fn lines_of_item(&mut self, lines: &[&str], at: usize, marker: &Marker<'_>) -> usize {
        let is_blank = |at: usize| lines.get(at).is_none_or(|line| line.trim().is_empty());
        let is_first = at.checked_sub(1).is_none_or(is_blank);
        let next = (at + 1..).take_while(|at| !is_blank(*at)).find_map(|below| {
            let next = self.marker(lines, below)?;
            let is_next = next.style == marker.style && next.value == marker.value + 1;
            Some(is_next && below > at + 1)
        });
        let is_alone = is_first && marker.text.contains(char::is_alphanumeric) && next.is_none();
        let line = lines.get(at).copied().unwrap_or_default();
        let below = lines.get(at + 1).copied().unwrap_or_default();
        let indent = indentation(line);
        let is_text = indentation(below) <= indent && !self.goes_on(line, below);
        if next == Some(true) && is_text && !below.trim_end().ends_with([':', '：']) {
            self.titles.insert(marker.style.clone());
        }
        let is_alone = is_alone || self.titles.contains(&marker.style);
        let belongs = |at: &usize| {
            let (Some(above), Some(line)) = (lines.get(at - 1), lines.get(*at)) else { return false };
            !is_blank(*at)
                && (is_alone
                    || indentation(line) > indent
                    || (indentation(line) == indent && self.goes_on(above, line)))
                && self.marker(lines, *at).is_none()
                && columns::table(lines.get(*at..).unwrap_or_default()).is_none()
        };
        (at + 1..).take_while(belongs).count()
    }

    fn lines_of_paragraph(&self, lines: &[&str], at: usize) -> usize {
        let mut length = 1;
        while let Some(line) = lines.get(at + length).filter(|line| !line.trim().is_empty()) {
            let from = lines.get(at + length..).unwrap_or_default();
            let above = lines.get(at + length - 1).copied().unwrap_or_default();
            // A symbol such as ✓ belongs to its line.
            let is_symbol =
                |c: char| !(c.is_ascii() || c.is_alphanumeric() || "“”„‘’«»‹›¿¡–—…€£".contains(c));
            let begins = self.markers.is_condition(lines, at + length)
                || above.trim_end().ends_with([':', '：'])
                || line.trim().starts_with(is_symbol)
                || self.marker(lines, at + length).is_some()
                || quoted(line).is_some()
                || columns::table(from).is_some()
                || (!self.goes_on(above, line)
                    && (self.question(from).is_some() || self.labelled(lines, at + length).is_some()));
            if begins {
                break;
            }
            length += 1;
        }
        length
    }

    /// The number of lines of a short line and what is set in below it.
    fn labelled(&self, lines: &[&str], at: usize) -> Option<usize> {
        let label = lines.get(at)?;
        let next = lines.get(at + 1)?;
        let column = indentation(label);
        let is_below = |line: &&&str| line.trim().is_empty() || indentation(line) > column;
        let is_label = !next.trim().is_empty()
            && indentation(next) > column
            && label.chars().nth(MAX_LABEL_CHARS).is_none()
            && !label.trim_end().ends_with(['.', '!', ',', ';'])
            && !self.goes_on(label, next)
            && self.marker(lines, at + 1).is_none();
        is_label.then(|| 1 + lines.iter().skip(at + 1).take_while(is_below).count())
    }

    /// The number of lines of a question that begins here and that other lines follow.
    fn question(&self, from: &[&str]) -> Option<usize> {
        let mut length = 0;
        let mut chars = 0;
        loop {
            let line = from.get(length).filter(|line| !line.trim().is_empty())?;
            length += 1;
            chars += line.len();
            if line.trim_end().ends_with(['?', '？', '؟']) {
                break;
            }
            let next = from.get(length).copied().unwrap_or_default();
            if chars > MAX_LABEL_CHARS
                || line.contains(['.', '!', '?']) && ends_sentence(line)
                || !self.goes_on(line, next)
            {
                return None;
            }
        }
        let has_answer = from.iter().skip(length).any(|line| !line.trim().is_empty());
        let is_one =
            from.iter().take(length).map(|line| line.matches(['?', '？', '؟']).count()).sum::<usize>() == 1;
        (has_answer && is_one && chars <= MAX_LABEL_CHARS).then_some(length)
    }
}

/// The text of a line that is quoted as in a mail. ">" before a number is a sign.
fn quoted(line: &str) -> Option<&str> {
    let text = line.trim_start().strip_prefix('>')?;
    let is_sign = text.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '=');
    (!is_sign).then(|| text.strip_prefix(' ').unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use crate::document::{BlockKind, Document};

    fn kinds(document: &Document) -> Vec<(String, String)> {
        fn add(document: &Document, blocks: &[crate::document::Block], kinds: &mut Vec<(String, String)>) {
            for block in blocks {
                let kind = format!("{:?}", block.kind);
                let text = document.slice(&block.range).to_owned();
                if block.children.is_empty() || matches!(block.kind, BlockKind::Item { .. }) {
                    kinds.push((kind.split(' ').next().unwrap().to_owned(), text));
                } else {
                    add(document, &block.children, kinds);
                }
            }
        }
        let mut found = Vec::new();
        add(document, &document.blocks, &mut found);
        found
    }

    fn read(text: &str) -> Vec<(String, String)> {
        kinds(&super::document(text).unwrap())
    }

    fn pairs(found: &[(String, String)]) -> Vec<(&str, &str)> {
        found.iter().map(|(kind, text)| (kind.as_str(), text.as_str())).collect()
    }

    #[test]
    fn a_short_line_right_above_text_is_a_heading_if_another_one_is() {
        let headings = |text: &str| {
            let document = crate::document(text.as_bytes(), crate::Format::PlainText).unwrap();
            let headings =
                document.blocks.iter().filter(|block| matches!(block.kind, BlockKind::Heading { .. }));
            headings.map(|block| document.slice(&block.range).to_owned()).collect::<Vec<_>>()
        };
        let two =
            "Museum\n\nHoraires\nLe musée est ouvert du mercredi au dimanche.\n\nChiens\nIls sont admis.\n";
        assert_eq!(headings(two), ["Museum", "Horaires", "Chiens"]);
        let paragraphs =
            "House\n\n§ 3 Bans\nNot allowed are\n- fires\n- cars\n\n§ 4 Music\nMusic ends at ten.\n";
        assert_eq!(headings(paragraphs), ["House", "§ 3 Bans", "§ 4 Music"]);
        let one =
            "Museum\n\nYou reach us\nMonday to Friday from nine.\n\nWe are open all year, also on Sundays.\n";
        assert_eq!(headings(one), ["Museum"], "one may be the beginning of a sentence");
        let address = "Museum\n\nAnna Smith\nMain Street 5\nYork\n\nBen Jones\nHigh Street 7\nLeeds\n";
        assert_eq!(headings(address), ["Museum"]);
        let wrapped = "Museum\n\nWe are very glad to see all of our\nGuests on Sunday.\n\nYou can also see some of the very\nOld houses.\n";
        assert_eq!(headings(wrapped), ["Museum"], "the next word had no room");
    }

    #[test]
    fn the_first_line_is_the_title_if_it_stands_alone() {
        assert_eq!(
            pairs(&read("Opening hours\n\nWe open at 9.")),
            [("Heading", "Opening hours"), ("Paragraph", "We open at 9.")]
        );
        assert_eq!(
            pairs(&read("We open at 9.\n\nNot on Sundays.")).first(),
            Some(&("Paragraph", "We open at 9."))
        );
        assert_eq!(
            pairs(&read("# of seats is limited to 40.")),
            [("Paragraph", "# of seats is limited to 40.")]
        );
    }

    #[test]
    fn a_line_with_less_indentation_ends_an_item() {
        assert_eq!(
            pairs(&read("Covered:\n- Fire\n- Water\n  from pipes\nNot covered:\n- Theft")),
            [
                ("Paragraph", "Covered:"),
                ("Item", "- Fire"),
                ("Item", "- Water from pipes"),
                ("Paragraph", "Not covered:"),
                ("Item", "- Theft"),
            ]
        );
    }

    #[test]
    fn signs_and_dates_are_no_markers() {
        assert_eq!(
            pairs(&read("- 20 °C to + 40 °C\n\n24. Dezember: geschlossen\n\n31. Dezember: auf")).len(),
            3
        );
        assert!(
            read("- 20 °C to + 40 °C\n\n24. Dezember: geschlossen")
                .iter()
                .all(|(kind, _)| kind == "Paragraph")
        );
    }

    #[test]
    fn lists_nest_by_indentation() {
        let document = super::document("1. a\n   - b\n   - c\n2. d").unwrap();
        assert_eq!(document.text, "1. a\n  - b\n  - c\n2. d");
        assert_eq!((document.blocks.len(), document.blocks[0].children.len()), (1, 2));
    }

    #[test]
    fn headings_are_lines_that_look_like_one() {
        let headings = |text: &str| -> Vec<(u8, String)> {
            let document = super::document(text).unwrap();
            let heading = |block: &crate::document::Block| match block.kind {
                BlockKind::Heading { level } => Some((level, document.slice(&block.range).to_owned())),
                _ => None,
            };
            document.blocks.iter().filter_map(heading).collect()
        };
        for (text, expected) in [
            (
                "TERMS\n=====\n\nNot covered\n-----------\n\nTheft.\n\nCovered\n-------\nFire.",
                "1TERMS 2Not covered 2Covered",
            ),
            ("NOT COVERED\n\nTheft.\n\nCOVERED\n\nFire.", "2NOT COVERED 2COVERED"),
            (
                "Terms\n\n1. GENERAL\n1.1 They apply.\n\n2. EXCLUSIONS\n2.1 Theft.",
                "1Terms 21. GENERAL 22. EXCLUSIONS",
            ),
            ("1. Allgemeines\n\nText.\n\n2. Haftung\n\nText.", "21. Allgemeines 22. Haftung"),
            (
                "AGB\n\n§ 4 Haftung\n\nText.\n\n§ 5 Kosten: Höhe\n\nText.",
                "1AGB 2§ 4 Haftung 2§ 5 Kosten: Höhe",
            ),
            (
                "Conditions\n\nRemboursement\n\nSept jours.\n\nAucun remboursement\n\nDeux jours.",
                "1Conditions 2Remboursement 2Aucun remboursement",
            ),
            ("## No cubierto ##\n\nRobo.\n\n## Cubierto ##\n\nFuego.", "2No cubierto 2Cubierto"),
            ("I. Geltung\n\nText.\n\nII. Ausschluss\n\nText.", "2I. Geltung 2II. Ausschluss"),
            ("1. Pack it\n\n2. Send it\n\n3. Wait\n\nThen call us.", ""),
            (
                "We pay.\n\nMonday 9-17\n\nSaturday closed\n\nSunday closed\n\nRing the bell.",
                "2Sunday closed",
            ),
            ("Not covered:\n\nTheft\n\nWar\n\nCovered:\n\nFire", ""),
            ("Wir zahlen.\n\nNOTE: ISO 9001\n\nText.\n\n24. Dezember: zu\n\nText.", ""),
        ] {
            let found: Vec<String> =
                headings(text).iter().map(|(level, text)| format!("{level}{text}")).collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
        let title = |text: &str| super::document(text).unwrap().properties.title;
        assert_eq!(title("NOT COVERED\n\nTheft.\n\nCOVERED\n\nFire.").as_deref(), Some("NOT COVERED"));
    }

    #[test]
    fn short_lines_that_may_be_headings_or_not_stay_together() {
        assert_eq!(
            pairs(&read("Hours\n\nMonday 9-17\n\nSaturday closed\n\nSunday closed")),
            [("Heading", "Hours"), ("Code", "Monday 9-17\n\nSaturday closed\n\nSunday closed")]
        );
    }

    /// The kinds of the blocks with their depth, and the markers of items.
    fn outline(text: &str) -> String {
        fn add(blocks: &[crate::document::Block], depth: usize, found: &mut Vec<String>) {
            for block in blocks {
                let name = match &block.kind {
                    BlockKind::Item { marker, .. } => marker.clone(),
                    BlockKind::List => String::new(),
                    kind => format!("{kind:?}").split(' ').next().unwrap().to_owned(),
                };
                if !(name.is_empty() || depth > 0 && block.kind == BlockKind::Paragraph) {
                    found.push(format!("{}{name}", ">".repeat(depth)));
                }
                let inner =
                    depth + usize::from(matches!(block.kind, BlockKind::Item { .. } | BlockKind::Group));
                add(&block.children, inner, found);
            }
        }
        let mut found = Vec::new();
        add(&super::document(text).unwrap().blocks, 0, &mut found);
        found.join(" ")
    }

    #[test]
    fn numbered_clauses_nest_by_their_numbers() {
        for (text, expected) in [
            (
                "1. Definitions\n1.1. Service means this.\n1.2. User means you.\n2. Payment\n2.1. We charge:\n(i) fees;\n(ii) costs.\n2.2. Cards.",
                "1. >1.1. >1.2. 2. >2.1. >>(i) >>(ii) >2.2.",
            ),
            (
                "(1) Wir haften.\n\n(2) Wir haften nicht für\n\na) Diebstahl,\nb) Krieg.\n\n(3) Ende.",
                "(1) (2) >a) >b) (3)",
            ),
            ("1. Do not:\n- smoke\n- run\n2. Do:\n- walk", "1. >- >- 2. >-"),
            ("• Not covered:\no Theft\no War\n• Covered:\no Fire", "- >- >- - >-"),
            ("h) one\ni) two\nj) three", "h) i) j)"),
            ("In the year 2023 it was\n2.1 million. In Section\n2.2 of the report we say more.", "Paragraph"),
            ("A. Müller is our manager. He does not\nb. work.", "Paragraph"),
            ("It is a thought\n– or not –\nthat counts.", "Paragraph"),
            ("o Smoking\no Dogs", "- -"),
            ("[x] SSO\n[ ] Export", "[x] [ ]"),
        ] {
            assert_eq!(outline(text), expected, "{text}");
        }
    }

    #[test]
    fn a_sentence_that_the_margin_divides_is_joined() {
        let wrapped = "- A form that is signed by both parents and that is not older\nthan three weeks\n- No animals\n\nWe are looking forward to meeting you in person one day in\nVienna or Graz.\nBring a card.";
        assert_eq!(
            super::document(wrapped).unwrap().text,
            "- A form that is signed by both parents and that is not older than three weeks\n- No animals\n\nWe are looking \
             forward to meeting you in person one day in Vienna or Graz.\nBring a card."
        );
        let lines = "Monday 9-17\nTuesday closed";
        assert_eq!(super::document(lines).unwrap().text, lines);
    }

    #[test]
    fn questions_and_labels_belong_to_what_is_below_them() {
        for text in [
            "Q: Can I cancel?\nA: No.\n\nQ: Is it free?\nA: Yes.",
            "Kann ich stornieren?\nNein.\nKostet es?\nJa.",
            "Puis-je annuler ?\n\nNon.\n\nEst-ce gratuit ?\n\nOui.",
        ] {
            assert_eq!(outline(text), "Question Paragraph Question Paragraph", "{text}");
        }
        assert_eq!(
            outline("Can I cancel?\n    No.\n\nIs it free?\n    Yes."),
            "Group >Question Group >Question"
        );
        let rules = "Room rules (not for suites):\nNo pets. No smoking.";
        assert_eq!(pairs(&read(rules))[1], ("Paragraph", "No pets. No smoking."));
        assert_eq!(
            pairs(&read("Nicht versichert:\n   Diebstahl\n   Krieg\n\nVersichert:\n   Feuer")),
            [
                ("Label", "Nicht versichert:"),
                ("Paragraph", "Diebstahl\nKrieg"),
                ("Label", "Versichert:"),
                ("Paragraph", "Feuer")
            ]
        );
    }

    #[test]
    fn quoted_lines_are_a_group_and_a_quoted_question_is_one() {
        assert_eq!(outline("Anna wrote:\n> We close.\n> - today\n\nNo."), "Paragraph Group >- Paragraph");
        assert_eq!(outline("> Can I return it?\n\nNo."), "Paragraph Paragraph");
        assert_eq!(outline("> 18 years only"), "Paragraph");
    }

    #[test]
    fn conditions_behind_asterisks_and_lines_with_symbols_are_paragraphs() {
        assert_eq!(
            pairs(&read(
                "It is free.*\nIt costs 5.**\nEntry (1)\n\n* From 90 EUR.\n** Once.\n(1) For all.\n\n✓ API\n✗ Fax"
            )),
            [
                ("Paragraph", "It is free.*\nIt costs 5.**\nEntry (1)"),
                ("Paragraph", "* From 90 EUR."),
                ("Paragraph", "** Once."),
                ("Paragraph", "(1) For all."),
                ("Paragraph", "✓ API"),
                ("Paragraph", "✗ Fax"),
            ]
        );
    }

    #[test]
    fn columns_are_tables_if_their_header_is_clear() {
        let rows = |text: &str| -> Vec<(bool, String)> {
            let document = super::document(text).unwrap();
            let tables = document.blocks.iter().filter(|block| block.kind == BlockKind::Table);
            let row = |row: &crate::document::Block| {
                (
                    row.kind == BlockKind::Row { is_header: true },
                    document.slice(&row.range).replace('\t', "|"),
                )
            };
            tables.flat_map(|table| table.children.iter().map(row).collect::<Vec<_>>()).collect()
        };
        let expected =
            |rows: &[(bool, &str)]| rows.iter().map(|(is, row)| (*is, (*row).to_owned())).collect::<Vec<_>>();
        let plans =
            expected(&[(true, "Plan|Price|SSO"), (false, "Basic|5 EUR|no"), (false, "Pro|9 EUR|yes")]);
        for text in [
            "Plan        Price     SSO\nBasic       5 EUR     no\nPro         9 EUR     yes",
            "Plan\tPrice\tSSO\nBasic\t5 EUR\tno\nPro\t9 EUR\tyes",
            "| Plan | Price | SSO |\n|---|---|---|\n| Basic | 5 EUR | no |\n| Pro | 9 EUR | yes |",
            "+-----+\n| Plan | Price | SSO |\n+-----+\n| Basic | 5 EUR | no |\n| Pro | 9 EUR | yes |\n+-----+",
            "Plan   Price  SSO\n-----------------\nBasic  5 EUR  no\nPro    9 EUR  yes",
            "Plan   | Price | SSO\n-------+-------+----\nBasic  | 5 EUR | no\nPro | 9 EUR | yes",
        ] {
            assert_eq!(rows(text), plans, "{text}");
        }
        let days = expected(&[(false, "Lunes|9-17"), (false, "Martes|cerrado")]);
        assert_eq!(rows("Lunes ....... 9-17\nMartes ...... cerrado"), days);
        assert_eq!(rows("Lunes   9-17\nMartes  cerrado\nJueves  9-17").len(), 3);
        for text in [
            "Damage  Excluded\nTheft   yes\nFire    no",
            "Included:   Not included:\nWifi        Lunch\nTowels      Dinner",
            "Basic  5  no\nPro    9  yes\n       8  for members",
            "Monday\tclosed\nTuesday\topen",
        ] {
            assert_eq!(pairs(&read(text)), [("Code", text)]);
        }
        assert_eq!(outline("We open.  We close.\nAt nine."), "Paragraph");
    }

    proptest::proptest! {
        /// Only rules and bullets are left out.
        #[test]
        fn no_letter_is_lost(text in "(Not covered|THEFT|war|1\\.|1\\.1|2\\.|\\(a\\)|b\\)|§ 4|- |• |\\* |> |# |: |\\?|\\.|[*]|===|---|\\.\\.\\.\\.|\t|    |  | |\n|\n\n|\\||\\+-+\\+|✓|5 €|é){0,40}") {
            let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
            match super::document(&text) {
                Ok(read) => proptest::prop_assert_eq!(letters(&read.text), letters(&text)),
                Err(error) => proptest::prop_assert!(letters(&text).is_empty() || error == crate::ExtractError::NoContent),
            }
        }
    }
}
