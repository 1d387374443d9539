//! The pipeline behind a serial line: handlers of the runtime's makefile, and each line of its contract.

use spinneret_models::SerialHpu;
use spinneret_sim::test_run::run_test;
use spinneret_tb::serial_hpu::{Handled, SerialHost, build, code};
use std::path::Path;
use std::process::Command;

/// Ends of conversations: two MAC addresses, two IPv4 addresses.
const MACS: [[u8; 6]; 2] = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];
const IPS: [[u8; 4]; 2] = [[10, 0, 0, 1], [10, 0, 0, 2]];

fn example(name: &str) -> spinneret_program::Program {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/examples");
    build(&examples.join(name), Path::new(env!("CARGO_TARGET_TMPDIR")))
}

/// The ones' complement of the sum of words of 16 bits.
fn checksum(bytes: &[u8]) -> [u8; 2] {
    let words = bytes
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u32::from(*low)));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    (!(sum as u16)).to_be_bytes()
}

/// A frame of a protocol of IPv4 from one end to the other one.
fn ip_frame([source, destination]: [usize; 2], protocol: u8, payload: &[u8]) -> Vec<u8> {
    let length = (20 + payload.len() as u16).to_be_bytes();
    let mut header = vec![0x45, 0, length[0], length[1], 0, 1, 0, 0, 64, protocol, 0, 0];
    header.extend([IPS[source], IPS[destination]].concat());
    let sum = checksum(&header);
    header[10..12].copy_from_slice(&sum);
    [&MACS[destination][..], &MACS[source], &[8, 0], &header, payload].concat()
}

fn udp_frame(ends: [usize; 2], ports: [u16; 2], payload: &[u8]) -> Vec<u8> {
    let words = [ports[0], ports[1], 8 + payload.len() as u16, 0].map(u16::to_be_bytes);
    ip_frame(ends, 17, &[words.as_flattened(), payload].concat())
}

fn echo_frame(ends: [usize; 2], kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut message = [&[kind, 0, 0, 0, 0x12, 0x34, 0, 1][..], payload].concat();
    let sum = checksum(&message);
    message[2..4].copy_from_slice(&sum);
    ip_frame(ends, 1, &message)
}

fn sends(packet: Vec<u8>) -> Handled {
    Handled {
        sent: vec![packet],
        cause: 0,
    }
}

fn silent(cause: u8) -> Handled {
    Handled {
        sent: Vec::new(),
        cause,
    }
}

#[test]
fn udp_packets_come_back() {
    run_test(1, |run| {
        let program = example("udp_ping");
        let mut host: SerialHost<SerialHpu> = SerialHost::new(run.simulation());
        assert_eq!(host.done(code::HELLO, &[]), [1, 8, 32, 16]);
        host.load(&program);
        for length in [0, 1, 100, 213] {
            let payload: Vec<u8> = (0..length).collect();
            let request = udp_frame([0, 1], [4000, 7], &payload);
            assert_eq!(
                host.packet(&request),
                sends(udp_frame([1, 0], [7, 4000], &payload))
            );
        }
        // The runtime's counter 0: {sum of cycles, packets}.
        let counters = program.host_data.expect("the handler counts") + 8 * 8;
        let counter = host.read(counters, 8);
        assert_eq!(counter[4..], [4, 0, 0, 0]);
        assert_eq!(host.leds(), 0b001_0100);
        host.sim.finish();
    });
}

#[test]
fn pings_are_answered() {
    run_test(1, |run| {
        let program = example("icmp_ping");
        let mut host: SerialHost<SerialHpu> = SerialHost::new(run.simulation());
        host.load(&program);
        for length in [0, 33, 212] {
            let payload: Vec<u8> = (0..length).collect();
            let request = echo_frame([0, 1], 8, &payload);
            assert_eq!(host.packet(&request), sends(echo_frame([1, 0], 0, &payload)));
            let mut damaged = request;
            *damaged.last_mut().expect("a packet") ^= 1;
            assert_eq!(host.packet(&damaged), silent(0));
        }
        host.sim.finish();
    });
}

/// The bytes that the shell of docs/boards/alchitry-cu-hpu.md sends.
#[test]
fn the_session_in_the_documentation_works() {
    run_test(1, |run| {
        let page = include_str!("../../docs/boards/alchitry-cu-hpu.md");
        let (_, session) = page.split_once("`/dev/ttyUSB1`:\n\n```sh\n").expect("a session");
        let (session, _) = session.split_once("```").expect("its end");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("session");
        std::fs::create_dir_all(folder.join("target")).expect("a folder for the session");
        let line = folder.join("line");
        let _ = std::fs::remove_file(&line);
        let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime");
        let script: String = session
            .replace("/dev/ttyUSB1", &line.display().to_string())
            .replace("runtime/", &format!("{}/", runtime.display()))
            .lines()
            .filter(|line| !line.starts_with("stty"))
            .map(|line| format!("{line}\n"))
            .collect();
        let shell = Command::new("bash")
            .args(["-e", "-c", &script])
            .current_dir(&folder)
            .output();
        let shell = shell.expect("bash runs");
        assert!(
            shell.status.success(),
            "{}",
            String::from_utf8_lossy(&shell.stderr)
        );

        let mut host: SerialHost<SerialHpu> = SerialHost::new(run.simulation());
        let said = std::fs::read(&line).expect("what the session says");
        let (mut rest, mut answers) = (&said[..], Vec::new());
        while let [command, length, more @ ..] = rest {
            let (payload, behind) = more.split_at(usize::from(*length));
            answers.push(host.ask(*command, payload));
            rest = behind;
        }
        let (last, before) = answers.split_last().expect("answers");
        assert_eq!(before[0], (code::DONE, vec![1, 8, 32, 16]));
        assert!(before[1..].iter().all(|answer| *answer == (code::DONE, vec![])));
        assert_eq!(*last, (code::SENT, udp_frame([1, 0], [7, 4000], b"hi")));
        assert_eq!(host.receive(), (code::DONE, vec![0]));
        host.sim.finish();
    });
}

