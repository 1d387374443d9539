//! `small_complex`: handlers of the runtime, compared with the model; random copies, commands and faults; every memory.

use spinneret_cluster::task::{Code, Her, HostAction, Meta};
use spinneret_cluster::{Cluster, Config};
use spinneret_models::SmallBench;
use spinneret_packets::udp;
use spinneret_program::Program;
use spinneret_regmap::pspin::{
    DMA_BASE, DRIVER_BASE, HANDLER_BASE, L1_AREAS, L1_BASE, L1_CONTEXTS, L1_PACKETS, PACKET_BASE,
    PROGRAM_BASE, STDOUT, dma, driver,
};
use spinneret_sim::prelude::*;
use spinneret_tb::handlers::example;
use spinneret_tb::hpu;
use spinneret_tb::small::{HANDLER_BYTES, SLOT, SLOTS, Small, meta_of};
use std::collections::BTreeMap;
use std::path::Path;

/// Host memory of the contexts.
const HOST: u64 = 0x12_0000_0000;
const HOST_BYTES: u32 = 1 << 20;
/// Clocks of a handler.
const BUDGET: u32 = 3000;

/// Effects of handlers: packets, host memory, and handler memory.
#[derive(Debug, PartialEq, Eq)]
struct Effects {
    sent: Vec<Vec<u8>>,
    host: BTreeMap<u64, u8>,
    memory: Vec<u8>,
}

/// The area of handler memory that handlers share, without what belongs to the runtime.
fn program_of(name: &str) -> Program {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("small");
    example(name, true, &out).expect("the example is built")
}

/// The effects of packets, one after another, by the model.
fn modelled(program: &Program, frames: &[Vec<u8>], variable: (u32, usize)) -> Effects {
    let mut cluster = Cluster::new(Config {
        clusters: 1,
        ..Config::spinneret()
    });
    let (mut sent, mut host) = (Vec::new(), BTreeMap::new());
    cluster.load(program);
    cluster.set_fetch(1);
    let mut done = 0;
    let mut clock = |cluster: &mut Cluster| {
        cluster.tick();
        if let Some(command) = cluster.take_send() {
            let bytes = cluster.memory().read(command.source as u32, command.length);
            sent.push(bytes.expect("it is in memory").to_vec());
            cluster.complete(command.id);
        }
        if let Some(access) = cluster.take_access() {
            match access.action {
                HostAction::Write(bytes) | HostAction::Direct(bytes) => {
                    host.extend((access.host..).zip(bytes));
                }
                HostAction::Read { .. } => unreachable!("these examples do not read the host's memory"),
            }
            cluster.complete(access.id);
        }
        usize::from(cluster.take_feedback().is_some())
    };
    while !cluster.is_ready() {
        clock(&mut cluster);
    }
    for (number, frame) in frames.iter().enumerate() {
        let address = PACKET_BASE + SLOT * (number as u32 % SLOTS);
        assert!(cluster.write(address, frame));
        let size = frame.len() as u32;
        cluster.push(Her {
            message: number as u32 % 4,
            is_last: true,
            address,
            size,
            copied: size,
            sum: 0,
            meta: meta_of(program, (HOST, HOST_BYTES)),
        });
        while done <= number {
            done += clock(&mut cluster);
        }
    }
    let memory = cluster.memory().read(variable.0, variable.1 as u32);
    let memory = memory.expect("it is in memory").to_vec();
    Effects { sent, host, memory }
}

/// The same by the hardware, with packets at the same time: frames that are sent are in any order.
fn simulated(run: &mut TestRun, program: &Program, frames: &[Vec<u8>], variable: (u32, usize)) -> Effects {
    let mut small = Small::new(run.simulation(), true);
    small.start(program);
    for (number, frame) in frames.iter().enumerate() {
        let (low, high) = (number as u32 % 4, number as u32 / 4 % 2);
        small.push(high << 4 | low, meta_of(program, (HOST, HOST_BYTES)), frame);
    }
    while small.inside() > 0 {
        small.clock();
    }
    let memory = small.read(variable.0, variable.1);
    let (sent, host) = (std::mem::take(&mut small.sent), std::mem::take(&mut small.host));
    small.finish();
    Effects { sent, host, memory }
}

