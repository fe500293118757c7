//! A long run of the Worker with faults at random: nothing lost, doubled or answered to the wrong user, and memory over time.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::local::Stop;
use anyhow::Result;
use clap::Args;
use xtask::build;

use super::Workbench;
use crate::report::Report;
use crate::{folder, program};

const NOTES: &str = "\
unanswered: questions without an outcome, although they were sent again without faults at the end
without_one_end: responses that did not end in exactly one terminal event, although neither the user left nor the Worker was restarted
lost, doubled, unasked: messages in the database, against the outcomes that users received
wrong_text: outcomes and stored questions that are not those of the question that was asked
memory_first_quarter, _last_quarter: resident memory of workerd since the last restart";

#[derive(Args)]
pub(crate) struct Options {
    /// How long users ask, in minutes.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    minutes: u32,
    /// The seed of the faults. Default: the time.
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
    /// Number of concurrent users.
    #[arg(long, value_name = "N", default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..))]
    users: u32,
    /// Limit of questions per user and minute.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    /// Use the existing build.
    #[arg(long)]
    no_build: bool,
}

/// Prints a table and writes `target/bench/soak.json`.
pub(crate) fn measure(options: &Options) -> Result<()> {
    let started = Instant::now();
    let stop = Stop::on_signal()?;
    let model = build::run_unless(options.no_build, &[build::Part::Kb, build::Part::Worker])?;
    let seed = options.seed.unwrap_or_else(seed_from_time);
    println!("• soaking for {} min with seed {seed}", options.minutes);
    let mut report = Report::new()?;
    Workbench::prepare("soak", &model, &stop)?.soak(options, seed, &mut report)?;
    let file = folder()?.join("soak.json");
    report.write(&file)?;
    report.print();
    println!("\n{NOTES}");
    println!("\nwritten: {} ({:.0} s)", file.display(), started.elapsed().as_secs_f32());
    Ok(())
}

impl Workbench {
    fn soak(&self, options: &Options, seed: u32, report: &mut Report) -> Result<()> {
        let mut soak = self.program("soak.mjs");
        soak.env("DATA_DIR", self.work.join("worker"))
            .env("SUPABASE_JWT_SECRET", &self.supabase.keys.jwt_secret)
            .env("CHAT_WORKER_SECRET", &self.supabase.keys.worker_secret)
            .env("MINUTES", options.minutes.to_string())
            .env("SEED", seed.to_string())
            .env("USERS", options.users.to_string())
            .env("LIMIT", options.limit.to_string());
        program::add_to(&mut soak, &self.stop, report)
    }
}

/// Another seed for each run.
fn seed_from_time() -> u32 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos())
}
