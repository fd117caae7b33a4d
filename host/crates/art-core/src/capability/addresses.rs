//! Distinguishes public addresses from all others. Without this, a request to a public host name that resolves to a private
//! address would reach the network of the host.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A range of addresses: its first address, and the number of leading bits that all its addresses share.
type AddressRange<A> = (A, u32);

const fn v4(a: u8, b: u8, c: u8, d: u8, bits: u32) -> AddressRange<Ipv4Addr> {
    (Ipv4Addr::new(a, b, c, d), bits)
}

const fn v6(a: u16, b: u16, bits: u32) -> AddressRange<Ipv6Addr> {
    (Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0), bits)
}

/// The IPv4 addresses that are not public. The predicates of the standard library miss many of these ranges.
const NOT_PUBLIC_V4: [AddressRange<Ipv4Addr>; 19] = [
    v4(0, 0, 0, 0, 8),        // "this network" (RFC 791)
    v4(10, 0, 0, 0, 8),       // private
    v4(100, 64, 0, 0, 10),    // shared by the customers of a provider
    v4(127, 0, 0, 0, 8),      // loopback
    v4(168, 63, 129, 16, 32), // services of Azure for its virtual machines
    v4(169, 254, 0, 0, 16),   // link-local, with the metadata services of clouds
    v4(172, 16, 0, 0, 12),    // private
    v4(192, 0, 0, 0, 24),     // protocol assignments
    v4(192, 0, 2, 0, 24),     // documentation
    v4(192, 31, 196, 0, 24),  // AS112: name servers for private addresses
    v4(192, 52, 193, 0, 24),  // AMT: tunnels for multicast
    v4(192, 88, 99, 0, 24),   // relays of 6to4
    v4(192, 168, 0, 0, 16),   // private
    v4(192, 175, 48, 0, 24),  // AS112: name servers for private addresses
    v4(198, 18, 0, 0, 15),    // benchmarks
    v4(198, 51, 100, 0, 24),  // documentation
    v4(203, 0, 113, 0, 24),   // documentation
    v4(224, 0, 0, 0, 4),      // multicast
    v4(240, 0, 0, 0, 4),      // reserved, and broadcast
];

/// The range of the IPv6 addresses that can be public. Outside of it are loopback, unique local, link-local and multicast
/// addresses, and IPv4-mapped and NAT64 addresses.
const GLOBAL_V6: AddressRange<Ipv6Addr> = v6(0x2000, 0, 3);

/// The addresses within [`GLOBAL_V6`] that are not public.
const NOT_PUBLIC_V6: [AddressRange<Ipv6Addr>; 4] = [
    v6(0x2001, 0, 23),      // protocol assignments, with Teredo
    v6(0x2001, 0x0db8, 32), // documentation
    v6(0x2002, 0, 16),      // 6to4: the address contains an IPv4 address
    v6(0x3fff, 0, 20),      // documentation
];

/// Returns whether an address belongs to the public internet. Requests to other addresses need a grant with `private`.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !NOT_PUBLIC_V4.iter().any(|range| contains_v4(*range, address)),
        IpAddr::V6(address) => {
            contains_v6(GLOBAL_V6, address) && !NOT_PUBLIC_V6.iter().any(|range| contains_v6(*range, address))
        }
    }
}

fn contains_v4((first, bits): AddressRange<Ipv4Addr>, address: Ipv4Addr) -> bool {
    (first.to_bits() ^ address.to_bits())
        .checked_shr(32 - bits)
        .unwrap_or_default()
        == 0
}

fn contains_v6((first, bits): AddressRange<Ipv6Addr>, address: Ipv6Addr) -> bool {
    (first.to_bits() ^ address.to_bits())
        .checked_shr(128 - bits)
        .unwrap_or_default()
        == 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_public_address(text: &str) -> bool {
        is_public(text.parse().unwrap())
    }

    #[test]
    fn ordinary_addresses_are_public() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "93.184.215.14",
            "172.15.255.255",
            "172.32.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450:4001:81b::200e",
            "2001:4860:4860::8888",
            "2001:200::1",
        ] {
            assert!(is_public_address(address), "{address}");
        }
    }

    #[test]
    fn special_addresses_are_not_public() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.255.255",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:1ff::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "3fff:fff::1",
            "4000::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public_address(address), "{address}");
        }
    }

    proptest! {
        #[test]
        fn no_address_that_the_standard_library_calls_special_is_public(bits in any::<u32>()) {
            let address = Ipv4Addr::from_bits(bits);
            let special = address.is_private() || address.is_loopback() || address.is_link_local()
                || address.is_multicast() || address.is_broadcast() || address.is_documentation() || address.is_unspecified();
            prop_assert!(!(special && is_public(address.into())));
        }

        #[test]
        fn no_ipv4_mapped_or_ipv4_compatible_address_is_public(bits in any::<u32>()) {
            let address = Ipv4Addr::from_bits(bits);
            prop_assert!(!is_public(address.to_ipv6_mapped().into()));
            prop_assert!(!is_public(address.to_ipv6_compatible().into()));
        }
    }
}
