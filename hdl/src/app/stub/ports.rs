//! The ports of the public design's cluster, in its order and with its names.

use super::shape::{ADDRESS, COMMAND_ID, DATA, HOST_ADDRESS, ID, MESSAGE_ID, STROBES, USER};
use crate::axi::{ATOP_BITS, KIND_BITS, LENGTH_BITS, SIZE_BITS};
use spinneret_verilog::prelude::*;

/// Whoever drives an AXI4 slave of the cluster; [`WrapSlave`] is the slave itself.
#[interface(WrapSlave)]
pub struct WrapSlaveDriver {
    /// Address of a write burst.
    pub aw_addr_i: Wire<Out, { ADDRESS }>,
    /// Its protection type.
    pub aw_prot_i: Wire<Out, 3>,
    /// Its region.
    pub aw_region_i: Wire<Out, 4>,
    /// Its beats, minus 1.
    pub aw_len_i: Wire<Out, { LENGTH_BITS }>,
    /// Bytes of a beat, as a power of two.
    pub aw_size_i: Wire<Out, { SIZE_BITS }>,
    /// Its kind.
    pub aw_burst_i: Wire<Out, { KIND_BITS }>,
    /// Exclusive access.
    pub aw_lock_i: Wire<Out, bool>,
    /// Atomic operation.
    pub aw_atop_i: Wire<Out, { ATOP_BITS }>,
    /// Memory type.
    pub aw_cache_i: Wire<Out, 4>,
    /// Quality of service.
    pub aw_qos_i: Wire<Out, 4>,
    /// Its id.
    pub aw_id_i: Wire<Out, { ID }>,
    /// Its user signal.
    pub aw_user_i: Wire<Out, { USER }>,
    /// The address is there.
    pub aw_valid_i: Wire<Out, bool>,
    /// The address is taken in this cycle.
    pub aw_ready_o: Wire<In, bool>,
    /// Address of a read burst.
    pub ar_addr_i: Wire<Out, { ADDRESS }>,
    /// Its protection type.
    pub ar_prot_i: Wire<Out, 3>,
    /// Its region.
    pub ar_region_i: Wire<Out, 4>,
    /// Its beats, minus 1.
    pub ar_len_i: Wire<Out, { LENGTH_BITS }>,
    /// Bytes of a beat, as a power of two.
    pub ar_size_i: Wire<Out, { SIZE_BITS }>,
    /// Its kind.
    pub ar_burst_i: Wire<Out, { KIND_BITS }>,
    /// Exclusive access.
    pub ar_lock_i: Wire<Out, bool>,
    /// Memory type.
    pub ar_cache_i: Wire<Out, 4>,
    /// Quality of service.
    pub ar_qos_i: Wire<Out, 4>,
    /// Its id.
    pub ar_id_i: Wire<Out, { ID }>,
    /// Its user signal.
    pub ar_user_i: Wire<Out, { USER }>,
    /// The address is there.
    pub ar_valid_i: Wire<Out, bool>,
    /// The address is taken in this cycle.
    pub ar_ready_o: Wire<In, bool>,
    /// Data.
    pub w_data_i: Wire<Out, { DATA }>,
    /// Bytes that are written.
    pub w_strb_i: Wire<Out, { STROBES }>,
    /// Its user signal.
    pub w_user_i: Wire<Out, { USER }>,
    /// Last beat of its burst.
    pub w_last_i: Wire<Out, bool>,
    /// The beat is there.
    pub w_valid_i: Wire<Out, bool>,
    /// The beat is taken in this cycle.
    pub w_ready_o: Wire<In, bool>,
    /// Data that was read.
    pub r_data_o: Wire<In, { DATA }>,
    /// How the read went.
    pub r_resp_o: Wire<In, 2>,
    /// Last beat of its burst.
    pub r_last_o: Wire<In, bool>,
    /// Id of the burst.
    pub r_id_o: Wire<In, { ID }>,
    /// Its user signal.
    pub r_user_o: Wire<In, { USER }>,
    /// The beat is there.
    pub r_valid_o: Wire<In, bool>,
    /// The beat is taken in this cycle.
    pub r_ready_i: Wire<Out, bool>,
    /// How the write went.
    pub b_resp_o: Wire<In, 2>,
    /// Id of the burst.
    pub b_id_o: Wire<In, { ID }>,
    /// Its user signal.
    pub b_user_o: Wire<In, { USER }>,
    /// The response is there.
    pub b_valid_o: Wire<In, bool>,
    /// The response is taken in this cycle.
    pub b_ready_i: Wire<Out, bool>,
}

