//! The time, which Workers stop while they compute.

use worker::js_sys::Date;

/// Milliseconds since 1970-01-01 (UTC). One call of JavaScript, where [`worker::Date`] takes two and an object.
pub(crate) fn now_ms() -> u64 {
    Date::now() as u64
}
