//! PsPIN's 32-bit address space: memories, what an HPU has to itself, and how the runtime divides L1.
//!
//! Hardware, host library and model use these constants; the runtime's `spin_map.h` and `spin_map.ld` are made of them
//! ([`crate::header::runtime_header`], [`crate::header::linker_script`]).

/// Bytes of L1 of one cluster.
pub const L1_BYTES: u32 = 256 << 10;
/// L1 of cluster 0; that of cluster c is `c * L1_STRIDE` behind it.
pub const L1_BASE: u32 = 0x1000_0000;
/// Logarithm of the distance between the L1 of two clusters.
pub const L1_SHIFT: u32 = 22;
/// From one cluster's L1 to the next one's.
pub const L1_STRIDE: u32 = 1 << L1_SHIFT;
/// L1 of the cluster that asks.
pub const L1_ALIAS: u32 = 0x1b00_0000;
/// Bits of an address that the protection ranges of scratchpads do not compare: every second cluster's L1 has the same ones.
pub const L1_ALIKE: u32 = 3 << (L1_SHIFT + 1);

/// Contexts of the HPUs in L1, for the runtime.
pub const L1_CONTEXTS: u32 = 0x400;
/// Bytes of one.
pub const L1_CONTEXT_BYTES: u32 = 32;
/// The guard of the runtime.
pub const L1_GUARD: u32 = 0x600;
/// Bytes of it.
pub const L1_GUARD_BYTES: u32 = 64;
/// Where each HPU has its stack and its thread's variables, one area behind the other.
pub const L1_AREAS: u32 = 0x800;
/// Bytes of each area.
pub const L1_AREA_BYTES: u32 = 0x780;
/// Offset of packets in L1: after the areas of eight HPUs.
pub const L1_PACKETS: u32 = L1_AREAS + 8 * L1_AREA_BYTES;
/// Bytes of L1 for packets.
pub const L1_PACKET_BYTES: u32 = 0x1_0000;
/// Offset of scratchpads in L1; they end with it.
pub const L1_SCRATCHPADS: u32 = L1_PACKETS + L1_PACKET_BYTES;

/// L2 memory of handlers.
pub const HANDLER_BASE: u32 = 0x1c00_0000;
/// Its size.
pub const HANDLER_BYTES: u32 = 1 << 20;
/// Bytes at its start that all handlers of a program may access, if the size of the program's data is not known.
pub const SHARED_BYTES: u32 = 0x1_0000;
/// L2 packet buffer, which follows it.
pub const PACKET_BASE: u32 = HANDLER_BASE + HANDLER_BYTES;
/// Its size.
pub const PACKET_BYTES: u32 = 512 << 10;
/// L2 program memory.
pub const PROGRAM_BASE: u32 = 0x1d00_0000;
/// Its size.
pub const PROGRAM_BYTES: u32 = 32 << 10;
/// Where the cores look for the vector of their reset, from the start of program memory on.
pub const RESET_VECTOR: u32 = 0x80;
/// Start of the program, after the vectors.
pub const ENTRY: u32 = 0x100;

/// Code of the resident runtime ([`resident`]), at the end of program memory.
pub const RESIDENT_CODE: u32 = PROGRAM_BASE + PROGRAM_BYTES - RESIDENT_CODE_BYTES;
/// Bytes of it.
pub const RESIDENT_CODE_BYTES: u32 = 0x800;
/// Its table, at the end of L2 handler memory.
pub const RESIDENT_DATA: u32 = HANDLER_BASE + HANDLER_BYTES - RESIDENT_DATA_BYTES;
/// Bytes of it.
pub const RESIDENT_DATA_BYTES: u32 = 0x100;
/// The scratchpad of a HER that is no scratchpad in clusters that have fewer: its address and bytes are the range of the program's
/// shared data. Without bytes, shared data is [`SHARED_BYTES`] from [`HANDLER_BASE`] on.
pub const SHARED_SCRATCHPAD: usize = 3;

/// Numbers of harts in a cluster, as `mhartid` has them.
pub const CLUSTER_HARTS: u32 = 32;
/// Clocks that a handler may take, unless told otherwise.
pub const HANDLER_CLOCKS: u32 = 1_000_000;