/// Does as the first byte of the packet says.
const MOODY: &str = r#"
#include <handler.h>

__handler__ void moody_ph(handler_args_t *args) {
    uint8_t *packet = args->task->pkt_mem;
    switch (packet[0]) {
    case 0:
        for (;;) {
            asm volatile("" ::: "memory");
        }
    case 1:
        asm volatile("ebreak");
    case 2:
        *(volatile uint32_t *)0x10001000 = 1;
        break;
    case 3:
        spin_send_packet(packet, 1, NULL);
        spin_send_packet(packet + 1, 3, NULL);
        break;
    case 4:
        spin_send_packet(packet, 256, NULL);
    }
}
"#;

#[test]
fn handlers_that_fail_disturb_nobody() {
    run_test(1, |run| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("moody");
        std::fs::create_dir_all(&folder).expect("a folder for the handler");
        let makefile = concat!("include ", env!("CARGO_MANIFEST_DIR"), "/../runtime/spin.mk\n");
        std::fs::write(folder.join("moody.c"), MOODY).expect("the handler");
        std::fs::write(folder.join("Makefile"), makefile).expect("its makefile");
        let program = build(&folder, Path::new(env!("CARGO_TARGET_TMPDIR")));
        let mut host: SerialHost<SerialHpu> = SerialHost::new(run.simulation());
        host.load(&program);
        let two = Handled {
            sent: vec![vec![3], vec![7, 8, 9]],
            cause: 0,
        };
        for (kind, handled) in [
            (0, silent(24)),
            (1, silent(3)),
            (2, silent(7)),
            (3, two),
            (4, silent(5)),
            (5, silent(0)),
        ] {
            let failed = handled.cause != 0;
            assert_eq!(host.packet(&[kind, 7, 8, 9]), handled);
            assert_eq!(host.leds() >> 6, failed.into());
        }
        host.sim.finish();
    });
}

#[test]
fn mistakes_are_answered_and_change_nothing() {
    run_test(1, |run| {
        let mut host: SerialHost<SerialHpu> = SerialHost::new(run.simulation());
        host.write(0x1c00_0ff8, &[1, 2, 3, 4, 5, 6, 7, 8]);
        let address = |address: u32, rest: &[u8]| [&address.to_be_bytes()[..], rest].concat();
        let mistakes = [
            (9, vec![], code::UNKNOWN_COMMAND),
            (code::HELLO, vec![0], code::WRONG_LENGTH),
            (code::WRITE, address(0x1c00_0ffc, &[]), code::WRONG_LENGTH),
            (code::WRITE, address(0x1c00_0ffc, &[9; 3]), code::WRONG_LENGTH),
            (code::WRITE, address(0x1c00_1000, &[9; 4]), code::WRONG_VALUE),
            (code::WRITE, address(0x1d00_2000, &[9; 4]), code::WRONG_VALUE),
            (code::WRITE, address(0x1b20_5000, &[9; 4]), code::WRONG_VALUE),
            (code::READ, address(0x1d00_0000, &[4]), code::WRONG_VALUE),
            (code::READ, address(0x1c00_0000, &[4, 4]), code::WRONG_LENGTH),
            (code::RUN, vec![1], code::WRONG_LENGTH),
            (code::PACKET, vec![], code::WRONG_LENGTH),
            (code::PACKET, vec![1], code::WRONG_VALUE),
        ];
        for (command, payload, error) in mistakes {
            assert_eq!(
                host.ask(command, &payload),
                (error, vec![]),
                "{command} {payload:02x?}"
            );
            assert_eq!(host.leds(), 0b010_0000);
        }
        // As L1 it is the same memory.
        assert_eq!(host.read(0x1000_0ff8, 8), [1, 2, 3, 4, 5, 6, 7, 8]);
        host.source.send(&[code::RUN, 4, 0]);
        assert_eq!(host.receive(), (code::TIMEOUT, vec![]));

        // There is no program, so no thread takes the packet.
        host.run(0x1d00_0100);
        let while_running = address(0x1d00_0000, &[0; 4]);
        assert_eq!(host.ask(code::WRITE, &while_running), (code::WRONG_VALUE, vec![]));
        assert_eq!(host.ask(code::PACKET, &[1]), (code::NO_END, vec![]));
        assert_eq!(host.leds(), 0b010_0001);
        assert_eq!(host.ask(code::PACKET, &[1]), (code::WRONG_VALUE, vec![]));
        host.sim.finish();
    });
}
