//! `./dev bench pci`: how long the parts of a PCI function take, as a client of its socket sees them; a virtual machine adds its
//! own share to each.

use crate::harness::{Cell, Server, Sheet, Spinneret, connect};
use anyhow::{Result, ensure};
use clap::Args;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use serde_json::{Value, json};
use spinneret_regmap::{bar, caps, events, me, pci};
use spinneret_table::bench::{Bars, Spread};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::time::Instant;
use vfio_user::Client;

/// Round trips of each kind.
const TIMES: usize = 500;
/// Region of the configuration space, MSI-X interrupts, and eventfd triggers (vfio).
const CONFIG: u32 = 7;
const MSIX: u32 = 2;
const TRIGGER_FILES: u32 = 0b10_0100;
/// Longest that an interrupt takes.
const PATIENCE: Timespec = Timespec {
    tv_sec: 20,
    tv_nsec: 0,
};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    spinneret: Spinneret,
}

pub(crate) fn run(arguments: &Arguments, _: &mut Bars) -> Result<Value> {
    let server = Server::start(&arguments.spinneret.path()?, &["--pci"])?;
    let mut client = connect(&server.socket(), Client::new)?;
    client.region_write(CONFIG, 4, &[0b110, 0])?;
    let mut sheet = Sheet::new([
        ("round_trip", "round trip"),
        ("median_us", "median us"),
        ("p99_us", "p99 us"),
    ]);
    let mut measure = |what: &str, trip: &mut dyn FnMut() -> Result<()>| -> Result<()> {
        let timed = |_| {
            let begun = Instant::now();
            trip()?;
            Ok(begun.elapsed().as_secs_f64() * 1e6)
        };
        let times: Spread = (0..TIMES).map(timed).collect::<Result<_>>()?;
        let [median, p99] = [50, 99].map(|percent| Cell::Number(times.percentile(percent), 1));
        sheet.add([what.into(), median, p99]);
        Ok(())
    };
    measure("configuration space, read", &mut || {
        Ok(client.region_read(CONFIG, 0, &mut [0; 4])?)
    })?;
    measure("register, read", &mut || {
        Ok(client.region_read(pci::APPLICATION_BAR, place(caps::MAGIC.offset), &mut [0; 4])?)
    })?;
    measure("register, write and its answer", &mut || {
        write(&mut client, me::VALID.offset, 0)
    })?;
    measure("64 words of registers, one read", &mut || {
        Ok(client.region_read(pci::APPLICATION_BAR, place(caps::MAGIC.offset), &mut [0; 256])?)
    })?;
    let vector = prepare(&mut client)?;
    measure(
        "register, write that sends a message, its interrupt, and a write",
        &mut || {
            write(&mut client, events::ENABLE.offset, 1 << events::ERRORS_LINE)?;
            interrupt(&vector)?;
            write(&mut client, events::ENABLE.offset, 0)
        },
    )?;
    Ok(json!(sheet.print()))
}

/// Returns the error vector after its first interrupt, which an access outside of the BAR's contents raises.
fn prepare(client: &mut Client) -> Result<OwnedFd> {
    let vector = eventfd(0, EventfdFlags::CLOEXEC)?;
    client.set_irqs(MSIX, TRIGGER_FILES, events::ERRORS_LINE, 1, &[vector.as_raw_fd()])?;
    // The NIC samples counters only while an event is enabled.
    write(client, events::ENABLE.offset, 1 << events::ERRORS_LINE)?;
    client.region_read(pci::APPLICATION_BAR, 0xff_0000, &mut [0; 4])?;
    interrupt(&vector)?;
    write(client, events::ENABLE.offset, 0)?;
    Ok(vector)
}

/// Waits for an interrupt.
fn interrupt(vector: &OwnedFd) -> Result<()> {
    let mut files = [PollFd::new(vector, PollFlags::IN)];
    ensure!(poll(&mut files, Some(&PATIENCE))? == 1, "no interrupt came");
    rustix::io::read(vector, &mut [0; 8])?;
    Ok(())
}

/// Where a register is in the BAR.
fn place(register: u32) -> u64 {
    (bar::CONTROL_REGISTERS.start + register).into()
}

fn write(client: &mut Client, register: u32, word: u32) -> Result<()> {
    Ok(client.region_write(pci::APPLICATION_BAR, place(register), &word.to_le_bytes())?)
}
