//! The message id of a handler execution request, where the context is a part of it (`caps.features`, `context_in_message_id`).
//!
//! ```text
//! | id, its other bits | context | id, its lowest bits |
//!                       `---- queue of 16 -----------'
//! ```
//!
//! The public cluster takes the lowest bits of it as the message's queue (`mpq_engine.sv`), and the lowest of those as the
//! cluster that the message prefers (`scheduler.sv`). So contexts never meet in a queue, and the messages of each context have
//! [`ID_BITS`] bits of queues, that prefer all clusters.

use crate::sizes::CONTEXTS;

/// Lowest bits of the id, which stay lowest.
pub const ID_BITS: u32 = 2;
/// Bits of the context, above them.
pub const CONTEXT_BITS: u32 = CONTEXTS.ilog2();
/// Lowest bits of a message id that keep contexts apart. A cluster has as many queues as they can say, or more.
pub const QUEUE_BITS: u32 = ID_BITS + CONTEXT_BITS;

/// The message id for an id and a context. Bits of the context that do not fit are left out.
///
/// ```
/// use spinneret_regmap::message_id;
///
/// assert_eq!(message_id::compose(0b1101, 0b10), 0b11_10_01);
/// assert_eq!(message_id::context(0b11_10_01), 0b10);
/// ```
pub const fn compose(id: u64, context: u32) -> u64 {
    let low = id & ((1 << ID_BITS) - 1);
    (id >> ID_BITS) << QUEUE_BITS | ((context % CONTEXTS) as u64) << ID_BITS | low
}

/// The context of a message id, or of the queue that is its lowest bits.
pub const fn context(message_id: u32) -> u32 {
    message_id >> ID_BITS & (CONTEXTS - 1)
}