/// Registers of the cluster, of the HPU's part of the copy engine, and of the HPU itself. Addresses that are not named
/// here never answer.
pub const PERIPHERALS: u32 = 0x1b20_0000;
/// Bytes of them, and of what would be behind.
pub const PERIPHERAL_BYTES: u32 = 0x10_0000;
/// A store here ends the program of the HPU.
pub const TERMINATE: u32 = PERIPHERALS;
/// Registers of the cluster's instruction cache (`mp_pf_icache_ctrl_unit.sv`).
pub const ICACHE_BASE: u32 = PERIPHERALS + 0x1400;
/// Bytes of those that answer a write.
pub const ICACHE_BYTES: u32 = 8;
/// The HPU's part of the cluster's copy engine.
pub const DMA_BASE: u32 = PERIPHERALS + 0x4400;
/// Bytes of it.
pub const DMA_BYTES: u32 = 0x40;
/// The driver of an HPU: its task and its commands.
pub const DRIVER_BASE: u32 = PERIPHERALS + 0x5000;
/// Bytes of it.
pub const DRIVER_BYTES: u32 = 0x100;
/// Standard output: a store appends a character. The address says of whom: the HPU above bit [`STDOUT_HPU_SHIFT`], the
/// cluster above bit [`STDOUT_CLUSTER_SHIFT`] (`apb_stdout.sv`).
pub const STDOUT: u32 = 0x1a10_4000;
/// Bytes of it.
pub const STDOUT_BYTES: u32 = 0x1000;
/// Lowest bit of the HPU's number in an address of standard output.
pub const STDOUT_HPU_SHIFT: u32 = 3;
/// Lowest bit of the cluster's number in it.
pub const STDOUT_CLUSTER_SHIFT: u32 = 7;

/// The global address of a place in L1.
pub const fn l1_address(cluster: usize, offset: u32) -> u32 {
    L1_BASE + cluster as u32 * L1_STRIDE + offset
}

/// Registers of an HPU's driver, as offsets from [`DRIVER_BASE`].
pub mod driver {
    /// The words of the task, from offset 0 on, by their names in C.
    pub const TASK: [&str; 20] = [
        "HANDLER_FUN_ADDR",
        "HANDLER_FUN_SIZE",
        "HANDLER_MEM_ADDR",
        "HANDLER_MEM_SIZE",
        "PKT_ADDR",
        "PKT_SIZE",
        "SCRATCHPAD_0_ADDR",
        "SCRATCHPAD_1_ADDR",
        "SCRATCHPAD_2_ADDR",
        "SCRATCHPAD_3_ADDR",
        "SCRATCHPAD_0_SIZE",
        "SCRATCHPAD_1_SIZE",
        "SCRATCHPAD_2_SIZE",
        "SCRATCHPAD_3_SIZE",
        "HOST_MEM_ADDR_HIGH",
        "HOST_MEM_ADDR_LOW",
        "HOST_MEM_SIZE",
        "HOST_L2_PKT_ADDR",
        "HOME_CLUSTER_ID",
        "FLOW_ID",
    ];
    /// Any access ends the task (`task_frontend`, `trigger_feedback`).
    pub const DOORBELL: u32 = 4 * TASK.len() as u32;
    /// A write notes that the task fails, and why; it does not end it.
    pub const ERROR: u32 = DOORBELL + 4;
    /// The packet's size and the sum of its IP payload, as [`packet_size`](super::packet_size) says; spinneret's own clusters have it.
    pub const PACKET_SUM: u32 = DOORBELL + 8;
    /// The arguments of a handler, in the order of `handler_args_t`: address of the task's words from [`HANDLER_MEM`] on, number of the
    /// HPU among all, of its cluster, and of the HPU in it. Spinneret's own clusters have them.
    pub const ARGS: u32 = DOORBELL + 16;
    /// Behind them.
    pub const ARGS_END: u32 = ARGS + 16;
    /// The words of a task that a handler gets begin with the address of its memory.
    pub const HANDLER_MEM: u32 = 8;
    /// Registers below wait while no task is held (`task_frontend` grants in state `Running` only).
    pub const TASK_END: u32 = 0x80;
    /// A read starts the command and gives its number.
    pub const ISSUE: u32 = 0x80;
    /// A write of a number waits for that command.
    pub const WAIT: u32 = 0x84;
    /// A write of a number chooses the command that a read tells about: 1 if it is done.
    pub const TEST: u32 = 0x88;
    /// Kind of the command: event in bit 0, type in bits 2 and 1.
    pub const INFO: u32 = 0x8c;
    /// The words of the command, up to the register before [`COMMAND_END`].
    pub const COMMAND: u32 = 0x90;
    /// Words of a command.
    pub const COMMAND_WORDS: u32 = 7;
    /// Behind the last word of the command.
    pub const COMMAND_END: u32 = COMMAND + 4 * COMMAND_WORDS;
}

