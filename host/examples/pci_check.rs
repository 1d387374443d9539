//! Tries a NIC that tells of events: four contexts at once, whose packets a handler copies to their host memory, standard output, and
//! what the NIC must not reach. For a virtual machine with `spinneret serve --pci`:
//!
//! ```text
//! pci_check vfio:0000:00:03.0 contexts.elf
//! ```
//!
//! The packets are UDP, to ports 7000 to 7003; the program is `runtime/tests/contexts`.

use anyhow::{Context as _, bail};
use spinneret_host::{Device as _, DeviceError, Nic, Options, Program, Rule, Ruleset};
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest that something is waited for.
const LIMIT: Duration = Duration::from_secs(60);
/// Host memory of a context.
const BYTES: u32 = 64 << 10;
/// Where the handler copies to.
const COPY: u32 = 64;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, elf] = arguments.as_slice() else {
        bail!("pci_check takes a NIC and a program: pci_check vfio:0000:00:03.0 contexts.elf");
    };
    let program = Program::open(Path::new(elf))?;
    let begun = Instant::now();
    let nic = Nic::open(name)?;
    println!(
        "opened in {:?}, events: {}",
        begun.elapsed(),
        nic.device().has_events()
    );
    register_access(&nic)?;
    let mut contexts = Vec::new();
    for (number, handler) in (0..).zip(["copy", "copy", "copy", "count"]) {
        let rules = Ruleset::all()
            .rule(Rule::IPV4)
            .rule(Rule::udp_destination_port(7000 + number, 7000 + number));
        let options = Options {
            host_bytes: BYTES,
            ..Options::default()
        };
        let context = nic.open_context(&program, handler, &rules, &options);
        contexts.push(context.with_context(|| format!("context {number}"))?);
    }
    for (number, context) in contexts.iter().enumerate().take(3) {
        let memory = context.host_memory();
        let begun = Instant::now();
        nic.wait_until("bytes of a packet", LIMIT, || Ok(memory.load::<u64>(COPY)? != 0))?;
        println!("context {number}: bytes of a packet after {:?}", begun.elapsed());
    }
    let mut stdout = nic.stdout();
    let mut lines = Vec::new();
    nic.wait_until("a line of standard output", LIMIT, || {
        lines.extend(stdout.lines()?);
        Ok(!lines.is_empty())
    })?;
    println!("printed: {}", lines[0].line);
    print!("{}", nic.counters()?);
    if nic.device().has_events() {
        let sent = nic
            .device()
            .read_register(spinneret_regmap::events::SENT.offset)?;
        println!("messages for interrupts: {sent}");
    }
    for context in contexts {
        context.close()?;
    }
    println!("pci_check: ok");
    Ok(())
}

/// How long a read of a register takes.
fn register_access(nic: &Nic) -> anyhow::Result<()> {
    const READS: u32 = 1000;
    let magic = spinneret_regmap::caps::MAGIC;
    let mut device = nic.device();
    match device.read_register(magic.offset) {
        Ok(spinneret_regmap::caps::MAGIC_VALUE) => {}
        Ok(_) => bail!("{magic} is not the one of spinneret"),
        Err(DeviceError::NoAccess) => println!("the driver knows the registers of the public design alone"),
        Err(error) => return Err(error.into()),
    }
    let begun = Instant::now();
    for _ in 0..READS {
        device.read_register(spinneret_regmap::me::VALID.offset)?;
    }
    println!("a read of a register takes {:?}", begun.elapsed() / READS);
    Ok(())
}
