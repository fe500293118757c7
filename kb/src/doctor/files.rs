//! Checks the originals in the storage bucket, and who may read them.

use super::Facts;
use super::report::Check;
use crate::knowledge_base::HealthOfFiles;
use crate::output::counted;

pub(super) fn checks(facts: &Facts) -> Vec<Check> {
    let files = &facts.health.files;
    vec![bucket(files), originals(files, &facts.without_original), orphans(files)]
}

fn bucket(files: &HealthOfFiles) -> Check {
    if files.public_bucket {
        return Check::problem("bucket", "kb is public: everybody who knows a path can read the file")
            .fix("dashboard, Storage, kb, Edit bucket: turn \"Public bucket\" off");
    }
    if files.widening_policies.is_empty() {
        return Check::ok("bucket", "only users who may see a document can read its file");
    }
    Check::warning("bucket", "other policies on storage.objects may open the bucket kb to more people")
        .details(files.widening_policies.clone())
        .fix("dashboard, Storage, Policies: bind each of them to its own bucket, such as bucket_id = 'avatars'")
}

fn originals(files: &HealthOfFiles, without: &[String]) -> Check {
    let documents = counted(files.missing_file_count, "document");
    Check::warning("originals", format!("{documents} without their file, to which links fail"))
        .details(without.to_vec())
        .fix("`kb remove` them and `kb sync` their source again; if they came from the bucket, `kb sync bucket` is enough")
        .unless(files.missing_file_count == 0, "none is missing")
}

fn orphans(files: &HealthOfFiles) -> Check {
    let count = counted(files.orphan_file_count, "file");
    Check::warning("orphans", format!("{count} in originals/ that no document refers to"))
        .details(files.orphan_files.clone())
        .fix("kb doctor --fix")
        .unless(files.orphan_file_count == 0, "no file without a document")
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    #[test]
    fn a_public_bucket_is_a_problem_and_a_widening_policy_a_warning() {
        let open = HealthOfFiles { public_bucket: true, ..HealthOfFiles::default() };
        assert_eq!(bucket(&open).level, Level::Problem);
        let doubtful = HealthOfFiles { widening_policies: vec!["p".into()], ..HealthOfFiles::default() };
        assert_eq!(bucket(&doubtful).level, Level::Warning);
        assert_eq!(bucket(&HealthOfFiles::default()).level, Level::Ok);
    }
}
