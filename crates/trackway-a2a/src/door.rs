//! Admission: which agent a request addresses, who the caller is, and whether the caller is allowed.
//! The same for every binding.

use std::sync::Arc;

use axum::http::HeaderMap;
use serde_json::Value;
use trackway_domain::Timestamp;
use trackway_runtime::{Program, Runtime};

use crate::{
    Options,
    card::{Binding, Card, Interface},
    extensions::Activated,
    fault::Fault,
    grpc::Room,
    http,
    identity::{self, Entrant, Visitor},
    ops::Agent,
    union,
    version::Generation,
    wire,
};

/// What every request needs.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) runtime: Runtime,
    pub(crate) options: Options,
    /// The time since which the cards are unchanged.
    pub(crate) opened_at: Timestamp,
    /// For large events over gRPC.
    pub(crate) room: Room,
}

/// The address that a request was sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// `/a2a`: the default agent, or the one that the request names as its tenant.
    Default,
    /// `/a2a/agents/{name}`.
    Agent(String),
}

/// A caller that may use an agent.
#[derive(Debug)]
pub(crate) struct Admitted<'a> {
    pub(crate) agent: Agent<'a>,
    /// Extensions that the request names and the agent supports.
    pub(crate) activated: Activated,
}

impl Door {
    pub(crate) fn new(runtime: Runtime, options: Options) -> Arc<Self> {
        let opened_at = runtime.now();
        Arc::new(Self { runtime, options, opened_at, room: Room::default() })
    }

    /// Identifies the caller. This comes before any other part of the request is read, so that unknown
    /// callers cost little.
    pub(crate) async fn recognise(&self, headers: &HeaderMap) -> Result<Visitor, Fault> {
        identity::recognise(headers, &self.options).await
    }

    /// Admits a request to the agent that it addresses.
    pub(crate) fn admit(
        &self,
        address: &Address,
        tenant: Option<&str>,
        headers: &HeaderMap,
        visitor: Visitor,
    ) -> Result<Admitted<'_>, Fault> {
        let program = self.addressed(address, tenant.filter(|tenant| !tenant.is_empty()))?;
        let Entrant { access, standing } = visitor.enter(program.info())?;
        let activated = Activated::new(headers, program.info())?;
        let (runtime, options) = (&self.runtime, &self.options);
        let agent = Agent { runtime, options, program, access, standing };
        Ok(Admitted { agent, activated })
    }

    pub(crate) fn addressed(
        &self,
        address: &Address,
        tenant: Option<&str>,
    ) -> Result<Arc<dyn Program>, Fault> {
        let name = match (address, tenant) {
            (Address::Agent(name), Some(tenant)) if name != tenant => {
                let why = "this address is one agent's, and the tenant names another";
                let next = "leave the tenant out, or send the request to /a2a";
                return Err(Fault::param("/params/tenant", why, next));
            }
            (Address::Agent(name), _) => name.as_str(),
            (Address::Default, Some(name)) => name,
            (Address::Default, None) => self.default_agent().unwrap_or_default(),
        };
        self.runtime.registry().get(name).ok_or_else(|| self.unknown_agent(name))
    }

    /// The agent at `/a2a`.
    pub(crate) fn default_agent(&self) -> Option<&str> {
        self.options.default_agent.as_deref()
    }

    pub(crate) fn unknown_agent(&self, name: &str) -> Fault {
        let programs = self.runtime.registry().list();
        let known = programs.iter().map(|program| program.info().name.clone()).collect();
        Fault::unknown_agent(name, known, self.runtime.registry().why_not(name).as_deref())
    }

    /// The card of an agent, for the address under which the client reached the server.
    pub(crate) fn card<'a>(
        &self,
        program: &'a dyn Program,
        address: &Address,
        headers: &HeaderMap,
    ) -> Card<'a> {
        let info = program.info();
        let mut card = Card::new(info, self.interfaces(&info.name, address, headers));
        card.push = self.options.outgoing.is_some();
        card.extended = self.options.extended_card;
        card.secured = self.options.secured;
        card
    }

    /// The card for authenticated callers: it also lists the scopes that a call needs.
    pub(crate) fn extended_card<'a>(
        &self,
        program: &'a dyn Program,
        address: &Address,
        headers: &HeaderMap,
    ) -> Card<'a> {
        let mut card = self.card(program, address, headers);
        card.scopes = vec![identity::scope(program.info())];
        card
    }

    /// A card in the form of one generation.
    pub(crate) fn written(&self, card: &Card<'_>, generation: Generation) -> Value {
        let signer = self.options.signer();
        match generation {
            Generation::V1 => union::signed(wire::v1::card(card), signer),
            Generation::V03 => wire::v03::card(card),
        }
    }

    /// A card in the form that clients of both generations can read.
    pub(crate) fn written_for_all(&self, card: &Card<'_>) -> Value {
        union::card(card, self.options.signer())
    }

    fn interfaces(&self, name: &str, address: &Address, headers: &HeaderMap) -> Vec<Interface> {
        let base = http::base_url(headers, &self.options);
        // At the default address a tenant may have named another agent, which has its own card.
        let is_default = *address == Address::Default && self.default_agent() == Some(name);
        let (url, tenant) = if is_default {
            (format!("{base}/a2a"), None)
        } else {
            (format!("{base}/a2a/agents/{name}"), Some(name.to_owned()))
        };
        let grpc = self.options.grpc_address.as_deref().filter(|_| self.options.grpc_in_card);
        let grpc = grpc.map(|grpc| http::reachable(grpc, &base));
        let mut interfaces = Vec::new();
        for generation in Generation::ALL {
            let known =
                |url: String, binding, tenant| Interface { url, binding, generation, tenant };
            interfaces.push(known(url.clone(), Binding::JsonRpc, None));
            interfaces.push(known(format!("{url}/rest"), Binding::HttpJson, None));
            // A request of 0.3 cannot name its agent.
            let reachable = generation == Generation::V1 || is_default;
            if let Some(grpc) = grpc.as_ref().filter(|_| reachable) {
                let url = match generation {
                    Generation::V03 if self.options.conformance => format!("http://{grpc}"),
                    Generation::V03 | Generation::V1 => grpc.clone(),
                };
                interfaces.push(known(url, Binding::Grpc, tenant.clone()));
            }
        }
        interfaces
    }
}
