//! `/api/me`: export and erasure of all data of a user.

mod export;

use worker::Response;

use crate::call::Call;
use crate::gate::Gate;
use crate::http::error::HttpError;
use crate::http::reply::Reply;
pub(crate) use export::export;

/// `DELETE /api/me`. Idempotent. Outcomes are erased before the history, so that a question in progress notices it and deletes
/// what it writes.
pub(crate) async fn delete(call: Call) -> Result<Reply, HttpError> {
    let user = call.user().await?;
    let gate = Gate::for_user(&call.env, user.user_id())?;
    let supabase = call.supabase(user);
    call.trace.time("outcomes", gate.erase(call.deadline)).await?;
    call.trace.time("write", supabase.delete_user_data()).await?;
    Ok(Reply::new(Response::empty()?.with_status(204), "erased"))
}
