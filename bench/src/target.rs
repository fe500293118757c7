//! The targets of the figures.

/// The bounds of a figure.
pub(super) struct Target {
    prefix: &'static str,
    bound: Bound,
    must: f64,
    aim: f64,
}

enum Bound {
    AtMost,
    AtLeast,
}

use Bound::{AtLeast, AtMost};

const TARGETS: &[Target] = &[
    Target::new("ratio_cpu_", AtMost, 0.65, 0.5),
    Target::new("ratio_batch32", AtMost, 0.6, 0.45),
    Target::new("ratio_cold", AtMost, 0.4, 0.25),
    Target::new("ratio_warm", AtMost, 0.3, 0.15),
    Target::new("brotli_total_mb", AtMost, 18.5, 15.0),
    Target::new("brotli_code_mb", AtMost, 0.9, 0.4),
    Target::new("renderer_mib", AtMost, 100.0, 60.0),
    Target::new("cosine_mean", AtLeast, 0.998, 0.9995),
    Target::new("cosine_min", AtLeast, 0.995, 0.999),
    Target::new("stsb_spearman", AtLeast, 0.819, 0.820),
    Target::new("ids_equal", AtLeast, 100.0, 100.0),
    Target::new("native_ratio_fp32_16", AtMost, 0.6, 0.4),
    Target::new("native_ratio_fp32_128", AtMost, 0.6, 0.4),
    Target::new("native_ratio_q8_16", AtMost, 1.3, 1.0),
    Target::new("native_ratio_q8_128", AtMost, 1.3, 1.0),
    Target::new("browser_read_p50_ms", AtMost, 250.0, 250.0),
    Target::new("native_read_p50_ms", AtMost, 250.0, 250.0),
    Target::new("longest_task_reading_ms", AtMost, 50.0, 50.0),
    Target::new("reader_file_", AtMost, 8.0, 8.0),
    Target::new("squad__recall_1", AtLeast, 0.90, 0.90),
    Target::new("squad__recall_5", AtLeast, 0.985, 0.985),
    Target::new("squad__answer_in_1", AtLeast, 0.84, 0.84),
    Target::new("squad__answer_in_3", AtLeast, 0.94, 0.94),
    Target::new("squad__citation_correct", AtLeast, 0.95, 0.98),
    Target::new("squad__answered_answerable", AtLeast, 0.92, 0.95),
    Target::new("squad__answered_offtopic", AtMost, 0.02, 0.01),
    Target::new("squad__hedged_near", AtLeast, 0.15, 0.15),
    Target::new("squad__hedged_answerable", AtMost, 0.08, 0.08),
    Target::new("govuk__answered_answerable", AtLeast, 0.80, 0.90),
    Target::new("govuk__answered_offtopic", AtMost, 0.02, 0.02),
    Target::new("govuk__answer_in_1", AtLeast, 0.50, 0.60),
    Target::new("govuk__answer_in_3", AtLeast, 0.72, 0.80),
    Target::new("covidfaq_en__recall_1", AtLeast, 0.62, 0.75),
    Target::new("covidfaq_en__answer_in_1", AtLeast, 0.56, 0.56),
    Target::new("xquad_de__answered_answerable", AtLeast, 0.80, 0.80),
    Target::new("xquad_de__answered_offtopic", AtMost, 0.02, 0.02),
    Target::new("xquad_ar__recall_1", AtLeast, 0.75, 0.83),
    Target::new("xquad_ar__answered_offtopic", AtMost, 0.05, 0.05),
    Target::new("shop__first_is_answer", AtLeast, 0.80, 0.90),
    Target::new("shop__answered_answerable", AtLeast, 0.93, 0.93),
    Target::new("shop__answered_near", AtMost, 0.40, 0.25),
    Target::new("shop__answered_offtopic", AtMost, 0.0, 0.0),
    Target::new("shop__follow_up_right", AtLeast, 0.75, 0.85),
    Target::new("shop__second_harmed", AtMost, 0.02, 0.0),
    Target::new("shop__paired_harmed", AtMost, 0.02, 0.01),
    Target::new("govuk__paired_harmed", AtMost, 0.02, 0.01),
    Target::new("macro__noise", AtMost, 0.7, 0.7),
    Target::new("pglite_text_p50_ms_10k", AtMost, 25.0, 25.0),
    Target::new("native_text_p50_ms_10k", AtMost, 5.0, 5.0),
    Target::new("native_text_p50_ms_100k", AtMost, 15.0, 15.0),
    Target::new("native_recall_5_100k", AtLeast, 0.95, 0.95),
    Target::new("native_text_p50_ms_1000k", AtMost, 15.0, 10.0),
    Target::new("native_text_p95_ms_1000k", AtMost, 60.0, 60.0),
    Target::new("native_recall_5_1000k", AtLeast, 0.95, 0.95),
    Target::new("native_growth_100k_to_1000k", AtMost, 2.5, 2.5),
    Target::new("pages_peak_memory_mib", AtMost, 500.0, 500.0),
    Target::new("pages_unchanged_seconds", AtMost, 120.0, 120.0),
    Target::new("resume_repeated_documents", AtMost, 0.0, 0.0),
    Target::new("overhead_p50_ms", AtMost, 7.0, 7.0),
    Target::new("overhead_p95_ms", AtMost, 25.0, 25.0),
    Target::new("ttfb_p50_ms", AtMost, 60.0, 60.0),
    Target::new("ttfb_p95_ms", AtMost, 150.0, 150.0),
    Target::new("search_p95_ms", AtMost, 50.0, 50.0),
    Target::new("search_question_places_taken", AtMost, 0.0, 0.0),
    Target::new("errors_5xx", AtMost, 0.0, 0.0),
    Target::new("errors_stream", AtMost, 0.0, 0.0),
    Target::new("errors_other", AtMost, 0.0, 0.0),
    Target::new("limit_violations", AtMost, 0.0, 0.0),
    Target::new("refused_too_early", AtMost, 0.0, 0.0),
    Target::new("lost_messages", AtMost, 0.0, 0.0),
    Target::new("doubled_messages", AtMost, 0.0, 0.0),
    Target::new("unasked_messages", AtMost, 0.0, 0.0),
    Target::new("unpersisted_answers", AtMost, 0.0, 0.0),
    Target::new("repeats_different", AtMost, 0.0, 0.0),
    Target::new("crowd_without_one_end", AtMost, 0.0, 0.0),
    Target::new("crowd_users_with_other_than_limit", AtMost, 0.0, 0.0),
    Target::new("crowd_limit_violations", AtMost, 0.0, 0.0),
    Target::new("crowd_refused_too_early", AtMost, 0.0, 0.0),
    Target::new("crowd_lost", AtMost, 0.0, 0.0),
    Target::new("crowd_unasked", AtMost, 0.0, 0.0),
    Target::new("crowd_repeats_different", AtMost, 0.0, 0.0),
    Target::new("soak_unanswered", AtMost, 0.0, 0.0),
    Target::new("soak_without_one_end", AtMost, 0.0, 0.0),
    Target::new("soak_errors_other", AtMost, 0.0, 0.0),
    Target::new("soak_lost", AtMost, 0.0, 0.0),
    Target::new("soak_doubled", AtMost, 0.0, 0.0),
    Target::new("soak_unasked", AtMost, 0.0, 0.0),
    Target::new("soak_wrong_text", AtMost, 0.0, 0.0),
    Target::new("soak_limit_violations", AtMost, 0.0, 0.0),
    Target::new("soak_repeats_different", AtMost, 0.0, 0.0),
    Target::new("memory_growth_mib", AtMost, 8.0, 8.0),
    Target::new("memory_wasm_growth_mib", AtMost, 0.25, 0.0),
    Target::new("memory_largest_peak_mib", AtMost, 128.0, 96.0),
    Target::new("fault_slowest_ms", AtMost, 10_000.0, 10_000.0),
    Target::new("worker_gzip_kb", AtMost, 450.0, 450.0),
    Target::new("throughput_ratio", AtLeast, 3.0, 3.0),
    Target::new("peak_memory_mib", AtMost, 500.0, 500.0),
    Target::new("resync_seconds_per_1000", AtMost, 3.0, 3.0),
    Target::new("launcher_brotli_kb", AtMost, 8.0, 8.0),
    Target::new("widget_brotli_kb", AtMost, 60.0, 60.0),
    Target::new("first_word_p50_ms", AtMost, 300.0, 300.0),
    Target::new("instant_results_p95_ms", AtMost, 100.0, 100.0),
    Target::new("page_slowest_p95_ms", AtMost, 1000.0, 500.0),
    Target::new("restore_200_ms", AtMost, 300.0, 300.0),
    Target::new("render_50_citations_ms", AtMost, 50.0, 50.0),
    Target::new("longest_task_embedding_ms", AtMost, 50.0, 50.0),
    Target::new("phone_longest_task_", AtMost, 50.0, 50.0),
    Target::new("phone_idle_wake_ups", AtMost, 0.0, 0.0),
    Target::new("layout_shift", AtMost, 0.0, 0.0),
    Target::new("unsupported_shown", AtMost, 0.06, 0.03),
    Target::new("verbatim_sent", AtLeast, 0.99, 1.0),
    Target::new("wice_unsupported_shown", AtMost, 0.10, 0.05),
    Target::new("good_dropped", AtMost, 0.35, 0.20),
    Target::new("injected_shown", AtMost, 0.0, 0.0),
    Target::new("marker_validity", AtLeast, 1.0, 1.0),
    Target::new("citation_precision", AtLeast, 0.90, 0.95),
    Target::new("answer_recall_gain", AtLeast, -0.01, 0.0),
    Target::new("overhead_ms", AtMost, 5.0, 5.0),
];

