//! The proofs that there are.

mod host;
mod packets;
mod streams;

use super::Proof;

/// All proofs, simple blocks first.
pub fn proofs() -> impl Iterator<Item = &'static Proof> {
    [streams::PROOFS, packets::PROOFS, host::PROOFS]
        .into_iter()
        .flatten()
}
