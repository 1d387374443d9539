//! NICs behind `vfio-pci`.

use crate::function::{Done, Fake};
use crate::program::program;
use crate::support::{ok, port};
use spinneret_host::vfio::Vfio;
use spinneret_host::{Device as _, DeviceError, Nic, Options};
use std::io;
use std::time::Duration;

const GIB: u64 = 1 << 30;
const LINES: u32 = 0x3f;

fn device() -> (Vfio<Fake>, Fake) {
    let fake = Fake::new();
    (Vfio::new(fake.clone(), 1), fake)
}

#[test]
fn a_nic_is_told_of_events_from_the_beginning() {
    let (device, fake) = device();
    let nic = ok(Nic::new(device));
    assert_eq!(
        fake.done(),
        [Done::Cleared(LINES), Done::Enabled(LINES), Done::Held]
    );
    drop(nic);
    assert_eq!(fake.done(), [Done::Enabled(0)]);
}

#[test]
fn all_contexts_have_memory_above_4_gib_that_is_taken_away_behind_the_reset() {
    let (device, fake) = device();
    let nic = ok(Nic::new(device));
    let open = |number: u16| {
        let options = Options {
            host_bytes: 5000,
            ..Options::default()
        };
        ok(nic.open_context(program(), "count", &port(7000 + number), &options))
    };
    let contexts: Vec<_> = (0..4).map(open).collect();
    let mapped = fake
        .done()
        .into_iter()
        .filter(|done| matches!(done, Done::Mapped(..)));
    let expected = [8, 16, 24, 32].map(|gib| Done::Mapped(gib * GIB, 8192));
    assert_eq!(mapped.collect::<Vec<_>>(), expected);
    contexts.into_iter().for_each(spinneret_host::Context::leave);
    drop(nic);
    let unmapped = [8, 16, 24, 32].map(|gib| Done::Unmapped(gib * GIB));
    let done = fake.done();
    let (before, after) = done.split_at(done.len() - 4);
    assert_eq!(before, [Done::Enabled(0), Done::Held]);
    assert_eq!(after, unmapped);
}

#[test]
fn the_clusters_memory_is_where_the_bar_has_it() {
    let (mut device, fake) = device();
    ok(device.write_cluster(0x1c00_0010, &[1, 0, 0, 0, 2, 0, 0, 0]));
    ok(device.post_cluster(0x1d00_0004, 3));
    assert_eq!(
        [0x10, 0x14, 0x40_0004].map(|offset| fake.word(offset)),
        [Some(1), Some(2), Some(3)]
    );
    let mut bytes = [0; 8];
    ok(device.read_cluster(0x1c00_0010, &mut bytes));
    assert_eq!(bytes, [1, 0, 0, 0, 2, 0, 0, 0]);
    for (address, length) in [
        (0x1c00_0002, 4),
        (0x1c00_0000, 3),
        (0x1c0f_fffc, 8),
        (0x1b00_0000, 4),
    ] {
        let error = device.read_cluster(address, &mut bytes[..length]).unwrap_err();
        assert!(
            error.to_string().contains("are no words of L2 handler memory"),
            "{error}"
        );
    }
}

#[test]
fn memory_of_the_host_begins_empty_and_ends_where_it_ends() {
    let (mut device, fake) = device();
    let area = ok(device.open_area(2, 1));
    assert_eq!((area.address, area.bytes), (24 * GIB, 4096));
    let mut bytes = [9; 4];
    ok(device.read_host(2, 4092, &mut bytes));
    assert_eq!(bytes, [0; 4]);
    ok(device.write_host(2, 0, &[1, 2]));
    let file = ok(device.host_file(2));
    let mut first = [0; 2];
    ok(rustix::io::pread(&file, &mut first, 0));
    assert_eq!(first, [1, 2]);
    let error = device.write_host(2, 4095, &[1, 2]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "2 bytes at 0xfff are not within the 4096 bytes of host memory of context 2"
    );
    assert!(device.open_area(2, 1).is_err(), "it is taken");
    device.close_area(2);
    assert!(device.read_host(2, 0, &mut bytes).is_err());
    fake.refuse_memory(io::ErrorKind::OutOfMemory);
    let error = device.open_area(2, 1).unwrap_err();
    assert!(
        matches!(&error, DeviceError::NoMemory(why) if why.contains("`ulimit -l`")),
        "{error}"
    );
}

#[test]
fn an_interrupt_ends_the_wait_and_is_cleared_before_anybody_looks() {
    let (device, fake) = device();
    let nic = ok(Nic::new(device));
    fake.done();
    fake.interrupt(0b1_0010);
    let mut looks = 0;
    ok(nic.wait_until("an event", Duration::from_secs(10), || {
        looks += 1;
        let cleared = fake.done().contains(&Done::Cleared(0b1_0010));
        assert_eq!(cleared, looks == 2);
        Ok(cleared)
    }));
    assert_eq!((looks, fake.waits()), (2, vec![Duration::from_millis(1)]));
}

#[test]
fn a_slower_nic_is_waited_for_longer() {
    let fake = Fake::new();
    let mut device = Vfio::new(fake.clone(), 50);
    let begun = std::time::Instant::now();
    ok(device.wait(Duration::from_micros(200)));
    let (passed, now) = (begun.elapsed(), device.now());
    assert!(passed >= Duration::from_millis(10) && now >= Duration::from_micros(200));
    assert!(now < passed, "{now:?} of {passed:?}");
    fake.interrupt(1);
    assert_eq!(device.wait_event(Duration::from_millis(1)), Ok(1));
    assert_eq!(fake.waits(), [Duration::from_millis(50)]);
}

#[test]
fn a_function_that_was_removed_is_said_to_be_gone() {
    let (mut device, fake) = device();
    fake.vanish();
    let error = device.read_register(0x1100).unwrap_err();
    assert!(matches!(error, DeviceError::Gone(_)), "{error}");
    let nic = Nic::new(device).expect_err("nobody is there");
    assert!(nic.to_string().contains("the device is gone"), "{nic}");
}

#[test]
fn places_without_a_nic_are_told_apart() {
    for (name, message) in [
        ("vfio:eth0", "`eth0` is no place on the PCI bus"),
        (
            "vfio:0000:00:03.0,slower=0",
            "`0000:00:03.0,slower=0` is no place on the PCI bus",
        ),
        (
            "vfio:ffff:ff:1f.7,slower=1000",
            "there is no PCI device ffff:ff:1f.7",
        ),
        ("vfio:ffff:ff:1f.7", "there is no PCI device ffff:ff:1f.7"),
    ] {
        let error = Nic::open(name).expect_err("there is none").to_string();
        assert!(error.contains(message), "{error}");
    }
}