/// Compares the effects of random frames.
fn compare(run: &mut TestRun, name: &str, variable: Option<(&str, usize)>) -> Effects {
    let program = program_of(name);
    let mut rng = run.rng("frames");
    let frames: Vec<Vec<u8>> = (0..60)
        .map(|_| {
            let bytes = rng.random_range(8..900);
            let payload: Vec<u8> = (0..bytes).map(|_| rng.random()).collect();
            udp(9330, &payload)
        })
        .collect();
    let variable = variable.map_or((HANDLER_BASE, 0), |(name, bytes)| {
        (program.variables[name].address, bytes)
    });
    let mut expected = modelled(&program, &frames, variable);
    let mut found = simulated(run, &program, &frames, variable);
    expected.sent.sort();
    found.sent.sort();
    assert!(found == expected, "{name}: {found:x?}, not {expected:x?}");
    found
}

#[test]
fn udp_ping_answers_as_the_model_does() {
    run_test(0x0051_0001, |run| {
        assert_eq!(compare(run, "udp_ping", None).sent.len(), 60);
    });
}

/// The words of the bench's program: a runtime, and handlers that do what their packet says.
///
/// Words of a packet: 0 becomes the cause of the end, 1 kind of the handler, 2 to 4 source, destination and bytes of a copy, 5 to
/// 11 words of a command, 12 its information.
fn program() -> hpu::Program {
    let [error, doorbell, issue, wait] = [driver::ERROR, driver::DOORBELL, driver::ISSUE, driver::WAIT];
    let command: String = (0..driver::COMMAND_WORDS)
        .map(|word| {
            let (from, to) = (20 + 4 * word, driver::COMMAND + 4 * word);
            format!("lw x5, {from}(x4)\n sw x5, {to}(x1)\n")
        })
        .collect();
    let [source, destination, bytes, start] = [dma::SOURCE, dma::DESTINATION, dma::BYTES, dma::START];
    let (info, counter) = (driver::INFO, HANDLER_BASE + HANDLER_BYTES - 64);
    hpu::Program::assemble(&format!(
        "
        .org 0x80
            li    x1, {DRIVER_BASE}
            li    x3, trap
            csrrw x0, mtvec, x3
        next:
            li    x3, 0x1800
            csrrc x0, mstatus, x3
            lw    x3, 0(x1)
            csrrw x0, mepc, x3
            mret
        .org 0x200
        trap:
            li    x1, {DRIVER_BASE}
            lw    x4, 16(x1)
            csrrs x3, mcause, x0
            sw    x3, 0(x4)
            addi  x5, x0, 8
            beq   x3, x5, done
            sw    x3, {error}(x1)
        done:
            sw    x0, {doorbell}(x1)
            j     next
        .org 0x300
        handler:
            lw    x4, 16(x1)
            lw    x5, 4(x4)
            beq   x5, x0, works
            addi  x5, x5, -1
            beq   x5, x0, loops
            lw    x6, 8(x4)
            lw    x7, 0(x6)
            ecall
        loops:
            j     loops
        works:
            li    x8, {DMA_BASE}
            lw    x5, 8(x4)
            sw    x5, {source}(x8)
            lw    x5, 12(x4)
            sw    x5, {destination}(x8)
            lw    x5, 16(x4)
            sw    x5, {bytes}(x8)
            lw    x5, {start}(x8)
            {command}
            lw    x5, 48(x4)
            sw    x5, {info}(x1)
            lw    x6, {issue}(x1)
            li    x8, {counter}
            addi  x9, x0, 3
            amoadd.w x7, x9, (x8)
            addi  x8, x8, 4
        again:
            lr.w  x7, (x8)
            addi  x7, x7, 1
            sc.w  x9, x7, (x8)
            bne   x9, x0, again
            li    x8, {STDOUT}
            addi  x7, x0, 65
            sw    x7, 0(x8)
            sw    x6, {wait}(x1)
            ecall
        "
    ))
}

/// Bytes of each packet's own part of handler memory, of the packet, and of its part of host memory.
const OWN: u32 = 512;
const PACKET: usize = 600;
const HOST_OWN: u64 = 4096;

/// A random packet, and what has to come of it.
struct Case {
    kind: u32,
    words: [u32; 13],
    cause: u32,
}

