//! Words of HPUs in memories outside of their clusters, and their standard output.
//!
//! ```text
//!  far, one of all ==> request ==+==> read ==> 6 clocks ==+==> word ==> done
//!                       ^        +==> write ==> 6 clocks ==+    ^ |
//!                       |        +==> stdout ==> 6 clocks =+    | v
//!                       +===================================+= new word
//! ```
//!
//! # Contract
//! - **Far accesses:** one port for each pipeline, that of pipeline p of cluster c at 2 c + p. Ports take turns, and one access is taken
//!   in a clock if the one before leaves. An offer stays until it is taken.
//! - **Loads and stores** are one line read or write. A store is done when its write was accepted. Ends are reported in the order
//!   of acceptance, [`READ_CLOCKS`] and a clock later.
//! - **Standard output:** a store to [`STDOUT`] appends `{0, cluster, HPU, character}`. The address says of whom; the character is the
//!   lowest byte of the word. Characters of clusters that do not exist are dropped. A full `stdout` makes all accesses wait.
//! - **Atomic operations** read, compute and write, alone in the server. `hold` is 1 from the offer of the read until the write is accepted,
//!   and `write_line` is its line meanwhile.
//! - **Followers:** when the write is accepted, an atomic operation of the same line comes next if it was offered in the clock before: that of the
//!   next port, and seven at most before another access has its turn. It goes on with the line as it is now: it reads nothing, `hold` stays, and
//!   its write is offered three clocks later. If none follows, nothing is taken in the clock of the end, and `hold` is 0 in the next one: other
//!   writers of the memory get their turn.
//! - **Reservations:** each HPU has one, of a word. `lr.w` loads and reserves. `sc.w` drops the HPU's reservation, and stores if it was of
//!   its word. Its word is 0 then, else 1. A store, atomic operation or successful `sc.w` of another HPU at this server cancels it, also one to
//!   a word a multiple of 4 KiB away.
//! - **Not noticed:** writes of copies and of the host do not cancel reservations. Neither do accesses of a cluster to its own L1, which
//!   also come between the read and the write of an atomic operation: words of another cluster's L1 are for loads and stores.
//! - **Failure:** `done_failed` if the read or the write found no memory.
//! - **Paths:** outputs are registers, except for `far_ready`, which follows `ready` and `failed` of the masters.
//! - **Reset** forgets all accesses and cancels all reservations.

use super::hpu_port::CLUSTERS;
use super::{
    FarAccessIn, HPU, HPUS, LINE, LINE_BYTES, LINE_DATA, LineRead, LineWrite, OFFSET, PIPELINES, READ_CLOCKS,
    THREAD, WORD,
};
use crate::entry::Entry;
use crate::hpu::memory::{function_of, new_word};
use crate::stream::StreamOut;
use spinneret_isa::Op;
use spinneret_regmap::pspin::{STDOUT, STDOUT_BYTES, STDOUT_CLUSTER_SHIFT, STDOUT_HPU_SHIFT};
use spinneret_verilog::prelude::*;

/// Bits of the number of a word within its line.
const WITHIN: usize = OFFSET - 2;
/// Bits of the number of a word: all memories are below 0x2000_0000.
const NUMBER: usize = 27;
/// Bits of the number of a word that are compared to cancel a reservation.
const COMPARED: usize = 10;
/// Bits of a cluster's and of an HPU's number in an address of standard output.
const WHO: usize = 4;
/// Atomic operations of a word that follow another one without a read.
const FOLLOWERS: u64 = 7;

/// An accepted access on its way to `done`.
#[record(ports: usize)]
pub struct ServedAccess {
    /// Port that it is from.
    pub port: Field<{ address_width(ports) }>,
    /// Number of the HPU in its cluster.
    pub hpu: Field<{ HPU }>,
    /// The word in its line.
    pub place: Field<{ WITHIN }>,
    /// It gets the word of a line.
    pub reads: Field<1>,
    /// It is the read of an atomic operation, which is not done with it.
    pub goes_on: Field<1>,
    /// There was no memory.
    pub failed: Field<1>,
    /// It is a conditional store without its reservation.
    pub missed: Field<1>,
}