/// The AXI4 master of the cluster, towards host memory.
#[interface(WrapMasterTarget)]
pub struct WrapMaster {
    /// Address of a write burst.
    pub aw_addr_o: Wire<Out, { HOST_ADDRESS }>,
    /// Its protection type.
    pub aw_prot_o: Wire<Out, 3>,
    /// Its region.
    pub aw_region_o: Wire<Out, 4>,
    /// Its beats, minus 1.
    pub aw_len_o: Wire<Out, { LENGTH_BITS }>,
    /// Bytes of a beat, as a power of two.
    pub aw_size_o: Wire<Out, { SIZE_BITS }>,
    /// Its kind.
    pub aw_burst_o: Wire<Out, { KIND_BITS }>,
    /// Exclusive access.
    pub aw_lock_o: Wire<Out, bool>,
    /// Atomic operation.
    pub aw_atop_o: Wire<Out, { ATOP_BITS }>,
    /// Memory type.
    pub aw_cache_o: Wire<Out, 4>,
    /// Quality of service.
    pub aw_qos_o: Wire<Out, 4>,
    /// Its id.
    pub aw_id_o: Wire<Out, { ID }>,
    /// Its user signal.
    pub aw_user_o: Wire<Out, { USER }>,
    /// The address is there.
    pub aw_valid_o: Wire<Out, bool>,
    /// The address is taken in this cycle.
    pub aw_ready_i: Wire<In, bool>,
    /// Address of a read burst.
    pub ar_addr_o: Wire<Out, { HOST_ADDRESS }>,
    /// Its protection type.
    pub ar_prot_o: Wire<Out, 3>,
    /// Its region.
    pub ar_region_o: Wire<Out, 4>,
    /// Its beats, minus 1.
    pub ar_len_o: Wire<Out, { LENGTH_BITS }>,
    /// Bytes of a beat, as a power of two.
    pub ar_size_o: Wire<Out, { SIZE_BITS }>,
    /// Its kind.
    pub ar_burst_o: Wire<Out, { KIND_BITS }>,
    /// Exclusive access.
    pub ar_lock_o: Wire<Out, bool>,
    /// Memory type.
    pub ar_cache_o: Wire<Out, 4>,
    /// Quality of service.
    pub ar_qos_o: Wire<Out, 4>,
    /// Its id.
    pub ar_id_o: Wire<Out, { ID }>,
    /// Its user signal.
    pub ar_user_o: Wire<Out, { USER }>,
    /// The address is there.
    pub ar_valid_o: Wire<Out, bool>,
    /// The address is taken in this cycle.
    pub ar_ready_i: Wire<In, bool>,
    /// Data.
    pub w_data_o: Wire<Out, { DATA }>,
    /// Bytes that are written.
    pub w_strb_o: Wire<Out, { STROBES }>,
    /// Its user signal.
    pub w_user_o: Wire<Out, { USER }>,
    /// Last beat of its burst.
    pub w_last_o: Wire<Out, bool>,
    /// The beat is there.
    pub w_valid_o: Wire<Out, bool>,
    /// The beat is taken in this cycle.
    pub w_ready_i: Wire<In, bool>,
    /// Data that was read.
    pub r_data_i: Wire<In, { DATA }>,
    /// How the read went.
    pub r_resp_i: Wire<In, 2>,
    /// Last beat of its burst.
    pub r_last_i: Wire<In, bool>,
    /// Id of the burst.
    pub r_id_i: Wire<In, { ID }>,
    /// Its user signal.
    pub r_user_i: Wire<In, { USER }>,
    /// The beat is there.
    pub r_valid_i: Wire<In, bool>,
    /// The beat is taken in this cycle.
    pub r_ready_o: Wire<Out, bool>,
    /// How the write went.
    pub b_resp_i: Wire<In, 2>,
    /// Id of the burst.
    pub b_id_i: Wire<In, { ID }>,
    /// Its user signal.
    pub b_user_i: Wire<In, { USER }>,
    /// The response is there.
    pub b_valid_i: Wire<In, bool>,
    /// The response is taken in this cycle.
    pub b_ready_o: Wire<Out, bool>,
}

