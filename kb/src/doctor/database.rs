//! Checks the schema, the extension, indexes and access rules.

use std::cmp::Ordering;

use super::Facts;
use super::report::Check;
use crate::knowledge_base::{AccessChange, Health, HealthOfIndex};
use crate::output::counted;

/// Version of the newest migration that this program knows.
pub const NEWEST_MIGRATION: &str = "20261201001500";

/// The first pgvector version whose filtered searches return as many rows as requested (iterative index scans).
const MIN_PGVECTOR: [u64; 2] = [0, 8];

/// How to restore objects of the migrations.
const RECREATE_OBJECTS: &str = "run the statements that create them again: search supabase/migrations for the names, and paste \
                     them into the SQL editor of the dashboard";

/// How to accept a change as intended.
const ACCEPT_CHANGES: &str = "to keep a change: select internal.save_access_snapshot();";

pub(super) fn checks(facts: &Facts) -> Vec<Check> {
    let health = &facts.health;
    vec![
        schema(health.schema_version.as_deref()),
        pgvector(health.vector_version.as_deref()),
        row_level_security(health),
        access(&health.access_changes),
        api(health.privacy.internal_exposed || facts.serves_internal),
        indexes(&health.indexes),
        copies(health.visibility_mismatches),
        words(health.lexeme_mismatch),
    ]
}

fn schema(version: Option<&str>) -> Check {
    let Some(version) = version else {
        return Check::ok("schema", "responds; the database has no list of migrations to compare with");
    };
    match version.cmp(NEWEST_MIGRATION) {
        Ordering::Equal => Check::ok("schema", format!("version {version}")),
        Ordering::Less => {
            Check::problem("schema", format!("version {version} is older than {NEWEST_MIGRATION} of this kb"))
                .fix("supabase db push --remote")
        }
        Ordering::Greater => {
            Check::warning("schema", format!("version {version} is newer than {NEWEST_MIGRATION} of this kb"))
                .fix("use the kb of the same release as the database")
        }
    }
}

fn pgvector(version: Option<&str>) -> Check {
    let Some(version) = version else {
        return Check::problem("pgvector", "is not installed").fix("supabase db push --remote");
    };
    let numbers: Vec<u64> = version.split('.').map_while(|number| number.parse().ok()).collect();
    if numbers.as_slice() >= MIN_PGVECTOR.as_slice() {
        return Check::ok("pgvector", format!("version {version}"));
    }
    Check::problem("pgvector", format!("version {version} is older than 0.8 and misses matches")).fix(
        "upgrade Postgres (dashboard, Settings, Infrastructure), then in the SQL editor: \
             alter extension vector update;",
    )
}

fn row_level_security(health: &Health) -> Check {
    let open: Vec<_> =
        health.tables.iter().filter(|table| !table.rls).map(|table| table.name.clone()).collect();
    if open.is_empty() {
        let tables = health.tables.len();
        return Check::ok("rls", format!("row level security is on for all {tables} tables"));
    }
    let quoted = |name: &String| {
        format!("alter table public.\"{}\" enable row level security;", name.replace('"', "\"\""))
    };
    let statements: Vec<_> = open.iter().map(quoted).collect();
    Check::problem(
        "rls",
        format!("row level security is off for {}: everybody can read and write there", open.join(", ")),
    )
    .fix(format!("in the SQL editor: {}", statements.join(" ")))
}

fn access(changes: &[AccessChange]) -> Check {
    if changes.is_empty() {
        return Check::ok("access", "grants, policies, functions and views are those of the migrations");
    }
    let count = counted(changes.len() as u64, "difference");
    let is_added = |change: &&AccessChange| change.change == "added";
    let drop = changes
        .iter()
        .any(|change| is_added(&change))
        .then_some("remove additions in the SQL editor (drop policy, revoke, drop function or drop view)");
    let restore = changes.iter().any(|change| !is_added(&change)).then_some(RECREATE_OBJECTS);
    let fix: Vec<_> = restore.into_iter().chain(drop).chain([ACCEPT_CHANGES]).collect();
    Check::problem(
        "access",
        format!("{count} from the migrations: users may reach more than they should, or less"),
    )
    .details(changes.iter().map(|AccessChange { kind, name, change }| format!("{kind} {name}: {change}")))
    .fix(fix.join("; "))
}

fn api(exposes_internal: bool) -> Check {
    let message = "the schema internal is exposed: users can call helpers that read more than the users may";
    Check::problem("api", message)
        .fix("dashboard, Project Settings, Data API: remove internal from the exposed schemas")
        .unless(!exposes_internal, "the schema internal is not exposed")
}

