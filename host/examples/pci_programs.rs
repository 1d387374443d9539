//! Handlers of the runtime's examples on a NIC behind a driver, for a virtual machine with `spinneret serve --pci`:
//!
//! ```text
//! pci_programs capture FILE BYTES         writes the packets of one SLMP message to a capture, some times over
//! pci_programs message FILE BYTES         writes that message itself
//! pci_programs receive NIC slmp.elf BYTES receives that message into memory, and looks at each byte
//! pci_programs ping NIC icmp_ping.elf N   answers N pings
//! pci_programs trips NIC trips.elf        measures round trips between a program and a handler
//! pci_programs runs NIC contexts.elf N    opens the NIC, has a handler run, and closes it, N times
//! pci_programs hold NIC contexts.elf      lets handlers copy packets to memory until the NIC is gone
//! pci_programs share NIC                  has the NIC for several processes, as `spinneret share` does
//! pci_programs tenant NIC contexts.elf PORT N  has handlers copy N packets to a port, next to other processes
//! pci_programs stray NIC contexts.elf     has them copied to where there is no memory, by vfio
//! ```

use anyhow::{Context as _, bail, ensure};
use spinneret_host::device::SHARED;
use spinneret_host::device::socket::Server;
use spinneret_host::slmp::{Event, MessageReceiver};
use spinneret_host::{Context, Device as _, DeviceError, Nic, OpenDevice, Options, Program, Rule, Ruleset};
use spinneret_regmap::{caps, events, guard, her, her_meta, me};
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
const GAP_US: u32 = 6;
/// Round trips of each kind.
const TRIPS: u32 = 50;
/// Longest answer of a handler.
const PAGE: u32 = 4096;
/// Longest that an answer of a handler takes, on the wall.
const PATIENCE: Duration = Duration::from_secs(60);
/// Longest that an interrupt is waited for, in time of the NIC.
const LOOK: Duration = Duration::from_millis(10);
/// Where the handler of `contexts` copies packets to.
const COPY: u32 = 64;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["capture", file, bytes] => capture(Path::new(file), bytes.parse()?),
        ["message", file, bytes] => Ok(std::fs::write(file, message(bytes.parse()?))?),
        ["receive", nic, elf, bytes] => receive(&Nic::open(nic)?, Path::new(elf), bytes.parse()?),
        ["ping", nic, elf, count] => ping(&Nic::open(nic)?, Path::new(elf), count.parse()?),
        ["trips", nic, elf] => trips(&Nic::open(nic)?, Path::new(elf)),
        ["runs", nic, elf, count] => runs(nic, Path::new(elf), count.parse()?),
        ["share", nic] => share(nic),
        ["tenant", nic, elf, port, count] => {
            tenant(&Nic::open(nic)?, Path::new(elf), port.parse()?, count.parse()?)
        }
        ["hold", nic, elf] => hold(&Nic::open(nic)?, Path::new(elf)),
        ["stray", nic, elf] => stray(&Nic::open(nic)?, Path::new(elf)),
        _ => bail!(
            "pci_programs knows capture or message FILE BYTES, receive NIC ELF BYTES, ping or runs NIC ELF COUNT, trips, hold or stray NIC ELF, share NIC, and tenant NIC ELF PORT COUNT"
        ),
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
    figure("receive", bytes as f64 / 1e3 / took.as_secs_f64(), "kB/s");
    Ok(())
}

