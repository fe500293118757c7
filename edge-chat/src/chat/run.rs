//! Answers one admitted question: search, decision, history.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use chat_core::answer::Answer;
use chat_core::chunk::MatchedChunk;
use chat_core::decision::{Basis, Searched};
use chat_core::error::ErrorCode;
use chat_core::evidence::Assessment;
use chat_core::follow_up::respond_to_follow_up;
use chat_core::generate::{Fallback, Generation};
use chat_core::outcome::Outcome;
use chat_core::refusal::{Reason, Refusal};
use chat_core::request::ChatRequest;
use chat_core::{Response, Verdict, respond};
use futures_channel::mpsc::UnboundedSender;
use futures_channel::oneshot;
use futures_util::future::{Either, LocalBoxFuture, Shared, join, pending, select};
use uuid::Uuid;
use worker::{Delay, Env};

use super::client::Client;
use super::links::Links;
use super::query::{Found, Query};
use super::stream::Completion;
use super::turn::{self, Turn};
use crate::call::Call;
use crate::config::{Config, Decline};
use crate::gate::{Gate, Ticket};
use crate::generation::{Settlement, Writer, Written};
use crate::http::error::HttpError;
use crate::identity::Authenticated;
use crate::observe::Trace;
use crate::settings::{AnswerModeSetting, LinkMode, Settings};
use crate::supabase::{NewRefusal, Supabase, session_not_found};

/// The minimum time for links to the files of a written answer, twice as long as they may take.
const MIN_LINK_TIME: Duration = Duration::from_millis(1000);

/// The minimum time for writing the history, however long the search took.
const MIN_HISTORY_TIME: Duration = Duration::from_millis(1500);

/// The stream of a client that reads an answer while it is written.
pub(super) struct ClientStream {
    pub(super) pieces: UnboundedSender<String>,
    /// Completes when the stream is dropped.
    pub(super) left: Shared<oneshot::Receiver<()>>,
}

/// The result of a search, shared by the response and the work after it.
pub(super) type SharedSearchResult = Shared<LocalBoxFuture<'static, Result<Rc<SearchResult>, HttpError>>>;

/// The result of a search.
pub(super) struct SearchResult {
    /// Shared, because it can be large. It changes once, when it is in the history.
    pub(super) outcome: Rc<RefCell<Outcome>>,
    /// The documents behind an answer. Not part of the outcome, because only the history gets them.
    sources: RefCell<BTreeSet<Uuid>>,
    /// The answer that a model is to write; then the outcome holds what is shown if it cannot.
    draft: Option<Draft>,
    /// Cosine of the nearest passage, if there was one.
    best_similarity: Option<f64>,
}

/// An answer that a model is to write.
struct Draft {
    /// Taken when the writing begins.
    generation: Cell<Option<Generation>>,
    link_mode: LinkMode,
    /// The outcome if the model declines; `None` for the extractive answer.
    refusal: Option<Refusal>,
}

impl SearchResult {
    /// Whether a model is to write the answer.
    pub(super) fn is_draft(&self) -> bool {
        self.draft.is_some()
    }
}

/// The decision on a question.
struct Decision {
    response: Response,
    /// The rows that it is about.
    rows: Vec<MatchedChunk>,
    /// The searched text, if it was the question together with the one before it.
    text: Option<String>,
}

/// The client left before the answer was written.
struct Abandoned(Settlement);

/// One admitted question.
pub(super) struct Run {
    pub(super) request_id: String,
    gate: Gate,
    ticket: Ticket,
    supabase: Supabase,
    question: ChatRequest,
    config: Rc<Config>,
    trace: Rc<Trace>,
    pub(super) turn: Turn,
    env: Env,
    user_id: Uuid,
    /// Scheme and host of the request.
    origin: String,
    /// Scheme and host of the page that asks.
    page_origin: Option<String>,
    client: Client,
    /// Whether the user's data were erased during the run.
    is_erased: Cell<bool>,
}

impl Run {
    pub(super) fn new(
        call: Call,
        user: Authenticated,
        question: ChatRequest,
        gate: Gate,
        ticket: Ticket,
    ) -> Self {
        let user_id = user.user_id();
        Self {
            user_id,
            turn: Turn::new(user_id, &question),
            origin: call.url.origin().to_owned(),
            page_origin: call.header("origin"),
            client: Client::new(&call.request),
            supabase: call.supabase(user),
            question,
            config: call.config,
            trace: call.trace,
            env: call.env,
            request_id: call.id,
            gate,
            ticket,
            is_erased: Cell::new(false),
        }
    }