impl Target {
    const fn new(prefix: &'static str, bound: Bound, must: f64, aim: f64) -> Self {
        Self { prefix, bound, must, aim }
    }

    /// The target of a figure, if it has one.
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        TARGETS.iter().find(|target| target.matches(name))
    }

    /// Whether this is the target of a figure. `ratio_cpu_` matches every number of tokens.
    pub(super) fn matches(&self, name: &str) -> bool {
        match name.strip_prefix(self.prefix) {
            Some(rest) => rest.is_empty() || self.prefix.ends_with('_'),
            None => false,
        }
    }

    pub(super) fn starting_with(prefix: &str) -> impl Iterator<Item = &'static Self> {
        TARGETS.iter().filter(move |target| target.prefix.starts_with(prefix))
    }

    pub(super) fn name(&self) -> &'static str {
        self.prefix
    }

    pub(super) fn must(&self) -> String {
        self.bound.describe(self.must)
    }

    pub(super) fn aim(&self) -> String {
        self.bound.describe(self.aim)
    }

    pub(super) fn verdict(&self, value: f64) -> &'static str {
        if self.bound.is_met(value, self.aim) {
            "aim reached"
        } else if self.bound.is_met(value, self.must) {
            "must reached"
        } else {
            "missed"
        }
    }
}

