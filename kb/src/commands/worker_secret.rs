//! `kb worker-secret`.

use std::io::Write;
use std::process::ExitCode;

use anyhow::anyhow;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::connect;
use crate::cli::WorkerSecretArgs;

/// As many as the hash has by which the database knows it.
const SECRET_BYTES: usize = 32;

const EXPLANATION: &str = "\
Made a new secret for the Worker. Standard output has it, and the database its hash; it is stored nowhere else.
The Worker needs it as CHAT_WORKER_SECRET: what `npx wrangler secret put CHAT_WORKER_SECRET` reads on standard input.
The secret before it stays valid until the next one is made, so a running chat is not interrupted.";

pub(super) async fn run(args: WorkerSecretArgs) -> anyhow::Result<ExitCode> {
    let knowledge_base = connect(&args.server)?;
    let secret = new_secret()?;
    // First: the Worker must not get a secret that the database does not know.
    knowledge_base.set_worker_secret(&secret).await?;
    hand_over(&secret).map_err(|error| {
        anyhow!(
            "cannot write the secret to standard output: {error}. Nobody has it; run this again. The secret that the Worker has \
             is not valid any more then, and its calls count as those of users until it gets the new one"
        )
    })?;
    eprintln!("{EXPLANATION}");
    Ok(ExitCode::SUCCESS)
}

fn new_secret() -> anyhow::Result<String> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| anyhow!("this computer gives no random numbers: {error}"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Unlike other output, a reader that has gone away is an error.
fn hand_over(secret: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{secret}")?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_32_bytes_that_were_not_there_before() {
        let (one, other) = (new_secret().unwrap(), new_secret().unwrap());
        assert_ne!(one, other);
        assert_eq!(URL_SAFE_NO_PAD.decode(&one).unwrap().len(), SECRET_BYTES);
    }
}