/// Server of far accesses.
#[module(clusters: usize, ports: usize = PIPELINES * clusters, served: ServedAccess = ServedAccess::new(ports))]
pub struct WordServer {
    /// Accesses of the pipelines.
    pub far: [FarAccessIn; ports],
    /// Lines that are read.
    pub read: LineRead,
    /// Lines that are written.
    pub write: LineWrite,
    /// Only writes of this block may be accepted at the memory of its line.
    pub hold: Wire<Out, bool>,
    /// Standard output.
    pub stdout: StreamOut<{ WORD }>,
    /// The request.
    busy: Reg<bool, Reset>,
    port: Reg<{ address_width(ports) }>,
    /// The port that had the last turn.
    turn: Reg<{ address_width(ports) }, Reset>,
    /// Atomic operations that have followed another one. In the first clock of such a one its word is in `kept`.
    followers: Reg<3>,
    follows: Reg<bool, Reset>,
    /// The line that was read last, with the new words of atomic operations.
    kept: Reg<{ LINE_DATA }>,
    hpu: Reg<{ HPU }>,
    number: Reg<{ NUMBER }>,
    atomic: Reg<6>,
    strobe: Reg<{ LINE_BYTES }>,
    data: Reg<{ WORD }>,
    /// It is in its first clock.
    enters: Reg<bool, Reset>,
    /// It ends the reservations of its word in this clock.
    cancels: Reg<bool, Reset>,
    /// It waits for the read or write of its line, or for its character to be taken; or it has no effect.
    reads: Reg<bool, Reset>,
    writes: Reg<bool, Reset>,
    prints: Reg<bool, Reset>,
    drops: Reg<bool, Reset>,
    /// It is an atomic operation, and whose word has come.
    modifies: Reg<bool, Reset>,
    computes: Reg<bool, Reset>,
    /// HPUs with a reservation, and its word: all of its number, and what is compared with every store.
    reserved: [Reg<bool, Reset>; HPUS * clusters],
    #[new(Ram::new(RamStyle::Distributed, HPUS * clusters, NUMBER))]
    reserved_number: Ram,
    reserved_low: [Reg<{ COMPARED }>; HPUS * clusters],
    /// The access that is done.
    word: Reg<{ WORD }>,
    done_hpu: Reg<{ HPU }>,
    done_failed: Reg<bool>,
    done: [Reg<bool, Reset>; ports],
}

/// The first port after `turn` that wants something, around the end; `turn` if none does.
#[kernel]
fn next_port(wants: &[Sig<bool>], turn: Sig) -> Sig {
    let ports = wants.iter().enumerate();
    let number = |port: usize| constant(lit(port as u64, turn.width()));
    let all = ports.clone().map(|(port, wants)| (*wants, number(port)));
    let later = ports.map(|(port, wants)| (*wants && turn < port, number(port)));
    first(&later.chain(all).collect::<Vec<_>>(), turn)
}

