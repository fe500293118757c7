//! The time, which Workers stop while they compute.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use worker::Delay;
use worker::js_sys::Date;

/// Milliseconds since 1970-01-01 (UTC). One call of JavaScript, where [`worker::Date`] takes two and an object.
pub(crate) fn now_ms() -> u64 {
    Date::now() as u64
}

/// The result of a future, or `None` if it takes longer than `time`. Then the future is dropped,
/// which cancels it.
pub(crate) async fn within<T>(time: Duration, future: impl Future<Output = T>) -> Option<T> {
    match select(pin!(future), pin!(Delay::from(time))).await {
        Either::Left((result, _)) => Some(result),
        Either::Right(_) => None,
    }
}
