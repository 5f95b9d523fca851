//! Which addresses a client may make us connect to: those of the public internet, and loopback if it is
//! switched on. Any other address could be a machine of the operator.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Decides about one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AddressPolicy {
    /// For receivers on this machine, as in development and in conformance suites.
    pub allow_loopback: bool,
}

impl AddressPolicy {
    /// Why this address may not be connected to.
    pub fn address_refusal_reason(self, address: IpAddr) -> Option<&'static str> {
        let kind = match address {
            IpAddr::V4(address) => classify_v4(address),
            IpAddr::V6(address) => classify_v6(address),
        };
        match kind {
            AddressKind::Public => None,
            AddressKind::Loopback if self.allow_loopback => None,
            AddressKind::Loopback => Some("a loopback address"),
            AddressKind::Reserved(what) => Some(what),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AddressKind {
    Public,
    Loopback,
    Reserved(&'static str),
}

/// Blocks of IPv4 that are not public: first address, length of the prefix, what they are for
/// (IANA's registry of special-purpose addresses).
const V4_RESERVED: [(Ipv4Addr, u32, &str); 15] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8, "an unspecified address"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "a private address"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "an address behind a carrier's NAT"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "a link-local address"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "a private address"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "a reserved address"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "a documentation address"),
    (Ipv4Addr::new(192, 31, 196, 0), 24, "a reserved address"),
    (Ipv4Addr::new(192, 52, 193, 0), 24, "a reserved address"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "a relay address"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "a private address"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "a benchmarking address"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "a documentation address"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "a documentation address"),
    // Multicast, reserved and broadcast: every address from here on.
    (Ipv4Addr::new(224, 0, 0, 0), 3, "a multicast or reserved address"),
];

fn classify_v4(address: Ipv4Addr) -> AddressKind {
    if address.is_loopback() {
        return AddressKind::Loopback;
    }
    let within = |(first, length, _): &&(Ipv4Addr, u32, &str)| {
        (address.to_bits() ^ first.to_bits()).leading_zeros() >= *length
    };
    match V4_RESERVED.iter().find(within) {
        Some((_, _, what)) => AddressKind::Reserved(what),
        None => AddressKind::Public,
    }
}

/// Only global unicast is public, except its reserved blocks. A form that carries an IPv4 address leads
/// to that address, so that address decides.
fn classify_v6(address: Ipv6Addr) -> AddressKind {
    if address.is_loopback() {
        return AddressKind::Loopback;
    }
    let [a, b, c, d, e, f, g, h] = address.segments();
    let v4 = |high: u16, low: u16| classify_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
    match [a, b, c, d, e, f] {
        // Mapped.
        [0, 0, 0, 0, 0, 0xffff] => v4(g, h),
        // Translated (SIIT), and NAT64's well-known prefix.
        [0, 0, 0, 0, 0xffff, 0] | [0x64, 0xff9b, 0, 0, 0, 0] => v4(g, h),
        // 6to4 carries its address directly after the prefix.
        [0x2002, high, low, ..] => v4(high, low),
        [0x2001, 0x0db8, ..] | [0x3fff, 0..=0x0fff, ..] => AddressKind::Reserved("a documentation address"),
        // Protocol assignments: Teredo, ORCHID, benchmarking.
        [0x2001, 0..=0x01ff, ..] => AddressKind::Reserved("a reserved address"),
        [0x2000..=0x3fff, ..] => AddressKind::Public,
        [0xfc00..=0xfdff, ..] => AddressKind::Reserved("a private address"),
        [0xfe80..=0xfebf, ..] => AddressKind::Reserved("a link-local address"),
        [0xff00..=0xffff, ..] => AddressKind::Reserved("a multicast address"),
        _ => AddressKind::Reserved("a reserved address"),
    }
}

#[cfg(test)]
mod tests;
