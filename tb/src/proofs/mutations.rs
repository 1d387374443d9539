//! Blocks that are broken on purpose: what is changed in their text, which a proof has to find out.

mod host;
mod packets;
mod streams;

/// A change of a block's text that breaks a promise.
#[derive(Clone, Copy, Debug)]
pub struct Mutation {
    /// The proof that finds it out.
    pub proof: &'static str,
    /// What is changed, where it stands first.
    pub from: &'static str,
    /// Into what.
    pub to: &'static str,
}

/// All of them.
pub fn mutations() -> impl Iterator<Item = Mutation> {
    [streams::MUTATIONS, packets::MUTATIONS, host::MUTATIONS]
        .into_iter()
        .flatten()
        .map(|&(proof, from, to)| Mutation { proof, from, to })
}

/// A proof, what is changed in the block's text, and into what.
type Row = (&'static str, &'static str, &'static str);
