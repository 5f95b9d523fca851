//! The table of addresses.

use super::*;

/// Strict, and with loopback.
fn policies() -> [AddressPolicy; 2] {
    [false, true].map(|allow_loopback| AddressPolicy { allow_loopback, ..AddressPolicy::default() })
}

fn policy_allowing(targets: &[&str]) -> AddressPolicy {
    let targets = targets.iter().map(|text| text.parse().unwrap_or_else(|error| panic!("{text}: {error}")));
    AddressPolicy { allow: targets.collect(), ..AddressPolicy::default() }
}

const PUBLIC: [&str; 18] = [
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "128.0.0.1",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "223.255.255.255",
    "2001:200::1",
    "2606:4700:4700::1111",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
];

const OF_LOOPBACK: [&str; 7] = [
    "127.0.0.1",
    "127.255.255.254",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:0:127.0.0.1",
    "64:ff9b::127.0.0.1",
    "2002:7f00:1::",
];

const NEVER: [&str; 50] = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.0",
    "10.255.255.255",
    "100.64.0.0",
    "100.127.255.255",
    "169.254.0.0",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.0.170",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "192.168.255.255",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.7",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::2",
    "::10.0.0.1",
    "::127.0.0.1",
    "::ffff:0.0.0.0",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:0:192.168.1.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b::169.254.169.254",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:10::1",
    "2001:db8::1",
    "2002:a00:1::1",
    "2002:c0a8:101::1",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fd12:3456::1",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
];

fn address(text: &str) -> IpAddr {
    text.parse().unwrap_or_else(|_| panic!("{text} is no address"))
}

/// Proves X6: the public internet, and no address that could be one of the operator.
#[test]
fn only_public_addresses_may_be_connected_to() {
    for text in PUBLIC {
        for policy in policies() {
            assert_eq!(policy.address_refusal_reason(address(text)), None, "{text}");
        }
    }
    for text in NEVER {
        for policy in policies() {
            assert!(policy.address_refusal_reason(address(text)).is_some(), "{text}");
        }
    }
}

/// Proves X6: loopback has its own switch, which opens nothing else.
#[test]
fn loopback_is_a_switch() {
    let [strict, loopback] = policies();
    for text in OF_LOOPBACK {
        assert_eq!(strict.address_refusal_reason(address(text)), Some("a loopback address"), "{text}");
        assert_eq!(loopback.address_refusal_reason(address(text)), None, "{text}");
    }
}

/// Proves X6: an IPv6 form of an IPv4 address has the same result as that address.
#[test]
fn an_embedded_address_is_judged_as_itself() {
    let bytes = [0, 1, 9, 10, 11, 64, 100, 127, 168, 169, 172, 192, 198, 203, 224, 254, 255];
    for a in bytes {
        for b in bytes {
            let plain = Ipv4Addr::new(a, b, 0, 9);
            let low = plain.to_bits();
            let (high, low) = ((low >> 16) as u16, low as u16);
            for wrapped in [
                Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, high, low),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
            ] {
                for policy in policies() {
                    let same = policy.address_refusal_reason(IpAddr::V4(plain));
                    assert_eq!(policy.address_refusal_reason(IpAddr::V6(wrapped)), same, "{wrapped} {plain}");
                }
            }
        }
    }
}

/// Proves X6: a network of the operator's opens its own addresses, in every form of them, and no others.
#[test]
fn an_allowed_network_opens_only_itself() {
    let policy = policy_allowing(&["10.0.0.0/8", "192.168.7.9", "fd12::/16", "127.0.0.1"]);
    for text in
        ["10.0.0.0", "10.255.255.255", "::ffff:10.1.2.3", "192.168.7.9", "fd12:3::1", "127.0.0.1", "8.8.8.8"]
    {
        assert_eq!(policy.address_refusal_reason(address(text)), None, "{text}");
    }
    for text in ["172.16.0.1", "192.168.7.8", "fd13::1", "127.0.0.2", "::1", "169.254.169.254"] {
        assert!(policy.address_refusal_reason(address(text)).is_some(), "{text}");
    }
}

/// Proves X6: an allowed name leads into private networks, but neither to this machine nor to the metadata
/// service of a cloud, whatever its resolver says.
#[test]
fn an_allowed_name_opens_private_addresses_only() {
    let policy = policy_allowing(&["*.internal", "db.corp.example"]);
    let refusal = |name: &str, text: &str| policy.resolved_address_refusal_reason(name, address(text));
    for name in ["orders.internal", "a.b.internal", "ORDERS.Internal.", "db.corp.example"] {
        for text in ["10.1.2.3", "192.168.0.1", "100.64.0.1", "fd00::1", "8.8.8.8"] {
            assert_eq!(refusal(name, text), None, "{name} {text}");
        }
    }
    for text in ["127.0.0.1", "::1", "169.254.169.254", "fe80::1", "0.0.0.0", "224.0.0.1"] {
        assert!(refusal("metadata.google.internal", text).is_some(), "{text}");
    }
    for name in ["internal", "evil-internal", "orders.internal.evil.example", "xdb.corp.example"] {
        assert!(refusal(name, "10.1.2.3").is_some(), "{name}");
    }
    // A numeric address has no name.
    assert!(policy.address_refusal_reason(address("10.1.2.3")).is_some());
}