/// HERs into the cluster.
#[interface]
pub struct WrapHer {
    /// The HER is taken in this cycle.
    pub ready_o: Wire<Out, bool>,
    /// The HER is there.
    pub valid_i: Wire<In, bool>,
    /// Message id.
    pub msgid_i: Wire<In, { MESSAGE_ID }>,
    /// Last packet of its message.
    pub is_eom_i: Wire<In, bool>,
    /// Address of the packet.
    pub addr_i: Wire<In, { ADDRESS }>,
    /// Bytes of the packet.
    pub size_i: Wire<In, { ADDRESS }>,
    /// Bytes of it that a handler sees.
    pub xfer_size_i: Wire<In, { ADDRESS }>,
    /// Address of the handler's memory.
    pub meta_handler_mem_addr_i: Wire<In, { ADDRESS }>,
    /// Its bytes.
    pub meta_handler_mem_size_i: Wire<In, { ADDRESS }>,
    /// Address of the handler's memory in the host.
    pub meta_host_mem_addr_i: Wire<In, { HOST_ADDRESS }>,
    /// Its bytes.
    pub meta_host_mem_size_i: Wire<In, { ADDRESS }>,
    /// Address of the header handler.
    pub meta_hh_addr_i: Wire<In, { ADDRESS }>,
    /// Its bytes.
    pub meta_hh_size_i: Wire<In, { ADDRESS }>,
    /// Address of the payload handler.
    pub meta_ph_addr_i: Wire<In, { ADDRESS }>,
    /// Its bytes.
    pub meta_ph_size_i: Wire<In, { ADDRESS }>,
    /// Address of the tail handler.
    pub meta_th_addr_i: Wire<In, { ADDRESS }>,
    /// Its bytes.
    pub meta_th_size_i: Wire<In, { ADDRESS }>,
    /// Address of the scratchpad in cluster 0.
    pub meta_scratchpad_0_addr_i: Wire<In, { ADDRESS }>,
    /// Its bytes.
    pub meta_scratchpad_0_size_i: Wire<In, { ADDRESS }>,
    /// Address of the scratchpad in cluster 1.
    pub meta_scratchpad_1_addr_i: Wire<In, { ADDRESS }>,
    /// Its bytes.
    pub meta_scratchpad_1_size_i: Wire<In, { ADDRESS }>,
    /// Address of the scratchpad in cluster 2.
    pub meta_scratchpad_2_addr_i: Wire<In, { ADDRESS }>,
    /// Its bytes.
    pub meta_scratchpad_2_size_i: Wire<In, { ADDRESS }>,
    /// Address of the scratchpad in cluster 3.
    pub meta_scratchpad_3_addr_i: Wire<In, { ADDRESS }>,
    /// Its bytes.
    pub meta_scratchpad_3_size_i: Wire<In, { ADDRESS }>,
}

/// Feedback of the cluster: a packet is done.
#[interface]
pub struct WrapFeedback {
    /// It is taken in this cycle.
    pub ready_i: Wire<In, bool>,
    /// It is there.
    pub valid_o: Wire<Out, bool>,
    /// Address of the packet.
    pub her_addr_o: Wire<Out, { ADDRESS }>,
    /// Bytes of it that a handler has seen.
    pub her_size_o: Wire<Out, { ADDRESS }>,
    /// Its message id.
    pub msgid_o: Wire<Out, { MESSAGE_ID }>,
}

/// Commands of the cluster to send a packet.
#[interface]
pub struct WrapCommand {
    /// The command is taken in this cycle.
    pub ready_i: Wire<In, bool>,
    /// The command is there.
    pub valid_o: Wire<Out, bool>,
    /// Its id.
    pub id_o: Wire<Out, { COMMAND_ID }>,
    /// Where the packet goes.
    pub nid_o: Wire<Out, { ADDRESS }>,
    /// What it is; 0 is a raw packet.
    pub fid_o: Wire<Out, { ADDRESS }>,
    /// Address of its bytes.
    pub src_addr_o: Wire<Out, { HOST_ADDRESS }>,
    /// How many there are.
    pub length_o: Wire<Out, { ADDRESS }>,
    /// What the handler wants back.
    pub user_ptr_o: Wire<Out, { HOST_ADDRESS }>,
}

/// Responses to commands.
#[interface]
pub struct WrapResponse {
    /// A response is there; there is no ready.
    pub valid_i: Wire<In, bool>,
    /// Id of the command.
    pub id_i: Wire<In, { COMMAND_ID }>,
}
