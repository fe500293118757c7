//! Choice of a port for a service.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::net::TcpListener;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};

use xtask::paths;

/// The number of ports to try.
const ATTEMPTS: u16 = 50;

/// The locks of the ports that this process has chosen. The system releases them when the process ends.
static CHOSEN: Mutex<BTreeMap<u16, File>> = Mutex::new(BTreeMap::new());

/// The first free loopback port at or after `preferred`.
///
/// Another process that calls this does not get it while this one runs: a service binds its port only seconds later.
pub(crate) fn free_from(preferred: u16) -> Result<u16> {
    let end = preferred.saturating_add(ATTEMPTS);
    for port in preferred..end {
        if choose(port)? {
            if port != preferred {
                xtask::say!("  port {preferred} is taken, using {port}");
            }
            return Ok(port);
        }
    }
    bail!("ports {preferred} to {} are all taken: stop the programs that use them", end - 1)
}

/// Whether the port is free and no other process has chosen it.
fn choose(port: u16) -> Result<bool> {
    let mut chosen = CHOSEN.lock().unwrap_or_else(PoisonError::into_inner);
    let is_free = || TcpListener::bind(("127.0.0.1", port)).is_ok();
    if chosen.contains_key(&port) {
        return Ok(is_free());
    }
    let file = lock_file(port)?;
    // On a file system without locks, two programs that start at once may choose the same port.
    if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) || !is_free() {
        return Ok(false);
    }
    chosen.insert(port, file);
    Ok(true)
}

fn lock_file(port: u16) -> Result<File> {
    let folder = paths::cache()?.join("ports");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let path = folder.join(port.to_string());
    let file = File::options().create(true).append(true).open(&path);
    file.with_context(|| format!("cannot open {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Listens on the first free port. Not one that the system chooses: each port leaves a lock file.
    fn listen_from(first: u16) -> (TcpListener, u16) {
        let listen = |port| Some((TcpListener::bind(("127.0.0.1", port)).ok()?, port));
        (first..first + ATTEMPTS).find_map(listen).unwrap()
    }

    #[test]
    fn a_port_in_use_is_skipped() {
        let (_taken, port) = listen_from(47_000);
        assert!(free_from(port).unwrap() > port);
    }

    #[test]
    fn a_port_that_another_process_has_chosen_is_skipped_until_that_process_ends() {
        let (_, port) = listen_from(47_200);
        let of_another = lock_file(port).unwrap();
        of_another.try_lock().unwrap();
        assert!(free_from(port).unwrap() > port);
        drop(of_another);
        assert_eq!(free_from(port).unwrap(), port);
        assert_eq!(free_from(port).unwrap(), port, "its own choice, which nothing uses yet");
    }
}