#[kernel(WordServer, suffix = clusters)]
fn update() {
    let is_function = |atomic: Sig, op| atomic == 0x20 | function_of(op);

    // The outcome of the request.
    let is_read = reads && read.ready;
    let is_written = writes && write.ready;
    let goes_on = is_read && modifies && !read.failed;
    let ends = is_written && modifies;
    let is_served = is_read || is_written && !modifies || prints && stdout.ready || drops;
    let is_done = is_served && !goes_on;
    let leaves = is_done || ends;
    let may_follow = modifies && writes && followers != FOLLOWERS;
    read.valid = reads;
    read.line = number.slice(WITHIN, NUMBER - WITHIN).resize(LINE);
    write.valid = writes;
    write.line = read.line;
    write.strobe = strobe;
    write.data = cat_all(&[data; LINE_DATA / WORD]);
    hold = modifies;
    let who = |shift: u32| number.slice(shift as usize - 2, WHO).resize(8);
    stdout.valid = prints;
    stdout.data = cat!(
        lit(0, 8),
        who(STDOUT_CLUSTER_SHIFT),
        who(STDOUT_HPU_SHIFT),
        data.slice(0, 8)
    );

    // Reservations.
    let index = cat!(port, hpu.slice(0, THREAD));
    let has_one = word_of(reserved.iter().copied())[index];
    let holds = has_one && reserved_number.read(0, index) == number;
    let is_lr = enters && is_function(atomic, Op::LrW);
    let is_sc = enters && is_function(atomic, Op::ScW);
    reserved_number.write(is_lr, index, number);
    let low = number.slice(0, COMPARED);
    for (place, held) in reserved.iter().enumerate() {
        let is_own = index == place;
        if is_lr && is_own {
            *held = true;
            reserved_low[place] = low;
        } else if is_sc && is_own || cancels && reserved_low[place] == low && !is_own {
            *held = false;
        }
    }

    // The next request: one that follows, or of the first port after the one that had the last turn.
    let is_operation =
        |atomic: Sig| atomic[5] && !is_function(atomic, Op::ScW) && !is_function(atomic, Op::LrW);
    let valid: Vec<_> = far.iter().map(|far| far.valid).collect();
    // The one that follows is found a clock before: offers stay, and so do port and number while an operation is inside.
    let alike = far.iter().map(|far| {
        let is_same = far.address.slice(OFFSET, NUMBER - WITHIN) == number.slice(WITHIN, NUMBER - WITHIN);
        far.valid && is_operation(far.atomic) && is_same
    });
    let alike: Vec<_> = alike.collect();
    let has_alike = reg_reset(or_all(alike.iter().copied()), false);
    let follower = reg(next_port(&alike, port));
    let finds = may_follow && has_alike && word_of(valid.iter().copied())[follower];
    let chosen = if finds { follower } else { next_port(&valid, turn) };
    let does_follow = finds && ends && !write.failed;
    let can_take = !busy || is_done || does_follow;
    let takes = can_take && or_all(valid.iter().copied());
    let offered = wire(HPU + NUMBER + 1 + 6 + 4 + WORD);
    offered = 0;
    for (number, far) in far.iter().enumerate() {
        let (within, address) = far.address.split_at(2);
        let (address, above) = address.split_at(NUMBER);
        if far.valid {
            assume!(
                !within.any() && !above.any(),
                "an address is that of a word below 0x2000_0000"
            );
            assume!(
                !is_operation(far.atomic) || far.strobe.all(),
                "atomic operations are of whole words"
            );
        }
        far.ready = can_take && chosen == number;
        if chosen == number {
            offered = cat!(far.hpu, address, far.is_write, far.atomic, far.strobe, far.data);
        }
    }
    let (new_data, rest) = offered.split_at(WORD);
    let (new_strobe, rest) = rest.split_at(4);
    let (new_atomic, rest) = rest.split_at(6);
    let (is_write, rest) = rest.split_at(1);
    let (new_number, new_hpu) = rest.split_at(NUMBER);
    let is_write = is_write[0];
    let is_conditional = is_function(new_atomic, Op::ScW);
    let modifies_word = is_operation(new_atomic);
    let above = STDOUT_BYTES.ilog2() as usize - 2;
    let is_stdout = new_number.slice(above, NUMBER - above) == u64::from(STDOUT / STDOUT_BYTES);
    let cluster = new_number.slice(STDOUT_CLUSTER_SHIFT as usize - 2, WHO);
    let is_there = cluster < clusters as u64;

    enters = takes;
    follows = takes && does_follow;
    if takes {
        port = chosen;
        hpu = new_hpu;
        number = new_number;
        atomic = new_atomic;
        data = new_data;
        let within = new_number.slice(0, WITHIN);
        for place in 0..1 << WITHIN {
            strobe.slice(4 * place, 4) = new_strobe & (within == place).repeat(4);
        }
        busy = true;
        reads = !is_write && !is_conditional && !does_follow;
        writes = is_write && !is_stdout;
        prints = is_write && is_stdout && is_there;
        drops = is_write && is_stdout && !is_there;
        modifies = modifies_word;
        cancels = is_write && !is_stdout || modifies_word;
        followers = if finds { followers + 1 } else { lit(0, 3) };
        if !finds {
            turn = chosen;
        }
    } else {
        if computes {
            data = new_word(atomic.slice(0, 5), word, data);
        }
        busy = busy && !leaves;
        reads = reads && !is_read;
        writes = writes && !is_written || computes || is_sc && holds;
        prints = prints && !stdout.ready;
        drops = is_sc && !holds;
        modifies = modifies && !leaves;
        cancels = is_sc && holds;
    }

    // The end of an access comes with the data of its line.
    let tag = pack!(served {
        port,
        hpu,
        place: number.slice(0, WITHIN),
        reads,
        goes_on,
        failed: reads && read.failed || writes && write.failed,
        missed: drops,
    });
    let comes = (0..READ_CLOCKS).fold(is_served, |value, _| reg_reset(value, false));
    let tag = served.of((0..READ_CLOCKS).fold(tag, |value, _| reg(value)));
    if comes {
        let has_word = tag.reads && !tag.failed;
        assume!(has_word == read.data_valid, "data comes with its access");
    }
    computes = comes && tag.goes_on || follows;
    let word_at = |line: Sig, place: Sig| line.at(cat!(place, lit(0, 5)), WORD);
    if comes {
        let missed = tag.missed.word().resize(WORD);
        word = if tag.reads {
            word_at(read.data, tag.place)
        } else {
            missed
        };
        kept = read.data;
    } else if follows {
        word = word_at(kept, number.slice(0, WITHIN));
    } else if modifies && writes {
        for place in 0..1 << WITHIN {
            if strobe[4 * place] {
                kept.slice(WORD * place, WORD) = data;
            }
        }
    }
    done_hpu = if ends { hpu } else { tag.hpu };
    done_failed = if ends { write.failed } else { tag.failed };
    for (number, far) in far.iter().enumerate() {
        done[number] = ends && port == number || comes && !tag.goes_on && tag.port == number;
        far.done = done[number];
        far.done_hpu = done_hpu;
        far.done_data = word;
        far.done_failed = done_failed;
    }
}

/// [`WordServer`].
pub(crate) const SERVER: Entry = Entry::part(
    "word_server",
    "words of HPUs in memories outside of their clusters, and standard output",
    |_| vec![CLUSTERS.parameter(2)],
    |values| {
        let clusters = CLUSTERS.check("word_server", CLUSTERS.of(values))?;
        Ok(Box::new(WordServer::new(clusters)))
    },
);
