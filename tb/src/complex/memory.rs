//! Owners of memory. Words of a context have its tag in their highest byte, so that one that is elsewhere is seen.

use spinneret_regmap::pspin::{HANDLER_BASE, L1_AREAS, L1_SCRATCHPADS, l1_address};
use std::ops::Range;

/// Contexts.
pub(super) const CONTEXTS: usize = 4;
/// The context whose handlers execute random instructions: its words may be anything.
pub(super) const HOSTILE: usize = CONTEXTS - 1;
/// Clusters.
pub(super) const CLUSTERS: usize = 2;
/// Place of the tag.
pub(super) const TAG_SHIFT: u32 = 24;
/// The tag of memory that belongs to none.
const CANARY: u8 = 0xca;
/// Bytes of each part of the memory of a context, and from the part of a context to that of the next one.
pub(super) const REGION: u32 = 256;
pub(super) const STRIDE: u32 = 0x400;
/// Handler memory of context 0, and shared data; all of it is in a window at the start of handler memory.
pub(super) const MEMORY: u32 = HANDLER_BASE + 0x1000;
const SHARED: u32 = HANDLER_BASE + 0x4000;
pub(super) const WINDOW: u32 = 0x8000;
/// Memory of the host: a part for each context, of which the second half is read.
pub(super) const HOST: u64 = 0x0123_4567_8900_0000;
pub(super) const CONTEXT_HOST: u32 = 0x1_0000;
pub(super) const FROM_HOST: u32 = CONTEXT_HOST / 2;

/// The tag of a context.
pub(super) fn tag_of(context: usize) -> u8 {
    context as u8 + 1
}

/// Handler memory of a context: address and bytes.
pub(super) fn handler_memory(context: usize) -> [u32; 2] {
    [MEMORY + context as u32 * STRIDE, REGION]
}

/// Its shared data.
pub(super) fn shared(context: usize) -> [u32; 2] {
    [SHARED + context as u32 * STRIDE, REGION]
}

/// Its scratchpad in each cluster, as offset and bytes.
pub(super) fn scratchpad(context: usize) -> [u32; 2] {
    [context as u32 * STRIDE, REGION]
}

/// All that is initialized, and compared at the end.
pub(super) fn windows() -> Vec<Range<u32>> {
    let of_clusters = (0..CLUSTERS).flat_map(|cluster| {
        let pads = l1_address(cluster, L1_SCRATCHPADS);
        [
            l1_address(cluster, 0)..l1_address(cluster, L1_AREAS),
            pads..pads + CONTEXTS as u32 * STRIDE,
        ]
    });
    std::iter::once(HANDLER_BASE..HANDLER_BASE + WINDOW)
        .chain(of_clusters)
        .collect()
}

/// The context that owns an address in [`windows`].
pub(super) fn owner(address: u32) -> Option<usize> {
    let within = |base: u32| {
        let offset = address.checked_sub(base)?;
        let context = (offset / STRIDE) as usize;
        (context < CONTEXTS && offset % STRIDE < REGION).then_some(context)
    };
    let pads = (0..CLUSTERS).map(|cluster| l1_address(cluster, L1_SCRATCHPADS));
    [MEMORY, SHARED].into_iter().chain(pads).find_map(within)
}

/// Lines that belong to none, one of each window.
pub(super) fn canaries() -> Vec<Range<u32>> {
    let free = |window: Range<u32>| {
        let mut lines = window.step_by(64);
        lines
            .find(|line| owner(*line).is_none())
            .map(|line| line..line + 64)
    };
    windows().into_iter().filter_map(free).collect()
}

/// Low bits of the word of an address at the start; its tag is above them.
fn initial(address: u32) -> u32 {
    address.wrapping_mul(0x9e37_79b1) >> 8
}

/// The word of an address at the start.
pub(super) fn word_at(address: u32) -> u32 {
    let tag = owner(address).map_or(CANARY, tag_of);
    u32::from(tag) << TAG_SHIFT | initial(address)
}

/// A word with the tag of a context.
pub(super) fn tagged(context: usize, low: u32) -> u32 {
    u32::from(tag_of(context)) << TAG_SHIFT | low >> (u32::BITS - TAG_SHIFT)
}

/// Whether a word may be at an address at the end.
pub(super) fn may_hold(address: u32, word: u32) -> bool {
    match owner(address) {
        None => word == word_at(address),
        Some(HOSTILE) => true,
        Some(context) => (word >> TAG_SHIFT) as u8 == tag_of(context),
    }
}
