//! The figures of several sets: their names, their means over the sets, and the table.

use super::sets::{MACRO, key};
use crate::report::{Report, print_columns};

/// The figures of one set, as `bench-retrieval measure` prints them.
pub(super) type FiguresOfSet = (String, [usize; 4], Vec<(String, f64)>);

const QUESTIONS: [&str; 4] = ["answerable questions", "near-unanswerable", "off-topic", "dialogues"];
/// Prefixes of figures that are in the file and not in the table.
const UNPRINTED: [&str; 3] = ["plain_", "gold_of_", "answered_answer_in_"];

/// The prefixes of the figures of these sets and of their means.
pub(super) fn prefixes(sets: &[FiguresOfSet]) -> Vec<String> {
    let sets = sets.iter().map(|(set, _, _)| key(set));
    sets.chain([MACRO.to_owned()]).map(|set| format!("{set}__")).collect()
}

/// Adds each figure as `<set>__<figure>` and its mean over the sets that have it; with a single set, also as `<figure>`.
pub(super) fn add(report: &mut Report, sets: &[FiguresOfSet]) {
    for (name, value) in named(sets) {
        let unit = unit(&name);
        report.add(name, value, unit);
    }
}

fn named(sets: &[FiguresOfSet]) -> Vec<(String, f64)> {
    let mut named = Vec::new();
    for (set, _, figures) in sets {
        named.extend(figures.iter().map(|(figure, value)| (format!("{}__{figure}", key(set)), *value)));
    }
    for figure in names(sets) {
        if let Some(mean) = mean(sets, figure) {
            named.push((format!("{MACRO}__{figure}"), mean));
        }
    }
    if let [(_, _, figures)] = sets {
        named.extend(figures.iter().cloned());
    }
    named
}

/// The names of all figures, in the order of the sets that have them.
fn names(sets: &[FiguresOfSet]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (_, _, figures) in sets {
        let mut after = 0;
        for (figure, _) in figures {
            match names.iter().position(|name| name == figure) {
                Some(position) => after = position + 1,
                None => {
                    names.insert(after, figure);
                    after += 1;
                }
            }
        }
    }
    names
}

fn value(figures: &[(String, f64)], name: &str) -> Option<f64> {
    figures.iter().find(|(figure, _)| figure == name).map(|(_, value)| *value)
}

/// The mean over the sets that have the figure.
fn mean(sets: &[FiguresOfSet], name: &str) -> Option<f64> {
    let values: Vec<f64> = sets.iter().filter_map(|(_, _, figures)| value(figures, name)).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn unit(name: &str) -> &'static str {
    match name.rsplit("__").next() {
        Some("noise" | "sentences") => "sentences",
        _ => "share",
    }
}

/// Prints a column for each set and one for the mean.
pub(super) fn print(sets: &[FiguresOfSet]) {
    let mut head = vec![String::new()];
    head.extend(sets.iter().map(|(set, _, _)| set.clone()));
    head.push(MACRO.to_owned());
    let mut rows = vec![head];
    for (kind, name) in QUESTIONS.into_iter().enumerate() {
        let mut row = vec![name.to_owned()];
        row.extend(
            sets.iter().map(|(_, questions, _)| questions.get(kind).map_or(String::new(), usize::to_string)),
        );
        rows.push(row);
    }
    for name in names(sets) {
        if UNPRINTED.iter().any(|prefix| name.starts_with(prefix)) {
            continue;
        }
        let cell = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"));
        let mut row = vec![name.to_owned()];
        row.extend(sets.iter().map(|(_, _, figures)| cell(value(figures, name))));
        row.push(cell(mean(sets, name)));
        rows.push(row);
    }
    println!();
    print_columns(&rows);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, figures: &[(&str, f64)]) -> FiguresOfSet {
        (
            name.to_owned(),
            [1, 0, 1, 0],
            figures.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        )
    }

    fn find(sets: &[FiguresOfSet], name: &str) -> Option<f64> {
        value(&named(sets), name)
    }

    #[test]
    fn figures_are_named_by_set_with_underscores() {
        let sets = [set("covidfaq-en", &[("recall_1", 0.5)]), set("shop", &[("recall_1", 0.7)])];
        assert_eq!(find(&sets, "covidfaq_en__recall_1"), Some(0.5));
        assert_eq!(find(&sets, "shop__recall_1"), Some(0.7));
        assert_eq!(find(&sets, "recall_1"), None, "of which set?");
    }

    #[test]
    fn figures_of_a_single_set_are_also_named_without_the_set() {
        let sets = [set("squad", &[("recall_1", 0.5)])];
        for name in ["squad__recall_1", "macro__recall_1", "recall_1"] {
            assert_eq!(find(&sets, name), Some(0.5), "{name}");
        }
    }

    #[test]
    fn the_macro_mean_is_over_the_sets_that_have_the_figure() {
        let sets = [
            set("a", &[("recall_1", 0.5), ("answered_near", 0.8)]),
            set("b", &[("recall_1", 0.75)]),
            set("c", &[("recall_1", 1.0), ("answered_near", 0.4)]),
        ];
        assert_eq!(find(&sets, "macro__recall_1"), Some(0.75));
        assert_eq!(find(&sets, "macro__answered_near").map(|mean| (mean * 1e6).round()), Some(600_000.0));
        assert_eq!(find(&sets, "b__answered_near"), None);
        assert_eq!(find(&sets, "macro__answered_offtopic"), None);
    }

    #[test]
    fn a_figure_that_only_a_later_set_has_keeps_its_place() {
        let sets = [set("a", &[("x", 0.0), ("z", 0.0)]), set("b", &[("x", 0.0), ("y", 0.0), ("z", 0.0)])];
        assert_eq!(names(&sets), ["x", "y", "z"]);
    }
}
