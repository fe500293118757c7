//! `kb worker-secret`.

use std::io::Write;
use std::process::ExitCode;

use anyhow::anyhow;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::connect;
use crate::cli::ServerArgs;

/// The size of the SHA-256 hash that the database stores.
const SECRET_BYTES: usize = 32;

const EXPLANATION: &str = "\
Created a new secret for the Worker. It was printed to standard output, and the database has its hash; it is stored nowhere else.
Set it as CHAT_WORKER_SECRET of the Worker: `npx wrangler secret put CHAT_WORKER_SECRET` reads it from standard input.
The previous secret stays valid until you create another one, so a running chat is not interrupted.";

pub(super) async fn run(server: ServerArgs) -> anyhow::Result<ExitCode> {
    let knowledge_base = connect(&server)?;
    let secret = new_secret()?;
    // The database first: the Worker must not get a secret that the database does not know.
    knowledge_base.set_worker_secret(&secret).await?;
    print_secret(&secret).map_err(|error| {
        anyhow!(
            "cannot write the secret to standard output: {error}. Nobody has it, so run this again. After that the current secret \
             of the Worker is no longer valid, and its calls count as those of users until it gets the new one"
        )
    })?;
    eprintln!("{EXPLANATION}");
    Ok(ExitCode::SUCCESS)
}

fn new_secret() -> anyhow::Result<String> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| anyhow!("cannot generate random numbers: {error}"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Unlike for other output, a closed pipe is an error.
fn print_secret(secret: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{secret}")?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_secret_is_32_new_bytes() {
        let (one, other) = (new_secret().unwrap(), new_secret().unwrap());
        assert_ne!(one, other);
        assert_eq!(URL_SAFE_NO_PAD.decode(&one).unwrap().len(), SECRET_BYTES);
    }
}
