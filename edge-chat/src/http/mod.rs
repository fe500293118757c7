//! What every route shares: the address of a request, its body, who may call, and how responses look.

pub(crate) mod address;
pub(crate) mod body;
pub(crate) mod cors;
pub(crate) mod error;
pub(crate) mod reply;
