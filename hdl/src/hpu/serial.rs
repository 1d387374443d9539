//! A pipeline that is loaded, fed with packets and heard over a serial line, for small boards.
//!
//! ```text
//!            +--------------+    +---------------+ program  +-------------+
//!  uart_rx =>| UartReceiver |===>| CommandReader |=========>| HpuPipeline |
//!            +--------------+    +---------------+          +-------------+
//!                              bytes of packets ||            || loads, stores
//!                                 and data      ||            ++==> registers of the task and of commands
//!                                               \/            \/
//!                                             +------------------+
//!  uart_tx <= UartTransmitter <===============|    HpuMemory     |
//!              answers, packets that are sent +------------------+
//! ```
//!
//! # Contract
//! - **Protocol:** [`super::serial_protocol`]; every command gets one answer, in order.
//! - **Addresses** are those of the PULP cluster: program memory, handler memory and L1, and the driver's registers. Handler memory
//!   and L1 are one memory: an address of either with the same lower bits is the same byte. The runtime's contexts and stacks
//!   and the packet are where [`PACKET`] says.
//! - **Driver:** a thread that reads the address of the handler takes the packet, or waits for one. The words of a task that are
//!   not 0 are those of handler and packet. A command can send up to 255 bytes; it is done when they have left. One thread has
//!   a packet at a time; driver registers of a task make others wait.
//! - **Other addresses** are refused, except for stores to the instruction cache's registers and to standard output, which do nothing.
//! - **Endless handlers** are stopped (cause 24) after the time of a pause of the line in which they send nothing. A thread that
//!   does not end its task then, or a packet that none has taken, ends with an error, and the pipeline is stopped.
//! - **LEDs:** 0 to 3 count packets; 4 the pipeline runs; 5 the last answer was an error; 6 the last handler failed; 7 changes every
//!   2 to the power `heartbeat_bits` clocks.
//! - **Reset:** as at power-up, except for the contents of memories.

use super::serial_protocol as protocol;
use super::{HpuMemory, HpuPipeline, HpuShape, MemoryShape};

use crate::uart::{BYTE, CommandReader, Timing, UartReceiver, UartTransmitter};
use spinneret_regmap::pspin::{self, driver};
use spinneret_verilog::prelude::*;

/// Bytes of the data memory.
const DATA_BYTES: usize = 4096;
/// Bits of an address in it.
const PLACE: usize = 12;
/// Where packets are in it: after the runtime's guard, before the areas of the HPUs.
pub const PACKET: u32 = 0x680;
/// Address bytes of a command's payload.
const ADDRESS_BYTES: u64 = 4;

/// Words of a command that sends: the packet's address and length.
const SEND_ADDRESS: u32 = driver::COMMAND + 4 * 2;
const SEND_BYTES: u32 = driver::COMMAND + 4 * 4;

/// Parameters of the block.
#[derive(Parameters, Clone, Copy, Debug)]
#[parameters(block = "serial_hpu")]
pub struct SerialHpuShape {
    /// Threads: 4 or 8.
    #[parameter(8, range = 4..=8, power_of_two)]
    pub threads: usize,
    /// Words of program memory.
    #[parameter(2048, range = 64..=8192, power_of_two)]
    pub program_words: usize,
    /// The serial line; a handler has the time of a pause.
    #[parameters]
    pub timing: Timing,
    /// The last LED changes every 2 to this power clocks.
    #[parameter(24, range = 1..=40)]
    pub heartbeat_bits: usize,
}

impl SerialHpuShape {
    /// The smallest pipeline.
    fn pipeline(self) -> HpuShape {
        HpuShape {
            threads: self.threads,
            ranges: 0,
            registers: false,
            multiplies: false,
            counts: false,
            program_words: self.program_words,
            program_base: pspin::PROGRAM_BASE.into(),
            memory_clocks: 1,
            trace: false,
        }
    }

    fn memory(self) -> MemoryShape {
        MemoryShape {
            threads: self.threads,
            words: DATA_BYTES / 4,
            base: pspin::L1_BASE.into(),
        }
    }
}

/// States of the block.
#[derive(Copy, Clone, PartialEq, Eq, Debug, LogicState)]
enum Phase {
    /// Waits for a frame.
    Listen,
    /// A packet is with the pipeline.
    Task,
    /// The code of an answer is sent.
    Code,
    /// Its length is sent.
    Length,
    /// The word of the next byte is read.
    Fetch,
    /// It is there.
    Take,
    /// The byte is sent.
    Send,
    /// The last byte is on its way.
    Finish,
}

