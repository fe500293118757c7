//! `kb gaps`.

use std::process::ExitCode;

use super::{connect, missing_secret_hint};
use crate::cli::GapsArgs;
use crate::knowledge_base::Gap;
use crate::output::{Table, moment, number, print, print_json, text, word};

pub(super) async fn run(args: GapsArgs) -> anyhow::Result<ExitCode> {
    let knowledge_base = connect(&args.common.server)?;
    let gaps = knowledge_base.gaps(args.limit as usize).await?;
    if args.common.json {
        print_json(&gaps)?;
        return Ok(ExitCode::SUCCESS);
    }
    let users = knowledge_base.effective_chat_settings().await?.gap_users;
    if gaps.is_empty() {
        let mut lines = vec!["There is no unanswered question to show.".to_owned(), minimum_users(users)];
        lines.extend(missing_secret_hint(&knowledge_base).await?.map(str::to_owned));
        print(&lines.join("\n"))?;
    } else {
        let advice = "To fill a gap, add a document that answers it to its folder and run `kb sync`.";
        print(&format!("{}\n\n{advice}\n{}", table(&gaps).render(), minimum_users(users)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Explains the minimum number of users: a question that one person asked may identify that person.
fn minimum_users(users: u64) -> String {
    let change = "`gap_users` in the table chat_settings changes that (dashboard, Table Editor)";
    match users {
        0 | 1 => format!("Questions of a single user are shown, too; {change}."),
        _ => format!("Only questions that at least {users} users asked are shown; {change}."),
    }
}

fn table(gaps: &[Gap]) -> Table {
    let mut table = Table::new([
        number("asked"),
        number("users"),
        number("best score"),
        word("last asked (UTC)"),
        word("assistant"),
        text("question"),
    ]);
    for gap in gaps {
        table.row([
            gap.questions.to_string(),
            gap.users.to_string(),
            gap.best_score.map_or_else(|| "–".to_owned(), |score| format!("{score:.2}")),
            moment(&gap.last_asked),
            gap.assistant.clone(),
            gap.question.clone(),
        ]);
    }
    table
}
