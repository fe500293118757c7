//! Choice of a port for a service.

use std::net::TcpListener;

use anyhow::{Result, bail};

/// The number of ports to try.
const ATTEMPTS: u16 = 50;

/// The first free loopback port at or after `preferred`.
pub fn free_from(preferred: u16) -> Result<u16> {
    let end = preferred.saturating_add(ATTEMPTS);
    for port in preferred..end {
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            if port != preferred {
                println!("  port {preferred} is taken, using {port}");
            }
            return Ok(port);
        }
    }
    bail!("ports {preferred} to {} are all taken: stop the programs that use them", end - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_port_is_skipped() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        let free = free_from(port).unwrap();
        assert!(free > port);
    }
}
