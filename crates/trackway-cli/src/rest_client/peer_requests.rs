//! Peers of a server.

use reqwest::Method;
use trackway::api::{AddPeerRequest, PeerDetail, PeerList, PeerSummary};

use super::{ANSWER_PATIENCE, RestClient};
use crate::cli_error::CliError;

/// The most that a server lists at once.
const PAGE: usize = 500;

impl RestClient {
    /// All peers, from as many pages as there are.
    pub(crate) async fn list_peers(&self) -> Result<Vec<PeerSummary>, CliError> {
        let (mut peers, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let mut query = vec![("limit", PAGE.to_string())];
            query.extend(cursor.map(|next| ("cursor", next)));
            let request = self.build_request(Method::GET, &["api", "peers"], &query);
            let page: PeerList = self.send_and_parse_json(request).await?;
            peers.extend(page.items);
            match page.next {
                Some(next) => cursor = Some(next),
                None => return Ok(peers),
            }
        }
    }

    pub(crate) async fn load_peer(&self, name: &str) -> Result<PeerDetail, CliError> {
        self.send_and_parse_json(self.build_request(Method::GET, &["api", "peers", name], &[])).await
    }

    pub(crate) async fn add_peer(&self, request: &AddPeerRequest) -> Result<PeerSummary, CliError> {
        let sent = self.build_request(Method::POST, &["api", "peers"], &[]).json(request);
        self.send_and_parse_json(sent).await
    }

    pub(crate) async fn remove_peer(&self, name: &str) -> Result<(), CliError> {
        let request = self.build_request(Method::DELETE, &["api", "peers", name], &[]);
        self.require_success_response(request.timeout(ANSWER_PATIENCE).send().await).await.map(drop)
    }

    pub(crate) async fn ping_peer(&self, name: &str) -> Result<PeerSummary, CliError> {
        self.send_and_parse_json(self.build_request(Method::POST, &["api", "peers", name, "ping"], &[])).await
    }
}
