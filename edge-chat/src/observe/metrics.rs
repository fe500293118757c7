//! Counters in Workers Analytics Engine, if a data set is bound.

use chat_core::assistant::AssistantName;
use worker::{AnalyticsEngineDataPointBuilder, Env};

use super::{RequestLine, Trace};

/// The binding of the data set in `wrangler.toml`.
const BINDING: &str = "ANALYTICS";

/// Adds one data point, when the outcome is final. Blobs: route, outcome, method, assistant (empty if none was asked).
/// Doubles: status, milliseconds until the response began, cosine of the nearest passage, confidence (-1 if there is none).
pub(crate) fn count(env: &Env, line: &RequestLine, trace: &Trace) {
    let Ok(data_set) = env.analytics_engine(BINDING) else { return };
    let facts = trace.facts();
    let assistant = facts.assistant.as_ref().map_or("", AssistantName::as_str);
    let written = AnalyticsEngineDataPointBuilder::new()
        .indexes([line.route])
        .blobs([line.route, line.outcome, line.method, assistant])
        .doubles([
            f64::from(line.status),
            line.ms as f64,
            facts.similarity.unwrap_or(-1.0),
            facts.confidence.unwrap_or(-1.0),
        ])
        .write_to(&data_set);
    if let Err(error) = written {
        worker::console_error!("{}: {}", BINDING, error);
    }
}
