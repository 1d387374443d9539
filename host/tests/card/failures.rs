//! What goes wrong on a machine with a card, and what is said about it.

use crate::fake::Fake;
use crate::program::program;
use crate::support::{books, card, nic, ok, open, port};
use rustix::io::Errno;
use spinneret_host::chardev::{Card, CardError};
use spinneret_host::{Device as _, DeviceError, ErrorKind, Nic, Options};
use spinneret_regmap::model::Variant;
use spinneret_regmap::{cl, her_meta, me};
use std::path::Path;

/// The message of a card that cannot be opened, after something was changed.
fn refused(change: impl FnOnce(&Fake)) -> String {
    let fake = Fake::new(Variant::DropIn);
    change(&fake);
    let error = card(&fake).unwrap_err().to_string();
    assert_eq!(fake.driver().books.open, 0, "the file is closed again");
    error
}

#[test]
fn what_cannot_be_opened_is_said_with_what_to_do() {
    let fails = |error| refused(|fake| fake.driver().open_fails = Some(error));
    assert!(fails(Errno::NOENT).starts_with("there is no /dev/pspin0: load the driver with `modprobe"));
    let permission = fails(Errno::ACCESS);
    assert!(
        permission.contains("run as root, or let a udev rule") && permission.contains("GROUP="),
        "{permission}"
    );
    assert_eq!(
        fails(Errno::WOULDBLOCK),
        "the card at /dev/pspin0 is in use by another program"
    );
    assert!(fails(Errno::MFILE).starts_with("/dev/pspin0 cannot be opened: "));
    let none = refused(|fake| fake.driver().cards = 0);
    assert!(
        none.contains("load the drivers mqnic and mqnic_app_pspin"),
        "{none}"
    );
    assert!(refused(|fake| fake.driver().cards = 2).starts_with("there are 2 cards"));
    let other = Fake::new(Variant::DropIn);
    let error = Card::open(other, Path::new("/dev/pspin1")).unwrap_err();
    assert!(matches!(error, CardError::NoFile(_)), "{error}");
}

#[test]
fn a_card_has_one_owner_at_a_time() {
    let (nic, fake) = nic();
    let error = card(&fake).unwrap_err();
    assert!(matches!(error, CardError::Busy(_)), "{error}");
    drop(nic);
    let other = ok(fake.driver().map(0, 4096));
    let error = card(&fake).unwrap_err().to_string();
    assert!(
        error.contains("host memory of context 0 at /dev/pspin0 is mapped already"),
        "{error}"
    );
    drop(other);
    fake.driver().unmap(0);
    ok(Nic::new(ok(card(&fake))));
}

#[test]
fn host_memory_that_cannot_be_had_leaves_no_context() {
    for (error, wanted) in [
        (
            Errno::NOMEM,
            "not enough memory: the kernel has no 1048576 bytes in one piece",
        ),
        (
            Errno::AGAIN,
            "host memory of context 0 is in use by another program",
        ),
        (Errno::IO, "as published it maps that of context 0 only"),
    ] {
        let (nic, fake) = nic();
        fake.driver().mapping_fails = Some(error);
        let refused = nic.open_context(program(), "count", &port(1), &Options::default());
        let message = refused.unwrap_err().to_string();
        assert!(message.starts_with("Nic::open_context, context 0: "), "{message}");
        assert!(message.contains(wanted), "{message}");
        assert_eq!(fake.driver().books.mapped, 0);
        fake.driver().mapping_fails = None;
        fake.driver().areas[0] = None;
        assert_eq!(open(&nic, "count", &port(1)).number(), 0);
    }
}

#[test]
fn what_the_driver_refuses_is_said_with_the_register() {
    let (nic, fake) = nic();
    let context = open(&nic, "count", &port(1));
    // Somebody else writes to sysfs, which nothing can prevent.
    let size = her_meta::offset("host_mem_size", 0).expect("it is there");
    fake.driver().registers.write(size, 1, 0xf);
    let mut device = nic.device();
    assert!(matches!(
        device.write_register(me::mask(0, 0).expect("it is there"), 1),
        Err(DeviceError::Refused(_))
    ));
    drop(device);
    let error = context.close().unwrap_err().to_string();
    assert!(
        error.starts_with("Context::close, context 0: write of register her.valid (0x3000) failed"),
        "{error}"
    );
    assert!(error.contains("dmesg"), "{error}");
    assert_eq!(
        fake.driver().registers.value(cl::AUX_RESET),
        Some(1),
        "memory is freed after the handlers"
    );
    assert_eq!(fake.driver().books, books(1, 1, 1));
    ok(open(&nic, "count", &port(1)).close());
}

#[test]
fn a_driver_that_goes_is_noticed_everywhere() {
    let (nic, fake) = nic();
    let context = open(&nic, "count", &port(1));
    let total = ok(context.variable("total"));
    let host = context.host_memory();
    fake.driver().is_gone = true;
    let is_gone = |error: spinneret_host::Error| {
        let gone = match &error.kind {
            ErrorKind::Register { source, .. } | ErrorKind::Cluster { source, .. } => source,
            kind => panic!("{kind}"),
        };
        assert!(matches!(gone, DeviceError::Gone(_)), "{error}");
    };
    is_gone(total.load::<u32>(0).unwrap_err());
    is_gone(total.store(0, 1_u32).unwrap_err());
    is_gone(nic.stdout().lines().unwrap_err());
    is_gone(context.set_ruleset(&port(2)).unwrap_err());
    ok(host.load::<u32>(0));
    is_gone(context.close().unwrap_err());
    drop((total, host, nic));
    assert_eq!(fake.driver().books, books(0, 1, 1));
}

#[test]
fn a_read_that_ends_early_does_not_go_on_for_ever() {
    let (nic, fake) = nic();
    let context = open(&nic, "count", &port(1));
    fake.driver().longest = 3;
    let error = ok(context.variable("total"))
        .load::<u32>(0)
        .unwrap_err()
        .to_string();
    assert!(error.ends_with("the driver's read ends early"), "{error}");
}

#[test]
fn signals_interrupt_nothing() {
    let (nic, fake) = nic();
    fake.driver().interrupted = 2;
    let context = open(&nic, "copy", &port(1));
    ok(ok(context.variable("step")).load::<u64>(0));
    ok(context.close());
    assert_eq!(fake.driver().books, books(1, 1, 1));
}
