//! Configuration space and BARs.

use crate::support::{CONFIG, Device, ok, read, word};
use proptest::prelude::*;
use spinneret_pci::Identity;
use spinneret_regmap::pci;
use vfio_user::Client;

/// Identifiers of capabilities (PCI Code and ID Assignment Specification).
const POWER: u8 = 0x01;
const MSI: u8 = 0x05;
const EXPRESS: u8 = 0x10;
const MSIX: u8 = 0x11;
/// Of the PCI Express capability: device capabilities with the bit for resets of the function, and device control.
const DEVICE_CAPABILITIES: u64 = 4;
const FUNCTION_RESET: u32 = 1 << 28;
const DEVICE_CONTROL: u64 = 8;

/// Where the capabilities are, as software finds them.
fn capabilities(client: &mut Client) -> Vec<(u8, u64)> {
    let [status]: [u8; 1] = read(client, CONFIG, 6);
    assert_ne!(status & 1 << 4, 0, "there is a list");
    let mut found = Vec::new();
    let [mut at]: [u8; 1] = read(client, CONFIG, 0x34);
    while at != 0 {
        assert!(
            at.is_multiple_of(4) && found.len() < 48,
            "{found:x?}, then {at:#x}"
        );
        let [id, next] = read(client, CONFIG, at.into());
        found.push((id, at.into()));
        at = next;
    }
    found
}

fn capability(client: &mut Client, id: u8) -> u64 {
    let found = capabilities(client);
    found
        .iter()
        .find(|(found, _)| *found == id)
        .expect("it is there")
        .1
}

/// Writes all ones to a BAR and reads it back, as software does to find its size.
fn sized(client: &mut Client, bar: u64) -> u32 {
    ok(client.region_write(CONFIG, 0x10 + 4 * bar, &[0xff; 4]));
    word(client, CONFIG, 0x10 + 4 * bar)
}

#[test]
fn the_function_has_the_ids_that_drivers_match() {
    let device = Device::new(Identity::OWN);
    let client = &mut device.client();
    let [vendor, id] = [pci::VENDOR, pci::DEVICE].map(u32::from);
    assert_eq!(word(client, CONFIG, 0), id << 16 | vendor);
    assert_eq!(
        word(client, CONFIG, 8),
        pci::CLASS << 8 | u32::from(pci::REVISION)
    );
    let subsystem = u32::from(pci::SUBSYSTEM) << 16 | u32::from(pci::SUBSYSTEM_VENDOR);
    assert_eq!(word(client, CONFIG, 0x2c), subsystem);
    let ids: Vec<u8> = capabilities(client).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, [POWER, EXPRESS, MSIX]);
    // 16 MiB with an address of 64 bits, and 4 KiB with one of 32.
    assert_eq!(
        [0, 1, 2, 3].map(|bar| sized(client, bar)),
        [0xff00_0004, 0xffff_ffff, 0xffff_f000, 0]
    );
    let express = capability(client, EXPRESS);
    assert_ne!(
        word(client, CONFIG, express + DEVICE_CAPABILITIES) & FUNCTION_RESET,
        0
    );
    let msix = capability(client, MSIX);
    assert_eq!(word(client, CONFIG, msix) >> 16 & 0x7ff, pci::VECTORS - 1);
    assert_eq!(word(client, CONFIG, msix + 4), pci::MSIX_TABLE | pci::MSIX_BAR);
    assert_eq!(word(client, CONFIG, msix + 8), pci::MSIX_PENDING | pci::MSIX_BAR);
    let sizes = [0, 1, 2, 6, 7, 8].map(|region| client.region(region).map(|region| region.size));
    assert_eq!(sizes, [1 << 24, 0, 4096, 0, 4096, 0].map(Some));
}

#[test]
fn mqnic_finds_its_register_blocks_and_the_application() {
    let device = Device::new(Identity::MQNIC);
    let client = &mut device.client();
    assert_eq!(word(client, CONFIG, 0), 0x1001_1234);
    let ids: Vec<u8> = capabilities(client).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, [POWER, EXPRESS, MSI]);
    assert_eq!(
        word(client, 0, 4),
        0x100,
        "not all ones: then it would need a reset"
    );
    let mut blocks = Vec::new();
    let mut at = 0;
    loop {
        let [kind, version, next] = [0, 4, 8].map(|offset| word(client, 0, at + offset));
        blocks.push((kind, version));
        at = next.into();
        if at == 0 || blocks.len() > 8 {
            break;
        }
    }
    assert_eq!(blocks, [(0xffff_ffff, 0x100), (0xc000, 0x100), (0xc005, 0x200)]);
    assert_eq!(word(client, 0, 0x110), 0, "interfaces");
    assert_eq!(word(client, 0, 0x20c), 0x1234_0100, "the application");
    ok(client.region_write(2, 0x20, &[1, 2, 3, 4]));
    assert_eq!(read(client, 2, 0x20), [1, 2, 3, 4]);
}

#[test]
fn bars_respond_only_when_enabled() {
    let device = Device::new(Identity::OWN);
    let client = &mut ok(Client::new(&device.path()));
    ok(client.region_write(0, 0x20, &[1, 2, 3, 4]));
    assert_eq!(word(client, 0, 0x20), u32::MAX);
    ok(client.region_write(CONFIG, 4, &[0b10]));
    assert_eq!(word(client, 0, 0x20), 0, "what was written before is not there");
}

#[test]
fn every_kind_of_reset_restores_the_initial_state() {
    let device = Device::new(Identity::OWN);
    let client = &mut device.client();
    let express = capability(client, EXPRESS);
    let reset_by_software = |client: &mut Client| {
        let [low, high]: [u8; 2] = read(client, CONFIG, express + DEVICE_CONTROL);
        ok(client.region_write(CONFIG, express + DEVICE_CONTROL, &[low, high | 0x80]));
    };
    let reset_of_the_bus = |client: &mut Client| ok(client.reset());
    for reset in [&reset_by_software as &dyn Fn(&mut Client), &reset_of_the_bus] {
        ok(client.region_write(CONFIG, 4, &[0b110, 0]));
        ok(client.region_write(0, 0x20, &[1, 2, 3, 4]));
        // Vector 1 is not masked any more.
        ok(client.region_write(2, 16 + 12, &[0; 4]));
        assert_eq!([word(client, 0, 0x20), word(client, 2, 28)], [0x0403_0201, 0]);
        reset(client);
        assert_eq!(
            read(client, CONFIG, 4),
            [0, 0],
            "it answers nothing and sends nothing"
        );
        assert_eq!(word(client, CONFIG, express + DEVICE_CONTROL) & 0x8000, 0);
        ok(client.region_write(CONFIG, 4, &[0b110, 0]));
        assert_eq!([word(client, 0, 0x20), word(client, 2, 28)], [0, 1]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Writes pieces of any size at any offset, and reads them back in pieces of any other size.
    #[test]
    fn accesses_of_any_size_affect_only_their_bytes(
        writes in prop::collection::vec((0..80_usize, prop::collection::vec(any::<u8>(), 1..20)), 1..8),
        start in 0..80_usize,
        bytes in 1..20_usize,
    ) {
        let device = Device::new(Identity::OWN);
        let client = &mut device.client();
        let mut expected = [0; 100];
        for (at, bytes) in writes {
            expected[at..at + bytes.len()].copy_from_slice(&bytes);
            ok(client.region_write(0, at as u64, &bytes));
        }
        let mut read = vec![0; bytes];
        ok(client.region_read(0, start as u64, &mut read));
        prop_assert_eq!(&read, &expected[start..start + bytes]);
    }
}