#[test]
fn copies_commands_and_faults_are_as_their_packets_say() {
    run_test(0x0051_0002, |run| {
        for round in 0..3 {
            let sim = run.simulation();
            random_round(sim, round > 0);
        }
    });
}

fn random_round(sim: Simulation<SmallBench>, has_pauses: bool) {
    let mut small = Small::new(sim, has_pauses);
    let program = program();
    small.start_words(&program.words);
    (0..2).for_each(|context| small.set_budget(context, BUDGET));
    let memory: Vec<u8> = (0..HANDLER_BYTES).map(|_| small.rng().random()).collect();
    small.write(HANDLER_BASE, &memory);
    small.write(HANDLER_BASE + HANDLER_BYTES - 64, &[0; 8]);
    for at in 0..u64::from(SLOTS) * HOST_OWN {
        let byte = small.rng().random();
        small.host.insert(HOST + at, byte);
    }
    let handler = Code {
        address: PROGRAM_BASE + 0x300,
        size: 4,
    };
    let meta = Meta {
        handler_memory: [HANDLER_BASE, HANDLER_BYTES],
        host_memory: (HOST, HOST_BYTES),
        payload: handler,
        shared: [HANDLER_BASE, HANDLER_BYTES],
        ..Meta::default()
    };
    let (mut worked, mut kinds) = (0, [0; 3]);
    for batch in 0..8 {
        let mut host = small.host.clone();
        let mut memory = small.read(HANDLER_BASE, (OWN * SLOTS) as usize);
        let mut sent = Vec::new();
        let mut packets = Vec::new();
        for slot in 0..SLOTS {
            let address = PACKET_BASE + SLOT * slot;
            let case = random_case(small.rng(), slot, address);
            let mut bytes: Vec<u8> = case.words.iter().flat_map(|word| word.to_le_bytes()).collect();
            bytes.extend((bytes.len()..PACKET).map(|_| small.rng().random::<u8>()));
            let message =
                batch % 2 << 2 | small.rng().random_range(0..4) | small.rng().random_range(0..2) << 4;
            small.push_at(address, message, meta, &bytes);
            kinds[case.kind as usize] += 1;
            if case.kind == 0 {
                worked += 1;
                apply(&case, &mut bytes, address, &mut memory, &mut host, &mut sent);
            }
            bytes[..4].copy_from_slice(&case.cause.to_le_bytes());
            packets.push((address, bytes));
        }
        while small.inside() > 0 {
            small.clock();
        }
        for (address, bytes) in packets {
            assert_eq!(small.read(address, PACKET), bytes, "packet at {address:#x}");
        }
        let found = small.read(HANDLER_BASE, (OWN * SLOTS) as usize);
        assert_eq!(found, memory, "handler memory");
        assert_eq!(small.host, host, "host memory");
        let mut found = std::mem::take(&mut small.sent);
        found.sort();
        sent.sort();
        // The word that becomes the cause may be sent before or after that.
        assert_eq!(found, sent, "frames");
    }
    let counters = small.read(HANDLER_BASE + HANDLER_BYTES - 64, 8);
    let [sum, count] = [0, 4].map(|at| u32::from_le_bytes(counters[at..at + 4].try_into().expect("a word")));
    assert_eq!((sum, count), (3 * worked, worked), "atomic operations");
    assert_eq!(small.printed.len(), worked as usize);
    assert!(small.printed.iter().all(|printed| *printed == (0, b'A')));
    assert!(kinds.iter().all(|count| *count > 5), "{kinds:?}");
    small.finish();
}

