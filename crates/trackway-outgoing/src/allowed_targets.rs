//! The operator's list of targets outside the public internet that may be connected to:
//! `[outgoing] allow = ["10.0.0.0/8", "*.internal"]`.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
    sync::Arc,
};

/// Longest name of a host (RFC 1035).
/// Limit (HTTP): name of a host in `[outgoing] allow`.
const NAME_BYTES_MAX: usize = 253;

/// One network, or a pattern of host names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowedTarget {
    /// Every address of a network: its first address, and how many bits of it are fixed.
    Network { first: IpAddr, prefix_bits: u32 },
    /// Every name that fits. `*` stands for any characters, dots too.
    HostGlob(String),
}

/// The text is neither a network nor a pattern of names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AllowedTargetError {
    #[error("it is empty")]
    Empty,
    #[error("{given:?} is not a number of bits from 0 to {bits_max}")]
    PrefixBits { given: String, bits_max: u32 },
    #[error("it is not the first address of that network, which is {network}")]
    NotFirstAddress { network: String },
    #[error("it has the form of a URL; a network or the name of a host is expected")]
    Url,
    #[error("a name has letters, digits, \"-\", \"_\", \".\" and \"*\"; this one has {found:?}")]
    Character { found: char },
    #[error("it is longer than {NAME_BYTES_MAX} bytes")]
    TooLong,
    #[error("it fits every host; name a domain, such as \"*.internal\"")]
    EveryHost,
    #[error("it is neither an address nor the name of a host")]
    Name,
}

/// The whole list. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AllowedTargets(Option<Arc<[AllowedTarget]>>);

impl FromIterator<AllowedTarget> for AllowedTargets {
    fn from_iter<T: IntoIterator<Item = AllowedTarget>>(targets: T) -> Self {
        let targets: Vec<AllowedTarget> = targets.into_iter().collect();
        Self((!targets.is_empty()).then(|| targets.into()))
    }
}

impl AllowedTargets {
    pub fn iter(&self) -> impl Iterator<Item = &AllowedTarget> {
        self.0.iter().flat_map(|targets| targets.iter())
    }

    /// Whether a network of the list contains this address.
    pub fn contains_address(&self, address: IpAddr) -> bool {
        self.iter().any(|target| match target {
            AllowedTarget::Network { first, prefix_bits } => is_in_network(address, *first, *prefix_bits),
            AllowedTarget::HostGlob(_) => false,
        })
    }

    /// Whether a pattern of the list fits this name.
    pub fn contains_name(&self, name: &str) -> bool {
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        self.iter().any(|target| match target {
            AllowedTarget::HostGlob(glob) => glob_matches(glob, &name),
            AllowedTarget::Network { .. } => false,
        })
    }
}

impl FromStr for AllowedTarget {
    type Err = AllowedTargetError;

    /// A network as `10.0.0.0/8` or one address, or a pattern such as `*.internal`.
    fn from_str(text: &str) -> Result<Self, AllowedTargetError> {
        if text.is_empty() {
            return Err(AllowedTargetError::Empty);
        }
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        match (address.parse::<IpAddr>(), bits) {
            (Ok(address), bits) => parse_network(address, bits),
            (Err(_), None) => parse_host_glob(text),
            (Err(_), Some(_)) if text.contains("://") => Err(AllowedTargetError::Url),
            (Err(_), Some(_)) => Err(AllowedTargetError::Name),
        }
    }
}

fn parse_network(first: IpAddr, bits: Option<&str>) -> Result<AllowedTarget, AllowedTargetError> {
    let bits_max = if first.is_ipv4() { Ipv4Addr::BITS } else { Ipv6Addr::BITS };
    let prefix_bits = match bits {
        None => bits_max,
        Some(bits) => {
            // `parse` alone would take a sign.
            let is_number = !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit());
            let parsed = bits.parse().ok().filter(|bits| is_number && *bits <= bits_max);
            parsed.ok_or_else(|| AllowedTargetError::PrefixBits { given: bits.to_owned(), bits_max })?
        }
    };
    let masked = match first {
        IpAddr::V4(first) => IpAddr::V4(Ipv4Addr::from_bits(keep_high_bits_v4(first.to_bits(), prefix_bits))),
        IpAddr::V6(first) => IpAddr::V6(Ipv6Addr::from_bits(keep_high_bits_v6(first.to_bits(), prefix_bits))),
    };
    if masked != first {
        return Err(AllowedTargetError::NotFirstAddress { network: format!("{masked}/{prefix_bits}") });
    }
    Ok(AllowedTarget::Network { first, prefix_bits })
}

fn parse_host_glob(text: &str) -> Result<AllowedTarget, AllowedTargetError> {
    if text.len() > NAME_BYTES_MAX {
        return Err(AllowedTargetError::TooLong);
    }
    let fits = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '*');
    if let Some(found) = text.chars().find(|c| !fits(c)) {
        return Err(AllowedTargetError::Character { found });
    }
    if text.chars().all(|c| matches!(c, '*' | '.')) {
        return Err(AllowedTargetError::EveryHost);
    }
    let glob = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    // The last label of a name has a letter (RFC 3696); without one this is an address with a mistake in it.
    let last_label = glob.rsplit('.').next().unwrap_or_default();
    let is_name = last_label.bytes().any(|byte| byte.is_ascii_alphabetic());
    if !is_name || glob.starts_with('.') || glob.contains("..") {
        return Err(AllowedTargetError::Name);
    }
    Ok(AllowedTarget::HostGlob(glob))
}

fn is_in_network(address: IpAddr, first: IpAddr, prefix_bits: u32) -> bool {
    match (address, first) {
        (IpAddr::V4(address), IpAddr::V4(first)) => {
            keep_high_bits_v4(address.to_bits(), prefix_bits) == first.to_bits()
        }
        (IpAddr::V6(address), IpAddr::V6(first)) => {
            keep_high_bits_v6(address.to_bits(), prefix_bits) == first.to_bits()
        }
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
    }
}

fn keep_high_bits_v4(bits: u32, count: u32) -> u32 {
    bits & u32::MAX.checked_shl(Ipv4Addr::BITS - count).unwrap_or(0)
}

fn keep_high_bits_v6(bits: u128, count: u32) -> u128 {
    bits & u128::MAX.checked_shl(Ipv6Addr::BITS - count).unwrap_or(0)
}

/// Whether a pattern fits a whole name: its pieces between the stars occur in their order.
fn glob_matches(glob: &str, name: &str) -> bool {
    let Some((head, rest)) = glob.split_once('*') else {
        return glob == name;
    };
    let Some(mut name) = name.strip_prefix(head) else { return false };
    let mut pieces = rest.split('*').peekable();
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return name.ends_with(piece);
        }
        match name.find(piece) {
            Some(at) => name = &name[at + piece.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests;
