//! Rows of tables: a number of one row says nothing about what another row is about.

use std::collections::{BTreeMap, BTreeSet};

use super::read::{ReadSentence, ReadSource, Row};
use super::tokens::{Kind, Token};

/// Finds the words that identify the rows of each table. `tables` has the columns of each sentence
/// that is a row: neighbouring rows with the same ones are of one table.
pub(super) fn distinguish<T: PartialEq>(sentences: &mut [ReadSentence], tables: &[Option<T>]) {
    let mut start = 0;
    for (table, run) in tables.chunk_by(|a, b| a == b).enumerate() {
        let rows = sentences.get_mut(start..start + run.len()).unwrap_or_default();
        start += run.len();
        let mut counts = BTreeMap::<u32, usize>::new();
        for row in rows.iter_mut().filter_map(|sentence| sentence.row.as_mut()) {
            row.table = table;
            row.names.sort_unstable();
            row.names.dedup();
            for stem in &row.names {
                *counts.entry(*stem).or_default() += 1;
            }
        }
        for row in rows.iter_mut().filter_map(|sentence| sentence.row.as_mut()) {
            let own: Vec<u32> =
                row.names.iter().filter(|stem| counts.get(stem) == Some(&1)).copied().collect();
            if !own.is_empty() {
                row.names = own;
            }
        }
    }
}

/// Whether the sentence names a row of a table, but has a number that is in another row, and neither in a row that it names nor in
/// running text about one: "The Ridge 34 weighs 1,620 g" takes the weight of the Ridge 48.
pub(super) fn takes_number_of_other_row(claim: &[Token], source: &ReadSource) -> bool {
    let rows = source.sentences.iter().filter_map(|sentence| sentence.row.as_ref());
    let named: Vec<&Row> = rows.filter(|row| row.is_named(claim)).collect();
    if named.is_empty() {
        return false;
    }
    let tables: BTreeSet<usize> = named.iter().map(|row| row.table).collect();
    let names: BTreeSet<u32> = named.iter().flat_map(|row| row.names.iter().copied()).collect();
    let said: Vec<u32> = claim.iter().map(|token| token.stem).filter(|stem| names.contains(stem)).collect();
    let (mut of_named, mut of_others) = (Vec::new(), Vec::new());
    for sentence in &source.sentences {
        let is_about_named = said.iter().any(|stem| sentence.stems.binary_search(stem).is_ok());
        match &sentence.row {
            Some(row) if row.is_named(claim) => of_named.push(sentence),
            Some(row) if tables.contains(&row.table) => of_others.push(sentence),
            None if is_about_named => of_named.push(sentence),
            _ => {}
        }
    }
    let is_number = |token: &&Token| token.kind == Kind::Number { is_exact: true };
    claim.iter().filter(is_number).any(|number| {
        let has = |sentence: &&ReadSentence| {
            sentence.stems.binary_search(&number.stem).is_ok()
                && sentence.tokens.iter().any(|token| is_same(number, token))
        };
        of_others.iter().any(has) && !of_named.iter().any(has)
    })
}

/// Whether two numbers are the same and may count the same.
fn is_same(a: &Token, b: &Token) -> bool {
    a.stem == b.stem && (a.unit == b.unit || a.unit.is_none() || b.unit.is_none())
}
