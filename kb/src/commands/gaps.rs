//! `kb gaps`: what is asked and not answered.

use std::process::ExitCode;

use super::connect;
use crate::cli::GapsArgs;
use crate::knowledge_base::Gap;
use crate::output::{Table, moment, number, print, print_json, text, word};

pub(super) async fn run(args: GapsArgs) -> anyhow::Result<ExitCode> {
    let gaps = connect(&args.server)?.gaps(args.limit as usize).await?;
    if args.json {
        print_json(&gaps)?;
    } else if gaps.is_empty() {
        print("No question was refused.")?;
    } else {
        let advice = "A document that answers them fills the gap: add it to its folder and run `kb sync`.";
        print(&format!("{}\n\n{advice}", table(&gaps).render()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn table(gaps: &[Gap]) -> Table {
    let mut table = Table::new([
        number("asked"),
        number("users"),
        number("best score"),
        word("last asked (UTC)"),
        text("question"),
    ]);
    for gap in gaps {
        table.row([
            gap.questions.to_string(),
            gap.users.to_string(),
            gap.best_score.map_or_else(|| "–".to_owned(), |score| format!("{score:.2}")),
            moment(&gap.last_asked),
            gap.question.clone(),
        ]);
    }
    table
}
