//! Outcomes as chat completions, in one piece or in chunks.

use serde::Serialize;
use uuid::Uuid;

use super::error::ErrorObject;
use super::markdown::markdown;
use crate::answer::Citation;
use crate::error::ErrorBody;
use crate::event::Event;
use crate::evidence::Strength;
use crate::found::FoundPassage;
use crate::generation_report::{AnswerMode, GenerationReport};
use crate::outcome::{Outcome, Searched};
use crate::reading::DecidedBy;
use crate::refusal::{Reason, Refusal, Suggestion};

/// The end of a stream.
pub const DONE: &str = "data: [DONE]\n\n";

/// The first paragraph of a hedged answer: clients of OpenAI's API do not show `retrieval.hedged`.
const HEDGE: &str = "These passages are about this, but may not answer it.\n\n";

/// What all chunks of a completion share.
#[derive(Debug, Clone, Serialize)]
pub struct CompletionHead {
    id: String,
    /// Seconds since 1970.
    created: u64,
    model: String,
}

#[derive(Serialize)]
struct Chunk<'a> {
    object: &'static str,
    #[serde(flatten)]
    head: &'a CompletionHead,
    choices: [ChunkChoice<'a>; 1],
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    facts: Option<Facts<'a>>,
}

#[derive(Serialize)]
struct ChunkChoice<'a> {
    index: u32,
    delta: Delta<'a>,
    finish_reason: Option<&'static str>,
}

#[derive(Default, Serialize)]
struct Delta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    annotations: Vec<Annotation<'a>>,
}

#[derive(Serialize)]
struct Whole<'a> {
    object: &'static str,
    #[serde(flatten)]
    head: &'a CompletionHead,
    choices: [WholeChoice<'a>; 1],
    #[serde(flatten)]
    facts: Facts<'a>,
}

#[derive(Serialize)]
struct WholeChoice<'a> {
    index: u32,
    message: Message<'a>,
    logprobs: Option<()>,
    finish_reason: &'static str,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: String,
    /// OpenAI's field for a refusal of the model. Ours is the content, so that every client shows it.
    refusal: Option<()>,
    annotations: Vec<Annotation<'a>>,
}

/// What the events say beside the text.
#[derive(Serialize)]
struct Facts<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    citations: Option<Citations<'a>>,
    retrieval: Retrieval<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<Uuid>,
    persisted: bool,
    #[serde(skip_serializing_if = "AnswerMode::is_extractive")]
    mode: AnswerMode,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation: Option<&'a GenerationReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
}

#[derive(Serialize)]
struct Citations<'a> {
    sources: &'a [Citation],
    referenced_indices: &'a [u32],
}

/// What the search found.
#[derive(Serialize)]
struct Retrieval<'a> {
    hedged: bool,
    /// That of the strongest source.
    #[serde(skip_serializing_if = "Option::is_none")]
    strength: Option<Strength>,
    also_found: &'a [FoundPassage],
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<RefusalFacts<'a>>,
    decided_by: DecidedBy,
    #[serde(flatten)]
    searched: &'a Searched,
}

#[derive(Serialize)]
struct RefusalFacts<'a> {
    reason: Reason,
    suggestions: &'a [Suggestion],
    #[serde(skip_serializing_if = "<[FoundPassage]>::is_empty")]
    nearest: &'a [FoundPassage],
}

/// Tokens of a language model; none where the answer consists of quotes.
#[derive(Default, Serialize)]
struct Usage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
}

/// A document of the answer, in the form that OpenAI's web search has for sources.
#[derive(Serialize)]
struct Annotation<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    url_citation: UrlCitation<'a>,
}

/// The first marker of a document.
#[derive(Serialize)]
struct UrlCitation<'a> {
    url: String,
    title: &'a str,
    /// In characters, from 0.
    start_index: usize,
    end_index: usize,
}

impl CompletionHead {
    /// `question` is the id of the question, `created` the time in seconds since 1970.
    pub fn new(question: Uuid, created: u64, model: String) -> Self {
        Self { id: format!("chatcmpl-{question}"), created, model }
    }

    /// An event before the terminal one as server-sent events; empty if it has no counterpart.
    pub fn encode(&self, event: &Event) -> Result<String, serde_json::Error> {
        match event {
            Event::Progress { .. } => Ok(": writing\n\n".to_owned()),
            Event::AnswerStart { hedged, .. } => self.opening(hedged.then_some(HEDGE)),
            Event::AnswerDelta { text } => self.text(&markdown(text)),
            // They are part of the last chunk.
            Event::Sources { .. } | Event::AnswerEnd { .. } | Event::Refusal(_) => Ok(String::new()),
            Event::Error(error) => Self::error(error),
        }
    }

    /// The end of the stream with everything that is not text.
    pub fn encode_end(&self, outcome: &Outcome) -> Result<String, serde_json::Error> {
        let opening = match outcome {
            Outcome::Answer(_) => String::new(),
            Outcome::Refusal(refusal) => self.opening(Some(&refusal.message))?,
        };
        let delta = Delta { annotations: annotations(outcome), ..Delta::default() };
        let last = self.chunk(delta, Some(Facts::new(outcome)))?;
        Ok(opening + &last + DONE)
    }

    /// The whole completion as one JSON document.
    pub fn whole<'a>(&'a self, outcome: &'a Outcome) -> impl Serialize + use<'a> {
        let message = Message {
            role: "assistant",
            content: content(outcome),
            refusal: None,
            annotations: annotations(outcome),
        };
        let facts = Facts::new(outcome);
        let finish_reason = facts.finish_reason();
        let choices = [WholeChoice { index: 0, message, logprobs: None, finish_reason }];
        Whole { object: "chat.completion", head: self, choices, facts }
    }

