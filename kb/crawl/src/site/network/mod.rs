//! Restricts the servers that may be contacted.
//!
//! The author of a page, or the owner of its host name, must not choose what is read in the local network. So addresses are
//! checked where the connection is made: [`Guarded`] is the resolver of the HTTP client and returns only allowed addresses, and
//! addresses in a URL are checked before anything is sent. Only addresses of the public internet are allowed ([`global`]),
//! with one exception: a host that the user named and that has no public address at the first contact may be reached at the
//! addresses that it had then ([`Reach::PrivateAllowed`]).
//!
//! A proxy would bypass these checks, because it resolves names itself, so proxies are not used.

mod global;

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use thiserror::Error;

use crate::address;
use crate::error::FetchError;

/// The servers that a request may contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// The public internet, and private addresses of hosts that the user named.
    PrivateAllowed,
    /// Only the public internet: a server there redirected to this address.
    Public,
}

/// Decides which addresses may be contacted.
pub(super) struct Network {
    resolver: Arc<dyn Resolve>,
    is_global: fn(IpAddr) -> bool,
    /// Hosts that the user named, with their private addresses at the first contact.
    private_hosts: Mutex<HashMap<String, Option<Vec<IpAddr>>>>,
}

/// A host without an allowed address.
#[derive(Debug, Error)]
#[error("{address} is not on the public internet")]
pub(super) struct NotPublic {
    pub(super) address: IpAddr,
}

impl Network {
    pub(super) fn from_system() -> Self {
        Self::new(Arc::new(System), global::is_global)
    }

    pub(super) fn new(resolver: Arc<dyn Resolve>, is_global: fn(IpAddr) -> bool) -> Self {
        Self { resolver, is_global, private_hosts: Mutex::default() }
    }

    /// Records that the user named the host of `url`.
    pub(super) fn allow_private_host(&self, url: &Url) {
        if let Some(host) = url.host_str() {
            let mut private_hosts = self.private_hosts.lock().unwrap_or_else(PoisonError::into_inner);
            private_hosts.entry(host.to_owned()).or_default();
        }
    }

    /// Checks an IP address in the URL itself, which is not resolved.
    pub(super) fn check_literal(&self, url: &Url, reach: Reach) -> Result<(), FetchError> {
        let Some(host) = url.host_str() else { return Ok(()) };
        let Ok(address) = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() else {
            return Ok(());
        };
        match self.admit(host, vec![SocketAddr::new(address, 0)], reach) {
            Ok(_) => Ok(()),
            Err(NotPublic { address }) => {
                Err(FetchError::PrivateAddress { site: address::origin(url), address })
            }
        }
    }

    /// The reach of the next request after a server at `address` redirected.
    pub(super) fn reach_after_redirect(&self, address: Option<IpAddr>, reach: Reach) -> Reach {
        match address {
            Some(address) if !(self.is_global)(address) => reach,
            _ => Reach::Public,
        }
    }

    /// The addresses of a host that may be contacted.
    fn admit(&self, host: &str, found: Vec<SocketAddr>, reach: Reach) -> Result<Vec<SocketAddr>, NotPublic> {
        let (mut allowed, private): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|address| (self.is_global)(address.ip()));
        let mut private_hosts = self.private_hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pinned) = private_hosts.get_mut(host) {
            let at_first = || match allowed.is_empty() {
                true => private.iter().map(SocketAddr::ip).collect(),
                false => Vec::new(),
            };
            let pinned = pinned.get_or_insert_with(at_first);
            if reach == Reach::PrivateAllowed {
                allowed.extend(private.iter().filter(|address| pinned.contains(&address.ip())));
            }
        }
        match private.first() {
            Some(address) if allowed.is_empty() => Err(NotPublic { address: address.ip() }),
            _ => Ok(allowed),
        }
    }
}

/// A resolver that returns only allowed addresses.
pub(super) struct Guarded {
    pub(super) network: Arc<Network>,
    pub(super) reach: Reach,
}

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let (network, reach) = (Arc::clone(&self.network), self.reach);
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found: Vec<SocketAddr> = network.resolver.resolve(name).await?.collect();
            Ok(Box::new(network.admit(&host, found, reach)?.into_iter()) as Addrs)
        })
    }
}

/// The resolver of the operating system.
struct System;

impl Resolve for System {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            // The client sets the port.
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
        texts.iter().map(|text| SocketAddr::new(text.parse().unwrap(), 0)).collect()
    }

    fn network(named: &[&str]) -> Network {
        let network = Network::from_system();
        for url in named {
            network.allow_private_host(&Url::parse(url).unwrap());
        }
        network
    }

    fn admitted(network: &Network, host: &str, found: &[&str], reach: Reach) -> Vec<String> {
        let admitted = network.admit(host, addresses(found), reach).unwrap_or_default();
        admitted.iter().map(|address| address.ip().to_string()).collect()
    }

    #[test]
    fn private_addresses_of_a_host_with_public_ones_are_never_used() {
        let network = network(&["http://named/"]);
        for host in ["named", "other"] {
            assert_eq!(
                admitted(&network, host, &["10.0.0.1", "8.8.8.8"], Reach::PrivateAllowed),
                ["8.8.8.8"]
            );
            assert!(admitted(&network, host, &["10.0.0.1"], Reach::PrivateAllowed).is_empty(), "{host}");
        }
    }

    #[test]
    fn a_named_host_is_pinned_to_the_private_addresses_of_its_first_contact() {
        let network = network(&["http://intranet/"]);
        let found = ["10.0.0.1", "10.0.0.2"];
        assert_eq!(admitted(&network, "intranet", &found, Reach::PrivateAllowed), found);
        assert_eq!(
            admitted(&network, "intranet", &["10.0.0.2", "10.0.0.3"], Reach::PrivateAllowed),
            ["10.0.0.2"]
        );
        assert!(admitted(&network, "intranet", &["169.254.169.254"], Reach::PrivateAllowed).is_empty());
        assert!(admitted(&network, "intranet", &found, Reach::Public).is_empty());
        assert!(admitted(&network, "intranet.example", &found, Reach::PrivateAllowed).is_empty());
    }

    #[test]
    fn every_spelling_of_a_private_address_is_refused() {
        let network = network(&[]);
        for host in [
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0177.0.0.1",
            "0x7f.1",
            "127.0.0.1.",
            "１２７.０.０.１",
            "%31%32%37.0.0.1",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[::127.0.0.1]",
            "[64:ff9b::127.0.0.1]",
            "[::1]",
            "0",
        ] {
            let url = Url::parse(&format!("http://{host}/")).unwrap();
            for reach in [Reach::PrivateAllowed, Reach::Public] {
                let judged = network.check_literal(&url, reach);
                assert!(matches!(judged, Err(FetchError::PrivateAddress { .. })), "{host}: {judged:?}");
            }
        }
        for host in ["8.8.8.8", "[2606:4700::1111]", "0x08080808", "localhost", "example.com"] {
            let url = Url::parse(&format!("http://{host}/")).unwrap();
            assert_eq!(network.check_literal(&url, Reach::Public), Ok(()), "{host}");
        }
    }
}
