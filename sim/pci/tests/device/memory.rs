//! DMA to and from memory of the guest.

use crate::support::{COPIED, Device, Raw, copy, guest_memory, ok, words};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use spinneret_pci::Identity;
use std::os::fd::AsRawFd as _;

const PAGE: u64 = 4096;
/// Code of Corundum for an unsupported request.
const UNSUPPORTED: u32 = 10;

#[test]
fn dma_moves_bytes_both_ways_and_nowhere_else() {
    let device = Device::new(Identity::OWN);
    let client = &mut device.client();
    let (file, memory) = guest_memory(4 * PAGE as usize);
    // A hole below 4 GiB, as virtual machines have it.
    ok(client.dma_map(0, 0, 2 * PAGE, file.as_raw_fd()));
    ok(client.dma_map(2 * PAGE, 1 << 32, 2 * PAGE, file.as_raw_fd()));
    let text: Vec<u8> = (1..=COPIED as u8).collect();
    memory.write(100, &text);
    assert_eq!(copy(client, 100, (1 << 32) + PAGE), 0);
    let mut all = vec![0; 4 * PAGE as usize];
    memory.read(0, &mut all);
    let mut expected = vec![0; 4 * PAGE as usize];
    expected[100..100 + COPIED].copy_from_slice(&text);
    expected[3 * PAGE as usize..][..COPIED].copy_from_slice(&text);
    assert!(all == expected);
}

#[test]
fn a_transfer_over_separately_mapped_pages_is_split() {
    let device = Device::new(Identity::OWN);
    let client = &mut device.client();
    let (file, memory) = guest_memory(64 * PAGE as usize);
    // In the opposite order of the file, as a virtual IOMMU may have them.
    for page in 0..64 {
        ok(client.dma_map(
            (63 - page) * PAGE,
            0x10_0000 + page * PAGE,
            PAGE,
            file.as_raw_fd(),
        ));
    }
    let text: Vec<u8> = (1..=COPIED as u8).collect();
    memory.write(63 * PAGE as usize, &text);
    // Page 32 of the addresses is page 31 of the file, and the next one page 30.
    assert_eq!(copy(client, 0x10_0000, 0x10_0000 + 33 * PAGE - 10), 0);
    let (mut before, mut after) = ([0; 10], [0; COPIED - 10]);
    memory.read((32 * PAGE - 10) as usize, &mut before);
    memory.read((30 * PAGE) as usize, &mut after);
    assert_eq!([&before[..], &after].concat(), text);
}

#[test]
fn unmapped_transfers_are_rejected_as_a_whole() {
    let device = Device::new(Identity::OWN);
    let client = &mut device.client();
    let (file, memory) = guest_memory(4 * PAGE as usize);
    ok(client.dma_map(0, PAGE, 3 * PAGE, file.as_raw_fd()));
    memory.write(0, &[7; COPIED]);
    let end = 4 * PAGE;
    for (from, to) in [
        (0, PAGE),
        (PAGE, end - 10),
        (end - 10, PAGE),
        (PAGE - 1, 2 * PAGE),
        (u64::MAX - 10, PAGE),
        (PAGE, u64::MAX - 10),
    ] {
        assert_eq!(copy(client, from, to), UNSUPPORTED, "{from:#x} to {to:#x}");
    }
    let mut tail = [9; 10];
    memory.read(3 * PAGE as usize - 10, &mut tail);
    assert_eq!(tail, [0; 10], "not even a part of it was written");
    // A part in the middle is taken away, and both sides stay.
    ok(client.dma_unmap(2 * PAGE, PAGE));
    assert_eq!(copy(client, PAGE, 3 * PAGE), 0);
    assert_eq!(copy(client, PAGE, 2 * PAGE), UNSUPPORTED);
    assert_eq!(copy(client, PAGE, 2 * PAGE - 10), UNSUPPORTED);
}

#[test]
fn a_function_that_is_not_bus_master_moves_nothing() {
    let device = Device::new(Identity::OWN);
    let client = &mut device.client();
    let (file, _) = guest_memory(PAGE as usize);
    ok(client.dma_map(0, 0, PAGE, file.as_raw_fd()));
    assert_eq!(copy(client, 0, 1024), 0);
    ok(client.region_write(7, 4, &[0b010]));
    assert_eq!(copy(client, 0, 1024), UNSUPPORTED);
    ok(client.region_write(7, 4, &[0b110]));
    assert_eq!(copy(client, 0, 1024), 0);
}

#[test]
fn memory_is_unmapped_with_its_client() {
    let device = Device::new(Identity::OWN);
    let (file, _) = guest_memory(PAGE as usize);
    let mut client = device.client();
    ok(client.dma_map(0, 0, PAGE, file.as_raw_fd()));
    assert_eq!(copy(&mut client, 0, 1024), 0);
    ok(client.shutdown());
    drop(client);
    crate::support::until("the next one is served", || {
        vfio_user::Client::new(&device.path()).is_ok()
    });
    assert_eq!(copy(&mut device.client(), 0, 1024), UNSUPPORTED);
}

/// A file that becomes shorter would end the device at its next access.
#[test]
fn a_file_that_can_shrink_is_not_mapped() {
    let device = Device::new(Identity::OWN);
    let client = &mut device.client();
    let file = ok(memfd_create("guest", MemfdFlags::CLOEXEC));
    ok(ftruncate(&file, PAGE));
    ok(client.dma_map(0, 0, PAGE, file.as_raw_fd()));
    assert_eq!(copy(client, 0, 1024), UNSUPPORTED);
    ok(ftruncate(&file, 0));
    assert_eq!(copy(client, 0, 1024), UNSUPPORTED);
}

/// The body of a request to map without a file.
fn map(address: u64, bytes: u64) -> Vec<u8> {
    let mut body = words(&[32, 3]);
    [0, address, bytes]
        .iter()
        .for_each(|long| body.extend(long.to_ne_bytes()));
    body
}

#[test]
fn impossible_mappings_get_an_error_number() {
    const EEXIST: u32 = 17;
    const EINVAL: u32 = 22;
    let device = Device::new(Identity::OWN);
    let mut raw = Raw::new(&device);
    for (address, bytes, error) in [
        (PAGE, 2 * PAGE, 0),
        (PAGE, 2 * PAGE, EEXIST),
        (0, PAGE + 1, EEXIST),
        (2 * PAGE, PAGE, EEXIST),
        (0, PAGE, 0),
        (8 * PAGE, 0, EINVAL),
        (u64::MAX, 2, EINVAL),
        (u64::MAX, 1, 0),
    ] {
        assert_eq!(
            raw.ask(2, &map(address, bytes)).0,
            error,
            "{bytes} bytes at {address:#x}"
        );
    }
    let mut unmap = words(&[24, 0]);
    [0, u64::MAX]
        .iter()
        .for_each(|long: &u64| unmap.extend(long.to_ne_bytes()));
    assert_eq!(raw.ask(3, &unmap).0, 0);
    assert_eq!(
        raw.ask(2, &map(PAGE, PAGE)).0,
        0,
        "all but the last byte is free again"
    );
    assert_eq!(raw.ask(2, &map(u64::MAX, 1)).0, EEXIST);
}