    /// The end of a stream that failed. Clients raise it as an error.
    fn error(body: &ErrorBody) -> Result<String, serde_json::Error> {
        frame(&ErrorObject::new(&body.error, None))
    }

    fn opening(&self, text: Option<&str>) -> Result<String, serde_json::Error> {
        let role = Delta { role: Some("assistant"), content: Some(""), ..Delta::default() };
        let role = self.chunk(role, None)?;
        Ok(role + &text.map_or_else(|| Ok(String::new()), |text| self.text(text))?)
    }

    fn text(&self, text: &str) -> Result<String, serde_json::Error> {
        self.chunk(Delta { content: Some(text), ..Delta::default() }, None)
    }

    fn chunk(&self, delta: Delta, facts: Option<Facts>) -> Result<String, serde_json::Error> {
        let finish_reason = facts.as_ref().map(Facts::finish_reason);
        let choices = [ChunkChoice { index: 0, delta, finish_reason }];
        frame(&Chunk { object: "chat.completion.chunk", head: self, choices, facts })
    }
}

/// JSON escapes line ends, so the data is always one line.
fn frame(data: &impl Serialize) -> Result<String, serde_json::Error> {
    Ok(format!("data: {}\n\n", serde_json::to_string(data)?))
}

/// The text that the chunks have together.
fn content(outcome: &Outcome) -> String {
    let Outcome::Answer(answer) = outcome else { return outcome.text() };
    let mut content = if answer.hedged { HEDGE.to_owned() } else { String::new() };
    for delta in &answer.deltas {
        content.push_str(&markdown(delta));
    }
    content
}

/// One annotation a document, in the order of the numbers: clients count them.
fn annotations(outcome: &Outcome) -> Vec<Annotation<'_>> {
    let mut documents: Vec<&Citation> = Vec::new();
    for citation in outcome.citations() {
        match documents.iter_mut().find(|known| known.index == citation.index) {
            // A passage of the same document may have an address where another has none.
            Some(known) if known.passage.url.is_none() => *known = citation,
            Some(_) => {}
            None => documents.push(citation),
        }
    }
    documents.sort_by_key(|citation| citation.index);
    let content = content(outcome);
    documents.into_iter().map(|citation| annotation(citation, &content)).collect()
}

fn annotation<'a>(citation: &'a Citation, content: &str) -> Annotation<'a> {
    let marker = format!("[{}]", citation.index);
    // Code may have the same signs, but not at the beginning of a line.
    let at = content.find(&format!("\n{marker}")).or_else(|| content.find(&format!(" {marker}")));
    let start = at.and_then(|at| content.get(..=at)).unwrap_or(content);
    let start_index = start.chars().count();
    let url = citation.passage.url.as_ref().or(citation.passage.download_url.as_ref());
    Annotation {
        kind: "url_citation",
        url_citation: UrlCitation {
            // Clients tell documents apart by their addresses.
            url: url.map_or_else(|| format!("urn:uuid:{}", citation.passage.document_id), String::clone),
            title: &citation.passage.title,
            start_index,
            end_index: start_index + marker.len(),
        },
    }
}

impl<'a> Facts<'a> {
    fn new(outcome: &'a Outcome) -> Self {
        match outcome {
            Outcome::Answer(answer) => Self {
                citations: (!answer.citations.is_empty()).then_some(Citations {
                    sources: &answer.citations,
                    referenced_indices: &answer.referenced_indices,
                }),
                retrieval: Retrieval {
                    hedged: answer.hedged,
                    strength: strongest(&answer.citations),
                    also_found: &answer.also_found,
                    refusal: None,
                    decided_by: answer.decided_by,
                    searched: &answer.searched,
                },
                session_id: Some(answer.session_id),
                message_id: Some(answer.message_id),
                persisted: answer.persisted,
                mode: answer.mode,
                generation: answer.generation.as_ref(),
                usage: Usage::of(answer.generation.as_ref()),
            },
            Outcome::Refusal(refusal) => Self::of_refusal(refusal),
        }
    }

    /// The reason that clients know for an answer that ends too early is the limit of tokens.
    fn finish_reason(&self) -> &'static str {
        if self.generation.is_some_and(|report| report.cut) { "length" } else { "stop" }
    }

    fn of_refusal(refusal: &'a Refusal) -> Self {
        let Refusal { reason, suggestions, nearest, decided_by, searched, .. } = refusal;
        Self {
            citations: None,
            retrieval: Retrieval {
                hedged: false,
                strength: None,
                also_found: &[],
                refusal: Some(RefusalFacts { reason: *reason, suggestions, nearest }),
                decided_by: *decided_by,
                searched,
            },
            session_id: refusal.session_id,
            message_id: None,
            persisted: refusal.persisted,
            mode: AnswerMode::Extractive,
            generation: None,
            // A model that declined may have been asked.
            usage: None,
        }
    }
}

impl Usage {
    /// `None` if a model was asked and its server does not count.
    fn of(generation: Option<&GenerationReport>) -> Option<Self> {
        let Some(report) = generation else { return Some(Self::default()) };
        let (prompt_tokens, completion_tokens) = (report.prompt_tokens?, report.completion_tokens?);
        let total_tokens = prompt_tokens.saturating_add(completion_tokens);
        Some(Self { prompt_tokens, completion_tokens, total_tokens })
    }
}

fn strongest(citations: &[Citation]) -> Option<Strength> {
    [Strength::Strong, Strength::Good, Strength::Partial]
        .into_iter()
        .find(|strength| citations.iter().any(|citation| citation.strength == Some(*strength)))
}
