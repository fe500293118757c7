use super::*;

/// A line with characters of 5 points.
pub(in crate::pdf) fn line(text: &str, start: f64, end: f64, baseline: f64, size: f64) -> Line {
    let first_word = 5.0 * text.split(' ').next().unwrap_or_default().chars().count() as f64;
    let text = text.to_owned();
    Line { text, start, end, baseline, size, direction: 0, first_word, is_bold: false, cells: Vec::new() }
}

/// Lines of 10 points in a column from 100 to 500.
fn lines(lines: &[(f64, f64, &str)]) -> Vec<Line> {
    let mut baseline = 0.0;
    let show = |(start, gap, text): &(f64, f64, &str)| {
        baseline += gap;
        let end = (start + 5.0 * text.chars().count() as f64).min(500.0);
        line(text, *start, end, baseline, 10.0)
    };
    lines.iter().map(show).collect()
}

fn texts(page: &[(f64, f64, &str)]) -> Vec<String> {
    let page = lines(page);
    pages(std::iter::once(page.as_slice()), &words(page.iter()))
        .concat()
        .into_iter()
        .map(|p| p.text)
        .collect()
}

const FULL: &str = "A line that is long enough to reach the margin on the right of the column, as lines do";

#[test]
fn lines_become_paragraphs_by_gap_indent_and_short_ends() {
    let page = [
        (100.0, 12.0, FULL),
        (100.0, 12.0, "and ends."),
        (100.0, 12.0, "Next one after a short line, which goes on until the margin on the right of it"),
        (100.0, 12.0, "It ends here. And there is more of it so that it is as long as the others are so."),
        (120.0, 12.0, "Set in, a third, which goes on until the margin on the right of the column on"),
        (100.0, 12.0, "with this"),
        (100.0, 24.0, "after a gap"),
    ];
    let found = texts(&page);
    assert_eq!(found.len(), 4, "{found:#?}");
    assert_eq!(found[0], format!("{FULL} and ends."));
    assert_eq!(found[3], "after a gap");
}

#[test]
fn hyphenated_words_are_joined_only_if_they_occur_elsewhere() {
    let page = [
        (100.0, 12.0, "The department of a well-"),
        (100.0, 12.0, "known firm, its depart-"),
        (100.0, 12.0, "ment, and an unseen inter-"),
        (100.0, 12.0, "pretation of soft\u{ad}"),
        (100.0, 12.0, "ware. 返品は"),
        (100.0, 12.0, "三十日"),
    ];
    assert_eq!(
        texts(&page),
        [
            "The department of a well-known firm, its department, and an unseen inter-pretation of software. 返品は三十日"
        ]
    );
}

#[test]
fn a_bold_line_is_a_paragraph_above_the_text() {
    let mut page = lines(&[(100.0, 12.0, "Not covered"), (100.0, 12.0, "Theft from cars is not paid.")]);
    page[0].is_bold = true;
    let found = pages(std::iter::once(page.as_slice()), &Words::new()).concat();
    let found: Vec<_> = found.iter().map(|found| (found.is_bold, found.text.as_str())).collect();
    assert_eq!(found, [(true, "Not covered"), (false, "Theft from cars is not paid.")]);
}

#[test]
fn list_items_are_separate_paragraphs() {
    let page = [
        (100.0, 12.0, "You need"),
        (110.0, 12.0, "• a receipt that is"),
        (120.0, 12.0, "printed"),
        (110.0, 12.0, "• a card"),
        (110.0, 12.0, "1. first"),
        (110.0, 12.0, "2) second"),
        (110.0, 12.0, "2024 was good"),
    ];
    assert_eq!(
        texts(&page),
        ["You need", "a receipt that is printed", "a card", "1. first", "2) second 2024 was good"]
    );
}

#[test]
fn a_full_last_line_of_a_column_goes_on_with_a_capital() {
    let full = "A line that reaches the margin of a column as";
    let column = |start: f64, texts: [&str; 12]| {
        let set = |(at, text): (usize, &str)| {
            let end = start + 5.0 * text.chars().count() as f64;
            line(text, start, end, 12.0 * (at + 1) as f64, 10.0)
        };
        texts.into_iter().enumerate().map(set).collect::<Vec<Line>>()
    };
    let mut rest = [full; 12];
    (rest[0], rest[11]) = ("Vienna does.", "Another ends.");
    let page = [column(100.0, [full; 12]), column(340.0, rest)].concat();
    let found = pages(std::iter::once(page.as_slice()), &Words::new()).concat();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].text.ends_with("of a column as Vienna does."), "{found:?}");
}

