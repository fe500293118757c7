//! The test login of the demo.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use ureq::http::StatusCode;

pub(super) const EMAIL: &str = "demo@example.com";
pub(super) const PASSWORD: &str = "try-evidence-chat";

/// Signs up the test user, unless an earlier run did, and makes it an administrator, who may read the insights.
pub(super) fn create(supabase_url: &str, publishable_key: &str, secret_key: &str) -> Result<()> {
    let (status, signed_up) = post(supabase_url, publishable_key, "signup")?;
    let exists =
        signed_up["error_code"] == "user_already_exists" || signed_up["code"] == "user_already_exists";
    let (status, user) = if exists {
        post(supabase_url, publishable_key, "token?grant_type=password")?
    } else {
        (status, signed_up)
    };
    let Some(id) = user["user"]["id"].as_str().filter(|_| status.is_success()) else {
        bail!("cannot create the test login ({status} {user}); delete the data folder to start again");
    };
    ureq::patch(&format!("{supabase_url}/rest/v1/chat_settings?id=eq.true"))
        .header("apikey", secret_key)
        .header("authorization", &format!("Bearer {secret_key}"))
        .send_json(json!({ "administrators": ["evidence_chat:administrator", format!("sub:{id}")] }))
        .context("cannot make the test login an administrator")?;
    Ok(())
}

/// Sends the test login to Supabase Auth.
fn post(supabase_url: &str, publishable_key: &str, path: &str) -> Result<(StatusCode, Value)> {
    let mut response = ureq::post(&format!("{supabase_url}/auth/v1/{path}"))
        .config()
        .http_status_as_error(false)
        .build()
        .header("apikey", publishable_key)
        .send_json(json!({ "email": EMAIL, "password": PASSWORD }))
        .context("cannot reach the local Supabase Auth")?;
    let body = response.body_mut().read_json().unwrap_or_default();
    Ok((response.status(), body))
}
