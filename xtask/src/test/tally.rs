//! How many tests ran, and which did not.

/// What the reason of a skipped test may begin with. Everything else counts as missing data, which fails the run.
const ACCEPTED_REASONS: [&str; 2] = [
    // The machine lacks something that the repository does not contain.
    "platform: ",
    // A child process of another test, which runs it.
    "started by ",
];

/// The results of one run of a test runner.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Tally {
    pub(super) passed: usize,
    pub(super) failed: Vec<Failed>,
    pub(super) todo: usize,
    pub(super) skipped: Vec<Skipped>,
}

/// A test that failed.
#[derive(Debug, PartialEq)]
pub(super) struct Failed {
    pub(super) test: String,
    /// The first lines of its error; empty if the runner prints it elsewhere.
    pub(super) error: String,
}

/// A test that did not run.
#[derive(Debug, PartialEq)]
pub(super) struct Skipped {
    pub(super) test: String,
    pub(super) reason: String,
}

impl Tally {
    pub(super) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed.extend(other.failed);
        self.todo += other.todo;
        self.skipped.extend(other.skipped);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.passed + self.failed.len() + self.todo + self.skipped.len() == 0
    }
}

impl Skipped {
    fn is_accepted(&self) -> bool {
        ACCEPTED_REASONS.iter().any(|start| self.reason.starts_with(start))
    }
}

/// The results of all steps, in the order in which they ran.
#[derive(Default)]
pub(super) struct Tallies(Vec<(&'static str, Tally)>);

impl Tallies {
    pub(super) fn add(&mut self, step: &'static str, tally: Tally) {
        self.0.push((step, tally));
    }

    pub(super) fn print(&self) {
        if self.0.is_empty() {
            return;
        }
        println!("\n{:<24} {:>7} {:>7} {:>8} {:>5}", "tests", "passed", "failed", "skipped", "todo");
        let row = |name: &str, [passed, failed, skipped, todo]: [usize; 4]| {
            println!("{name:<24} {passed:>7} {failed:>7} {skipped:>8} {todo:>5}");
        };
        let mut total = [0; 4];
        for (step, Tally { passed, failed, todo, skipped }) in &self.0 {
            let counts = [*passed, failed.len(), skipped.len(), *todo];
            row(step, counts);
            for (sum, count) in total.iter_mut().zip(counts) {
                *sum += count;
            }
        }
        row("all", total);
        for (step, tally) in &self.0 {
            for Skipped { test, reason } in &tally.skipped {
                println!(
                    "skipped in {step}: {test} ({})",
                    if reason.is_empty() { "no reason" } else { reason }
                );
            }
        }
        for (step, tally) in &self.0 {
            for Failed { test, error } in &tally.failed {
                println!("failed in {step}: {test}{}{error}", if error.is_empty() { "" } else { ": " });
            }
        }
    }

    /// The skipped tests whose reason is not accepted.
    pub(super) fn without_accepted_reason(&self) -> Vec<&str> {
        let skipped = self.0.iter().flat_map(|(_, tally)| &tally.skipped);
        skipped.filter(|skipped| !skipped.is_accepted()).map(|skipped| skipped.test.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_missing_feature_of_the_platform_excuses_a_skipped_test() {
        let skipped = |reason: &str| Skipped { test: reason.to_owned(), reason: reason.to_owned() };
        let mut tallies = Tallies::default();
        let reasons = ["platform: no Postgres", "started by other_test", "no corpus", "", "the platform: x"];
        tallies.add("x", Tally { skipped: reasons.map(skipped).into(), ..Tally::default() });
        assert_eq!(tallies.without_accepted_reason(), ["no corpus", "", "the platform: x"]);
    }
}