#[test]
fn a_line_left_of_an_item_is_not_part_of_it() {
    let full = "• An item that is long enough to reach the margin of the column as all of its lines do in";
    let page = [(120.0, 12.0, full), (120.0, 12.0, full), (100.0, 12.0, "OR:"), (120.0, 12.0, "• a card")];
    assert_eq!(texts(&page)[2..], ["OR:", "a card"]);
}

#[test]
fn a_dash_or_date_in_a_sentence_starts_no_item() {
    let full = "A line that is long enough to reach the margin of the column as all of its lines do in";
    for (rest, paragraphs) in [
        ("– or not – a sentence.", 1),
        ("30. Juni and later.", 1),
        ("(a) and of the next section.", 1),
        ("• in an item", 2),
    ] {
        assert_eq!(texts(&[(100.0, 12.0, full), (100.0, 12.0, full), (100.0, 12.0, rest)]).len(), paragraphs);
    }
    let list = [(100.0, 12.0, "You need:"), (100.0, 12.0, "- a card"), (100.0, 12.0, "- a pen")];
    assert_eq!(texts(&list), ["You need:", "a card", "a pen"]);
    let steps = [(100.0, 12.0, full), (100.0, 12.0, "2. More"), (100.0, 12.0, "3. Other")];
    assert_eq!(texts(&steps), [full, "2. More", "3. Other"]);
}

#[test]
fn a_paragraph_continues_in_the_next_column() {
    let mut page =
        lines(&[(100.0, 12.0, "It goes on in the"), (300.0, 12.0, "next column."), (300.0, 24.0, "New")]);
    page[0].baseline = 700.0;
    let found = pages(std::iter::once(page.as_slice()), &Words::new()).concat();
    assert_eq!(found[0].text, "It goes on in the next column.");
}

#[test]
fn lines_that_are_set_in_below_an_open_line_are_items() {
    let long = "permits of which less than three months are left, counted from the day on which you";
    let page = [
        (100.0, 12.0, FULL),
        (100.0, 12.0, FULL),
        (100.0, 12.0, "and it ends. No refund is given for:"),
        (125.0, 12.0, "visitor tickets"),
        (125.0, 12.0, long),
        (125.0, 12.0, "send them back"),
        (125.0, 12.0, "permits that were withdrawn"),
        (100.0, 12.0, "Others are refunded."),
    ];
    let found = texts(&page);
    let items = ["visitor tickets", &format!("{long} send them back"), "permits that were withdrawn"];
    assert_eq!(found.get(1..4).unwrap_or(&found), items, "{found:#?}");
    assert_eq!(found[4], "Others are refunded.");
    let indented = [
        (100.0, 12.0, FULL),
        (100.0, 12.0, "An open line"),
        (120.0, 12.0, "Set in, a paragraph, which goes on until the margin on the right of the column"),
        (100.0, 12.0, "and ends here."),
    ];
    assert!(
        texts(&indented).last().unwrap().ends_with("of the column and ends here."),
        "{:#?}",
        texts(&indented)
    );
}

#[test]
fn items_that_are_set_in_go_on_on_the_next_page() {
    let one = lines(&[
        (100.0, 12.0, FULL),
        (100.0, 12.0, FULL),
        (100.0, 12.0, "Not allowed are"),
        (125.0, 24.0, "fires"),
    ]);
    let two = lines(&[(125.0, 12.0, "cars"), (125.0, 12.0, "dogs"), (100.0, 12.0, "Others are.")]);
    let both = [one.as_slice(), two.as_slice()];
    let words = words(one.iter().chain(&two));
    let found: Vec<_> =
        pages(both.into_iter(), &words).concat().into_iter().map(|p| (p.text, p.is_item)).collect();
    let items = ["fires", "cars", "dogs"].map(|item| (item.to_owned(), true));
    assert_eq!(found.get(1..4).unwrap_or(&found), items, "{found:#?}");
}