/// The work that a packet of a slot asks for. Destinations are in the slot's own parts of memory and host memory, sources in its packet.
fn random_case(rng: &mut ChaCha8Rng, slot: u32, address: u32) -> Case {
    let mut words = [0; 13];
    let kind = [0, 0, 0, 0, 1, 2][rng.random_range(0..6)];
    words[1] = kind;
    // The first words of the packet do not change, except for the cause.
    let inside = |rng: &mut ChaCha8Rng| {
        let bytes = rng.random_range(0..200);
        (rng.random_range(4..PACKET as u32 - bytes), bytes)
    };
    let own = HANDLER_BASE + OWN * slot;
    if kind == 2 {
        let foreign = [
            0,
            L1_BASE + L1_CONTEXTS,
            L1_BASE + L1_PACKETS,
            HANDLER_BASE + HANDLER_BYTES,
            address + SLOT,
            PROGRAM_BASE,
            DRIVER_BASE + driver::DOORBELL,
            L1_BASE + 0x40_0000 + L1_AREAS,
        ];
        words[2] = foreign[rng.random_range(0..foreign.len())];
        return Case {
            kind,
            words,
            cause: 5,
        };
    }
    let (from, bytes) = inside(rng);
    words[2] = address + from;
    words[3] = own + rng.random_range(0..56);
    words[4] = bytes;
    let host = HOST + HOST_OWN * u64::from(slot) + rng.random_range(0..64);
    let (from, bytes) = inside(rng);
    let (low, high) = (host as u32, (host >> 32) as u32);
    let (info, command) = match rng.random_range(0..4) {
        0 => (0, [low, high, address + from, bytes, 1]),
        1 => (0, [low, high, own + 256 + rng.random_range(0..56), bytes, 0]),
        2 => (2, [0, 0, address + from, 0, bytes.max(1)]),
        _ => (
            4,
            [
                low & !63,
                high,
                rng.random_range(0..9) << 1 | 1,
                rng.random(),
                rng.random(),
            ],
        ),
    };
    words[5..10].copy_from_slice(&command);
    words[12] = info;
    let cause = if kind == 1 { 24 } else { 8 };
    Case { kind, words, cause }
}

/// The effects of a handler that works.
fn apply(
    case: &Case,
    packet: &mut [u8],
    address: u32,
    memory: &mut [u8],
    host: &mut BTreeMap<u64, u8>,
    sent: &mut Vec<Vec<u8>>,
) {
    let part = |packet: &[u8], at: u32, bytes: u32| {
        let at = (at - address) as usize;
        packet[at..at + bytes as usize].to_vec()
    };
    let copied = part(packet, case.words[2], case.words[4]);
    let at = (case.words[3] - HANDLER_BASE) as usize;
    memory[at..at + copied.len()].copy_from_slice(&copied);
    let [low, high, third, bytes, last] = case.words[5..10] else {
        unreachable!("five words")
    };
    let to = u64::from(high) << 32 | u64::from(low);
    match (case.words[12], last) {
        (0, 1) => host.extend((to..).zip(part(packet, third, bytes))),
        (0, _) => {
            for (number, at) in (third - HANDLER_BASE..).take(bytes as usize).enumerate() {
                memory[at as usize] = host[&(to + number as u64)];
            }
        }
        (2, _) => sent.push(part(packet, third, last)),
        _ => {
            let words = u64::from(last) << 32 | u64::from(bytes);
            host.extend((to..).zip(words.to_le_bytes()).take((third >> 1) as usize));
        }
    }
}

/// Each memory has its bytes at its place, and nothing is elsewhere.
#[test]
fn memories_are_where_they_should_be() {
    run_test(0x0051_0003, |run| {
        let mut small = Small::new(run.simulation(), true);
        let l1 = L1_BASE + L1_CONTEXTS;
        let memories = [
            (l1, L1_PACKETS - L1_CONTEXTS),
            (HANDLER_BASE, HANDLER_BYTES),
            (PACKET_BASE, SLOT * SLOTS),
        ];
        for (base, bytes) in memories {
            let words: Vec<u8> = (0..bytes / 4)
                .flat_map(|word| (base + word).to_le_bytes())
                .collect();
            small.write(base, &words);
        }
        for (base, bytes) in memories {
            let words = small.read(base, bytes as usize);
            for (number, word) in (0..).zip(words.chunks_exact(4)) {
                assert_eq!(word, (base + number).to_le_bytes(), "word {number} at {base:#x}");
            }
            for outside in [base - 8, base + bytes] {
                let place = u64::from(outside / 8);
                assert_eq!(small.access_word(place), None, "at {outside:#x}");
                assert!(!small.write_word(place, 1), "at {outside:#x}");
            }
        }
        // Program memory and settings are written only.
        assert!(small.write_word(u64::from(PROGRAM_BASE / 8), 0));
        assert_eq!(small.access_word(u64::from(PROGRAM_BASE / 8)), None);
        small.finish();
    });
}