    /// The outcome, before it is written to the history. Cancelled if the client disconnects first.
    pub(super) async fn find(self: Rc<Self>) -> Result<Rc<SearchResult>, HttpError> {
        match select(pin!(self.search()), pin!(self.client.disconnected())).await {
            Either::Left((search_result, _)) => search_result.map(Rc::new),
            Either::Right(_) => Err(abandoned()),
        }
    }

    /// Searches, and lets `chat-core` decide on what is found.
    async fn search(&self) -> Result<SearchResult, HttpError> {
        let Self { question, trace, .. } = self;
        let settings = self.settings().await?;
        let query = Query {
            text: &question.message,
            embedding: &question.embedding,
            previous: question.previous.as_ref(),
            model: &question.model,
            assistant: &question.assistant,
        };
        let search = query.search(&self.supabase, trace, settings.match_count);
        let (session, found) = join(self.check_session(), search).await;
        session?;
        let found = found?;

        let include_citations = question.include_citations && settings.citations;
        let Decision { response, rows, text } = self.decide(&settings, found, include_citations);
        let Response { assessment, verdict, decided_by } = response;
        trace.note(|facts| {
            facts.similarity = assessment.best_similarity;
            facts.confidence = assessment.signals.is_some().then_some(assessment.confidence);
            facts.decided_by = Some(decided_by);
        });
        let draft = match &verdict {
            Verdict::Answer(quotes) => {
                let message = text.as_deref().unwrap_or(&question.message);
                self.draft(&settings, message, &rows, &assessment, quotes, include_citations)
            }
            Verdict::Refuse(_) => None,
        };
        let (mut outcome, sources) = match verdict {
            Verdict::Answer(answer) => {
                let sources = answer.sources();
                (Outcome::answer(answer, self.turn.session_id, self.turn.answer_id), sources)
            }
            Verdict::Refuse(reason) => (self.refuse(&settings, reason, &rows).await?, BTreeSet::new()),
        };
        drop(rows);
        if draft.is_some() {
            // The model takes seconds.
            self.supabase.release_large_responses();
        }
        let searched = Searched { searched: text, truncated: question.truncated };
        outcome.set_basis(Basis { decided_by, searched });
        self.add_links(&mut outcome, settings.link_mode).await;
        Ok(SearchResult {
            outcome: Rc::new(RefCell::new(outcome)),
            sources: RefCell::new(sources),
            draft,
            best_similarity: assessment.best_similarity,
        })
    }

    /// The settings of the assistant, which the page may use.
    async fn settings(&self) -> Result<Settings, HttpError> {
        let Self { supabase, question, trace, .. } = self;
        let settings =
            Settings::current(&self.config, &question.assistant, Some(supabase), supabase.deadline());
        let settings = trace.time("settings", settings).await?;
        // Only now is it certain that the name is the owner's, and not any text of a client.
        trace.note(|facts| facts.assistant = Some(question.assistant.clone()));
        settings.check_origin(self.page_origin.as_deref())?;
        if settings.log_questions {
            trace.note(|facts| facts.question = Some(question.message.clone()));
        }
        Ok(settings)
    }

    async fn check_session(&self) -> Result<(), HttpError> {
        match self.question.session_id {
            Some(id) if !self.supabase.can_continue(id, &self.question.assistant).await? => {
                Err(session_not_found())
            }
            _ => Ok(()),
        }
    }

    /// Lets `chat-core` decide.
    fn decide(&self, settings: &Settings, found: Found, include_citations: bool) -> Decision {
        let (question, thresholds) = (&self.question, &settings.thresholds);
        let (message, reading) = (&question.message, question.reading.as_ref());
        let Found { rows, joined } = found;
        let Some(joined) = joined else {
            let response = respond(message, &rows, reading, thresholds, include_citations);
            return Decision { response, rows, text: None };
        };
        let (response, is_joined) =
            respond_to_follow_up(message, &rows, joined.search(), reading, thresholds, include_citations);
        self.trace.note(|facts| facts.follow_up = Some(is_joined));
        if is_joined {
            Decision { response, rows: joined.rows, text: Some(joined.text) }
        } else {
            Decision { response, rows, text: None }
        }
    }