/// A line that `tools/vm/vm.sh` shows.
fn figure(what: &str, value: f64, unit: &str) {
    println!("FIGURE {what} {value:.1} {unit}");
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

/// A context whose packets, of UDP to port 7000, go to a handler.
fn open(nic: &Nic, elf: &Path, handler: &str) -> anyhow::Result<Context> {
    open_port(nic, elf, handler, 7000)
}

fn open_port(nic: &Nic, elf: &Path, handler: &str, port: u16) -> anyhow::Result<Context> {
    let rules = Ruleset::all()
        .rule(Rule::IPV4)
        .rule(Rule::udp_destination_port(port, port));
    let options = Options {
        host_bytes: 64 << 10,
        // To clear more takes its time in a virtual machine.
        handler_bytes: Some(4096),
        ..Options::default()
    };
    Ok(nic.open_context(&Program::open(elf)?, handler, &rules, &options)?)
}

/// The median time from a question until its answer is seen.
fn median(trip: &mut dyn FnMut(u32) -> anyhow::Result<()>, first: u32) -> anyhow::Result<f64> {
    let mut times = Vec::new();
    for question in first..first + TRIPS {
        let begun = Instant::now();
        trip(question)?;
        times.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// From a word that the program writes to the NIC's memory to what a handler answers with.
fn trips(nic: &Nic, elf: &Path) -> anyhow::Result<()> {
    let read = |_| {
        nic.device().read_register(me::VALID.offset)?;
        Ok(())
    };
    figure("register-read", median(&mut { read }, 1)?, "us");
    let context = open(nic, elf, "trips")?;
    let [asked, bytes] = [context.variable("asked")?, context.variable("bytes")?];
    let memory = context.host_memory();
    // One that is asked and one that answers.
    let look = |offset: u32, question: u32| -> anyhow::Result<()> {
        asked.store(0, question)?;
        let begun = Instant::now();
        while memory.load::<u32>(offset)? != question {
            ensure!(begun.elapsed() < PATIENCE, "no answer to question {question}");
        }
        Ok(())
    };
    look(0, 1)?;
    // More packets would have no handler, and take the simulator's time.
    context.set_ruleset(&Ruleset::all().rule(Rule::udp_destination_port(1, 1)))?;
    figure("dma-4-bytes", median(&mut |question| look(0, question), 2)?, "us");
    bytes.store(0, PAGE)?;
    figure(
        "dma-4-KiB",
        median(&mut |question| look(PAGE - 4, question), 2 + TRIPS)?,
        "us",
    );
    if nic.device().has_events() {
        bytes.store(0, 4_u32)?;
        let sleep = |question: u32| -> anyhow::Result<()> {
            asked.store(0, question)?;
            let begun = Instant::now();
            while memory.load::<u32>(0)? != question {
                ensure!(begun.elapsed() < PATIENCE, "no interrupt for question {question}");
                let mut device = nic.device();
                let lines = device.wait_event(LOOK)?;
                device.write_register(events::PENDING.offset, lines)?;
            }
            Ok(())
        };
        figure("interrupt", median(&mut { sleep }, 2 + 2 * TRIPS)?, "us");
    }
    asked.store(0, u32::MAX)?;
    Ok(context.close()?)
}

/// Whoever opens the NIC finds it as if nobody had had it before.
fn runs(name: &str, elf: &Path, count: u32) -> anyhow::Result<()> {
    for _ in 0..count {
        let nic = Nic::open(name)?;
        let context = open(&nic, elf, "copy")?;
        wait_for_packet(&nic, &context)?;
        context.close()?;
    }
    Ok(())
}

/// Serves contexts to other processes until it is killed.
fn share(name: &str) -> anyhow::Result<()> {
    let mut device = OpenDevice::open_alone(name)?;
    let mut server = Server::bind(Path::new(SHARED))?;
    Ok(server.run(&mut device, |line| println!("{line}"), || false)?)
}

/// Sees packets in its host memory, one after the other. The NIC drops none meanwhile.
fn tenant(nic: &Nic, elf: &Path, port: u16, count: u32) -> anyhow::Result<()> {
    let dropped = || -> anyhow::Result<u32> {
        let counters = nic.counters()?;
        let drops = counters
            .iter()
            .filter(|(name, _)| name.starts_with("ingress.dropped_"));
        Ok(drops.map(|(_, packets)| packets).sum())
    };
    let context = open_port(nic, elf, "copy", port)?;
    println!(
        "data of the program at {:#x}",
        context.variable("total")?.address()
    );
    let before = dropped()?;
    for packet in 0..count {
        wait_for_packet(nic, &context)?;
        context.host_memory().store(COPY, 0_u64)?;
        if packet == 0 {
            println!("running");
        }
    }
    ensure!(dropped()? == before, "packets were dropped");
    Ok(context.close()?)
}

/// Copies packets until the NIC is gone: then it ends well.
fn hold(nic: &Nic, elf: &Path) -> anyhow::Result<()> {
    let context = open(nic, elf, "copy")?;
    wait_for_packet(nic, &context)?;
    println!("running");
    loop {
        let magic = nic.device().read_register(caps::MAGIC.offset);
        match magic {
            Ok(_) => std::thread::sleep(Duration::from_millis(1)),
            Err(DeviceError::Gone(why)) => {
                println!("the NIC is gone: {why}");
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn wait_for_packet(nic: &Nic, context: &Context) -> anyhow::Result<()> {
    let memory = context.host_memory();
    Ok(nic.wait_until("bytes of a packet", LIMIT, || Ok(memory.load::<u64>(COPY)? != 0))?)
}

/// Tells the NIC that the host memory of a context is where there is none, and its guard as well: the IOMMU is left to refuse it.
fn stray(nic: &Nic, elf: &Path) -> anyhow::Result<()> {
    let context = open(nic, elf, "copy")?;
    wait_for_packet(nic, &context)?;
    let refused = || -> Result<u32, spinneret_host::Error> {
        Ok(nic.counters()?.get("host_write.errors[9]").unwrap_or(0))
    };
    let before = refused()?;
    let number = context.number();
    let address = context.host_memory().address() | 1 << 36;
    let registers = [
        Some(her::VALID.offset),
        guard::base(number).map(|(_, high)| high),
        her_meta::offset("host_mem_addr_1", number),
        Some(her::VALID.offset),
    ];
    let high = (address >> 32) as u32;
    for (register, value) in registers.into_iter().zip([0, high, high, 1]) {
        let register = register.context("a register that every NIC has")?;
        nic.device().write_register(register, value)?;
    }
    nic.wait_until("transfers that are refused", LIMIT, || Ok(refused()? > before))?;
    println!("{} transfers to {address:#x} were refused", refused()? - before);
    context.close()?;
    // The next one works as if nothing had been.
    wait_for_packet(nic, &open(nic, elf, "copy")?)
}
