//! `spinneret serve --pci`: the hardware behind a PCI function, with the library for applications on the other side.

mod shared;

use crate::kit::{Served, contexts, ok, open, port, until};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use spinneret_host::device::{Area, Mapping};
use spinneret_host::{Device, DeviceError, Nic};
use spinneret_regmap::pspin::{HANDLER_BASE, PROGRAM_BASE};
use spinneret_regmap::{CONTEXTS, bar, caps, events, host_write, pci};
use std::fmt;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::ptr::NonNull;
use std::time::{Duration, Instant};
use vfio_user::Client;

/// Connects as soon as the function has dropped the client before this one.
fn client(served: &Served) -> Client {
    let mut client = None;
    until("a free function", || {
        client = Client::new(&served.socket()).ok();
        client.is_some()
    });
    client.expect("it is connected")
}

/// Processor time of the process so far.
fn processor(served: &Served) -> Duration {
    let id = served.process.id();
    let stat = ok(std::fs::read_to_string(format!("/proc/{id}/stat")));
    let after_name = stat.rsplit(')').next().expect("there is a name");
    let times = after_name.split_whitespace().skip(11).take(2);
    let ticks: u64 = times.map(|ticks| ok(ticks.parse::<u64>())).sum();
    Duration::from_millis(ticks * 10)
}

/// Region of the configuration space.
const CONFIG: u32 = 7;
/// Where the memory of a context begins for the NIC, and from one context's to the next one's.
const BASE: u64 = 0x2_0000_0000;
const STRIDE: u64 = 0x1000_0000;
const PAGE: u64 = 4096;
/// The simulated NIC is slower than the clock on the wall by about that much.
const SLOWER: u32 = 1000;
/// Most bytes of the cluster's memory in one access.
const PIECE: usize = 4096;

/// A function, and memory for it that is mapped page by page.
struct Function {
    client: Client,
    memories: [Option<(Mapping, u64, OwnedFd)>; CONTEXTS as usize],
    begun: Instant,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Function")
    }
}

fn gone(error: vfio_user::Error) -> DeviceError {
    DeviceError::Gone(error.to_string())
}

/// Offset in the BAR of an address of the cluster.
fn offset(address: u32) -> u64 {
    match address >= PROGRAM_BASE {
        true => u64::from(address - PROGRAM_BASE) + 0x40_0000,
        false => (address - HANDLER_BASE).into(),
    }
}

impl Function {
    /// A function whose BARs answer, and which may send requests.
    fn new(mut client: Client) -> Self {
        ok(client.region_write(CONFIG, 4, &[0b110, 0]));
        Self {
            client,
            memories: [const { None }; CONTEXTS as usize],
            begun: Instant::now(),
        }
    }

    fn read(&mut self, offset: u64, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.client
            .region_read(pci::APPLICATION_BAR, offset, bytes)
            .map_err(gone)
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.client
            .region_write(pci::APPLICATION_BAR, offset, bytes)
            .map_err(gone)
    }

    fn memory(&self, context: u32) -> &Mapping {
        &self.memories[context as usize].as_ref().expect("it was taken").0
    }
}

impl Device for Function {
    fn has_register(&self, _offset: u32) -> bool {
        true
    }

    fn read_register(&mut self, offset: u32) -> Result<u32, DeviceError> {
        let mut word = [0; 4];
        self.read((bar::CONTROL_REGISTERS.start + offset).into(), &mut word)?;
        Ok(u32::from_le_bytes(word))
    }

    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        self.write(
            (bar::CONTROL_REGISTERS.start + offset).into(),
            &value.to_le_bytes(),
        )
    }

    fn read_cluster(&mut self, address: u32, bytes: &mut [u8]) -> Result<(), DeviceError> {
        for (piece, at) in bytes.chunks_mut(PIECE).zip((offset(address)..).step_by(PIECE)) {
            self.read(at, piece)?;
        }
        Ok(())
    }

    fn write_cluster(&mut self, address: u32, bytes: &[u8]) -> Result<(), DeviceError> {
        for (piece, at) in bytes.chunks(PIECE).zip((offset(address)..).step_by(PIECE)) {
            self.write(at, piece)?;
        }
        Ok(())
    }

    fn open_area(&mut self, context: u32, bytes: u32) -> Result<Area, DeviceError> {
        let address = BASE + u64::from(context) * STRIDE;
        let pages = u64::from(bytes).div_ceil(PAGE).max(1);
        let file = ok(memfd_create(
            "guest",
            MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING,
        ));
        ok(ftruncate(&file, pages * PAGE));
        ok(fcntl_add_seals(&file, SealFlags::SHRINK));
        let mapping = ok(Mapping::new(&file, 0, (pages * PAGE) as usize));
        for page in 0..pages {
            let mapped = self
                .client
                .dma_map(page * PAGE, address + page * PAGE, PAGE, file.as_raw_fd());
            mapped.map_err(gone)?;
        }
        self.memories[context as usize] = Some((mapping, pages * PAGE, file));
        Ok(Area {
            address,
            bytes: (pages * PAGE) as u32,
        })
    }

    fn close_area(&mut self, context: u32) {
        if let Some((_, bytes, _)) = self.memories[context as usize].take() {
            ok(self.client.dma_unmap(BASE + u64::from(context) * STRIDE, bytes));
        }
    }

    fn read_host(&mut self, context: u32, offset: u32, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.memory(context).read(offset as usize, bytes);
        Ok(())
    }

    fn write_host(&mut self, context: u32, offset: u32, bytes: &[u8]) -> Result<(), DeviceError> {
        self.memory(context).write(offset as usize, bytes);
        Ok(())
    }

    fn host_file(&self, context: u32) -> Result<OwnedFd, DeviceError> {
        let memory = self.memories[context as usize].as_ref();
        Ok(ok(memory.expect("it was taken").2.try_clone()))
    }

    fn host_pointer(&self, context: u32) -> Option<NonNull<u8>> {
        Some(self.memories.get(context as usize)?.as_ref()?.0.start())
    }

    fn tells_contexts(&self) -> bool {
        true
    }

    fn now(&self) -> Duration {
        self.begun.elapsed() / SLOWER
    }

    fn wall(&self, time: Duration) -> Duration {
        time * SLOWER
    }

    fn wait(&mut self, time: Duration) -> Result<(), DeviceError> {
        std::thread::sleep(self.wall(time));
        Ok(())
    }
}

