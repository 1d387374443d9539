//! Clients that do not behave, and those who come after them.

use crate::support::{Device, RAISE, Raw, ok, read, until, words};
use rustix::event::{EventfdFlags, eventfd};
use spinneret_pci::Identity;
use spinneret_regmap::pci;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::time::{Duration, Instant};
use vfio_user::Client;

const EBUSY: u32 = 16;
const EINVAL: u32 = 22;
const EOPNOTSUPP: u32 = 95;
const NO_REPLY: u32 = 1 << 4;

#[test]
fn a_second_client_is_told_that_the_device_is_in_use() {
    let device = Device::new(Identity::OWN);
    let mut first = Raw::new(&device);
    let mut second = Raw::connect(&device);
    assert_eq!(second.ask(1, &[0, 0, 1, 0]).0, EBUSY);
    assert_eq!(second.answer(), None, "that is all it hears");
    assert_eq!(first.ask(4, &[0; 16]).0, 0, "the first one has it still");
    drop(first);
    until("it is free again", || Client::new(&device.path()).is_ok());
}

#[test]
fn a_client_with_invalid_messages_is_dropped_and_the_next_is_served() {
    let device = Device::new(Identity::OWN);
    let header = Raw::header;
    for nonsense in [
        header(1, 15, 0),
        header(1, 1 << 20, 0),
        header(1, u32::MAX, 0),
        header(1, 16, 1),
        header(9, 32, 0).into_iter().chain([0; 16]).collect(),
        header(99, 16, 0),
        vec![0xff; 64],
    ] {
        let mut raw = Raw::connect(&device);
        raw.send(&nonsense);
        assert_eq!(raw.answer(), None, "{nonsense:x?}");
    }
    // Another version is refused first.
    let mut raw = Raw::connect(&device);
    assert_eq!(raw.ask(1, &[1, 0, 0, 0]).0, EINVAL);
    assert_eq!(raw.answer(), None);
    Raw::new(&device);
}

#[test]
fn unsupported_requests_get_an_error_number() {
    let device = Device::new(Identity::OWN);
    let mut raw = Raw::new(&device);
    // Files for accesses, DMA by messages, dirty pages, several writes at once, features, migration.
    for command in [0, 6, 11, 12, 14, 15, 16, 17, 18, 99, u16::MAX] {
        assert_eq!(raw.ask(command, &[0; 32]).0, EOPNOTSUPP, "{command}");
    }
    let access = |offset: u64, region: u32, count: u32| {
        [offset.to_ne_bytes().to_vec(), words(&[region, count])].concat()
    };
    for body in [
        access(0, 9, 4),
        access(0, 1, 4),
        access(1 << 24, 0, 4),
        access((1 << 24) - 2, 0, 4),
        access(u64::MAX, 0, 4),
        access(0, 0, 0),
        access(0, 0, 4097),
        access(0, 0, u32::MAX),
        access(4094, 7, 4),
        vec![0; 15],
        Vec::new(),
    ] {
        assert_eq!(raw.ask(9, &body).0, EINVAL, "{body:x?}");
        assert_eq!(raw.ask(10, &[&body[..], &[0; 4]].concat()).0, EINVAL, "{body:x?}");
    }
    assert_eq!(
        raw.ask(10, &[access(0, 0, 8), vec![0; 4]].concat()).0,
        EINVAL,
        "too little"
    );
    for command in [5, 7] {
        assert_eq!(raw.ask(command, &words(&[32, 0, 9, 0, 0, 0, 0, 0])).0, EINVAL);
    }
    for body in [
        [20, 0b10_0100, 9, 0, 1],
        [20, 0b10_0100, 2, 0, 7],
        [20, 0b10_0100, 2, u32::MAX, 1],
        [20, 0b10_0010, 2, 0, 1],
        [20, 0b00_1001, 2, 0, 1],
        [20, 0b10_0100, 1, 0, 1],
    ] {
        assert_eq!(raw.ask(8, &words(&body)).0, EINVAL, "{body:?}");
    }
    assert_eq!(raw.ask(4, &[0; 16]).0, 0, "it goes on");
}

#[test]
fn posted_writes_are_executed_in_order() {
    let device = Device::new(Identity::OWN);
    let mut raw = Raw::new(&device);
    raw.ask(
        10,
        &[4_u64.to_ne_bytes().to_vec(), words(&[7, 1]), vec![0b10]].concat(),
    );
    let mut sent = Vec::new();
    for value in 0..1000_u32 {
        let body = [0x20_u64.to_ne_bytes().to_vec(), words(&[0, 4, value])].concat();
        sent.extend(Raw::header(10, 16 + body.len() as u32, NO_REPLY));
        sent.extend(body);
    }
    // In pieces that are no messages.
    for piece in sent.chunks(777) {
        raw.send(piece);
    }
    let read = raw.ask(9, &[0x20_u64.to_ne_bytes().to_vec(), words(&[0, 4])].concat());
    assert_eq!(read.1[16..], 999_u32.to_le_bytes());
}

