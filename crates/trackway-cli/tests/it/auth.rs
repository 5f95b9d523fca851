//! Who may do what: keys, tokens, scopes and tenants, on a real server.

mod a2a;
mod audit;
mod auth_workspace;
mod call_tokens;
mod config;
mod http2;
mod jwt;
mod keys;
mod owners;
mod peers;
mod scopes;
mod strangers;
mod tenants;
