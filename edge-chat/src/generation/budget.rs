//! Keeps a written answer within the daily budgets of tokens.

use chat_core::generate::Piece;
use futures_util::future::join;
use uuid::Uuid;
use worker::Env;

use crate::config::ModelConfig;
use crate::gate::{Gate, Reservation};
use crate::http::error::HttpError;

/// Bytes of UTF-8 per token, at least. English has about four; scripts with fewer characters per token have more bytes per
/// character.
const BYTES_PER_TOKEN: u64 = 3;

/// Tokens that are reserved for one answer, in the user's budget and in that of the site.
pub(super) struct TokenBudget {
    user: (Gate, Reservation),
    site: (Gate, Reservation),
    prompt_tokens: u64,
}

/// The tokens that the model's server counted, and the output that was read.
#[derive(Default)]
pub(super) struct Usage {
    /// Whether the model may have worked: it was asked, and its server did not reject the request.
    pub(super) is_asked: bool,
    pub(super) prompt_tokens: Option<u64>,
    pub(super) completion_tokens: Option<u64>,
    pub(super) output_bytes: u64,
}

impl Usage {
    pub(super) fn add(&mut self, piece: &Piece) {
        self.prompt_tokens = piece.prompt_tokens.or(self.prompt_tokens);
        self.completion_tokens = piece.completion_tokens.or(self.completion_tokens);
        self.output_bytes += piece.text.len() as u64;
    }
}

impl TokenBudget {
    /// Reserves the most that an answer can use. `None` if one of the day's budgets has less.
    pub(super) async fn reserve(
        env: &Env,
        user_id: Uuid,
        model: &ModelConfig,
        prompt_bytes: u64,
    ) -> Result<Option<Self>, HttpError> {
        let prompt_tokens = prompt_bytes.div_ceil(BYTES_PER_TOKEN);
        let tokens = prompt_tokens + u64::from(model.max_tokens);
        let (user, site) = (Gate::for_user(env, user_id)?, Gate::for_site(env)?);
        let reservations = join(
            user.reserve_tokens(tokens, model.daily_tokens_per_user),
            site.reserve_tokens(tokens, model.daily_tokens_per_site),
        );
        let (of_user, of_site) = match reservations.await {
            (Ok(Some(of_user)), Ok(Some(of_site))) => {
                return Ok(Some(Self { user: (user, of_user), site: (site, of_site), prompt_tokens }));
            }
            reservations => reservations,
        };
        // What one budget has given must not be lost because the other one has not.
        join(undo(&user, &of_user), undo(&site, &of_site)).await;
        of_user.and(of_site).map(|_| None)
    }

    /// Replaces the reservation by what was used. Without a count of the server, it is estimated.
    pub(super) async fn settle(self, usage: &Usage) -> Result<(), HttpError> {
        let used = if usage.is_asked {
            let estimate = || usage.output_bytes.div_ceil(BYTES_PER_TOKEN);
            let prompt = usage.prompt_tokens.unwrap_or(self.prompt_tokens);
            prompt.saturating_add(usage.completion_tokens.unwrap_or_else(estimate))
        } else {
            0
        };
        let Self { user: (user, of_user), site: (site, of_site), .. } = self;
        let (of_user, of_site) =
            join(user.settle_tokens(of_user, used), site.settle_tokens(of_site, used)).await;
        of_user.and(of_site)
    }
}

/// Gives a reservation back. If that fails it stays in place until the end of the day.
async fn undo(gate: &Gate, reservation: &Result<Option<Reservation>, HttpError>) {
    if let Ok(Some(reservation)) = reservation {
        let _ = gate.settle_tokens(*reservation, 0).await;
    }
}