    /// Prepares what the model needs, if it is to write the answer.
    fn draft(
        &self,
        settings: &Settings,
        message: &str,
        rows: &[MatchedChunk],
        assessment: &Assessment,
        quotes: &Answer,
        include_citations: bool,
    ) -> Option<Draft> {
        let model = self.config.model.as_ref()?;
        if settings.answer_mode != AnswerModeSetting::Endpoint || self.question.is_extractive {
            return None;
        }
        let generation =
            Generation::new(message, rows, assessment, Some(quotes), include_citations, &model.model);
        let refuses = model.decline == Decline::Refuse;
        Some(Draft {
            generation: Cell::new(Some(generation)),
            link_mode: settings.link_mode,
            refusal: refuses.then(|| refusal(settings, Reason::WeakEvidence, rows)),
        })
    }

    /// Lets the model write the answer and replaces the outcome by it. A fault leaves the extractive answer.
    async fn write(
        &self,
        search_result: &SearchResult,
        stream: Option<ClientStream>,
    ) -> Result<Settlement, Abandoned> {
        let nothing = Ok(Settlement::default());
        let (Some(draft), Some(model)) = (&search_result.draft, &self.config.model) else {
            return nothing;
        };
        let Some(generation) = draft.generation.take() else { return nothing };
        let writer = Writer { model, env: &self.env, trace: &self.trace, user_id: self.user_id };
        let stream = stream.as_ref();
        let send = |delta| {
            if let Some(stream) = stream {
                // Fails if the client has disconnected.
                let _ = stream.pieces.unbounded_send(delta);
            }
        };
        let disconnected = async {
            let left = async {
                match stream {
                    Some(stream) => drop(stream.left.clone().await),
                    None => pending().await,
                }
            };
            select(pin!(self.client.disconnected()), pin!(left)).await;
        };
        let written = self.trace.time("generation", writer.write(generation, send, disconnected)).await;
        let Written { answer, report, is_abandoned, settlement } = written;
        if is_abandoned {
            return Err(Abandoned(settlement));
        }
        self.trace.note(|facts| facts.generation = Some(report.clone()));
        if let Some(answer) = answer {
            search_result.sources.replace(answer.sources());
            let mut outcome = Outcome::answer(answer, self.turn.session_id, self.turn.answer_id);
            outcome.set_basis(search_result.outcome.borrow().basis().clone());
            self.add_links(&mut outcome, draft.link_mode).await;
            search_result.outcome.replace(outcome);
        } else if let (Some(Fallback::Declined), Some(refusal)) = (report.fallback, &draft.refusal) {
            search_result.sources.take();
            let mut outcome = Outcome::Refusal(refusal.clone());
            outcome.set_basis(search_result.outcome.borrow().basis().clone());
            self.add_links(&mut outcome, draft.link_mode).await;
            self.trace.note(|facts| facts.outcome = Some(outcome.kind()));
            search_result.outcome.replace(outcome);
        }
        search_result.outcome.borrow_mut().set_generation(report);
        Ok(settlement)
    }

    async fn add_links(&self, outcome: &mut Outcome, link_mode: LinkMode) {
        if link_mode == LinkMode::None {
            return;
        }
        let deadline = self.supabase.deadline().at_least(MIN_LINK_TIME).half();
        let supabase = self.supabase.with_deadline(deadline);
        let links = Links::new(&supabase, &self.origin);
        if let Err(error) = self.trace.time("links", links.add(outcome)).await {
            self.trace.fault("links not created", &error);
        }
    }

    async fn refuse(
        &self,
        settings: &Settings,
        reason: Reason,
        rows: &[MatchedChunk],
    ) -> Result<Outcome, HttpError> {
        // Only if the search found nothing at all, there may be no document.
        let has_documents = match rows {
            [] => self.supabase.has_documents(&self.question.assistant).await?,
            _ => Some(true),
        };
        let reason = match has_documents {
            Some(true) => reason,
            Some(false) => Reason::NoAccess,
            None => Reason::EmptyKb,
        };
        Ok(Outcome::Refusal(refusal(settings, reason, rows)))
    }

