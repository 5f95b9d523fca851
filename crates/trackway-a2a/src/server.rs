//! Admission: which agent a request addresses, who the caller is, and whether the caller is allowed.
//! The same for every binding.

use std::sync::Arc;

use axum::http::HeaderMap;
use serde_json::Value;
use trackway_domain::Timestamp;
use trackway_runtime::{Program, Runtime};

use crate::{
    Options,
    agent_card::{AgentCard, AgentInterface, ProtocolBinding},
    authentication::{self, AuthenticatedClient, AuthorizedClient},
    error::A2aError,
    extensions::ActivatedExtensions,
    grpc::InFlightBytesLimit,
    http, multi_version_card,
    operations::AddressedAgent,
    protocol_version::ProtocolVersion,
    wire,
};

/// What every request needs.
#[derive(Debug)]
pub(crate) struct A2aServer {
    pub(crate) runtime: Runtime,
    pub(crate) options: Options,
    /// The time since which the cards are unchanged.
    pub(crate) opened_at: Timestamp,
    /// For large events over gRPC.
    pub(crate) grpc_in_flight: InFlightBytesLimit,
}

/// The address that a request was sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AgentAddress {
    /// `/a2a`: the default agent, or the one that the request names as its tenant.
    DefaultAgent,
    /// `/a2a/agents/{name}`.
    NamedAgent(String),
}

/// A caller that may use an agent.
#[derive(Debug)]
pub(crate) struct AdmittedCall<'a> {
    pub(crate) agent: AddressedAgent<'a>,
    /// Extensions that the request names and the agent supports.
    pub(crate) activated: ActivatedExtensions,
}

impl A2aServer {
    pub(crate) fn new(runtime: Runtime, options: Options) -> Arc<Self> {
        let opened_at = runtime.now();
        Arc::new(Self { runtime, options, opened_at, grpc_in_flight: InFlightBytesLimit::default() })
    }

    /// Identifies the caller. This comes before any other part of the request is read, so that unknown
    /// callers cost little.
    pub(crate) async fn authenticate_headers(
        &self,
        headers: &HeaderMap,
    ) -> Result<AuthenticatedClient, A2aError> {
        authentication::authenticate_client(headers, &self.options).await
    }

    /// Admits a request to the agent that it addresses.
    pub(crate) fn admit_call(
        &self,
        address: &AgentAddress,
        tenant: Option<&str>,
        headers: &HeaderMap,
        visitor: AuthenticatedClient,
    ) -> Result<AdmittedCall<'_>, A2aError> {
        let program = self.find_addressed_program(address, tenant.filter(|tenant| !tenant.is_empty()))?;
        let AuthorizedClient { identity, access, auth_state } =
            visitor.authorize_for_workflow(program.info())?;
        let activated = ActivatedExtensions::new(headers, program.info())?;
        let (runtime, options) = (&self.runtime, &self.options);
        let agent = AddressedAgent { runtime, options, program, identity, access, auth_state };
        Ok(AdmittedCall { agent, activated })
    }

    pub(crate) fn find_addressed_program(
        &self,
        address: &AgentAddress,
        tenant: Option<&str>,
    ) -> Result<Arc<dyn Program>, A2aError> {
        let name = match (address, tenant) {
            (AgentAddress::NamedAgent(name), Some(tenant)) if name != tenant => {
                let why = "this address is one agent's, and the tenant names another";
                let next = "leave the tenant out, or send the request to /a2a";
                return Err(A2aError::invalid_param_error("/params/tenant", why, next));
            }
            (AgentAddress::NamedAgent(name), _) => name.as_str(),
            (AgentAddress::DefaultAgent, Some(name)) => name,
            (AgentAddress::DefaultAgent, None) => self.default_agent_name().unwrap_or_default(),
        };
        self.runtime.registry().current_program(name).ok_or_else(|| self.unknown_agent_error(name))
    }

    /// The agent at `/a2a`.
    pub(crate) fn default_agent_name(&self) -> Option<&str> {
        self.options.default_agent.as_deref()
    }

    pub(crate) fn unknown_agent_error(&self, name: &str) -> A2aError {
        let programs = self.runtime.registry().list_current_programs();
        let known = programs.iter().map(|program| program.info().name.clone()).collect();
        A2aError::unknown_agent(
            name,
            known,
            self.runtime.registry().workflow_unavailable_reason(name).as_deref(),
        )
    }

    /// The card of an agent, for the address under which the client reached the server.
    pub(crate) fn build_card<'a>(
        &self,
        program: &'a dyn Program,
        address: &AgentAddress,
        headers: &HeaderMap,
    ) -> AgentCard<'a> {
        let info = program.info();
        let mut card = AgentCard::new(info, self.agent_interfaces(&info.name, address, headers));
        card.has_push_notifications = self.options.outgoing.is_some();
        card.has_extended_card = self.options.extended_card;
        card.requires_key = self.options.secured;
        card
    }

    /// The card for authenticated callers: it also lists the scopes that a call needs.
    pub(crate) fn build_extended_card<'a>(
        &self,
        program: &'a dyn Program,
        address: &AgentAddress,
        headers: &HeaderMap,
    ) -> AgentCard<'a> {
        let mut card = self.build_card(program, address, headers);
        card.scopes = vec![authentication::required_run_scope(program.info())];
        card
    }

    /// A card in the form of one generation.
    pub(crate) fn render_card(&self, card: &AgentCard<'_>, generation: ProtocolVersion) -> Value {
        let signer = self.options.card_signer();
        match generation {
            ProtocolVersion::V1 => {
                multi_version_card::with_card_signatures(wire::v1::render_card_json(card), signer)
            }
            ProtocolVersion::V03 => wire::v03::render_card_json(card),
        }
    }

    /// A card in the form that clients of both generations can read.
    pub(crate) fn render_multi_version_card(&self, card: &AgentCard<'_>) -> Value {
        multi_version_card::render_multi_version_card(card, self.options.card_signer())
    }

    fn agent_interfaces(
        &self,
        name: &str,
        address: &AgentAddress,
        headers: &HeaderMap,
    ) -> Vec<AgentInterface> {
        let base = http::request_base_url(headers, &self.options);
        // At the default address a tenant may have named another agent, which has its own card.
        let is_default = *address == AgentAddress::DefaultAgent && self.default_agent_name() == Some(name);
        let (url, tenant) = if is_default {
            (format!("{base}/a2a"), None)
        } else {
            (format!("{base}/a2a/agents/{name}"), Some(name.to_owned()))
        };
        let grpc = self.options.grpc_address.as_deref().filter(|_| self.options.grpc_in_card);
        let grpc = grpc.map(|grpc| http::reachable_address(grpc, &base));
        let mut interfaces = Vec::new();
        for generation in ProtocolVersion::ALL {
            let known = |url: String, binding, tenant| AgentInterface { url, binding, generation, tenant };
            interfaces.push(known(url.clone(), ProtocolBinding::JsonRpc, None));
            interfaces.push(known(format!("{url}/rest"), ProtocolBinding::HttpJson, None));
            // A request of 0.3 cannot name its agent.
            let reachable = generation == ProtocolVersion::V1 || is_default;
            if let Some(grpc) = grpc.as_ref().filter(|_| reachable) {
                let url = match generation {
                    ProtocolVersion::V03 if self.options.conformance => format!("http://{grpc}"),
                    ProtocolVersion::V03 | ProtocolVersion::V1 => grpc.clone(),
                };
                interfaces.push(known(url, ProtocolBinding::Grpc, tenant.clone()));
            }
        }
        interfaces
    }
}
