//! Who may do what: keys, tokens, scopes and tenants, on a real server.

mod a2a;
mod auth_workspace;
mod config;
mod http2;
mod jwt;
mod keys;
mod owners;
mod strangers;
mod tenants;
