//! For which node a token is made: a token that one node receives is worth nothing at another.

use std::net::{IpAddr, SocketAddr};

use reqwest::Url;

/// The address of a node without a path: scheme, host and port. The address of every agent of a node has the
/// same one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallAudience(String);

impl CallAudience {
    /// The node at this address; `None` if the text is not an address with a host.
    pub fn of_url(url: &str) -> Option<Self> {
        let url = Url::parse(url).ok()?;
        // The parser writes the host in lower case and leaves out the scheme's own port.
        let host = url.host_str()?;
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        Some(Self(format!("{}://{host}{port}", url.scheme())))
    }

    /// The names of a node that listens here. Its public address if it has one. Otherwise the address itself,
    /// and all names of this machine if it is one of them: on the loopback address, nobody else is reached.
    /// None if the node listens on every address and does not say what it is called: then it cannot be told
    /// whether a token is for it.
    pub fn of_node(listens_on: SocketAddr, public_url: Option<&str>) -> Vec<Self> {
        if let Some(public_url) = public_url {
            return Self::of_url(public_url).into_iter().collect();
        }
        let port = listens_on.port();
        let hosts = match listens_on.ip() {
            ip if ip.is_loopback() => ["127.0.0.1", "[::1]", "localhost"].map(str::to_owned).to_vec(),
            ip if ip.is_unspecified() => Vec::new(),
            IpAddr::V4(ip) => vec![ip.to_string()],
            IpAddr::V6(ip) => vec![format!("[{ip}]")],
        };
        hosts.iter().filter_map(|host| Self::of_url(&format!("http://{host}:{port}"))).collect()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}
