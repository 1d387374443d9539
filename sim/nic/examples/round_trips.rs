//! `./dev bench pci`: how long the parts of a PCI function take, as a client of its socket sees it: a virtual machine adds its own
//! share to each.

use anyhow::{Context as _, Result, ensure};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use spinneret_regmap::{bar, caps, events, me, pci};
use spinneret_table::figures;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use vfio_user::Client;

/// Round trips of each kind.
const TIMES: usize = 500;
/// Region of the configuration space, interrupts by MSI-X, and files that are signalled (vfio).
const CONFIG: u32 = 7;
const MSIX: u32 = 2;
const TRIGGER_FILES: u32 = 0b10_0100;
/// An interrupt comes within that time.
const PATIENCE: Timespec = Timespec {
    tv_sec: 20,
    tv_nsec: 0,
};

/// `spinneret serve --pci`, ended with this.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // It is ours, so both can only fail if it has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn main() -> Result<()> {
    let command = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "target/debug/spinneret".to_owned());
    let folder = tempfile::tempdir()?;
    let socket = folder.path().join("nic");
    let child = Command::new(&command)
        .args(["serve", "--pci"])
        .arg(&socket)
        .stderr(Stdio::null())
        .spawn();
    let mut server = Server(child.with_context(|| format!("{command} cannot be started"))?);
    let mut client = loop {
        match Client::new(&socket) {
            Ok(client) => break client,
            Err(_) => std::thread::sleep(Duration::from_millis(3)),
        }
        ensure!(server.0.try_wait()?.is_none(), "{command} ended at once");
    };
    client.region_write(CONFIG, 4, &[0b110, 0])?;
    let mut table = figures(["round trip", "median us", "p99 us"], &[0]);
    let mut measure = |what: &str, trip: &mut dyn FnMut() -> Result<()>| -> Result<()> {
        let [median, last] = times(trip)?;
        table.add_row([what.to_owned(), format!("{median:.1}"), format!("{last:.1}")]);
        Ok(())
    };
    measure("configuration space, read", &mut || {
        Ok(client.region_read(CONFIG, 0, &mut [0; 4])?)
    })?;
    measure("register, read", &mut || {
        read(&mut client, caps::MAGIC.offset).map(drop)
    })?;
    measure("register, write and its answer", &mut || {
        write(&mut client, me::VALID.offset, 0)
    })?;
    measure("64 words of registers, one read", &mut || {
        let first = (bar::CONTROL_REGISTERS.start + caps::MAGIC.offset).into();
        Ok(client.region_read(pci::APPLICATION_BAR, first, &mut [0; 256])?)
    })?;
    let vector = prepare(&mut client)?;
    measure(
        "register, write that sends a message, its interrupt, and a write",
        &mut || {
            write(&mut client, events::ENABLE.offset, 1 << events::ERRORS_LINE)?;
            let mut files = [PollFd::new(&vector, PollFlags::IN)];
            ensure!(poll(&mut files, Some(&PATIENCE))? == 1, "no interrupt came");
            rustix::io::read(&vector, &mut [0; 8])?;
            write(&mut client, events::ENABLE.offset, 0)
        },
    )?;
    println!("{table}");
    Ok(())
}

/// The vector of errors, of which one is pending: an access beyond everything that is behind the BAR.
fn prepare(client: &mut Client) -> Result<OwnedFd> {
    let vector = eventfd(0, EventfdFlags::CLOEXEC)?;
    client.set_irqs(MSIX, TRIGGER_FILES, events::ERRORS_LINE, 1, &[vector.as_raw_fd()])?;
    // Counters are looked at only while somebody wants to know of them.
    write(client, events::ENABLE.offset, 1 << events::ERRORS_LINE)?;
    client.region_read(pci::APPLICATION_BAR, 0xff_0000, &mut [0; 4])?;
    let mut files = [PollFd::new(&vector, PollFlags::IN)];
    ensure!(
        poll(&mut files, Some(&PATIENCE))? == 1,
        "no interrupt came of an error"
    );
    rustix::io::read(&vector, &mut [0; 8])?;
    write(client, events::ENABLE.offset, 0)?;
    Ok(vector)
}

fn read(client: &mut Client, register: u32) -> Result<u32> {
    let mut word = [0; 4];
    client.region_read(
        pci::APPLICATION_BAR,
        (bar::CONTROL_REGISTERS.start + register).into(),
        &mut word,
    )?;
    Ok(u32::from_le_bytes(word))
}

fn write(client: &mut Client, register: u32, word: u32) -> Result<()> {
    let offset = (bar::CONTROL_REGISTERS.start + register).into();
    Ok(client.region_write(pci::APPLICATION_BAR, offset, &word.to_le_bytes())?)
}

/// Median, and the 99th of a hundred, in microseconds.
fn times(trip: &mut dyn FnMut() -> Result<()>) -> Result<[f64; 2]> {
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let begun = Instant::now();
        trip()?;
        times.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok([times[TIMES / 2], times[TIMES * 99 / 100]])
}
