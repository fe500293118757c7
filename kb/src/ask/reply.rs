//! The reply as a visitor would read it.

use chat_core::DecidedBy;
use chat_core::answer::{Answer, Citation};
use chat_core::decision::Searched;
use chat_core::evidence::Strength;
use chat_core::found::FoundPassage;
use chat_core::refusal::Refusal;

use super::{Asked, Conclusion, place};
use crate::output::{excerpt, printable_lines};

/// Maximum length of a quote.
const MAX_QUOTE_CHARS: usize = 400;
/// Printed above a hedged answer, as in the widget (`web/src/texts/en.ts`).
const HEDGE: &str = "These passages are on topic but may not answer your question.";

/// Printed above the reply to a question of more tokens than the model reads.
const TRUNCATED: &str =
    "The question is longer than the model reads: only its beginning was searched for by meaning.";

/// The answer with its sources and other passages that were found, or the refusal.
pub fn reply(asked: &Asked) -> String {
    let reply = match &asked.conclusion {
        Conclusion::Answer(answer) => answered(answer),
        Conclusion::Refusal(refusal) => refused(refusal),
    };
    let reply = match &asked.searched {
        Searched { searched: Some(text), .. } => {
            format!("Searched: {}\n\n{reply}", excerpt(text, MAX_QUOTE_CHARS))
        }
        Searched { truncated: true, .. } => format!("{TRUNCATED}\n\n{reply}"),
        _ => reply,
    };
    let decided_by = match asked.decided_by {
        DecidedBy::Reader => "Decided by the search and the reader.",
        DecidedBy::Search => "Decided by the search alone.",
    };
    format!("{reply}\n\n{decided_by}")
}

fn answered(answer: &Answer) -> String {
    let mut lines = Vec::new();
    if answer.hedged {
        lines.extend([HEDGE.to_owned(), String::new()]);
    }
    lines.extend([printable_lines(&answer.deltas.concat()), String::new(), "Sources".to_owned()]);
    for citation in &answer.citations {
        lines.push(source(citation));
        let quotes = citation.quotes.iter().map(|quote| quote.plain.as_deref().unwrap_or(&quote.text));
        lines.extend(quotes.map(|quote| format!("    “{}”", excerpt(quote, MAX_QUOTE_CHARS))));
    }
    if !answer.also_found.is_empty() {
        lines.extend([String::new(), "Also found, not quoted".to_owned()]);
        lines.extend(answer.also_found.iter().map(found));
    }
    lines.join("\n")
}

fn source(citation: &Citation) -> String {
    let strength = citation.strength.map_or("", |strength| match strength {
        Strength::Strong => "strong, ",
        Strength::Good => "good, ",
        Strength::Partial => "partial, ",
    });
    let Citation { index, passage, .. } = citation;
    format!("[{index}] {} ({strength}similarity {:.2})", place_and_page(passage), passage.score)
}

fn refused(refusal: &Refusal) -> String {
    let mut lines = vec![refusal.message.clone(), format!("Reason: {}", refusal.reason.as_str())];
    if !refusal.nearest.is_empty() {
        lines.push("Nearest passages:".to_owned());
        lines.extend(refusal.nearest.iter().map(found));
    }
    lines.join("\n")
}

fn found(passage: &FoundPassage) -> String {
    let url =
        passage.url.as_deref().map_or(String::new(), |url| format!(" {}", excerpt(url, MAX_QUOTE_CHARS)));
    format!("  {} (similarity {:.2}){url}", place_and_page(passage), passage.score)
}

fn place_and_page(passage: &FoundPassage) -> String {
    let place = excerpt(&place(&passage.title, passage.section.as_deref()), MAX_QUOTE_CHARS);
    place + &passage.page.map_or(String::new(), |page| format!(", page {page}"))
}
