//! The Durable Object behind the gate. Between two awaits nothing else runs in it, so each decision is one
//! transaction.

#![allow(missing_docs, reason = "the macro of the runtime makes public methods without docs")]

use std::cell::Cell;
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
use super::{Admission, Budget, Command, Decision, Ticket};

/// How long an outcome is kept, in milliseconds.
const KEEP_MS: i64 = 24 * 60 * 60 * 1000;
/// Most questions kept for one user: a day at the default limit. Of more, the oldest go first.
const MAX_QUESTIONS: i64 = 20 * 60 * 24;
/// How often a waiting repeat looks whether the first run has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(25);

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS admissions (at_ms INTEGER NOT NULL, run TEXT);
    CREATE INDEX IF NOT EXISTS admissions_at ON admissions (at_ms);
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
    has_alarm: Cell<bool>,
}

impl DurableObject for UserGate {
    fn new(state: State, _env: Env) -> Self {
        // Without its tables every later statement fails, and with it the request: the gate stays shut.
        if let Err(error) = state.storage().sql().exec(SCHEMA, None) {
            console_error!("user gate: {}", error);
        }
        Self { state, has_alarm: Cell::new(false) }
    }

    async fn fetch(&self, mut request: Request) -> Result<Response> {
        match serde_json::from_str(&request.text().await?)? {
            Command::Admit { message_id, body_hash, limit, stale_after_ms, wait_ms } => {
                let question = Question { message_id, body_hash, limit, stale_after_ms, wait_ms };
                Response::from_json(&self.admit_or_wait(&question).await?)
            }
            Command::Complete { ticket, outcome } => {
                self.complete(&ticket, &serde_json::to_string(&outcome)?)?;
                Response::from_json(&())
            }
            Command::Release { ticket, refund } => {
                self.release(&ticket, refund)?;
                Response::from_json(&())
            }
        }
    }

    /// Clears what is out of date, also for a user who never comes back.
    async fn alarm(&self) -> Result<Response> {
        self.has_alarm.set(false);
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
    wait_ms: u64,
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
struct AdmissionRow {
    at_ms: i64,
}

#[derive(Deserialize)]
struct CountRow {
    admissions: i64,
}

impl UserGate {
    /// Decides; while the first run of the same question is still going, waits for its end.
    async fn admit_or_wait(&self, question: &Question) -> Result<Decision> {
        let started = now_ms();
        self.forget_old(started)?;
        loop {
            let now = now_ms();
            let may_wait = now - started < question.wait_ms as i64;
            if let Some(decision) = self.decide(question, may_wait, now)? {
                if matches!(decision.admission, Admission::Admitted { .. }) {
                    self.ensure_alarm().await?;
                }
                return Ok(decision);
            }
            Delay::from(POLL_INTERVAL).await;
        }
    }

    /// One decision, or `None` while the same question is being answered and there is time to wait for that. Nothing
    /// here awaits, so no other request can come between what is read and what is written.
    fn decide(&self, question: &Question, may_wait: bool, now: i64) -> Result<Option<Decision>> {
        let earlier = self.earlier(question, now)?;
        if may_wait && matches!(earlier, Some(Admission::Busy)) {
            return Ok(None);
        }
        let budget = self.budget(question.limit, now)?;
        let (admission, budget) = match earlier {
            Some(admission) => (admission, budget),
            None if budget.remaining == 0 => (Admission::Limited, budget),
            None => (self.start(question, now)?, budget.less_one()),
        };
        Ok(Some(Decision { admission, budget }))
    }

    /// What follows from an earlier question with the same id, if one still counts.
    fn earlier(&self, question: &Question, now: i64) -> Result<Option<Admission>> {
        let Some(row) = self.find(question.message_id)? else { return Ok(None) };
        if row.body_hash != question.body_hash {
            return Ok(Some(Admission::Conflict));
        }
        // A start in the future comes from a clock that was set back.
        let is_stale = !(0..question.stale_after_ms as i64).contains(&(now - row.started_ms));
        Ok(match row.outcome {
            // One that cannot be read was kept by another version; the question is answered anew.
            Some(outcome) => serde_json::from_str(&outcome).ok().map(|outcome| Admission::Replay { outcome }),
            None if is_stale => None,
            None => Some(Admission::Busy),
        })
    }

    fn start(&self, question: &Question, now: i64) -> Result<Admission> {
        let ticket = Ticket { message_id: question.message_id, run: Uuid::new_v4() };
        self.run(
            "INSERT INTO admissions (at_ms, run) VALUES (?, ?)",
            vec![now.into(), ticket.run.to_string().into()],
        )?;
        self.run(
            "INSERT OR REPLACE INTO questions (message_id, body_hash, run, started_ms) VALUES (?, ?, ?, ?)",
            vec![
                ticket.message_id.to_string().into(),
                question.body_hash.as_str().into(),
                ticket.run.to_string().into(),
                now.into(),
            ],
        )?;
        self.run(
            "DELETE FROM questions WHERE started_ms < (SELECT started_ms FROM questions
             ORDER BY started_ms DESC LIMIT 1 OFFSET ?)",
            vec![(MAX_QUESTIONS - 1).into()],
        )?;
        Ok(Admission::Admitted { ticket })
    }

    fn complete(&self, ticket: &Ticket, outcome: &str) -> Result<()> {
        self.run(
            "UPDATE questions SET outcome = ? WHERE message_id = ? AND run = ?",
            vec![outcome.into(), ticket.message_id.to_string().into(), ticket.run.to_string().into()],
        )
    }

    fn release(&self, ticket: &Ticket, refund: bool) -> Result<()> {
        if refund {
            self.run("DELETE FROM admissions WHERE run = ?", vec![ticket.run.to_string().into()])?;
        }
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

    /// What is left in the window.
    fn budget(&self, limit: u32, now: i64) -> Result<Budget> {
        // Who waited comes here a while after what was old has been deleted.
        let window_start = now - WINDOW_MS;
        let admissions = self
            .first::<CountRow>(
                "SELECT COUNT(*) AS admissions FROM admissions WHERE at_ms > ?",
                vec![window_start.into()],
            )?
            .map_or(0, |row| row.admissions);
        let remaining = u32::try_from(i64::from(limit) - admissions).unwrap_or(0);
        // When the limit was lowered there may be more admissions than it allows; so many have to leave first.
        let excess = (admissions - i64::from(limit)).max(0);
        let leaving = self.first::<AdmissionRow>(
            "SELECT at_ms FROM admissions WHERE at_ms > ? ORDER BY at_ms LIMIT 1 OFFSET ?",
            vec![window_start.into(), excess.into()],
        )?;
        let reset_s = leaving.map_or(0, |admission| retry_after_seconds(admission.at_ms, now));
        Ok(Budget { limit, remaining, reset_s })
    }

    fn forget_old(&self, now: i64) -> Result<()> {
        self.run("DELETE FROM admissions WHERE at_ms <= ?", vec![(now - WINDOW_MS).into()])?;
        self.run("DELETE FROM questions WHERE started_ms <= ?", vec![(now - KEEP_MS).into()])
    }

    /// Asks the storage once for each life of the object.
    async fn ensure_alarm(&self) -> Result<()> {
        let storage = self.state.storage();
        if !self.has_alarm.get() && storage.get_alarm().await?.is_none() {
            storage.set_alarm(KEEP_MS).await?;
        }
        self.has_alarm.set(true);
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
