//! Traffic made from a description such as `udp,size=64..1500,rate=10Gbps,count=1e5`.
//!
//! [`Recipe`] is the description. Every frame is a function of the recipe and the frame's number, and carries that
//! number, so that a reply can be checked without keeping the request: memory stays flat whatever the count.

mod frame;
mod recipe;
mod reply;

pub use recipe::{MAX_SIZE_BYTES, Protocol, Rate, Recipe, RecipeError, WIRE_OVERHEAD_BYTES};
pub use reply::{ReplyError, check_reply};

use super::{NetError, Next, Source};

const PS_PER_SECOND: u128 = 1_000_000_000_000;

/// The packets of a [`Recipe`], one after the other.
#[derive(Clone, Debug)]
pub struct Generator {
    recipe: Recipe,
    /// Number of the next packet.
    number: u64,
    /// Bits that the packets before it take on the wire.
    sent_bits: u128,
    /// When the burst that it belongs to begins.
    burst_ps: u64,
    /// When the first one comes.
    start_ps: u64,
}

impl Generator {
    /// A generator at its first packet, which comes at the start.
    pub fn new(recipe: Recipe) -> Self {
        Self {
            recipe,
            number: 0,
            sent_bits: 0,
            burst_ps: 0,
            start_ps: 0,
        }
    }

    /// The same, with its first packet at that time.
    #[must_use]
    pub fn starting_at(mut self, start_ps: u64) -> Self {
        self.start_ps = start_ps;
        self
    }

    /// What is generated.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// When the next packet comes. It is exact: nothing is rounded twice, however many packets there are.
    fn at_ps(&self) -> u64 {
        let (units, per_second) = match self.recipe.rate {
            Rate::Unlimited => return 0,
            Rate::BitsPerSecond(rate) => (self.sent_bits, rate.get()),
            Rate::PacketsPerSecond(rate) => (u128::from(self.number), rate.get()),
        };
        let at_ps = units.saturating_mul(PS_PER_SECOND) / u128::from(per_second);
        u64::try_from(at_ps).unwrap_or(u64::MAX)
    }
}

impl Source for Generator {
    fn next(&mut self, _now_ps: u64) -> Result<Next, NetError> {
        if self.number >= self.recipe.packets() {
            return Ok(Next::End);
        }
        let bytes = self.recipe.frame(self.number as u32);
        // The packets of a burst are there together; the time between bursts keeps the rate.
        if self.number.is_multiple_of(self.recipe.burst.get().into()) {
            self.burst_ps = self.at_ps();
        }
        self.number += 1;
        self.sent_bits += 8 * (bytes.len() + WIRE_OVERHEAD_BYTES) as u128;
        Ok(Next::Packet {
            at_ps: self.burst_ps.saturating_add(self.start_ps),
            bytes,
        })
    }

    fn total(&self) -> Option<u64> {
        self.recipe.count
    }
}
