//! The Durable Object behind the gate. Between two awaits nothing else runs in it, so each decision is one
//! transaction.

#![allow(missing_docs, reason = "the macro of the runtime makes public methods without docs")]

use std::time::Duration;

use serde::Deserialize;
use uuid::Uuid;
use worker::{
    Date, Delay, DurableObject, Env, Request, Response, Result, SqlStorage, SqlStorageValue, State,
    console_error, durable_object,
};

// The macro names this crate without saying where it is.
use worker::wasm_bindgen;

use super::window::{WINDOW_MS, retry_after_seconds};
use super::{Admission, Command, Ticket};

/// How long an outcome is kept, in milliseconds.
const KEEP_MS: i64 = 24 * 60 * 60 * 1000;
/// How often a waiting repeat looks whether the first run has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(25);

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS hits (at_ms INTEGER NOT NULL);
    CREATE INDEX IF NOT EXISTS hits_at ON hits (at_ms);
    CREATE TABLE IF NOT EXISTS questions (
        message_id TEXT PRIMARY KEY,
        body_hash TEXT NOT NULL,
        run TEXT NOT NULL,
        started_ms INTEGER NOT NULL,
        outcome TEXT
    );
    CREATE INDEX IF NOT EXISTS questions_started ON questions (started_ms);
";

/// One user's rate limit and recent outcomes.
#[durable_object]
pub struct UserGate {
    state: State,
}

impl DurableObject for UserGate {
    fn new(state: State, _env: Env) -> Self {
        // Without its tables every later statement fails, and with it the request: the gate stays shut.
        if let Err(error) = state.storage().sql().exec(SCHEMA, None) {
            console_error!("user gate: {}", error);
        }
        Self { state }
    }

    async fn fetch(&self, mut request: Request) -> Result<Response> {
        match serde_json::from_str(&request.text().await?)? {
            Command::Admit { message_id, body_hash, limit, stale_after_ms } => {
                let question = Question { message_id, body_hash, limit, stale_after_ms };
                Response::from_json(&self.admit_or_wait(&question).await?)
            }
            Command::Complete { ticket, outcome } => {
                self.complete(&ticket, &serde_json::to_string(&outcome)?)?;
                Response::from_json(&())
            }
            Command::Release { ticket } => {
                self.release(&ticket)?;
                Response::from_json(&())
            }
        }
    }

    /// Clears what is out of date, also for a user who never comes back.
    async fn alarm(&self) -> Result<Response> {
        let now = now_ms();
        self.forget_old(now)?;
        let oldest =
            self.first::<OldestRow>("SELECT MIN(started_ms) AS started_ms FROM questions", vec![])?;
        if let Some(started) = oldest.and_then(|row| row.started_ms) {
            self.state.storage().set_alarm(started + KEEP_MS - now).await?;
        }
        Response::empty()
    }
}

struct Question {
    message_id: Uuid,
    body_hash: String,
    limit: u32,
    stale_after_ms: u64,
}

#[derive(Deserialize)]
struct QuestionRow {
    body_hash: String,
    started_ms: i64,
    outcome: Option<String>,
}

#[derive(Deserialize)]
struct OldestRow {
    started_ms: Option<i64>,
}

#[derive(Deserialize)]
struct HitRow {
    at_ms: i64,
}

#[derive(Deserialize)]
struct CountRow {
    hits: i64,
}

impl UserGate {
    /// Decides; while the first run of the same question is still going, waits for its end. The wait is bounded,
    /// because a run that takes too long counts as stale and is taken over.
    async fn admit_or_wait(&self, question: &Question) -> Result<Admission> {
        loop {
            if let Some(admission) = self.admit(question)? {
                if matches!(admission, Admission::Admitted { .. }) {
                    self.ensure_alarm().await?;
                }
                return Ok(admission);
            }
            Delay::from(POLL_INTERVAL).await;
        }
    }

