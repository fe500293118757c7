//! The Durable Object behind the gate. Nothing else runs in it between two awaits, so each decision is one transaction.
//!
//! States of a `message_id`: unknown → running (a row without outcome) → completed (a row with outcome) → unknown after a day.
//! A running question becomes unknown when it is released, erased or stale.

#![allow(missing_docs, reason = "the macro generates public methods without docs")]

use std::cell::Cell;
use std::time::Duration;

use chat_core::outcome::Outcome;
use serde::Deserialize;
use serde_json::value::RawValue;
use uuid::Uuid;
use worker::{
    DurableObject, Env, Request, Response, Result, SqlStorage, SqlStorageValue, State, durable_object,
};

// The macro refers to `wasm_bindgen` by its bare name.
use worker::wasm_bindgen;

use super::waiters::Waiters;
use super::window::{WINDOW_MS, wait_ms};
use super::{Attempt, Budget, Completed, Reservation, Ticket};
use crate::clock::within;

/// The object stores and returns outcomes as unparsed JSON.
type Command = super::Command<Box<RawValue>>;
type Admission = super::Admission<Box<RawValue>>;
type Decision = super::Decision<Box<RawValue>>;

/// How long an outcome is stored, in milliseconds.
const KEEP_MS: i64 = 24 * 60 * 60 * 1000;
/// Milliseconds of a day.
const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Stored questions per user: a day at the default limit. Beyond it the oldest are deleted, with the next clean-up.
const MAX_QUESTIONS: i64 = 20 * 60 * 24;

