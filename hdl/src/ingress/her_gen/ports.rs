//! The cluster's side of a packet: HERs with their execution context, and feedback.

use spinneret_verilog::prelude::*;

/// Width in bits of every field but `host_mem_addr`.
const WORD: usize = 32;

/// Execution contexts side by side, context 0 in the lowest bits of each field, where they come from: the registers, or the
/// one of a HER.
#[interface(ContextsIn, contexts: usize, host_address: usize)]
pub struct ContextsOut {
    /// Address of the handlers' memory in L2.
    pub handler_mem_addr: Wire<Out, { contexts * WORD }>,
    /// Its size in bytes.
    pub handler_mem_size: Wire<Out, { contexts * WORD }>,
    /// Address of the host's memory.
    pub host_mem_addr: Wire<Out, { contexts * host_address }>,
    /// Its size in bytes.
    pub host_mem_size: Wire<Out, { contexts * WORD }>,
    /// Address of the header handler; 0: there is none.
    pub hh_addr: Wire<Out, { contexts * WORD }>,
    /// Its size in bytes.
    pub hh_size: Wire<Out, { contexts * WORD }>,
    /// Address of the payload handler; 0: there is none.
    pub ph_addr: Wire<Out, { contexts * WORD }>,
    /// Its size in bytes.
    pub ph_size: Wire<Out, { contexts * WORD }>,
    /// Address of the tail handler; 0: there is none.
    pub th_addr: Wire<Out, { contexts * WORD }>,
    /// Its size in bytes.
    pub th_size: Wire<Out, { contexts * WORD }>,
    /// Address of the scratchpad in L1 of cluster 0.
    pub scratchpad_0_addr: Wire<Out, { contexts * WORD }>,
    /// Its size in bytes.
    pub scratchpad_0_size: Wire<Out, { contexts * WORD }>,
    /// Address of the scratchpad in L1 of cluster 1.
    pub scratchpad_1_addr: Wire<Out, { contexts * WORD }>,
    /// Its size in bytes.
    pub scratchpad_1_size: Wire<Out, { contexts * WORD }>,
    /// Address of the scratchpad in L1 of cluster 2.
    pub scratchpad_2_addr: Wire<Out, { contexts * WORD }>,
    /// Its size in bytes.
    pub scratchpad_2_size: Wire<Out, { contexts * WORD }>,
    /// Address of the scratchpad in L1 of cluster 3.
    pub scratchpad_3_addr: Wire<Out, { contexts * WORD }>,
    /// Its size in bytes.
    pub scratchpad_3_size: Wire<Out, { contexts * WORD }>,
}

/// HERs, where they come from.
#[interface(HerIn, address: usize, host_address: usize, message_id: usize)]
pub struct HerOut {
    /// The cluster takes it in this cycle.
    pub ready: Wire<In, bool>,
    /// It is there.
    pub valid: Wire<Out, bool>,
    /// Message that the packet belongs to.
    pub msgid: Wire<Out, { message_id }>,
    /// The packet is the last of its message.
    pub is_eom: Wire<Out, bool>,
    /// Address of the packet in L2.
    pub addr: Wire<Out, { address }>,
    /// Its length in bytes.
    pub size: Wire<Out, { address }>,
    /// Bytes of it that are copied to L1.
    pub xfer_size: Wire<Out, { address }>,
    /// The context that serves the packet.
    pub meta: ContextsOut<1, { host_address }>,
}

/// Packets that are done with, where they come from.
#[interface(FeedbackIn, address: usize, size: usize, message_id: usize)]
pub struct FeedbackOut {
    /// The packet is taken back in this cycle.
    pub ready: Wire<In, bool>,
    /// It is there.
    pub valid: Wire<Out, bool>,
    /// Its address in L2.
    pub her_addr: Wire<Out, { address }>,
    /// The bytes that were copied to L1, which is not its length.
    pub her_size: Wire<Out, { size }>,
    /// Its message.
    pub msgid: Wire<Out, { message_id }>,
}
