//! The test login of the demo.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

pub(super) const EMAIL: &str = "demo@example.com";
pub(super) const PASSWORD: &str = "try-evidence-chat";

/// Signs up the test user, unless an earlier run did.
pub(super) fn create(supabase_url: &str, publishable_key: &str) -> Result<()> {
    let mut response = ureq::post(&format!("{supabase_url}/auth/v1/signup"))
        .config()
        .http_status_as_error(false)
        .build()
        .header("apikey", publishable_key)
        .send_json(json!({ "email": EMAIL, "password": PASSWORD }))
        .context("cannot reach the local Supabase Auth")?;
    if response.status().is_success() {
        return Ok(());
    }
    let body: Value = response.body_mut().read_json().unwrap_or_default();
    if body["error_code"] == "user_already_exists" || body["code"] == "user_already_exists" {
        return Ok(());
    }
    bail!(
        "cannot create the test login ({} {body}); delete the data folder to start again",
        response.status()
    )
}