/// The size of a packet in a HER with the sum of its IP payload: {sum, size in bytes}.
///
/// The sum is that of 16-bit words in memory order, from the start of the payload to the end of the frame, an odd last byte
/// followed by 0, modulo 0xffff: RFC 1071 without the inversion. Bit 16 counts as 1. 0: there is no sum, or the payload is all 0.
pub mod packet_size {
    /// Bits of the size.
    pub const SIZE_BITS: usize = 15;
    /// Bits of the sum.
    pub const SUM_BITS: usize = 17;
}

/// The flow id of a command that sends a frame.
pub mod nic_command {
    /// Low bits of a flow id with [`PASS`]: the address of the slot of the packet whose metadata the frame keeps.
    pub const SLOT_BITS: usize = 31;
    /// Passes the frame to the host's network stack; without it the frame goes to the wire.
    pub const PASS: u32 = 1 << SLOT_BITS;
}

/// Registers of an HPU's part of the copy engine, as offsets from [`DMA_BASE`]; `spin_dma.h` has them as a structure.
pub mod dma {
    /// Source address.
    pub const SOURCE: u32 = 0x00;
    /// Where they go.
    pub const DESTINATION: u32 = 0x08;
    /// How many.
    pub const BYTES: u32 = 0x10;
    /// A read starts the copy and gives its number.
    pub const START: u32 = 0x18;
    /// The number of the last copy that is done.
    pub const DONE: u32 = 0x20;
}

/// Table of the resident runtime, which runs handlers of several programs: offsets from [`RESIDENT_DATA`](super::RESIDENT_DATA),
/// and from each entry. There is an entry for each context.
pub mod resident {
    /// [`STARTING`] until HPUs take tasks, then [`READY`].
    pub const STATE: u32 = 0x00;
    /// Number of clusters.
    pub const CLUSTERS: u32 = 0x04;
    /// Programs that were loaded; instruction caches are older if a cluster knows another number.
    pub const LOADS: u32 = 0x08;
    /// The first entry.
    pub const ENTRIES: u32 = 0x40;
    /// Bytes of an entry.
    pub const ENTRY_BYTES: u32 = 0x20;
    /// Id of what runs in the context, which is also in the size of its handlers; 0: nothing.
    pub const ID: u32 = 0x00;
    /// Value of the register `gp`.
    pub const GLOBAL_POINTER: u32 = 0x04;
    /// Thread-local variables of all HPUs, while they run something else.
    pub const LOCALS: u32 = 0x08;
    /// Bytes of those of one HPU, a multiple of 16.
    pub const LOCALS_BYTES: u32 = 0x0c;
    /// Address of `init_handlers`; 0 if the program has none.
    pub const INIT: u32 = 0x10;
    /// [`STARTING`] or [`CLEARING`] until the context's first packet; then [`READY`] or [`FAILED`].
    pub const PROGRAM_STATE: u32 = 0x14;
    /// Address of a word for all contexts of a program; 0 until `init_handlers` has returned.
    pub const INIT_DONE: u32 = 0x18;
    /// Bits of a handler's size below the id.
    pub const ID_SHIFT: u32 = 16;
    /// States of the runtime, and of a program.
    pub const STARTING: u32 = 1;
    /// It takes packets.
    pub const READY: u32 = 2;
    /// `init_handlers` has failed.
    pub const FAILED: u32 = 3;
    /// It starts after its scratchpads are cleared. Bit 1 is 0 before a program has started.
    pub const CLEARING: u32 = 4;
    /// Cause of the failure of a task whose program is not loaded, or has not started.
    pub const NOT_LOADED: u32 = 30;
}
