//! What the generations do not share.

use std::fmt::Debug;

use serde::{Serialize, de::DeserializeOwned};
use trackway_domain::{Part, Role, StateName};

use crate::ClientError;

pub(super) trait Dialect: Debug {
    /// A part as it is written.
    type Part: Debug + Serialize + DeserializeOwned;
    /// Tasks, messages and updates name their kind in a field.
    const TAGGED: bool;
    const USER: &'static str;
    const AGENT: &'static str;

    fn part_in(part: Self::Part) -> Result<Part, ClientError>;
    fn part_out(part: &Part) -> Self::Part;

    /// States that are not known here are those of a later protocol, or none.
    fn state_in(name: &str) -> StateName;
    /// No name for a state that cannot be asked for.
    fn state_out(state: StateName) -> Option<&'static str>;

    fn role_in(name: &str) -> Result<Role, ClientError> {
        match name {
            name if name == Self::USER => Ok(Role::User),
            name if name == Self::AGENT => Ok(Role::Agent),
            name => Err(ClientError::malformed(format_args!("{name:?} is no role"))),
        }
    }

    fn role_out(role: Role) -> &'static str {
        match role {
            Role::User => Self::USER,
            Role::Agent => Self::AGENT,
        }
    }
}
