//! Messages of interrupts.

use crate::support::{Device, RAISE, ok, read, until};
use rustix::event::{EventfdFlags, eventfd};
use spinneret_pci::Personality;
use spinneret_regmap::pci;
use std::os::fd::{AsRawFd as _, OwnedFd};
use vfio_user::Client;

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
fn each_vector_signals_its_own_file() {
    let device = Device::new(Personality::OWN);
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
fn a_message_waits_for_who_takes_it() {
    let device = Device::new(Personality::OWN);
    let client = &mut device.client();
    raise(client, 3);
    raise(client, 3);
    until("it is pending", || word_of_pending(client) == 1 << 3);
    let taken = [event()];
    set(client, 3, &taken);
    assert_eq!(count(&taken[0]), 1, "one message, however often it was raised");
    assert_eq!(word_of_pending(client), 0);
    // A function that is no bus master sends no messages either.
    ok(client.region_write(7, 4, &[0b010]));
    raise(client, 3);
    until("it is pending", || word_of_pending(client) == 1 << 3);
    assert_eq!(count(&taken[0]), 0);
    ok(client.region_write(7, 4, &[0b110]));
    assert_eq!(count(&taken[0]), 1);
    // A reset forgets it.
    ok(client.region_write(7, 4, &[0b010]));
    raise(client, 3);
    until("it is pending", || word_of_pending(client) == 1 << 3);
    ok(client.reset());
    ok(client.region_write(7, 4, &[0b110]));
    assert_eq!([u64::from(word_of_pending(client)), count(&taken[0])], [0, 0]);
}

#[test]
fn mqnic_has_as_many_as_it_asks_for() {
    let device = Device::new(Personality::MQNIC);
    let client = &mut device.client();
    assert_eq!(
        [MSI, MSIX].map(|index| ok(client.get_irq_info(index)).count),
        [32, 0]
    );
}

#[test]
fn a_file_that_takes_nothing_holds_nobody_up() {
    let device = Device::new(Personality::OWN);
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
