//! HERs on the port of a scheduler.

use spinneret_cluster::task::Her;

/// Fields of a HER, as a channel of the bus models has them.
#[rustfmt::skip]
pub const FIELDS: [&str; 23] = [
    "msgid", "is_eom", "addr", "size", "xfer_size", "meta_handler_mem_addr", "meta_handler_mem_size",
    "meta_host_mem_addr", "meta_host_mem_size", "meta_hh_addr", "meta_hh_size", "meta_ph_addr", "meta_ph_size",
    "meta_th_addr", "meta_th_size", "meta_scratchpad_0_addr", "meta_scratchpad_0_size", "meta_scratchpad_1_addr",
    "meta_scratchpad_1_size", "meta_scratchpad_2_addr", "meta_scratchpad_2_size", "meta_scratchpad_3_addr",
    "meta_scratchpad_3_size",
];

/// The values of the fields.
///
/// # Panics
/// Never: each field has a value.
pub fn values(her: &Her) -> [u64; FIELDS.len()] {
    let meta = &her.meta;
    let (host, bytes) = meta.host_memory;
    let mut all = vec![
        her.message,
        her.is_last.into(),
        her.address,
        her.size_and_sum(),
        her.copied,
    ];
    all.extend(meta.handler_memory);
    let mut all: Vec<u64> = all.into_iter().map(u64::from).collect();
    all.extend([host, bytes.into()]);
    for code in [meta.header, meta.payload, meta.tail] {
        all.extend([code.address, code.size].map(u64::from));
    }
    all.extend(
        meta.scratchpads
            .as_flattened()
            .iter()
            .map(|word| u64::from(*word)),
    );
    all.try_into().expect("each field has a value")
}
