//! The time left, as kb prints it.

use anyhow::{Context, Result, ensure};

use crate::ingest::program::Line;

/// What a run said about the time left, and when it had written everything.
pub(super) struct Estimates {
    /// Time since its start, and time left; in seconds.
    stated: Vec<(f64, f64)>,
    /// When it began to write.
    start: f64,
    /// When it had written the last document.
    end: f64,
}

impl Estimates {
    /// Reads the standard error of `kb sync`, without a terminal.
    pub(super) fn read(lines: &[Line]) -> Result<Self> {
        let time_of = |line: Option<&Line>| line.map(|line| line.seconds);
        let start = time_of(lines.iter().find(|line| line.text.contains(" to add"))).context("no plan")?;
        let end =
            time_of(lines.iter().rfind(|line| line.text.starts_with("added "))).context("nothing added")?;
        let stated =
            lines.iter().filter_map(|line| Some((line.seconds, seconds_left(&line.text)?))).collect();
        Ok(Self { stated, start, end })
    }

    /// Error of the first statement after a share of the time, relative to the truth.
    pub(super) fn error_after(&self, share: f64) -> Result<f64> {
        let from = self.start + share * (self.end - self.start);
        let first = self.stated.iter().find(|(at, _)| *at >= from).context("no estimate after that time")?;
        Ok(self.error(first))
    }

    /// The largest such error between two shares of the time.
    pub(super) fn worst_error(&self, from: f64, to: f64) -> Result<f64> {
        let time = |share| self.start + share * (self.end - self.start);
        let between = self.stated.iter().filter(|(at, _)| (time(from)..time(to)).contains(at));
        let errors: Vec<f64> = between.map(|statement| self.error(statement)).collect();
        ensure!(!errors.is_empty(), "no estimate between {from} and {to} of the time");
        Ok(errors.into_iter().fold(0.0, f64::max))
    }

    fn error(&self, (at, left): &(f64, f64)) -> f64 {
        (left / (self.end - at) - 1.0).abs()
    }
}

/// From a line such as `12 of 200 documents, 9 % of the text, 4.2 chunks/s, about 1 h 31 min left`.
fn seconds_left(line: &str) -> Option<f64> {
    let (_, left) = line.strip_suffix(" left")?.rsplit_once(", about ")?;
    let words: Vec<&str> = left.split(' ').collect();
    words
        .chunks(2)
        .map(|pair| {
            let [number, unit] = pair else { return None };
            let seconds = match *unit {
                "s" => 1.0,
                "min" => 60.0,
                "h" => 3600.0,
                "day" | "days" => 86_400.0,
                _ => return None,
            };
            Some(number.parse::<f64>().ok()? * seconds)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_read_in_every_unit() {
        let line = |left: &str| format!("1 of 2 documents, 9 % of the text, 4.2 chunks/s, about {left} left");
        for (left, seconds) in [
            ("45 s", 45.0),
            ("3 min 20 s", 200.0),
            ("25 min", 1500.0),
            ("1 h 1 min", 3660.0),
            ("2 days 1 h", 176_400.0),
        ] {
            assert_eq!(seconds_left(&line(left)), Some(seconds), "{left}");
        }
        assert_eq!(seconds_left("1 of 2 documents, 9 % of the text, 4.2 chunks/s"), None);
    }

    #[test]
    fn an_error_is_relative_to_the_time_that_was_really_left() {
        let line = |seconds: f64, text: &str| Line { seconds, text: text.to_owned() };
        let lines = [
            line(1.0, "2 to add"),
            line(11.0, "1 of 2 documents, 9 % of the text, 4.2 chunks/s, about 1 min 0 s left"),
            line(51.0, "1 of 2 documents, 50 % of the text, 4.2 chunks/s, about 49 s left"),
            line(101.0, "added b.md (1 chunks, 1 sentences)"),
        ];
        let estimates = Estimates::read(&lines).unwrap();
        assert!((estimates.error_after(0.1).unwrap() - 1.0 / 3.0).abs() < 1e-9);
        assert!((estimates.error_after(0.2).unwrap() - 0.02).abs() < 1e-9);
        assert!((estimates.worst_error(0.2, 0.9).unwrap() - 0.02).abs() < 1e-9);
    }
}
