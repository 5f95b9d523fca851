//! Which addresses a client may make us connect to: those of the public internet, loopback if it is
//! switched on, and what the operator allows. Any other address could be a machine of the operator.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::AllowedTargets;

/// Decides about addresses, and about the names that lead to them. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AddressPolicy {
    /// For receivers on this machine, as in development and in conformance suites.
    pub allow_loopback: bool,
    /// Targets in networks of the operator.
    pub allow: AllowedTargets,
}

impl AddressPolicy {
    /// Why this address may not be connected to.
    pub fn address_refusal_reason(&self, address: IpAddr) -> Option<&'static str> {
        self.refusal_reason(None, address)
    }

    /// Why this address, which a name resolved to, may not be connected to.
    pub fn resolved_address_refusal_reason(&self, name: &str, address: IpAddr) -> Option<&'static str> {
        self.refusal_reason(Some(name), address)
    }

    fn refusal_reason(&self, name: Option<&str>, address: IpAddr) -> Option<&'static str> {
        let reason = match classify_address(address) {
            AddressKind::Public => return None,
            AddressKind::Loopback if self.allow_loopback => return None,
            // A name of the operator's may lead into private networks. It does not open this machine or
            // the metadata service of a cloud, which some clouds give such a name; those need a network.
            AddressKind::Private(_) if name.is_some_and(|name| self.allow.contains_name(name)) => {
                return None;
            }
            AddressKind::Loopback => "a loopback address",
            AddressKind::Private(what) | AddressKind::Reserved(what) => what,
        };
        (!self.allow.contains_address(destination_address(address))).then_some(reason)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AddressKind {
    Public,
    Loopback,
    /// In a network of the operator's.
    Private(&'static str),
    Reserved(&'static str),
}

/// The address that a connection leads to: a form of IPv6 that carries an IPv4 address leads to that one.
fn destination_address(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => carried_v4(v6).map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

fn classify_address(address: IpAddr) -> AddressKind {
    match destination_address(address) {
        IpAddr::V4(address) => classify_v4(address),
        IpAddr::V6(address) => classify_v6(address),
    }
}

/// Blocks of IPv4 that are not public: first address, length of the prefix, what they are for
/// (IANA's registry of special-purpose addresses).
const V4_SPECIAL: [(Ipv4Addr, u32, AddressKind); 15] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8, AddressKind::Reserved("an unspecified address")),
    (Ipv4Addr::new(10, 0, 0, 0), 8, AddressKind::Private("a private address")),
    (Ipv4Addr::new(100, 64, 0, 0), 10, AddressKind::Private("an address behind a carrier's NAT")),
    (Ipv4Addr::new(169, 254, 0, 0), 16, AddressKind::Reserved("a link-local address")),
    (Ipv4Addr::new(172, 16, 0, 0), 12, AddressKind::Private("a private address")),
    (Ipv4Addr::new(192, 0, 0, 0), 24, AddressKind::Reserved("a reserved address")),
    (Ipv4Addr::new(192, 0, 2, 0), 24, AddressKind::Reserved("a documentation address")),
    (Ipv4Addr::new(192, 31, 196, 0), 24, AddressKind::Reserved("a reserved address")),
    (Ipv4Addr::new(192, 52, 193, 0), 24, AddressKind::Reserved("a reserved address")),
    (Ipv4Addr::new(192, 88, 99, 0), 24, AddressKind::Reserved("a relay address")),
    (Ipv4Addr::new(192, 168, 0, 0), 16, AddressKind::Private("a private address")),
    (Ipv4Addr::new(198, 18, 0, 0), 15, AddressKind::Reserved("a benchmarking address")),
    (Ipv4Addr::new(198, 51, 100, 0), 24, AddressKind::Reserved("a documentation address")),
    (Ipv4Addr::new(203, 0, 113, 0), 24, AddressKind::Reserved("a documentation address")),
    // Multicast, reserved and broadcast: every address from here on.
    (Ipv4Addr::new(224, 0, 0, 0), 3, AddressKind::Reserved("a multicast or reserved address")),
];

fn classify_v4(address: Ipv4Addr) -> AddressKind {
    if address.is_loopback() {
        return AddressKind::Loopback;
    }
    let within = |(first, length, _): &&(Ipv4Addr, u32, AddressKind)| {
        (address.to_bits() ^ first.to_bits()).leading_zeros() >= *length
    };
    match V4_SPECIAL.iter().find(within) {
        Some((_, _, kind)) => *kind,
        None => AddressKind::Public,
    }
}

/// The IPv4 address that an address of IPv6 carries.
fn carried_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let (high, low) = match [a, b, c, d, e, f] {
        // Mapped.
        [0, 0, 0, 0, 0, 0xffff] => (g, h),
        // Translated (SIIT), and NAT64's well-known prefix.
        [0, 0, 0, 0, 0xffff, 0] | [0x64, 0xff9b, 0, 0, 0, 0] => (g, h),
        // 6to4 carries its address directly after the prefix.
        [0x2002, high, low, ..] => (high, low),
        _ => return None,
    };
    Some(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
}

/// Only global unicast is public, except its reserved blocks.
fn classify_v6(address: Ipv6Addr) -> AddressKind {
    if address.is_loopback() {
        return AddressKind::Loopback;
    }
    match address.segments() {
        [0x2001, 0x0db8, ..] | [0x3fff, 0..=0x0fff, ..] => AddressKind::Reserved("a documentation address"),
        // Protocol assignments: Teredo, ORCHID, benchmarking.
        [0x2001, 0..=0x01ff, ..] => AddressKind::Reserved("a reserved address"),
        [0x2000..=0x3fff, ..] => AddressKind::Public,
        [0xfc00..=0xfdff, ..] => AddressKind::Private("a private address"),
        [0xfe80..=0xfebf, ..] => AddressKind::Reserved("a link-local address"),
        [0xff00..=0xffff, ..] => AddressKind::Reserved("a multicast address"),
        _ => AddressKind::Reserved("a reserved address"),
    }
}

#[cfg(test)]
mod tests;
