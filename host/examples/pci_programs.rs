//! Handlers of the runtime's examples on a NIC behind a driver, for a virtual machine with `spinneret serve --pci`:
//!
//! ```text
//! pci_programs capture FILE BYTES         writes the packets of one SLMP message to a capture, some times over
//! pci_programs receive NIC slmp.elf BYTES receives that message into memory, and looks at each byte
//! pci_programs ping NIC icmp_ping.elf N   answers N pings
//! ```

use anyhow::{Context as _, bail, ensure};
use spinneret_host::slmp::{Event, MessageReceiver};
use spinneret_host::{Nic, Options, Program, Rule, Ruleset};
use spinneret_slmp::frame::{Endpoint, Frame, UdpChecksum};
use spinneret_slmp::wire::{Flags, Header, MAX_PAYLOAD, PORT};
use spinneret_slmp::{Confirm, ReceiverConfig};
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest that is waited, in time of the NIC.
const LIMIT: Duration = Duration::from_secs(600);
/// How often the message is in the capture: the first copy may begin before the receiver is ready.
const COPIES: u32 = 3;
/// Between two frames of the capture.
const GAP_US: u32 = 13;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["capture", file, bytes] => capture(Path::new(file), bytes.parse()?),
        ["receive", nic, elf, bytes] => receive(&Nic::open(nic)?, Path::new(elf), bytes.parse()?),
        ["ping", nic, elf, count] => ping(&Nic::open(nic)?, Path::new(elf), count.parse()?),
        _ => bail!("pci_programs knows capture FILE BYTES, receive NIC ELF BYTES and ping NIC ELF COUNT"),
    }
}

/// The message: no two pages of it are equal.
fn message(bytes: usize) -> Vec<u8> {
    (0..bytes as u32)
        .map(|place| (place.wrapping_mul(0x9e37_79b1) >> 24) as u8)
        .collect()
}

fn endpoint(number: u8, port: u16) -> Endpoint {
    Endpoint {
        mac: [2, 0, 0, 0, 0, number],
        socket: SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, number), port),
    }
}

fn capture(path: &Path, bytes: usize) -> anyhow::Result<()> {
    let message = message(bytes);
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    // Format 2.4, microseconds, Ethernet.
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65535, 1] {
        file.write_all(&word.to_le_bytes())?;
    }
    let mut time_us = 0_u32;
    for _ in 0..COPIES {
        for (segment, payload) in message.chunks(MAX_PAYLOAD).enumerate() {
            let offset = segment * MAX_PAYLOAD;
            let mut flags = Flags::NONE;
            if offset == 0 {
                flags |= Flags::SYN;
            }
            if offset + payload.len() == bytes {
                flags |= Flags::EOM;
            }
            let header = Header {
                flags,
                message_id: 1,
                offset: offset as u32,
            };
            let (from, to) = (endpoint(2, 40000), endpoint(1, PORT));
            let frame = Frame {
                from,
                to,
                header,
                payload,
            };
            let frame = frame.build(segment as u16, UdpChecksum::Computed)?;
            let length = frame.len() as u32;
            for word in [time_us / 1_000_000, time_us % 1_000_000, length, length] {
                file.write_all(&word.to_le_bytes())?;
            }
            file.write_all(&frame)?;
            time_us += GAP_US;
        }
    }
    Ok(file.flush()?)
}

fn receive(nic: &Nic, elf: &Path, bytes: usize) -> anyhow::Result<()> {
    let config = ReceiverConfig {
        places: 1,
        capacity_bytes: bytes,
        confirm: Confirm::Memory,
    };
    let mut receiver = MessageReceiver::open(nic, &Program::open(elf)?, config, LIMIT)?;
    let begun = Instant::now();
    let mut received = None;
    nic.wait_until("the message", LIMIT, || {
        if let Some(Event::Complete(message)) = receiver.poll()? {
            received = Some(message);
        }
        Ok(received.is_some())
    })?;
    let took = begun.elapsed();
    let received = received.context("nothing came")?;
    ensure!(received.data == message(bytes), "other bytes came than were sent");
    println!(
        "{bytes} bytes in {took:?}, {:.3} MB/s",
        bytes as f64 / 1e6 / took.as_secs_f64()
    );
    Ok(())
}

fn ping(nic: &Nic, elf: &Path, count: u32) -> anyhow::Result<()> {
    let rules = Ruleset::all()
        .rule(Rule::IPV4)
        .rule(Rule::ip_protocol(1, 1))
        .rule(Rule::ICMP_ECHO_REQUEST);
    let context = nic.open_context(&Program::open(elf)?, "icmp_ping", &rules, &Options::default())?;
    nic.wait_until("the answers", LIMIT, || {
        Ok(nic
            .counters()?
            .get("egress.frames")
            .is_some_and(|frames| frames >= count))
    })?;
    println!("{count} pings answered");
    Ok(context.close()?)
}
