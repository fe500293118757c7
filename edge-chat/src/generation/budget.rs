//! Keeps a written answer within the daily budgets of tokens.

use uuid::Uuid;
use worker::Env;

use crate::config::ModelConfig;
use crate::gate::{Gate, Reservation};
use crate::http::error::HttpError;

/// Characters of a prompt per token, at least. English text has about four; other scripts fewer.
const CHARS_PER_TOKEN: u64 = 3;

/// Tokens that are reserved for one answer, in the user's budget and in that of the site.
pub(super) struct Budget {
    user: (Gate, Reservation),
    site: (Gate, Reservation),
    prompt_tokens: u64,
}

impl Budget {
    /// Reserves the most that an answer can use. `None` if the day's budget has less.
    pub(super) async fn reserve(
        env: &Env,
        user_id: Uuid,
        model: &ModelConfig,
        prompt_chars: u64,
    ) -> Result<Option<Self>, HttpError> {
        let prompt_tokens = prompt_chars.div_ceil(CHARS_PER_TOKEN);
        let tokens = prompt_tokens + u64::from(model.max_tokens);
        let user = Gate::for_user(env, user_id)?;
        let Some(of_user) = user.reserve_tokens(tokens, model.daily_tokens_per_user).await? else {
            return Ok(None);
        };
        let site = Gate::for_site(env)?;
        let of_site = site.reserve_tokens(tokens, model.daily_tokens_per_site).await;
        match of_site {
            Ok(Some(of_site)) => {
                Ok(Some(Self { user: (user, of_user), site: (site, of_site), prompt_tokens }))
            }
            Ok(None) => user.settle_tokens(of_user, 0).await.map(|()| None),
            Err(error) => {
                user.settle_tokens(of_user, 0).await?;
                Err(error)
            }
        }
    }

    /// Replaces the reservation by what was used. Without a count of the server, it is estimated.
    pub(super) async fn settle(
        self,
        prompt_tokens: Option<u64>,
        completion_tokens: Option<u64>,
        output_chars: u64,
    ) -> Result<(), HttpError> {
        let completion = completion_tokens.unwrap_or_else(|| output_chars.div_ceil(CHARS_PER_TOKEN));
        let used = prompt_tokens.unwrap_or(self.prompt_tokens) + completion;
        self.user.0.settle_tokens(self.user.1, used).await?;
        self.site.0.settle_tokens(self.site.1, used).await
    }
}
