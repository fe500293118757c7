//! The STS benchmark: pairs of sentences with a human score from 0 to 5, and Spearman's rank correlation.

use anyhow::{Context, Result, ensure};

pub(super) struct Pair {
    pub(super) first: String,
    pub(super) second: String,
    pub(super) score: f64,
}

/// Reads lines of `sentence,sentence,score`, where a sentence may be quoted as in RFC 4180.
pub(super) fn parse(csv: &str) -> Result<Vec<Pair>> {
    csv.lines()
        .filter(|line| !line.is_empty())
        .map(|line| {
            let fields = fields(line);
            let [first, second, score] =
                <[String; 3]>::try_from(fields).ok().with_context(|| format!("not three fields: {line}"))?;
            ensure!(!first.is_empty() && !second.is_empty(), "a sentence is missing: {line}");
            let score = score.parse().with_context(|| format!("no score: {line}"))?;
            Ok(Pair { first, second, score })
        })
        .collect()
}

fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let last = fields.len() - 1;
        match character {
            '"' if is_quoted && characters.next_if_eq(&'"').is_some() => fields[last].push('"'),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            _ => fields[last].push(character),
        }
    }
    fields
}

/// Spearman's rank correlation; equal values share the mean of their ranks.
pub(super) fn spearman(a: &[f64], b: &[f64]) -> f64 {
    pearson(&ranks(a), &ranks(b))
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<_> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    let mut ranks = vec![0.0; values.len()];
    let mut position = 0;
    for equal in order.chunk_by(|&i, &j| values[i] == values[j]) {
        let mean = position as f64 + (equal.len() - 1) as f64 / 2.0;
        for &index in equal {
            ranks[index] = mean;
        }
        position += equal.len();
    }
    ranks
}

fn pearson(a: &[f64], b: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let product = |x: &[f64], mean_x: f64, y: &[f64], mean_y: f64| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum()
    };
    product(a, mean_a, b, mean_b) / (product(a, mean_a, a, mean_a) * product(b, mean_b, b, mean_b)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_sentences_keep_their_commas_and_quotes() {
        let pairs = parse("\"Yes, he said \"\"no\"\".\",No.,2.5\nA,B,0\n").unwrap();
        assert_eq!(pairs[0].first, "Yes, he said \"no\".");
        assert_eq!((pairs[0].second.as_str(), pairs[0].score), ("No.", 2.5));
        assert_eq!(pairs.len(), 2);
    }

    #[test]
    fn a_line_without_two_sentences_and_a_score_is_an_error() {
        assert!(parse("A,B").is_err());
        assert!(parse("A,B,high").is_err());
    }

    #[test]
    fn equal_values_share_a_rank() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [2.5, 0.0, 2.5, 1.0]);
        // Worked out on paper: ranks (0, 1.5, 1.5, 3) and (0, 1, 2, 3) give 4.5 / sqrt(4.5 * 5).
        let expected = 4.5 / (4.5_f64 * 5.0).sqrt();
        assert!((spearman(&[1.0, 2.0, 2.0, 9.0], &[1.0, 2.0, 3.0, 4.0]) - expected).abs() < 1e-12);
        assert!((spearman(&[1.0, 2.0, 3.0], &[9.0, 5.0, 1.0]) + 1.0).abs() < 1e-12);
    }
}
