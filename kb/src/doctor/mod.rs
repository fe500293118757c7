//! Checks everything that answers depend on, and explains how to fix what is wrong.
//!
//! The database reports its state ([`crate::knowledge_base::Health`]); this module decides what is wrong with it.

mod content;
mod database;
mod facts;
mod files;
mod fix;
mod insights;
mod privacy;
mod report;

pub use database::NEWEST_MIGRATION;
pub use facts::{Facts, Model, gather};
pub use fix::{Fixed, fix};
pub use report::{Check, Level, Report};

use crate::supabase::SupabaseError;

/// All checks of a knowledge base that can be reached.
pub fn examine(facts: &Facts) -> Report {
    let mut checks =
        vec![Check::ok("server", "answers"), Check::ok("key", "is the secret key of the project")];
    checks.extend(database::checks(facts));
    checks.extend(files::checks(facts));
    checks.extend(content::checks(facts));
    checks.extend(privacy::checks(facts));
    checks.extend(insights::checks(facts));
    Report { checks }
}

/// The report when reading the knowledge base failed.
pub fn examine_failure(error: &SupabaseError, model: &Model) -> Report {
    let ok = Check::ok;
    let problem = |name, message: &str| Check::problem(name, message.to_owned());
    let mut checks = match error {
        SupabaseError::WrongKey(_) => vec![
            ok("server", "answers"),
            problem("key", "is not the secret key of this project")
                .fix("set SUPABASE_SECRET_KEY to the secret (service_role) key of this project, not to the publishable \
                     one or the key of another project"),
        ],
        SupabaseError::InvalidKey | SupabaseError::MissingKey | SupabaseError::UnreadableKey { .. } => {
            vec![problem("key", &error.to_string())]
        }
        SupabaseError::SchemaMissing(message) => vec![
            ok("server", "answers"),
            Check::problem("schema", format!("is missing or older than this kb: {message}"))
                .fix("supabase db push --remote"),
        ],
        _ => vec![problem("server", &error.to_string())],
    };
    checks.push(content::model_check(model));
    Report { checks }
}