/// How long an erasure is remembered, in milliseconds: longer than any run takes.
const ERASURE_MS: i64 = 10 * 60 * 1000;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS admissions (at_ms INTEGER NOT NULL);
    CREATE INDEX IF NOT EXISTS admissions_at ON admissions (at_ms);
    CREATE TABLE IF NOT EXISTS questions (
        message_id TEXT PRIMARY KEY,
        body_hash TEXT NOT NULL,
        run TEXT NOT NULL,
        started_ms INTEGER NOT NULL,
        outcome TEXT
    );
    CREATE INDEX IF NOT EXISTS questions_started ON questions (started_ms);
    CREATE TABLE IF NOT EXISTS erasures (at_ms INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS tokens (day INTEGER PRIMARY KEY, used INTEGER NOT NULL);
";

/// One user's rate limit and recent outcomes.
#[durable_object]
pub struct UserGate {
    state: State,
    waiters: Waiters,
    has_tables: Cell<bool>,
    has_alarm: Cell<bool>,
    /// Cache of [`UserGate::last_erasure`].
    erased_ms: Cell<Option<i64>>,
    /// When this instance last deleted what has expired; 0 if never.
    cleaned_up_ms: Cell<i64>,
}

impl DurableObject for UserGate {
    fn new(state: State, _env: Env) -> Self {
        Self {
            state,
            waiters: Waiters::default(),
            has_tables: Cell::new(false),
            has_alarm: Cell::new(false),
            erased_ms: Cell::new(None),
            cleaned_up_ms: Cell::new(0),
        }
    }

    async fn fetch(&self, mut request: Request) -> Result<Response> {
        let command: Command = serde_json::from_slice(&request.bytes().await?)?;
        self.create_tables()?;
        match command {
            Command::Admit(attempt) => Response::from_json(&self.admit_or_wait(&attempt).await?),
            Command::Complete { ticket, outcome } => {
                let completed = self.complete(&ticket, &outcome)?;
                self.waiters.wake(ticket.message_id);
                Response::from_json(&completed)
            }
            Command::Release { ticket } => {
                self.release(&ticket)?;
                self.waiters.wake(ticket.message_id);
                Response::from_json(&())
            }
            Command::ReserveTokens { tokens, limit } => {
                let reservation = self.reserve_tokens(tokens, limit, now_ms())?;
                self.ensure_alarm().await?;
                Response::from_json(&reservation)
            }
            Command::SettleTokens { reservation, used } => {
                self.settle_tokens(reservation, used)?;
                Response::from_json(&())
            }
            Command::Erase => {
                self.erase(now_ms()).await?;
                Response::from_json(&())
            }
        }
    }

    /// Deletes expired rows, even if the user never returns. Without rows left, deletes the whole object.
    async fn alarm(&self) -> Result<Response> {
        self.has_alarm.set(false);
        self.create_tables()?;
        let now = now_ms();
        self.delete_expired(now)?;
        let storage = self.state.storage();
        match self.next_expiry()? {
            Some(at_ms) => storage.set_alarm((at_ms - now).max(1)).await?,
            None => {
                // The next command creates the tables again. With our compatibility date, this deletes the alarm too.
                self.has_tables.set(false);
                storage.delete_all().await?;
            }
        }
        Response::empty()
    }
}

#[derive(Deserialize)]
struct QuestionRow {
    body_hash: String,
    started_ms: i64,
    outcome: Option<String>,
}

/// A number, or an aggregate that is null without rows.
#[derive(Deserialize)]
struct NumberRow {
    number: Option<i64>,
}

#[derive(Deserialize)]
struct WindowRow {
    count: i64,
    /// `None` if the window is empty.
    first_ms: Option<i64>,
}

enum Progress {
    Decided(Decision),
    /// Another run is answering the question; see [`Earlier::Running`].
    Running {
        stale_in_ms: u64,
    },
}

/// An earlier question with the same id.
enum Earlier {
    Outcome(Box<RawValue>),
    OtherBody,
    /// It is running. If it still is after `stale_in_ms`, its run counts as lost.
    Running {
        stale_in_ms: u64,
    },
}

impl UserGate {
    /// Decides, after waiting for another run of the same question.
    async fn admit_or_wait(&self, attempt: &Attempt) -> Result<Decision> {
        let mut left_ms = attempt.wait_ms;
        let erased_ms = self.last_erasure()?;
        loop {
            let now = now_ms();
            if self.last_erasure()? != erased_ms {
                // A repeat from before the erasure must not be admitted as a new question.
                return self.busy(attempt, now);
            }
            let stale_in_ms = match self.decide(attempt, now)? {
                Progress::Decided(decision) => {
                    if matches!(decision.admission, Admission::Admitted { .. }) {
                        self.ensure_alarm().await?;
                    }
                    return Ok(decision);
                }
                Progress::Running { stale_in_ms } => stale_in_ms,
            };
            let waiter = if left_ms > 0 { self.waiters.join(attempt.message_id) } else { None };
            let Some(woken) = waiter else { return self.busy(attempt, now) };
            let wait_ms = left_ms.min(stale_in_ms);
            let is_woken = within(Duration::from_millis(wait_ms), woken).await.is_some();
            let waited_ms = if is_woken { u64::try_from(now_ms() - now).unwrap_or(0) } else { wait_ms };
            left_ms = left_ms.saturating_sub(waited_ms);
        }
    }

    /// One decision, unless another run is answering the question. Nothing here awaits, so no other request can run between the
    /// reads and the writes.
    fn decide(&self, attempt: &Attempt, now: i64) -> Result<Progress> {
        let admission = match self.earlier(attempt, now)? {
            Some(Earlier::Running { stale_in_ms }) => return Ok(Progress::Running { stale_in_ms }),
            Some(Earlier::Outcome(outcome)) => Some(Admission::Replay { outcome }),
            Some(Earlier::OtherBody) => Some(Admission::Conflict),
            None => None,
        };
        let budget = self.budget(attempt.limit, now)?;
        let (admission, budget) = match admission {
            Some(admission) => (admission, budget),
            None if budget.remaining == 0 => (Admission::Limited, budget),
            None => (self.start(attempt, now)?, budget.after_admission()),
        };
        Ok(Progress::Decided(Decision { admission, budget }))
    }

    fn busy(&self, attempt: &Attempt, now: i64) -> Result<Decision> {
        Ok(Decision { admission: Admission::Busy, budget: self.budget(attempt.limit, now)? })
    }

    /// The earlier question with the same id, unless it has expired.
    fn earlier(&self, attempt: &Attempt, now: i64) -> Result<Option<Earlier>> {
        let Some(row) = self.find(attempt.message_id, now)? else { return Ok(None) };
        let age_ms = now - row.started_ms;
        let stale_after_ms = attempt.stale_after_ms as i64;
        // A start in the future means that the clock was set back.
        let is_stale = !(0..stale_after_ms).contains(&age_ms);
        let is_same = row.body_hash == attempt.body_hash;
        Ok(match row.outcome {
            // There was no answer, so the id is free, even for another body.
            None if is_stale => None,
            _ if !is_same => Some(Earlier::OtherBody),
            None => Some(Earlier::Running { stale_in_ms: (stale_after_ms - age_ms) as u64 }),
            Some(outcome) => readable(outcome).map(Earlier::Outcome),
        })
    }

    fn start(&self, attempt: &Attempt, now: i64) -> Result<Admission> {
        self.clean_up(now)?;
        let ticket =
            Ticket { message_id: attempt.message_id, run: Uuid::new_v4(), erased_ms: self.last_erasure()? };
        self.run("INSERT INTO admissions (at_ms) VALUES (?)", vec![now.into()])?;
        self.run(
            "INSERT OR REPLACE INTO questions (message_id, body_hash, run, started_ms) VALUES (?, ?, ?, ?)",
            vec![
                ticket.message_id.to_string().into(),
                attempt.body_hash.as_str().into(),
                ticket.run.to_string().into(),
                now.into(),
            ],
        )?;
        Ok(Admission::Admitted { ticket })
    }

    fn complete(&self, ticket: &Ticket, outcome: &RawValue) -> Result<Completed> {
        let is_erased = ticket.erased_ms < self.last_erasure()?;
        if !is_erased {
            self.run(
                "UPDATE questions SET outcome = ? WHERE message_id = ? AND run = ?",
                vec![
                    outcome.get().into(),
                    ticket.message_id.to_string().into(),
                    ticket.run.to_string().into(),
                ],
            )?;
        }
        Ok(Completed { is_erased })
    }

    /// Deletes all questions. Admissions remain, because erasing must not reset the limit. The time of the erasure remains for
    /// runs in progress, which check it at their end.
    async fn erase(&self, now: i64) -> Result<()> {
        // Later than the previous erasure, even if the clock was set back.
        let at_ms = now.max(self.last_erasure()? + 1);
        self.run("DELETE FROM questions", vec![])?;
        self.run("DELETE FROM erasures", vec![])?;
        self.erased_ms.set(None);
        self.run("INSERT INTO erasures (at_ms) VALUES (?)", vec![at_ms.into()])?;
        self.waiters.wake_all();
        // Replaces the alarm in a day: usually nothing is left by then, so the object deletes itself.
        self.state.storage().set_alarm(ERASURE_MS).await?;
        self.has_alarm.set(true);
        Ok(())
    }

    /// When the user's data were last erased; 0 if never, or longer ago than any run takes.
    fn last_erasure(&self) -> Result<i64> {
        if let Some(at_ms) = self.erased_ms.get() {
            return Ok(at_ms);
        }
        let at_ms = self.number("SELECT MAX(at_ms) AS number FROM erasures", vec![])?.unwrap_or(0);
        self.erased_ms.set(Some(at_ms));
        Ok(at_ms)
    }

    fn release(&self, ticket: &Ticket) -> Result<()> {
        self.run(
            "DELETE FROM questions WHERE message_id = ? AND run = ?",
            vec![ticket.message_id.to_string().into(), ticket.run.to_string().into()],
        )
    }

    /// Takes tokens out of the budget of today (UTC).
    fn reserve_tokens(&self, tokens: u64, limit: u64, now: i64) -> Result<Option<Reservation>> {
        let day = now.div_euclid(DAY_MS);
        let used = self.number("SELECT used AS number FROM tokens WHERE day = ?", vec![day.into()])?;
        let used = used.map_or(0, |used| u64::try_from(used).unwrap_or(0));
        if used.saturating_add(tokens) > limit {
            return Ok(None);
        }
        self.run(
            "INSERT INTO tokens (day, used) VALUES (?, ?) ON CONFLICT (day) DO UPDATE SET used = used + excluded.used",
            vec![day.into(), i64::try_from(tokens).unwrap_or(i64::MAX).into()],
        )?;
        Ok(Some(Reservation { day, tokens }))
    }

    fn settle_tokens(&self, reservation: Reservation, used: u64) -> Result<()> {
        let difference = i128::from(used) - i128::from(reservation.tokens);
        let difference = i64::try_from(difference).unwrap_or(0);
        self.run(
            "UPDATE tokens SET used = MAX(0, used + ?) WHERE day = ?",
            vec![difference.into(), reservation.day.into()],
        )
    }

    /// The question with this id, unless it has expired. Expired rows may not be deleted yet.
    fn find(&self, message_id: Uuid, now: i64) -> Result<Option<QuestionRow>> {
        self.first(
            "SELECT body_hash, started_ms, outcome FROM questions WHERE message_id = ? AND started_ms > ?",
            vec![message_id.to_string().into(), (now - KEEP_MS).into()],
        )
    }

    fn budget(&self, limit: u32, now: i64) -> Result<Budget> {
        // Older rows are deleted with the next one.
        let window_start = now - WINDOW_MS;
        let window = self.first::<WindowRow>(
            "SELECT COUNT(*) AS count, MIN(at_ms) AS first_ms FROM admissions WHERE at_ms > ?",
            vec![window_start.into()],
        )?;
        let (admissions, first_ms) = window.map_or((0, None), |row| (row.count, row.first_ms));
        let remaining = u32::try_from(i64::from(limit) - admissions).unwrap_or(0);
        // If the limit was lowered, there may be more admissions than it allows. The excess has to expire first.
        let excess = admissions - i64::from(limit);
        let leaving_ms = if excess > 0 {
            self.number(
                "SELECT at_ms AS number FROM admissions WHERE at_ms > ? ORDER BY at_ms LIMIT 1 OFFSET ?",
                vec![window_start.into(), excess.into()],
            )?
        } else {
            first_ms
        };
        Ok(Budget { limit, remaining, reset_ms: leaving_ms.map_or(0, |at_ms| wait_ms(at_ms, now)) })
    }

    /// Deletes what is not needed any more, once in a window: nothing is read that has expired, and the client waits meanwhile.
    fn clean_up(&self, now: i64) -> Result<()> {
        // A time in the future means that the clock was set back.
        if (now - WINDOW_MS + 1..=now).contains(&self.cleaned_up_ms.get()) {
            return Ok(());
        }
        self.delete_expired(now)?;
        self.run(
            "DELETE FROM questions WHERE started_ms < (SELECT started_ms FROM questions
             ORDER BY started_ms DESC LIMIT 1 OFFSET ?)",
            vec![(MAX_QUESTIONS - 1).into()],
        )?;
        self.cleaned_up_ms.set(now);
        Ok(())
    }

    fn delete_expired(&self, now: i64) -> Result<()> {
        let window_start = now - WINDOW_MS;
        self.run("DELETE FROM admissions WHERE at_ms <= ?", vec![window_start.into()])?;
        self.run("DELETE FROM tokens WHERE day < ?", vec![now.div_euclid(DAY_MS).into()])?;
        if self.last_erasure()? > 0 {
            self.run("DELETE FROM erasures WHERE at_ms <= ?", vec![(now - ERASURE_MS).into()])?;
            self.erased_ms.set(None);
        }
        self.run("DELETE FROM questions WHERE started_ms <= ?", vec![(now - KEEP_MS).into()])
    }

    /// When the oldest question expires or, without questions, the last other row. `None` without rows.
    fn next_expiry(&self) -> Result<Option<i64>> {
        self.number(
            "SELECT COALESCE(
                (SELECT MIN(started_ms) + ? FROM questions),
                (SELECT MAX(at_ms) FROM (
                    SELECT MAX(at_ms) + ? AS at_ms FROM admissions
                    UNION ALL SELECT MAX(at_ms) + ? FROM erasures
                    UNION ALL SELECT (MAX(day) + 1) * ? FROM tokens
                ))
            ) AS number",
            vec![KEEP_MS.into(), WINDOW_MS.into(), ERASURE_MS.into(), DAY_MS.into()],
        )
    }

    /// Creates the tables, once per instance and again after everything was deleted.
    fn create_tables(&self) -> Result<()> {
        if !self.has_tables.get() {
            self.sql().exec(SCHEMA, None)?;
            self.has_tables.set(true);
        }
        Ok(())
    }

    /// Asks the storage once per instance.
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

    /// The column `number` of the first row; `None` without rows, and if it is null.
    fn number(&self, query: &str, values: Vec<SqlStorageValue>) -> Result<Option<i64>> {
        Ok(self.first::<NumberRow>(query, values)?.and_then(|row| row.number))
    }

    fn first<T: serde::de::DeserializeOwned>(
        &self,
        query: &str,
        values: Vec<SqlStorageValue>,
    ) -> Result<Option<T>> {
        Ok(self.sql().exec(query, values)?.to_array()?.into_iter().next())
    }
}

/// A stored outcome, if this version can parse it. Another version may have stored it.
fn readable(outcome: String) -> Option<Box<RawValue>> {
    serde_json::from_slice::<Outcome>(outcome.as_bytes()).ok()?;
    RawValue::from_string(outcome).ok()
}

fn now_ms() -> i64 {
    crate::clock::now_ms() as i64
}
