//! The ports of the public design's cluster, in its order and with its names.

use super::shape::{ADDRESS, COMMAND_ID, DATA, HOST_ADDRESS, ID, MESSAGE_ID, STROBES, USER};
use crate::axi::{ATOP_BITS, KIND_BITS, LENGTH_BITS, SIZE_BITS};
use spinneret_verilog::prelude::*;

/// The type of a port: one bit, or a word.
macro_rules! port_type {
    ($direction:ident bit) => { Wire<$direction, bool> };
    ($direction:ident $width:expr) => { Wire<$direction> };
}

/// A port: one bit, or a word of that many bits.
macro_rules! port {
    (bit) => {
        Wire::bit()
    };
    ($width:expr) => {
        Wire::word($width)
    };
}

/// A bundle of the ports behind its name; `joins` names the one that has the other directions.
macro_rules! bundle {
    (@join $name:ident; $($port:ident)+) => {};
    (@join $name:ident $other:ident; $($port:ident)+) => {
        impl $name {
            /// Feeds the other side.
            pub fn join(&mut self, other: &mut $other) {
                $(self.$port.join(&mut other.$port);)+
            }
        }
    };
    (
        $(#[$doc:meta])+ $name:ident $(joins $other:ident)?;
        $($(#[$port_doc:meta])+ $port:ident: $direction:ident [$($kind:tt)+],)+
    ) => {
        $(#[$doc])+
        #[derive(LogicInterface, Clone, Debug)]
        pub struct $name {
            $($(#[$port_doc])+ pub $port: port_type!($direction $($kind)+),)+
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($port: port!($($kind)+),)+ }
            }
        }

        bundle! { @join $name $($other)?; $($port)+ }
    };
}

/// The ports of an AXI4 slave, once as the cluster has them and once as whoever drives them does; `$in` and `$out`
/// are the directions.
macro_rules! slave_ports {
    ($(#[$doc:meta])+ $name:ident $in:ident $out:ident $(joins $other:ident)?) => {
        bundle! {
            $(#[$doc])+
            $name $(joins $other)?;
            /// Address of a write burst.
            aw_addr_i: $in [ADDRESS],
            /// Its protection type.
            aw_prot_i: $in [3],
            /// Its region.
            aw_region_i: $in [4],
            /// Its beats, minus 1.
            aw_len_i: $in [LENGTH_BITS],
            /// Bytes of a beat, as a power of two.
            aw_size_i: $in [SIZE_BITS],
            /// Its kind.
            aw_burst_i: $in [KIND_BITS],
            /// Exclusive access.
            aw_lock_i: $in [bit],
            /// Atomic operation.
            aw_atop_i: $in [ATOP_BITS],
            /// Memory type.
            aw_cache_i: $in [4],
            /// Quality of service.
            aw_qos_i: $in [4],
            /// Its id.
            aw_id_i: $in [ID],
            /// Its user signal.
            aw_user_i: $in [USER],
            /// The address is there.
            aw_valid_i: $in [bit],
            /// The address is taken in this cycle.
            aw_ready_o: $out [bit],
            /// Address of a read burst.
            ar_addr_i: $in [ADDRESS],
            /// Its protection type.
            ar_prot_i: $in [3],
            /// Its region.
            ar_region_i: $in [4],
            /// Its beats, minus 1.
            ar_len_i: $in [LENGTH_BITS],
            /// Bytes of a beat, as a power of two.
            ar_size_i: $in [SIZE_BITS],
            /// Its kind.
            ar_burst_i: $in [KIND_BITS],
            /// Exclusive access.
            ar_lock_i: $in [bit],
            /// Memory type.
            ar_cache_i: $in [4],
            /// Quality of service.
            ar_qos_i: $in [4],
            /// Its id.
            ar_id_i: $in [ID],
            /// Its user signal.
            ar_user_i: $in [USER],
            /// The address is there.
            ar_valid_i: $in [bit],
            /// The address is taken in this cycle.
            ar_ready_o: $out [bit],
            /// Data.
            w_data_i: $in [DATA],
            /// Bytes that are written.
            w_strb_i: $in [STROBES],
            /// Its user signal.
            w_user_i: $in [USER],
            /// Last beat of its burst.
            w_last_i: $in [bit],
            /// The beat is there.
            w_valid_i: $in [bit],
            /// The beat is taken in this cycle.
            w_ready_o: $out [bit],
            /// Data that was read.
            r_data_o: $out [DATA],
            /// How the read went.
            r_resp_o: $out [2],
            /// Last beat of its burst.
            r_last_o: $out [bit],
            /// Id of the burst.
            r_id_o: $out [ID],
            /// Its user signal.
            r_user_o: $out [USER],
            /// The beat is there.
            r_valid_o: $out [bit],
            /// The beat is taken in this cycle.
            r_ready_i: $in [bit],
            /// How the write went.
            b_resp_o: $out [2],
            /// Id of the burst.
            b_id_o: $out [ID],
            /// Its user signal.
            b_user_o: $out [USER],
            /// The response is there.
            b_valid_o: $out [bit],
            /// The response is taken in this cycle.
            b_ready_i: $in [bit],
        }
    };
}

slave_ports! {
    /// An AXI4 slave of the cluster.
    WrapSlave In Out
}

slave_ports! {
    /// Whoever drives a [`WrapSlave`].
    WrapSlaveDriver Out In joins WrapSlave
}

/// The ports of the AXI4 master, once as the cluster has them and once as whoever answers them does.
macro_rules! master_ports {
    ($(#[$doc:meta])+ $name:ident $in:ident $out:ident $(joins $other:ident)?) => {
        bundle! {
            $(#[$doc])+
            $name $(joins $other)?;
            /// Address of a write burst.
            aw_addr_o: $out [HOST_ADDRESS],
            /// Its protection type.
            aw_prot_o: $out [3],
            /// Its region.
            aw_region_o: $out [4],
            /// Its beats, minus 1.
            aw_len_o: $out [LENGTH_BITS],
            /// Bytes of a beat, as a power of two.
            aw_size_o: $out [SIZE_BITS],
            /// Its kind.
            aw_burst_o: $out [KIND_BITS],
            /// Exclusive access.
            aw_lock_o: $out [bit],
            /// Atomic operation.
            aw_atop_o: $out [ATOP_BITS],
            /// Memory type.
            aw_cache_o: $out [4],
            /// Quality of service.
            aw_qos_o: $out [4],
            /// Its id.
            aw_id_o: $out [ID],
            /// Its user signal.
            aw_user_o: $out [USER],
            /// The address is there.
            aw_valid_o: $out [bit],
            /// The address is taken in this cycle.
            aw_ready_i: $in [bit],
            /// Address of a read burst.
            ar_addr_o: $out [HOST_ADDRESS],
            /// Its protection type.
            ar_prot_o: $out [3],
            /// Its region.
            ar_region_o: $out [4],
            /// Its beats, minus 1.
            ar_len_o: $out [LENGTH_BITS],
            /// Bytes of a beat, as a power of two.
            ar_size_o: $out [SIZE_BITS],
            /// Its kind.
            ar_burst_o: $out [KIND_BITS],
            /// Exclusive access.
            ar_lock_o: $out [bit],
            /// Memory type.
            ar_cache_o: $out [4],
            /// Quality of service.
            ar_qos_o: $out [4],
            /// Its id.
            ar_id_o: $out [ID],
            /// Its user signal.
            ar_user_o: $out [USER],
            /// The address is there.
            ar_valid_o: $out [bit],
            /// The address is taken in this cycle.
            ar_ready_i: $in [bit],
            /// Data.
            w_data_o: $out [DATA],
            /// Bytes that are written.
            w_strb_o: $out [STROBES],
            /// Its user signal.
            w_user_o: $out [USER],
            /// Last beat of its burst.
            w_last_o: $out [bit],
            /// The beat is there.
            w_valid_o: $out [bit],
            /// The beat is taken in this cycle.
            w_ready_i: $in [bit],
            /// Data that was read.
            r_data_i: $in [DATA],
            /// How the read went.
            r_resp_i: $in [2],
            /// Last beat of its burst.
            r_last_i: $in [bit],
            /// Id of the burst.
            r_id_i: $in [ID],
            /// Its user signal.
            r_user_i: $in [USER],
            /// The beat is there.
            r_valid_i: $in [bit],
            /// The beat is taken in this cycle.
            r_ready_o: $out [bit],
            /// How the write went.
            b_resp_i: $in [2],
            /// Id of the burst.
            b_id_i: $in [ID],
            /// Its user signal.
            b_user_i: $in [USER],
            /// The response is there.
            b_valid_i: $in [bit],
            /// The response is taken in this cycle.
            b_ready_o: $out [bit],
        }
    };
}

master_ports! {
    /// The AXI4 master of the cluster, towards host memory.
    WrapMaster In Out joins WrapMasterTarget
}

master_ports! {
    /// Whoever answers a [`WrapMaster`].
    WrapMasterTarget Out In
}

bundle! {
    /// HERs into the cluster.
    WrapHer;
    /// The HER is taken in this cycle.
    ready_o: Out [bit],
    /// The HER is there.
    valid_i: In [bit],
    /// Message id.
    msgid_i: In [MESSAGE_ID],
    /// Last packet of its message.
    is_eom_i: In [bit],
    /// Address of the packet.
    addr_i: In [ADDRESS],
    /// Bytes of the packet.
    size_i: In [ADDRESS],
    /// Bytes of it that a handler sees.
    xfer_size_i: In [ADDRESS],
    /// Address of the handler's memory.
    meta_handler_mem_addr_i: In [ADDRESS],
    /// Its bytes.
    meta_handler_mem_size_i: In [ADDRESS],
    /// Address of the handler's memory in the host.
    meta_host_mem_addr_i: In [HOST_ADDRESS],
    /// Its bytes.
    meta_host_mem_size_i: In [ADDRESS],
    /// Address of the header handler.
    meta_hh_addr_i: In [ADDRESS],
    /// Its bytes.
    meta_hh_size_i: In [ADDRESS],
    /// Address of the payload handler.
    meta_ph_addr_i: In [ADDRESS],
    /// Its bytes.
    meta_ph_size_i: In [ADDRESS],
    /// Address of the tail handler.
    meta_th_addr_i: In [ADDRESS],
    /// Its bytes.
    meta_th_size_i: In [ADDRESS],
    /// Address of the scratchpad in cluster 0.
    meta_scratchpad_0_addr_i: In [ADDRESS],
    /// Its bytes.
    meta_scratchpad_0_size_i: In [ADDRESS],
    /// Address of the scratchpad in cluster 1.
    meta_scratchpad_1_addr_i: In [ADDRESS],
    /// Its bytes.
    meta_scratchpad_1_size_i: In [ADDRESS],
    /// Address of the scratchpad in cluster 2.
    meta_scratchpad_2_addr_i: In [ADDRESS],
    /// Its bytes.
    meta_scratchpad_2_size_i: In [ADDRESS],
    /// Address of the scratchpad in cluster 3.
    meta_scratchpad_3_addr_i: In [ADDRESS],
    /// Its bytes.
    meta_scratchpad_3_size_i: In [ADDRESS],
}

bundle! {
    /// Feedback of the cluster: a packet is done.
    WrapFeedback;
    /// It is taken in this cycle.
    ready_i: In [bit],
    /// It is there.
    valid_o: Out [bit],
    /// Address of the packet.
    her_addr_o: Out [ADDRESS],
    /// Bytes of it that a handler has seen.
    her_size_o: Out [ADDRESS],
    /// Its message id.
    msgid_o: Out [MESSAGE_ID],
}

bundle! {
    /// Commands of the cluster to send a packet.
    WrapCommand;
    /// The command is taken in this cycle.
    ready_i: In [bit],
    /// The command is there.
    valid_o: Out [bit],
    /// Its id.
    id_o: Out [COMMAND_ID],
    /// Where the packet goes.
    nid_o: Out [ADDRESS],
    /// What it is; 0 is a raw packet.
    fid_o: Out [ADDRESS],
    /// Address of its bytes.
    src_addr_o: Out [HOST_ADDRESS],
    /// How many there are.
    length_o: Out [ADDRESS],
    /// What the handler wants back.
    user_ptr_o: Out [HOST_ADDRESS],
}

bundle! {
    /// Responses to commands.
    WrapResponse;
    /// A response is there; there is no ready.
    valid_i: In [bit],
    /// Id of the command.
    id_i: In [COMMAND_ID],
}