/// A pipeline after a serial line.
#[module(shape: SerialHpuShape, timing: Timing = shape.timing, index: usize = address_width(shape.threads))]
pub struct SerialHpu {
    /// Serial line from the host; it may change at any time.
    pub uart_rx: Wire<In, bool>,
    /// Serial line to the host.
    pub uart_tx: Wire<Out, bool>,
    /// LEDs, 1 is on.
    pub leds: Wire<Out, 8>,
    receiver: UartReceiver<{ timing }>,
    reader: CommandReader<{ timing }>,
    transmitter: UartTransmitter<{ timing }>,
    pipeline: HpuPipeline<{ shape.pipeline() }>,
    memory: HpuMemory<{ shape.memory() }>,
    #[new(Reg::reset_to(Phase::Listen))]
    state: Reg<Phase>,
    /// The next byte of a payload is one of an address.
    address_left: Reg<3, Reset>,
    /// The address in a command, and of the byte that is written next.
    target: Reg<32>,
    /// A byte waits for the memory.
    stores: Reg<bool, Reset>,
    /// The last three bytes, the last one highest.
    recent: Reg<24>,
    /// A byte was for an address that cannot be written.
    is_bad: Reg<bool, Reset>,
    /// The pipeline is not in reset.
    running: Reg<bool, Reset>,
    handler: Reg<32>,
    /// The packet waits for a thread, or is with one.
    has_task: Reg<bool, Reset>,
    is_taken: Reg<bool, Reset>,
    holder: Reg<{ index }>,
    packet_length: Reg<{ BYTE }>,
    /// The task's time is up.
    stops: Reg<bool, Reset>,
    /// Clocks since the packet came or a command was done.
    clocks: Reg<{ timing.quiet_width() }>,
    /// Why the last handler failed; 0 if it did not.
    cause: Reg<{ BYTE }, Reset>,
    /// A command is under way; what it sends.
    sends: Reg<bool, Reset>,
    send_kind: Reg<2>,
    send_place: Reg<{ PLACE }>,
    send_length: Reg<32>,
    /// The answer that is being sent: from memory, or the word.
    code: Reg<{ BYTE }>,
    left: Reg<{ BYTE }>,
    from_memory: Reg<bool>,
    place: Reg<{ PLACE }>,
    word: Reg<32>,
    heartbeat: Reg<{ shape.heartbeat_bits + 1 }, Reset>,
    counter: Reg<4, Reset>,
    failed: Reg<bool, Reset>,
}

/// The address is in a memory of that many bytes, a power of two, at a base.
#[kernel]
fn is_in(address: Sig, base: u32, bytes: usize) -> Sig<bool> {
    let low = address_width(bytes);
    address.slice(low, 32 - low) == u64::from(base) >> low
}

#[kernel]
fn is_data(address: Sig) -> Sig<bool> {
    is_in(address, pspin::L1_BASE, DATA_BYTES) || is_in(address, pspin::HANDLER_BASE, DATA_BYTES)
}