impl Bound {
    fn is_met(&self, value: f64, bound: f64) -> bool {
        match self {
            AtMost => value <= bound,
            AtLeast => value >= bound,
        }
    }

    fn describe(&self, bound: f64) -> String {
        match self {
            AtMost => format!("<= {bound}"),
            AtLeast => format!(">= {bound}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_judged_by_its_own_bounds() {
        let verdict = |name: &str, value| Target::find(name).map(|target| target.verdict(value));
        assert_eq!(verdict("ratio_cpu_256", 0.5), Some("aim reached"));
        assert_eq!(verdict("ratio_cpu_256", 0.51), Some("must reached"));
        assert_eq!(verdict("cosine_min", 0.994), Some("missed"));
        assert_eq!(verdict("cosine_min", 0.9991), Some("aim reached"));
        assert_eq!(verdict("native_ratio_q8_16", 1.2), Some("must reached"));
        assert_eq!(verdict("renderer_mib", f64::NAN), Some("missed"));
        assert_eq!(verdict("squad__recall_1", 0.9), Some("aim reached"));
        assert_eq!(verdict("govuk__answered_answerable", 0.85), Some("must reached"));
    }

    #[test]
    fn the_targets_of_a_set_are_found_by_its_name() {
        let names: Vec<_> = Target::starting_with("covidfaq_en__").map(Target::name).collect();
        assert_eq!(names, ["covidfaq_en__recall_1", "covidfaq_en__answer_in_1"]);
    }

    #[test]
    fn a_figure_without_a_listed_name_has_no_target() {
        for name in ["cpu_ms_8", "renderer_mib_peak", "baseline_cosine_mean", "ratio_cold_cpu", "recall_1"] {
            assert!(Target::find(name).is_none(), "{name}");
        }
    }
}