/// Longest that is waited for something, on the NIC.
const PATIENCE: Duration = Duration::from_millis(60);

/// Of vfio: interrupts by MSI-X, and files that are signalled.
const MSIX: u32 = 2;
const TRIGGER_FILES: u32 = 0b10_0100;

fn nic(served: &Served) -> Nic<Function> {
    ok(Nic::new(Function::new(client(served))))
}

/// `host_write.errors` of unsupported requests.
fn refused(nic: &Nic<Function>) -> Option<u32> {
    ok(nic.counters()).get("host_write.errors[9]")
}

#[test]
fn a_program_is_loaded_through_the_bar_and_its_handlers_write_guest_memory() {
    writes_guest_memory("model");
}

#[test]
fn clusters_as_hardware_write_guest_memory() {
    writes_guest_memory("rtl");
}

fn writes_guest_memory(clusters: &str) {
    let packets = "udp,dport=7000,size=106,rate=100Mbps,count=5";
    let served = Served::start(
        &["--pci"],
        &["--cluster", clusters, "--generate", packets, "--json"],
    );
    let nic = nic(&served);
    let context = open(&nic, &contexts(), "copy", &port(7000));
    ok(nic.wait_until("the packets", PATIENCE, || {
        Ok(nic
            .counters()?
            .get("host_write.bursts")
            .is_some_and(|bursts| bursts >= 5))
    }));
    let mut copied = [0; 64];
    ok(context.host_memory().read(64, &mut copied));
    assert!(copied.iter().any(|byte| *byte != 0), "a payload is there");
    let [mut before, mut behind] = [[0; 64]; 2];
    ok(context.host_memory().read(0, &mut before));
    ok(context.host_memory().read(64 + 64, &mut behind));
    assert_eq!([before, behind], [[0; 64]; 2], "and nothing beside it");
    assert_eq!(refused(&nic), Some(0));
    drop((context, nic));
    let summary = served.process.interrupt().json();
    assert_eq!(summary["counters"]["ingress.hers"], 5, "{summary}");
}

#[test]
fn output_of_handlers_is_read_through_the_bar() {
    let served = Served::start(
        &["--pci"],
        &["--generate", "udp,dport=7000,size=100,rate=100Mbps,count=3"],
    );
    let nic = nic(&served);
    let context = open(&nic, &contexts(), "count", &port(7000));
    let total = ok(context.variable("total"));
    ok(nic.wait_until("the packets", PATIENCE, || Ok(total.load::<u32>(0)? == 3)));
    let (mut stdout, mut lines) = (nic.stdout(), Vec::new());
    ok(nic.wait_until("the lines", PATIENCE, || {
        lines.extend(stdout.lines()?);
        Ok(lines.len() == 3)
    }));
    let mut printed: Vec<_> = lines.into_iter().map(|printed| printed.line).collect();
    printed.sort();
    assert_eq!(printed, ["packet 0", "packet 1", "packet 2"]);
}

