//! Which servers are on the internet, and which can only be reached from where we happen to run.

use std::net::IpAddr;

/// Whether a redirect leads from the internet into a private network. Whoever writes a public page must not choose
/// what is read there on their behalf. With a proxy both ends are the proxy, which has to take care itself.
pub(super) fn is_way_in(from: Option<IpAddr>, to: Option<IpAddr>) -> bool {
    from.is_some_and(|from| !is_private(from)) && to.is_some_and(is_private)
}

/// Addresses that mean something else, or nothing, to the rest of the world.
fn is_private(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => {
            let [first, second, ..] = v4.octets();
            // 100.64.0.0/10 lies behind the routers of providers (RFC 6598).
            let is_shared = first == 100 && (64..128).contains(&second);
            v4.is_private() || v4.is_loopback() || v4.is_link_local() || v4.is_unspecified() || is_shared
        }
        IpAddr::V6(v6) => {
            v6.is_loopback() || v6.is_unspecified() || v6.is_unique_local() || v6.is_unicast_link_local()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_networks_are_known() {
        for address in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1",
            "::1",
            "fd00::1",
            "fe80::1",
            "::ffff:127.0.0.1",
        ] {
            assert!(is_private(address.parse().unwrap()), "{address}");
        }
        for address in ["8.8.8.8", "172.32.0.1", "100.128.0.1", "2001:4860:4860::8888", "::ffff:8.8.8.8"] {
            assert!(!is_private(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn only_the_way_in_is_closed() {
        let (public, private) = (Some([8, 8, 8, 8].into()), Some([10, 0, 0, 1].into()));
        assert!(is_way_in(public, private));
        assert!(!is_way_in(public, public) && !is_way_in(private, private) && !is_way_in(private, public));
        assert!(!is_way_in(None, private));
    }
}