fn indexes(indexes: &[HealthOfIndex]) -> Check {
    let missing: Vec<_> = indexes.iter().filter(|index| !index.exists).collect();
    let broken: Vec<_> = indexes.iter().filter(|index| index.exists && !index.valid).collect();
    if missing.is_empty() && broken.is_empty() {
        return Check::ok("indexes", format!("all {} exist and are valid", indexes.len()));
    }
    let details = missing
        .iter()
        .map(|index| format!("{} on {} is missing", index.name, index.table))
        .chain(broken.iter().map(|index| format!("{} on {} is not valid", index.name, index.table)));
    let rebuilt = broken.iter().map(|index| format!("reindex index public.{};", index.name));
    let rebuild =
        (!broken.is_empty()).then(|| format!("in the SQL editor: {}", rebuilt.collect::<Vec<_>>().join(" ")));
    let create = (!missing.is_empty()).then(|| RECREATE_OBJECTS.to_owned());
    let fix: Vec<_> = rebuild.into_iter().chain(create).collect();
    Check::problem("indexes", "searches are slow or incomplete").details(details).fix(fix.join("; "))
}

fn copies(differing: u64) -> Check {
    let passages = counted(differing, "passage");
    Check::problem("visibility", format!("{passages} may be visible to other users than its document"))
        .fix("in the SQL editor: update public.kb_chunks set searchable = searchable;")
        .unless(differing == 0, "every passage is visible to those who may see its document")
}

fn words(differ: bool) -> Check {
    let message = "the counts do not match the passages, so rare and common words are weighted less well";
    Check::warning("words", message)
        .fix("in the SQL editor: select public.kb_recount_lexemes();")
        .unless(!differ, "the counts match the passages")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::Level;
    use super::*;

    #[test]
    fn newest_migration_is_the_newest_file_of_the_folder() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../supabase/migrations");
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let versions = names.filter_map(|name| Some(name.to_str()?.split_once('_')?.0.to_owned()));
        assert_eq!(versions.max().as_deref(), Some(NEWEST_MIGRATION));
    }

    #[test]
    fn an_older_schema_is_a_problem_and_a_newer_one_a_warning() {
        assert_eq!(schema(Some(NEWEST_MIGRATION)).level, Level::Ok);
        assert_eq!(schema(None).level, Level::Ok);
        assert_eq!(schema(Some("20261201000100")).fix.as_deref(), Some("supabase db push --remote"));
        assert_eq!(schema(Some("20991121000100")).level, Level::Warning);
    }

    #[test]
    fn pgvector_versions_are_compared_as_numbers() {
        for (version, level) in [
            ("0.8.0", Level::Ok),
            ("0.10.1", Level::Ok),
            ("1.0", Level::Ok),
            ("0.7.4", Level::Problem),
            ("x", Level::Problem),
        ] {
            assert_eq!(pgvector(Some(version)).level, level, "{version}");
        }
        assert_eq!(pgvector(None).level, Level::Problem);
    }

    #[test]
    fn each_access_change_is_named() {
        let change = |kind: &str, name: &str, change: &str| AccessChange {
            kind: kind.to_owned(),
            name: name.to_owned(),
            change: change.to_owned(),
        };
        assert_eq!(access(&[]).level, Level::Ok);
        let changes = [
            change("policy", "kb_read on public.kb_documents", "added"),
            change("grants", "public.kb_chunks", "changed"),
            change("grants", "schema internal", "missing"),
            change("row level security", "public.kb_chunks", "changed"),
            change("function", "public.match_chunks()", "changed"),
            change("view", "public.chat_feedback", "missing"),
        ];
        let check = access(&changes);
        let expected = [
            "policy kb_read on public.kb_documents: added",
            "grants public.kb_chunks: changed",
            "grants schema internal: missing",
            "row level security public.kb_chunks: changed",
            "function public.match_chunks(): changed",
            "view public.chat_feedback: missing",
        ];
        assert_eq!((check.level, check.details), (Level::Problem, expected.map(str::to_owned).to_vec()));
        assert!(check.message.starts_with("6 differences"), "{}", check.message);
        let fix = |changes: &[AccessChange]| access(changes).fix.unwrap();
        assert!(fix(&changes).contains(RECREATE_OBJECTS) && fix(&changes).contains("drop policy"));
        assert!(
            !fix(&changes[..1]).contains(RECREATE_OBJECTS) && !fix(&changes[1..]).contains("drop policy")
        );
    }

    #[test]
    fn indexes_say_how_each_is_fixed() {
        let index = |exists, valid| HealthOfIndex { name: "i".into(), table: "t".into(), exists, valid };
        assert_eq!(indexes(&[index(true, true)]).level, Level::Ok);
        let invalid = indexes(&[index(true, false)]);
        assert_eq!(invalid.fix.as_deref(), Some("in the SQL editor: reindex index public.i;"));
        let missing = indexes(&[index(false, false)]);
        assert_eq!((missing.level, missing.details), (Level::Problem, vec!["i on t is missing".to_owned()]));
    }
}
