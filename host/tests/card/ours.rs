//! Our own driver in place of the public one: registers by calls, and events.

use crate::fake::Fake;
use crate::support::{card, ok, open, port};
use rustix::io::Errno;
use spinneret_host::chardev::Abilities;
use spinneret_host::{Device as _, DeviceError, Nic};
use spinneret_regmap::model::Variant;
use spinneret_regmap::{events, guard, her};
use std::time::Duration;

/// A machine on which nothing is in sysfs.
fn machine(extensions: bool, interrupts: bool) -> Fake {
    let fake = Fake::new(if extensions {
        Variant::Extended
    } else {
        Variant::DropIn
    });
    fake.driver().cards = 0;
    fake.driver().abilities = Some(Abilities {
        extensions,
        interrupts,
    });
    fake
}

#[test]
fn registers_are_calls_and_no_files() {
    let fake = machine(true, true);
    let nic = ok(Nic::new(ok(card(&fake))));
    let context = open(&nic, "count", &port(1));
    let opened = her::ctx_enabled(context.number()).expect("there is such a context");
    assert_eq!(nic.device().read_register(opened), Ok(1));
    assert_eq!(nic.device().read_register(guard::ENFORCE.offset), Ok(1));
    let everything = events::PENDING.bits.mask(0);
    assert_eq!(nic.device().read_register(events::ENABLE.offset), Ok(everything));
}

#[test]
fn a_card_has_the_registers_that_its_driver_says() {
    for (extensions, interrupts) in [(false, false), (true, false), (true, true)] {
        let card = ok(card(&machine(extensions, interrupts)));
        assert!(card.has_register(her::VALID.offset));
        assert_eq!(card.has_register(guard::ENFORCE.offset), extensions);
        assert_eq!(card.has_register(events::ENABLE.offset), interrupts);
        assert_eq!(card.has_events(), interrupts);
        assert!(!card.has_register(0x0ffc), "there is no such register");
    }
}

#[test]
fn events_end_a_wait() {
    let fake = machine(true, true);
    let mut card = ok(card(&fake));
    fake.driver().events = 0b10_0001;
    assert_eq!(card.wait_event(Duration::from_secs(3600)), Ok(0b10_0001));
    fake.driver().is_gone = true;
    let gone = card.wait_event(Duration::from_secs(3600));
    assert!(matches!(gone, Err(DeviceError::Gone(_))), "{gone:?}");
}

#[test]
fn a_card_without_interrupts_is_waited_for_by_time() {
    let mut card = ok(card(&machine(true, false))).slower(20);
    let begun = std::time::Instant::now();
    assert_eq!(card.wait_event(Duration::from_millis(1)), Ok(0));
    assert!(begun.elapsed() >= Duration::from_millis(20));
    assert!(card.now() < Duration::from_secs(1));
}

#[test]
fn a_node_that_another_program_has_is_in_use() {
    let fake = machine(true, true);
    fake.driver().open_fails = Some(Errno::BUSY);
    let error = card(&fake).unwrap_err().to_string();
    assert!(error.ends_with("is in use by another program"), "{error}");
}