#[kernel(SerialHpu, suffix = format!("{}x{}", shape.threads, shape.program_words))]
fn update() {
    /// From the line to frames, and to memories byte by byte.
    receiver.line = uart_rx;
    reader.data = receiver.data;
    reader.valid = receiver.valid;
    reader.broken = receiver.broken;
    let byte = receiver.data;
    let is = |command: u8| reader.command == command;
    let wrong_length = match reader.command {
        protocol::HELLO => reader.length != 0,
        protocol::WRITE => reader.length < 8 || reader.length.slice(0, 2).any(),
        protocol::READ => reader.length != 5,
        protocol::RUN => reader.length != 4,
        _ => reader.length == 0,
    };
    let is_program = is_in(target, pspin::PROGRAM_BASE, 4 * shape.program_words);
    let is_address = address_left.any() && !is(protocol::PACKET);
    let writes =
        reader.payload_valid && !is_address && (is(protocol::WRITE) || is(protocol::PACKET)) && !wrong_length;
    let to_program = writes && is_program && !running;
    if reader.at_start {
        address_left = ADDRESS_BYTES;
        target = pspin::L1_BASE + PACKET;
        is_bad = false;
    } else if reader.payload_valid && is_address {
        address_left = address_left - 1;
        target = cat!(target.slice(0, 24), byte);
    } else if to_program || (stores && memory.host.ready) {
        target = target + 1;
    }
    if writes {
        is_bad = is_bad || !(is_data(target) || to_program);
    }
    if writes && is_data(target) {
        stores = true;
    } else if memory.host.ready {
        stores = false;
    }
    if reader.payload_valid {
        recent = cat!(byte, recent.slice(8, 16));
    }
    pipeline.program_write = to_program && target.slice(0, 2).all();
    pipeline.program_addr = target.slice(2, address_width(shape.program_words));
    pipeline.program_data = cat!(byte, recent);

    /// The answer to a frame, if it has no packet.
    let verdict = wire(BYTE);
    verdict = if reader.fault != 0 {
        reader.fault
    } else if reader.command > protocol::PACKET {
        protocol::UNKNOWN_COMMAND
    } else if wrong_length {
        protocol::WRONG_LENGTH
    } else if is_bad || (is(protocol::READ) && !is_data(target)) || (is(protocol::PACKET) && !running) {
        protocol::WRONG_VALUE
    } else {
        protocol::DONE
    };
    let ends_frame = state == Phase::Listen && reader.done && !stores;
    let accepts = ends_frame && verdict == protocol::DONE;
    let starts_task = accepts && is(protocol::PACKET);
    if accepts && is(protocol::RUN) {
        handler = target;
        running = target.any();
    }

    /// Loads and stores of the pipeline.
    pipeline.rst = rst || !running;
    pipeline.hart_base = 0;
    pipeline.stop = word_of((0..shape.threads).map(|thread| stops && is_taken && holder == thread));
    let address = pipeline.m.address;
    let offset = address.slice(0, 8);
    let offers = pipeline.m.valid;
    let is_load = !pipeline.m.is_write && !pipeline.m.atomic[5];
    let is_store = pipeline.m.is_write;
    let is_driver = is_in(address, pspin::DRIVER_BASE, 256);
    let is_ignored = is_in(address, pspin::ICACHE_BASE, 8) || is_in(address, pspin::STDOUT, 4096);
    let named = |register: u32| is_driver && offset == register;
    let is_mine = has_task && is_taken && holder == pipeline.m.thread;
    let takes = is_load && named(0) && has_task && !is_taken;
    let issues = is_load && named(driver::ISSUE);
    let waits = is_store && named(driver::WAIT);
    let is_doorbell = named(driver::DOORBELL) && !pipeline.m.atomic[5];
    let is_word = is_load && is_driver && offset < driver::DOORBELL;
    let is_error = is_store && named(driver::ERROR);
    let is_command = is_store && is_driver && offset >= driver::INFO && offset < driver::COMMAND_END;
    let can_send = send_kind == 1 && send_length.slice(8, 24) == 0 && send_length.any();
    let is_of_task = is_word || is_doorbell || is_error;
    let exists =
        is_of_task || is_command || waits || (issues && is_mine && can_send) || (is_store && is_ignored);
    let is_ready = if is_of_task {
        is_mine || takes
    } else {
        !sends || !(issues || (waits && pipeline.m.data.slice(0, 2) == 0))
    };
    let to_memory = is_data(address);
    /// The line does not wait: the pipeline tries again.
    let line_first = stores || state == Phase::Fetch;
    memory.s.valid = offers && to_memory && !line_first;
    memory.s.thread = pipeline.m.thread;
    memory.s.address = cat!(
        lit(u64::from(pspin::L1_BASE >> PLACE), 32 - PLACE),
        address.slice(0, PLACE)
    );
    memory.s.is_write = pipeline.m.is_write;
    memory.s.atomic = pipeline.m.atomic;
    memory.s.strobe = pipeline.m.strobe;
    memory.s.data = pipeline.m.data;
    memory.s.is_user = pipeline.m.is_user;
    memory.trap = pipeline.trap;
    memory.trap_thread = pipeline.trap_thread;
    pipeline.m.ready = if to_memory {
        memory.s.ready && !line_first
    } else {
        is_ready
    };
    pipeline.m.refused = !to_memory && !exists;
    let task_word = |number: &str| {
        let place = driver::TASK.iter().position(|name| *name == number);
        offset.slice(2, 6) == place.expect("a word of the task")
    };
    let words = [
        (task_word("HANDLER_FUN_ADDR"), handler),
        (
            task_word("PKT_ADDR") || task_word("HOST_L2_PKT_ADDR"),
            constant(lit(u64::from(pspin::L1_BASE + PACKET), 32)),
        ),
        (task_word("PKT_SIZE"), packet_length.resize(32)),
    ];
    let given = words
        .into_iter()
        .map(|(is_it, word)| (is_it && is_word).repeat(32) & word);
    let given = reg(or_all(given));
    pipeline.m.read_data = if reg(to_memory) { memory.s.read_data } else { given };

    let done_here = offers && is_ready;
    let begins = done_here && takes;
    let ends = done_here && is_doorbell;
    if begins {
        is_taken = true;
        holder = pipeline.m.thread;
    }
    if done_here && is_error {
        cause = pipeline.m.data.slice(0, BYTE);
    }
    if offers && is_command {
        match offset {
            driver::INFO => send_kind = pipeline.m.data.slice(1, 2),
            SEND_ADDRESS => send_place = pipeline.m.data.slice(0, PLACE),
            SEND_BYTES => send_length = pipeline.m.data,
            _ => {}
        }
    }
    if done_here && issues && is_mine && can_send {
        sends = true;
    }
    if ends {
        has_task = false;
        is_taken = false;
        stops = false;
    }

    /// Answers.
    clocks = clocks + 1;
    let is_late = clocks == timing.quiet_clocks - 1;
    let byte_leaves = transmitter.s.ready;
    match state {
        Phase::Listen => {
            code = verdict;
            left = 0;
            from_memory = false;
            place = target.slice(0, PLACE);
            word = cat!(
                lit(DATA_BYTES as u64 >> 8, BYTE),
                lit((4 * shape.program_words) as u64 >> 8, BYTE),
                lit(shape.threads as u64, BYTE),
                lit(protocol::VERSION, BYTE)
            );
            if accepts && is(protocol::HELLO) {
                left = 4;
                place = 0;
            } else if accepts && is(protocol::READ) {
                left = byte;
                from_memory = true;
            }
            clocks = 0;
            packet_length = reader.length;
            if starts_task {
                state = Phase::Task;
                has_task = true;
                cause = 0;
                counter = counter + 1;
            } else if ends_frame {
                state = Phase::Code;
            }
        }
        Phase::Task => {
            code = protocol::SENT;
            left = send_length.slice(0, BYTE);
            from_memory = sends;
            place = send_place & sends.repeat(PLACE);
            word = cause.resize(32);
            if sends {
                state = Phase::Code;
            } else if !has_task {
                code = protocol::DONE;
                left = 1;
                state = Phase::Code;
            } else if is_late && stops {
                code = protocol::NO_END;
                left = 0;
                running = false;
                state = Phase::Code;
            } else if is_late {
                stops = true;
            }
        }
        Phase::Code => {
            failed = code >= protocol::UNKNOWN_COMMAND;
            if byte_leaves {
                state = Phase::Length;
            }
        }
        Phase::Length => {
            if byte_leaves {
                state = if left == 0 {
                    Phase::Finish
                } else if from_memory {
                    Phase::Fetch
                } else {
                    Phase::Send
                };
            }
        }
        Phase::Fetch => {
            if memory.host.ready {
                state = Phase::Take;
            }
        }
        Phase::Take => {
            word = memory.host.read_data;
            state = Phase::Send;
        }
        Phase::Send => {
            if byte_leaves {
                left = left - 1;
                place = place + 1;
                state = if left == 1 {
                    Phase::Finish
                } else if from_memory {
                    Phase::Fetch
                } else {
                    Phase::Send
                };
            }
        }
        Phase::Finish => {
            clocks = 0;
            if byte_leaves {
                state = if code == protocol::SENT {
                    Phase::Task
                } else {
                    Phase::Listen
                };
                sends = false;
            }
        }
    }
    if !running {
        has_task = false;
        is_taken = false;
        stops = false;
        sends = false;
    }
    reader.answered = state == Phase::Finish && byte_leaves && code != protocol::SENT;
    memory.host.valid = line_first;
    memory.host.is_write = stores;
    memory.host.address = if stores {
        target.slice(2, PLACE - 2)
    } else {
        place.slice(2, PLACE - 2)
    };
    memory.host.strobe = match target.slice(0, 2) {
        0 => constant(lit(1, 4)),
        1 => constant(lit(2, 4)),
        2 => constant(lit(4, 4)),
        _ => constant(lit(8, 4)),
    };
    let last_byte = recent.slice(16, BYTE);
    memory.host.data = cat!(last_byte, last_byte, last_byte, last_byte);
    let lane = match place.slice(0, 2) {
        0 => word.slice(0, 8),
        1 => word.slice(8, 8),
        2 => word.slice(16, 8),
        _ => word.slice(24, 8),
    };
    transmitter.s.data = if state == Phase::Code {
        code
    } else if state == Phase::Length {
        left
    } else {
        lane
    };
    transmitter.s.valid = state == Phase::Code || state == Phase::Length || state == Phase::Send;
    uart_tx = transmitter.line;

    heartbeat = heartbeat + 1;
    leds = cat!(
        heartbeat[shape.heartbeat_bits],
        cause.any(),
        failed,
        running,
        counter
    );
}