#[test]
fn accesses_to_unmapped_memory_are_refused_and_counted() {
    let served = Served::start(
        &["--pci"],
        &["--generate", "udp,dport=7000,size=100,rate=100Mbps,count=10000"],
    );
    let nic = nic(&served);
    let context = open(&nic, &contexts(), "copy", &port(7000));
    ok(nic.wait_until("packets", PATIENCE, || {
        Ok(nic
            .counters()?
            .get("host_write.bursts")
            .is_some_and(|bursts| bursts >= 3))
    }));
    assert_eq!(refused(&nic), Some(0));
    // Transfers are under way all the time: none of them reaches what was unmapped.
    let address = context.host_memory().address();
    ok(nic.device().client.dma_unmap(address, 4096));
    ok(context.host_memory().write(64, &[0xa5; 64]));
    ok(nic.wait_until("refusals", PATIENCE, || Ok(refused(&nic) > Some(3))));
    let mut there = [0; 64];
    ok(context.host_memory().read(64, &mut there));
    assert_eq!(there, [0xa5; 64]);
}

#[test]
fn an_interrupt_follows_the_write_to_guest_memory() {
    let served = Served::start(&["--pci"], &["--generate", "udp,dport=7000,size=106,count=1"]);
    let nic = nic(&served);
    let vectors: Vec<OwnedFd> = (0..pci::VECTORS)
        .map(|_| ok(eventfd(0, EventfdFlags::NONBLOCK)))
        .collect();
    let files: Vec<_> = vectors.iter().map(|vector| vector.as_raw_fd()).collect();
    ok(nic
        .device()
        .client
        .set_irqs(MSIX, TRIGGER_FILES, 0, pci::VECTORS, &files));
    ok(nic
        .device()
        .write_register(events::ENABLE.offset, (1 << pci::VECTORS) - 1));
    let context = open(&nic, &contexts(), "copy", &port(7000));
    let vector = &vectors[context.number() as usize];
    let mut waited = [PollFd::new(vector, PollFlags::IN)];
    let patience = Timespec {
        tv_sec: 60,
        tv_nsec: 0,
    };
    assert_eq!(poll(&mut waited, Some(&patience)), Ok(1), "there is an interrupt");
    let mut copied = [0; 64];
    ok(context.host_memory().read(64, &mut copied));
    assert!(
        copied.iter().any(|byte| *byte != 0),
        "what it tells of is there already"
    );
    let signalled = |vector: &OwnedFd| rustix::io::read(vector, &mut [0; 8]).is_ok();
    let told: Vec<bool> = vectors.iter().map(signalled).collect();
    assert_eq!(told, [true, false, false, false, false, false]);
    let mut device = nic.device();
    assert_eq!(ok(device.read_register(events::PENDING.offset)), 1);
    ok(device.write_register(events::PENDING.offset, 1));
    assert_eq!(ok(device.read_register(events::PENDING.offset)), 0);
    assert_eq!(ok(device.read_register(events::SENT.offset)), 1);
}

/// A driver that dies, or a machine that is reset: the hardware is new, whatever was under way.
#[test]
fn a_reset_during_transfers_gives_a_clean_nic() {
    let served = Served::start(
        &["--pci"],
        &["--generate", "udp,dport=7000,size=1000,rate=1Gbps,count=100000"],
    );
    let mut function = Function::new(client(&served));
    for _ in 0..3 {
        let nic = ok(Nic::new(function));
        let context = open(&nic, &contexts(), "copy", &port(7000));
        ok(nic.wait_until("packets", PATIENCE, || {
            Ok(nic
                .counters()?
                .get("host_write.bursts")
                .is_some_and(|bursts| bursts >= 3))
        }));
        let mut device = nic.device();
        ok(device.client.reset());
        ok(device.client.region_write(CONFIG, 4, &[0b110, 0]));
        for register in [host_write::ALL[0].offset, caps::MAGIC.offset, 0x2000, 0x3004] {
            let wanted = if register == caps::MAGIC.offset {
                caps::MAGIC_VALUE
            } else {
                0
            };
            let offset = (0x80_0000 + register).into();
            let mut word = [0; 4];
            ok(device.client.region_read(pci::APPLICATION_BAR, offset, &mut word));
            assert_eq!(u32::from_le_bytes(word), wanted, "{register:#x}");
        }
        drop(device);
        context.leave();
        drop(nic);
        function = Function::new(client(&served));
    }
    drop(function);
    let summary = served.process.interrupt().out;
    assert!(!summary.contains("add up"), "{summary}");
    assert!(summary.contains("dropped by resets: "), "{summary}");
}

#[test]
fn an_idle_nic_uses_no_processor_time() {
    let served = Served::start(&["--pci"], &[]);
    let nic = nic(&served);
    let context = open(&nic, &contexts(), "count", &port(7000));
    std::thread::sleep(Duration::from_millis(300));
    let before = processor(&served);
    std::thread::sleep(Duration::from_secs(1));
    let used = processor(&served) - before;
    assert!(used < Duration::from_millis(100), "{used:?} of a second");
    drop(context);
}

#[test]
fn a_lost_device_is_reported() {
    let served = Served::start(&["--pci"], &[]);
    let nic = nic(&served);
    let context = open(&nic, &contexts(), "count", &port(7000));
    served.process.kill();
    let begun = Instant::now();
    let error = nic.counters().unwrap_err().to_string();
    assert!(error.contains("the device is gone"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(5));
    context.leave();
}
