//! Our client side of a connection: it receives the server's notifications and requests.

use std::sync::Arc;

use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
        ElicitationCapability, FormElicitationCapability, Implementation, ProtocolVersion,
    },
    service::{NotificationContext, RequestContext},
};
use serde_json::Value;
use tokio::sync::{Notify, oneshot};

use super::elicitation::{ActiveServerCalls, ElicitationQuestion, ElicitationReply};

/// Our side of a connection.
#[derive(Debug)]
pub(super) struct McpClientHandler {
    pub(super) server: String,
    /// The calls that a question can belong to.
    pub(super) active_calls: Arc<ActiveServerCalls>,
    /// Notified when the server's list of tools changes.
    pub(super) tools_changed: Arc<Notify>,
}

impl ClientHandler for McpClientHandler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        // Forms only: users are never sent to an address that a server chose.
        let form = FormElicitationCapability::default();
        capabilities.elicitation = Some(ElicitationCapability::new().with_form(form));
        ClientConfig::new(capabilities, Implementation::new("trackway", env!("CARGO_PKG_VERSION")))
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        match parse_elicitation_form(request) {
            Ok((message, schema)) => Ok(self.forward_elicitation_to_call(message, schema).await),
            Err(reason) => {
                tracing::warn!(server = self.server, "a question of the server is declined: {reason}");
                Ok(ElicitResult::new(ElicitationAction::Decline))
            }
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }
}

impl McpClientHandler {
    /// Passes a question to the call that it belongs to, and waits for the user's answer. If the call
    /// ends first, the question is dropped.
    async fn forward_elicitation_to_call(&self, message: String, schema: Value) -> ElicitResult {
        let addressee = match self.active_calls.elicitation_sender_of_newest_call() {
            Ok(addressee) => addressee,
            Err(reason) => {
                tracing::warn!(server = self.server, "a question of the server is declined: {reason}");
                return ElicitResult::new(ElicitationAction::Decline);
            }
        };
        let (reply, answered) = oneshot::channel();
        if addressee.send(ElicitationQuestion { message, schema, reply }).await.is_err() {
            return ElicitResult::new(ElicitationAction::Cancel);
        }
        answered.await.map_or_else(|_| ElicitResult::new(ElicitationAction::Cancel), to_elicit_result)
    }
}

/// An answer in the form of the protocol.
pub(super) fn to_elicit_result(reply: ElicitationReply) -> ElicitResult {
    match reply {
        ElicitationReply::Accepted(content) => {
            ElicitResult::new(ElicitationAction::Accept).with_content(content)
        }
        ElicitationReply::Declined => ElicitResult::new(ElicitationAction::Decline),
    }
}

/// The question of a form, or why it is declined.
pub(super) fn parse_elicitation_form(request: ElicitRequestParams) -> Result<(String, Value), String> {
    match request {
        ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
            let schema = serde_json::to_value(requested_schema);
            Ok((message, schema.map_err(|error| format!("its schema cannot be read: {error}"))?))
        }
        ElicitRequestParams::UrlElicitationParams { .. } => {
            Err("users are not sent to addresses that a server chose".to_owned())
        }
        _ => Err("its kind is unknown".to_owned()),
    }
}