#[test]
fn a_client_that_does_not_read_replies_is_dropped() {
    let device = Device::new(Identity::OWN);
    let mut raw = Raw::new(&device);
    ok(raw.0.set_write_timeout(Some(Duration::from_secs(20))));
    let read = [0_u64.to_ne_bytes().to_vec(), words(&[7, 4096])].concat();
    let request = [Raw::header(9, 32, 0), read].concat();
    let begun = Instant::now();
    use std::io::Write as _;
    while raw.0.write_all(&request).is_ok() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it is still served");
    }
    Raw::new(&device);
}

#[test]
fn a_silent_client_does_not_block_the_device() {
    let device = Device::new(Identity::OWN);
    let mut silent = Raw::connect(&device);
    std::thread::sleep(Duration::from_millis(10));
    assert_eq!(Raw::connect(&device).ask(1, &[0, 0, 1, 0]).0, EBUSY);
    assert_eq!(silent.answer(), None, "it is dropped after a while");
    Raw::new(&device);
}

const MSI: u32 = 1;
const MSIX: u32 = 2;
/// Flags of a request: without data, with files, both about sending messages.
const NONE: u32 = 0b10_0001;
const FILES: u32 = 0b10_0100;

fn event() -> OwnedFd {
    ok(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC))
}

/// How often it was signalled since the last time.
fn count(event: &OwnedFd) -> u64 {
    let mut bytes = [0; 8];
    rustix::io::read(event, &mut bytes).map_or(0, |_| u64::from_ne_bytes(bytes))
}

fn raise(client: &mut Client, vector: u32) {
    ok(client.region_write(0, RAISE, &vector.to_le_bytes()));
}

fn set(client: &mut Client, start: u32, events: &[OwnedFd]) {
    let files: Vec<_> = events.iter().map(|event| event.as_raw_fd()).collect();
    ok(client.set_irqs(MSIX, FILES, start, events.len() as u32, &files));
}

#[test]
fn each_vector_signals_its_own_eventfd() {
    let device = Device::new(Identity::OWN);
    let client = &mut device.client();
    let counts = [0, MSI, MSIX, 3, 4].map(|index| ok(client.get_irq_info(index)).count);
    assert_eq!(counts, [0, 0, pci::VECTORS, 0, 0]);
    let events: Vec<OwnedFd> = (0..pci::VECTORS).map(|_| event()).collect();
    set(client, 0, &events);
    for vector in 0..pci::VECTORS {
        raise(client, vector);
        until("it comes", || count(&events[vector as usize]) == 1);
        assert!(events.iter().all(|event| count(event) == 0), "no other came");
    }
    raise(client, pci::VECTORS);
    // A virtual machine that tests its interrupts.
    ok(client.set_irqs(MSIX, NONE, 1, 2, &[]));
    until("they come", || count(&events[1]) == 1);
    until("they come", || count(&events[2]) == 1);
    ok(client.set_irqs(MSIX, NONE, 0, 0, &[]));
    raise(client, 0);
    until("it is pending", || word_of_pending(client) == 1);
    assert_eq!(count(&events[0]), 0, "they are switched off");
}

fn word_of_pending(client: &mut Client) -> u8 {
    let [pending]: [u8; 1] = read(client, pci::MSIX_BAR, pci::MSIX_PENDING.into());
    pending
}

#[test]
fn a_pending_interrupt_waits_for_an_eventfd() {
    let device = Device::new(Identity::OWN);
    let client = &mut device.client();
    // Interrupts are raised in order, so the last one, which stays pending, tells that those before it were raised.
    for vector in [3, 3, 2] {
        raise(client, vector);
    }
    until("they are pending", || word_of_pending(client) == 0b1100);
    let taken = [event()];
    set(client, 3, &taken);
    assert_eq!(count(&taken[0]), 1, "one message, however often it was raised");
    assert_eq!(word_of_pending(client), 0b100);
    // A function that is no bus master sends no messages either.
    ok(client.region_write(7, 4, &[0b010]));
    raise(client, 3);
    until("it is pending", || word_of_pending(client) == 0b1100);
    assert_eq!(count(&taken[0]), 0);
    ok(client.region_write(7, 4, &[0b110]));
    assert_eq!(count(&taken[0]), 1);
    // A reset forgets it.
    ok(client.region_write(7, 4, &[0b010]));
    raise(client, 3);
    until("it is pending", || word_of_pending(client) == 0b1100);
    ok(client.reset());
    ok(client.region_write(7, 4, &[0b110]));
    assert_eq!([u64::from(word_of_pending(client)), count(&taken[0])], [0, 0]);
}

#[test]
fn mqnic_gets_the_vectors_that_it_requests() {
    let device = Device::new(Identity::MQNIC);
    let client = &mut device.client();
    assert_eq!(
        [MSI, MSIX].map(|index| ok(client.get_irq_info(index)).count),
        [32, 0]
    );
}

#[test]
fn a_full_eventfd_does_not_block() {
    let device = Device::new(Identity::OWN);
    let client = &mut device.client();
    let full = ok(eventfd(0, EventfdFlags::CLOEXEC));
    ok(rustix::io::write(&full, &(u64::MAX - 1).to_ne_bytes()));
    let (reader, writer) = ok(rustix::pipe::pipe());
    set(client, 0, &[full, writer, reader]);
    for vector in [0, 1, 2].repeat(3) {
        raise(client, vector);
    }
    assert_eq!(read(client, 7, 0), pci::VENDOR.to_le_bytes(), "it goes on");
}