    /// One decision, or `None` while the same question is being answered. Nothing here awaits, so no other request
    /// can come between what is read and what is written.
    fn admit(&self, question: &Question) -> Result<Option<Admission>> {
        let now = now_ms();
        self.forget_old(now)?;
        if let Some(row) = self.find(question.message_id)? {
            if row.body_hash != question.body_hash {
                return Ok(Some(Admission::Conflict));
            }
            if let Some(outcome) = row.outcome {
                return Ok(Some(Admission::Replay { outcome: serde_json::from_str(&outcome)? }));
            }
            if now - row.started_ms < question.stale_after_ms as i64 {
                return Ok(None);
            }
        }
        if let Some(retry_after_s) = self.over_limit(question.limit, now)? {
            return Ok(Some(Admission::Limited { retry_after_s }));
        }
        self.start(question, now).map(Some)
    }

    fn start(&self, question: &Question, now: i64) -> Result<Admission> {
        let ticket = Ticket { message_id: question.message_id, run: Uuid::new_v4() };
        self.run("INSERT INTO hits (at_ms) VALUES (?)", vec![now.into()])?;
        self.run(
            "INSERT OR REPLACE INTO questions (message_id, body_hash, run, started_ms) VALUES (?, ?, ?, ?)",
            vec![
                ticket.message_id.to_string().into(),
                question.body_hash.as_str().into(),
                ticket.run.to_string().into(),
                now.into(),
            ],
        )?;
        Ok(Admission::Admitted { ticket })
    }

    fn complete(&self, ticket: &Ticket, outcome: &str) -> Result<()> {
        self.run(
            "UPDATE questions SET outcome = ? WHERE message_id = ? AND run = ?",
            vec![outcome.into(), ticket.message_id.to_string().into(), ticket.run.to_string().into()],
        )
    }

    fn release(&self, ticket: &Ticket) -> Result<()> {
        self.run(
            "DELETE FROM questions WHERE message_id = ? AND run = ?",
            vec![ticket.message_id.to_string().into(), ticket.run.to_string().into()],
        )
    }

    fn find(&self, message_id: Uuid) -> Result<Option<QuestionRow>> {
        self.first(
            "SELECT body_hash, started_ms, outcome FROM questions WHERE message_id = ?",
            vec![message_id.to_string().into()],
        )
    }

    /// The seconds to wait when the window is full.
    fn over_limit(&self, limit: u32, now: i64) -> Result<Option<u64>> {
        let hits =
            self.first::<CountRow>("SELECT COUNT(*) AS hits FROM hits", vec![])?.map_or(0, |row| row.hits);
        let excess = hits - i64::from(limit);
        if excess < 0 {
            return Ok(None);
        }
        // There is room again when so many hits have left that fewer than the limit remain.
        let leaving = self
            .first::<HitRow>("SELECT at_ms FROM hits ORDER BY at_ms LIMIT 1 OFFSET ?", vec![excess.into()])?
            .map_or(now, |row| row.at_ms);
        Ok(Some(retry_after_seconds(leaving, now)))
    }

    fn forget_old(&self, now: i64) -> Result<()> {
        self.run("DELETE FROM hits WHERE at_ms <= ?", vec![(now - WINDOW_MS).into()])?;
        self.run("DELETE FROM questions WHERE started_ms <= ?", vec![(now - KEEP_MS).into()])
    }

    async fn ensure_alarm(&self) -> Result<()> {
        let storage = self.state.storage();
        if storage.get_alarm().await?.is_none() {
            storage.set_alarm(KEEP_MS).await?;
        }
        Ok(())
    }

    fn sql(&self) -> SqlStorage {
        self.state.storage().sql()
    }

    fn run(&self, statement: &str, values: Vec<SqlStorageValue>) -> Result<()> {
        self.sql().exec(statement, values).map(drop)
    }

    fn first<T: serde::de::DeserializeOwned>(
        &self,
        query: &str,
        values: Vec<SqlStorageValue>,
    ) -> Result<Option<T>> {
        Ok(self.sql().exec(query, values)?.to_array()?.into_iter().next())
    }
}

fn now_ms() -> i64 {
    Date::now().as_millis() as i64
}
