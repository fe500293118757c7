//! The addresses of the public internet.
//!
//! Source: the IANA special-purpose address registries
//! (<https://www.iana.org/assignments/iana-ipv4-special-registry>,
//! <https://www.iana.org/assignments/iana-ipv6-special-registry>, RFC 6890) and the IPv6 unicast assignments. IPv6 is an
//! allow-list: only 2000::/3 has been assigned for global unicast. IPv4 is everything up to 223.255.255.255
//! except the blocks of the registry, because all of it is assigned. Blocks of protocols without web sites are excluded as a
//! whole, although single addresses in them are globally reachable.
//!
//! An address does not show whether it belongs to a network-specific NAT64 prefix, or to a local server with a global
//! address.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::LazyLock;

use ipnet::IpNet;

/// The blocks with addresses of the internet.
static GLOBAL: LazyLock<Vec<IpNet>> = LazyLock::new(|| blocks(&["0.0.0.0/0", "2000::/3"]));

/// The blocks in them that are reserved.
static RESERVED: LazyLock<Vec<IpNet>> = LazyLock::new(|| {
    blocks(&[
        // “This network”.
        "0.0.0.0/8",
        // Private use.
        "10.0.0.0/8",
        // Shared address space: carrier-grade NAT, and metadata services of some clouds.
        "100.64.0.0/10",
        // Loopback.
        "127.0.0.0/8",
        // Azure's platform server, reachable only from virtual machines, although the address is global.
        "168.63.129.16/32",
        // Link-local: metadata services of most clouds.
        "169.254.0.0/16",
        // Private use.
        "172.16.0.0/12",
        // IETF protocol assignments.
        "192.0.0.0/24",
        // Documentation.
        "192.0.2.0/24",
        // Relays of 6to4, deprecated.
        "192.88.99.0/24",
        // Private use.
        "192.168.0.0/16",
        // Benchmarks.
        "198.18.0.0/15",
        // Documentation.
        "198.51.100.0/24",
        "203.0.113.0/24",
        // Multicast, reserved, and broadcast.
        "224.0.0.0/3",
        // IETF protocol assignments, with Teredo, benchmarks and ORCHID.
        "2001::/23",
        // Documentation.
        "2001:db8::/32",
        // 6to4, which contains any IPv4 address.
        "2002::/16",
        // Documentation.
        "3fff::/20",
    ])
});

/// The well-known prefix of NAT64 (RFC 6052), through which networks without IPv4 reach IPv4 addresses.
const NAT64: [u16; 6] = [0x64, 0xff9b, 0, 0, 0, 0];

fn blocks(texts: &[&str]) -> Vec<IpNet> {
    texts.iter().flat_map(|text| text.parse()).collect()
}

/// Reports whether the address is globally unique and reachable. IPv4-mapped and NAT64 addresses count as
/// the IPv4 addresses in them; other forms with an IPv4 address are obsolete and never global.
pub(super) fn is_global(address: IpAddr) -> bool {
    let address = match address.to_canonical() {
        IpAddr::V6(v6) if v6.segments().starts_with(&NAT64) => {
            Ipv4Addr::from_bits(v6.to_bits() as u32).into()
        }
        other => other,
    };
    let is_in = |blocks: &[IpNet]| blocks.iter().any(|block| block.contains(&address));
    is_in(&GLOBAL) && !is_in(&RESERVED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_purpose_addresses_are_not_global() {
        for address in [
            "0.0.0.0",
            "0.255.255.255",
            "10.0.0.0",
            "10.255.255.255",
            "100.64.0.0",
            "100.100.100.200",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "168.63.129.16",
            "169.254.0.0",
            "169.254.169.254",
            "172.16.0.0",
            "172.31.255.255",
            "192.0.0.0",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.0",
            "192.168.255.255",
            "198.18.0.0",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.255",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            // Unspecified, loopback, IPv4-compatible.
            "::",
            "::1",
            "::127.0.0.1",
            "::8.8.8.8",
            // IPv4-mapped and IPv4-translated.
            "::ffff:0.0.0.0",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "::ffff:0:8.8.8.8",
            // NAT64, well-known and local.
            "64:ff9b::10.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::8.8.8.8",
            "64:ff9b:1:ffff::1",
            // Discard-only, dummy.
            "100::1",
            "100:0:0:1::1",
            // Teredo, benchmarks, ORCHID, documentation, 6to4.
            "2001::8.8.8.8",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:1ff:ffff::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:808:808::1",
            "3fff::1",
            "3fff:fff:ffff::1",
            // Segment routing, unassigned.
            "5f00::1",
            "4000::1",
            "1fff:ffff::1",
            // Unique local, link-local, site-local, multicast.
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "feff::1",
            "ff02::1",
            "ff0e::1",
        ] {
            assert!(!is_global(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn addresses_of_the_internet_are_global() {
        for address in [
            "1.0.0.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "169.253.255.255",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.1",
            "192.88.98.1",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2000::1",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2606:4700::1111",
            "2a00:1450::1",
            "3ffe::1",
        ] {
            assert!(is_global(address.parse().unwrap()), "{address}");
        }
    }
}
