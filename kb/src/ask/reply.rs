//! What a visitor would read.

use chat_core::answer::{Answer, Citation};
use chat_core::evidence::Strength;
use chat_core::refusal::Refusal;

use super::{Asked, Conclusion, one_line, place, printable};

/// Characters of a quote.
const QUOTE_LIMIT: usize = 400;

/// The answer with its sources, or the refusal.
pub fn reply(asked: &Asked) -> String {
    match &asked.conclusion {
        Conclusion::Answer(answer) => answered(answer),
        Conclusion::Refusal(refusal) => refused(refusal),
    }
}

fn answered(answer: &Answer) -> String {
    let mut lines = vec![printable(&answer.deltas.concat()), String::new(), "Sources".to_owned()];
    for citation in &answer.citations {
        lines.push(source(citation));
        let quotes = citation.quotes.iter().map(|quote| quote.plain.as_deref().unwrap_or(&quote.text));
        lines.extend(quotes.map(|quote| format!("    “{}”", one_line(quote, QUOTE_LIMIT))));
    }
    lines.join("\n")
}

fn source(citation: &Citation) -> String {
    let place = one_line(&place(&citation.title, citation.section.as_deref()), QUOTE_LIMIT);
    let page = citation.page.map_or(String::new(), |page| format!(", page {page}"));
    let strength = citation.strength.map_or("", |strength| match strength {
        Strength::Strong => "strong, ",
        Strength::Good => "good, ",
        Strength::Partial => "partial, ",
    });
    format!("[{}] {place}{page} ({strength}similarity {:.2})", citation.index, citation.score)
}

fn refused(refusal: &Refusal) -> String {
    let mut lines = vec![refusal.message.clone(), format!("Reason: {}", refusal.reason.as_str())];
    if !refusal.nearest.is_empty() {
        lines.push("Nearest documents:".to_owned());
        lines.extend(refusal.nearest.iter().map(|title| format!("  {}", one_line(title, QUOTE_LIMIT))));
    }
    lines.join("\n")
}
