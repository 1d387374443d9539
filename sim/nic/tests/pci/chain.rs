//! Handlers, packets and memory through the PCI function.

use crate::function::{CONFIG, Function};
use crate::served::{Served, ok};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use spinneret_host::{Context, Device as _, Nic, Options, Program, Rule, Ruleset};
use spinneret_regmap::pci;
use spinneret_regmap::{caps, events, host_write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest that is waited for something, on the NIC.
const PATIENCE: Duration = Duration::from_millis(60);

/// Of vfio: interrupts by MSI-X, and files that are signalled.
const MSIX: u32 = 2;
const TRIGGER_FILES: u32 = 0b10_0100;

/// Handlers of four kinds.
fn contexts() -> Program {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/tests/contexts");
    ok(Program::open(&ok(spinneret_nic::run::program(&folder, 2))))
}

fn open(nic: &Nic<Function>, name: &str) -> Context<Function> {
    let rules = Ruleset::all().rule(Rule::udp_destination_port(7000, 7000));
    ok(nic.open_context(&contexts(), name, &rules, &Options::default()))
}

fn nic(served: &Served) -> Nic<Function> {
    ok(Nic::new(Function::new(served.client())))
}

/// `host_write.errors` of unsupported requests.
fn refused(nic: &Nic<Function>) -> Option<u32> {
    ok(nic.counters()).get("host_write.errors[9]")
}

#[test]
fn a_program_is_loaded_through_the_bar_and_its_handlers_write_guest_memory() {
    let served = Served::start(&[
        "--generate",
        "udp,dport=7000,size=106,rate=100Mbps,count=5",
        "--json",
    ]);
    let nic = nic(&served);
    let context = open(&nic, "copy");
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
    let output = served.end();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let summary: serde_json::Value = ok(serde_json::from_str(&said));
    assert_eq!(summary["counters"]["ingress.hers"], 5, "{said}");
}

#[test]
fn what_handlers_print_is_read_through_the_bar() {
    let served = Served::start(&["--generate", "udp,dport=7000,size=100,rate=100Mbps,count=3"]);
    let nic = nic(&served);
    let context = open(&nic, "count");
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
fn memory_that_is_not_mapped_any_more_is_refused_and_counted() {
    let served = Served::start(&["--generate", "udp,dport=7000,size=100,rate=100Mbps,count=10000"]);
    let nic = nic(&served);
    let context = open(&nic, "copy");
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
fn a_write_to_guest_memory_raises_the_vector_of_its_context_after_it_is_there() {
    let served = Served::start(&["--generate", "udp,dport=7000,size=106,count=1"]);
    let nic = nic(&served);
    let vectors: Vec<OwnedFd> = (0..pci::VECTORS)
        .map(|_| ok(eventfd(0, EventfdFlags::NONBLOCK)))
        .collect();
    let files: Vec<_> = vectors.iter().map(AsRawFd::as_raw_fd).collect();
    ok(nic
        .device()
        .client
        .set_irqs(MSIX, TRIGGER_FILES, 0, pci::VECTORS, &files));
    ok(nic
        .device()
        .write_register(events::ENABLE.offset, (1 << pci::VECTORS) - 1));
    let context = open(&nic, "copy");
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
fn a_reset_in_the_middle_of_transfers_leaves_a_new_nic() {
    let served = Served::start(&["--generate", "udp,dport=7000,size=1000,rate=1Gbps,count=100000"]);
    let mut function = Function::new(served.client());
    for _ in 0..3 {
        let nic = ok(Nic::new(function));
        let context = open(&nic, "copy");
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
        function = Function::new(served.client());
    }
    drop(function);
    let summary = String::from_utf8(served.end().stdout).expect("it is text");
    assert!(!summary.contains("add up"), "{summary}");
    assert!(summary.contains("dropped by resets: "), "{summary}");
}

#[test]
fn a_nic_with_nothing_to_do_takes_no_processor() {
    let served = Served::start(&[]);
    let nic = nic(&served);
    let context = open(&nic, "count");
    std::thread::sleep(Duration::from_millis(300));
    let before = served.processor();
    std::thread::sleep(Duration::from_secs(1));
    let used = served.processor() - before;
    assert!(used < Duration::from_millis(100), "{used:?} of a second");
    drop(context);
}

#[test]
fn a_device_that_is_gone_is_noticed() {
    let mut served = Served::start(&[]);
    let nic = nic(&served);
    let context = open(&nic, "count");
    served.kill();
    let begun = Instant::now();
    let error = nic.counters().unwrap_err().to_string();
    assert!(error.contains("the device is gone"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(5));
    context.leave();
}
