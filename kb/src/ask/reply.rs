//! The reply as a visitor would read it.

use chat_core::DecidedBy;
use chat_core::answer::{Answer, Citation};
use chat_core::evidence::Strength;
use chat_core::found::FoundPassage;
use chat_core::generate::{AnswerMode, DropReason, Fallback, GenerationReport};
use chat_core::outcome::Searched;
use chat_core::refusal::Refusal;

use super::{Asked, Conclusion, Written, one_line, place, printable};

/// Maximum length of a quote.
const MAX_QUOTE_CHARS: usize = 400;
/// Printed above a hedged answer, as in the widget (`web/src/texts/en.ts`).
const HEDGE: &str = "These passages are about this, but may not answer it.";

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
            format!("Searched: {}\n\n{reply}", one_line(text, MAX_QUOTE_CHARS))
        }
        Searched { truncated: true, .. } => format!("{TRUNCATED}\n\n{reply}"),
        _ => reply,
    };
    let decided_by = match asked.decided_by {
        DecidedBy::Reader => "Decided by the search and the reader.",
        DecidedBy::Search => "Decided by the search alone.",
    };
    let reply = format!("{reply}\n\n{decided_by}");
    match &asked.written {
        Some(written) => format!("{reply}\n{}", writing(written)),
        None => reply,
    }
}

/// How the answer was written.
fn writing(Written { report, error }: &Written) -> String {
    let GenerationReport { model, sentences, dropped, fallback, cut, .. } = report;
    let mut lines = vec![match fallback {
        None => format!("Written by {model}: {sentences} sentences, each checked against its source."),
        Some(Fallback::Timeout) => format!("{model} took too long, so the answer consists of quotes."),
        Some(Fallback::Error) => format!("{model} could not be asked, so the answer consists of quotes."),
        Some(Fallback::Unsupported) => {
            format!("No sentence of {model} follows from the sources, so the answer consists of quotes.")
        }
        Some(Fallback::Budget) => {
            "The tokens of the day are used up, so the answer consists of quotes.".to_owned()
        }
        Some(Fallback::Declined) => {
            format!(
                "{model} says that the sources do not answer the question. The answer consists of quotes."
            )
        }
    }];
    lines.extend(cut.then(|| format!("The answer ends before {model} had finished it.")));
    lines.extend(error.as_ref().map(|error| one_line(error, MAX_QUOTE_CHARS)));
    let left_out: u32 = dropped.values().sum();
    if left_out > 0 {
        let reasons: Vec<_> =
            dropped.iter().map(|(reason, count)| format!("{count} {}", reason_name(*reason))).collect();
        lines.push(format!("Left out: {left_out} ({})", reasons.join(", ")));
    }
    lines.join("\n")
}

fn reason_name(reason: DropReason) -> &'static str {
    match reason {
        DropReason::Number => "with a number that is not in the source",
        DropReason::Name => "with a name that is not in the source",
        DropReason::Quote => "with a quotation that is not in the source",
        DropReason::Link => "with a link that is not in the source",
        DropReason::Polarity => "that the source denies",
        DropReason::Order => "with words in another order than in the source",
        DropReason::Unsupported => "that no source supports",
    }
}

fn answered(answer: &Answer) -> String {
    let mut lines = Vec::new();
    if answer.hedged {
        lines.extend([HEDGE.to_owned(), String::new()]);
    }
    lines.extend([printable(&answer.deltas.concat()), String::new(), "Sources".to_owned()]);
    for citation in &answer.citations {
        lines.push(source(citation));
        let quotes = citation.quotes.iter().map(|quote| quote.plain.as_deref().unwrap_or(&quote.text));
        let supports = citation.supports.iter().map(|support| support.text.as_str());
        let words = quotes.chain(supports);
        lines.extend(words.map(|words| format!("    “{}”", one_line(words, MAX_QUOTE_CHARS))));
    }
    if !answer.also_found.is_empty() {
        let heading = match answer.mode {
            AnswerMode::Extractive => "Also found, not quoted",
            AnswerMode::Generated => "Also found, not used",
        };
        lines.extend([String::new(), heading.to_owned()]);
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
        passage.url.as_deref().map_or(String::new(), |url| format!(" {}", one_line(url, MAX_QUOTE_CHARS)));
    format!("  {} (similarity {:.2}){url}", place_and_page(passage), passage.score)
}

fn place_and_page(passage: &FoundPassage) -> String {
    let place = one_line(&place(&passage.title, passage.section.as_deref()), MAX_QUOTE_CHARS);
    place + &passage.page.map_or(String::new(), |page| format!(", page {page}"))
}
