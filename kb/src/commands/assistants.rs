//! `kb assistants`.

use std::process::ExitCode;

use super::connect;
use crate::cli::CommonArgs;
use crate::knowledge_base::Assistant;
use crate::output::{Table, print, print_json, text, word};

pub(super) async fn run(args: CommonArgs) -> anyhow::Result<ExitCode> {
    let assistants = connect(&args.server)?.assistants().await?;
    if args.json {
        print_json(&assistants)?;
    } else {
        let advice = "Add and change assistants in the table assistants (dashboard, Table Editor).";
        print(&format!("{}\n\n{advice}", table(&assistants).render()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn table(assistants: &[Assistant]) -> Table {
    let mut table = Table::new([word("name"), word("state"), text("audience"), text("collections")]);
    for assistant in assistants {
        let list = |entries: &Option<Vec<String>>, default: &str| {
            entries.as_ref().map_or_else(|| default.to_owned(), |entries| entries.join(", "))
        };
        table.row([
            assistant.name.clone(),
            if assistant.enabled { "enabled" } else { "disabled" }.to_owned(),
            list(&assistant.audience, "signed-in users"),
            list(&assistant.collections, "all"),
        ]);
    }
    table
}