    /// Writes the history and stores the outcome for repeats. A fault here costs the history, never the answer. Without an
    /// outcome the question is released, so that it can be asked again.
    pub(super) async fn complete(self: Rc<Self>, found: SharedSearchResult, stream: Option<ClientStream>) {
        let search_result = match found.await {
            Ok(search_result) => search_result,
            Err(_) => return self.release().await,
        };
        if stream.is_some() && !search_result.is_draft() {
            // The history is encoded and sent after the runtime has sent what the client is waiting for.
            Delay::from(Duration::ZERO).await;
        }
        // Afterwards the stream goes on, because there are no more pieces.
        let settlement = match self.write(&search_result, stream).await {
            Ok(settlement) => settlement,
            Err(Abandoned(settlement)) => {
                // As if the client had left during the search: a repeat is answered whole.
                join(settlement.settle(&self.trace), self.release()).await;
                return;
            }
        };
        let outcome = &search_result.outcome;
        let supabase = self.supabase.with_deadline(self.supabase.deadline().at_least(MIN_HISTORY_TIME));
        let latency_ms = self.trace.elapsed_ms();
        let record = turn::record(
            &supabase,
            &self.question,
            &outcome.borrow(),
            &search_result.sources.borrow(),
            &self.turn,
            latency_ms,
        );
        let (recorded, ()) = join(self.trace.time("history", record), settlement.settle(&self.trace)).await;
        match recorded {
            Ok(()) => outcome.borrow_mut().mark_persisted(self.turn.session_id),
            Err(error) => self.trace.fault("history not written", &error),
        }
        self.trace.note(|facts| facts.persisted = Some(outcome.borrow().is_persisted()));
        let complete = self.gate.complete(self.ticket.clone(), &outcome.borrow());
        match complete.await {
            Ok(false) => {}
            Ok(true) => {
                self.is_erased.set(true);
                outcome.borrow_mut().mark_not_persisted();
                self.delete_new_session(&supabase).await;
            }
            Err(error) => {
                self.trace.fault("outcome not stored", &error);
                // So that no repeat waits for it. A repeat runs again and writes the same rows.
                self.release().await;
            }
        }
    }

    /// Deletes the session that the turn may have created after the user's data were erased. An older session was erased too,
    /// and no turn can be written to it.
    async fn delete_new_session(&self, supabase: &Supabase) {
        if self.question.session_id.is_none()
            && let Err(error) = supabase.delete_session(self.turn.session_id).await
        {
            self.trace.fault("turn not deleted after an erasure", &error);
        }
    }

    /// After the completion, records a refused question. The client does not wait for it.
    pub(super) async fn record_refusal(self: Rc<Self>, found: SharedSearchResult, completion: Completion) {
        completion.await;
        if self.is_erased.get() {
            return;
        }
        let Ok(search_result) = found.await else { return };
        let supabase = self.supabase.with_deadline(self.supabase.deadline().at_least(MIN_HISTORY_TIME));
        let refusal = match &*search_result.outcome.borrow() {
            Outcome::Refusal(refusal) => {
                Some((refusal.session_id, refusal.reason.as_str(), refusal.basis.searched.searched.clone()))
            }
            Outcome::Answer(_) => None,
        };
        let Some((session_id, reason, searched)) = refusal else { return };
        // "And to Norway?" alone would tell the owner nothing.
        let (question, embedding) = match (&searched, &self.question.previous) {
            (Some(text), Some(previous)) => (text, &previous.embedding),
            _ => (&self.question.message, &self.question.embedding),
        };
        let best_score = search_result.best_similarity;
        let row = NewRefusal {
            // The same id on every attempt, so that the refusal is recorded once.
            id: self.question.message_id,
            // `None` unless the session is in the database, which the row refers to.
            session_id,
            question,
            embedding,
            best_score,
            reason,
            assistant: &self.question.assistant,
        };
        if let Err(error) = supabase.record_refusal(&row).await {
            self.trace.fault("refusal not recorded", &error);
        }
    }

    async fn release(&self) {
        if let Err(error) = self.gate.release(self.ticket.clone()).await {
            self.trace.fault("question not released", &error);
        }
    }
}

/// The refusal with the site's own texts.
fn refusal(settings: &Settings, reason: Reason, rows: &[MatchedChunk]) -> Refusal {
    let mut refusal = Refusal::new(reason, rows, settings.thresholds.similarity);
    if let Some(message) = &settings.refusal_message {
        refusal = refusal.with_message(message);
    }
    if let Some(suggestions) = &settings.refusal_suggestions {
        refusal = refusal.with_suggestions(suggestions);
    }
    if let Some(url) = &settings.support_url {
        refusal = refusal.with_support_url(url);
    }
    refusal
}

/// For the log only: the client has disconnected. 499 is the status that nginx logs in this case.
pub(super) fn abandoned() -> HttpError {
    HttpError::new(ErrorCode::InvalidRequest, "The connection was closed before there was an answer.")
        .with_status(499)
}
