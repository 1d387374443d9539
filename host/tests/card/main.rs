//! The host library on a card, whose driver is a fake that behaves as the public one, or whose PCI function is a fake.

mod contexts;
mod driver;
mod ether;
mod fake;
mod memory;
mod vfio;

use crate::driver::Books;
use crate::fake::{Fake, PSPIN, program};
use spinneret_host::chardev::{Card, CardError};
use spinneret_host::{Context, Nic, Options, Rule, Ruleset};
use spinneret_regmap::model::Variant;
use std::path::Path;

pub(crate) fn ok<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn card(fake: &Fake) -> Result<Card<Fake>, CardError> {
    Card::open(fake.clone(), Path::new(PSPIN))
}

/// A machine with the public driver, and its NIC.
pub(crate) fn nic() -> (Nic<Card<Fake>>, Fake) {
    let fake = Fake::new(Variant::DropIn);
    (ok(Nic::new(ok(card(&fake)))), fake)
}

/// UDP packets to a port.
pub(crate) fn port(port: u16) -> Ruleset {
    Ruleset::all()
        .rule(Rule::IPV4)
        .rule(Rule::udp_destination_port(port, port))
}

pub(crate) fn open(nic: &Nic<Card<Fake>>, name: &str, rules: &Ruleset) -> Context<Card<Fake>> {
    ok(nic.open_context(program(), name, rules, &Options::default()))
}

/// The driver's books, if that many have the file open, and host memory came and went that often.
pub(crate) fn books(open: u32, mapped: u32, unmapped: u32) -> Books {
    Books {
        open,
        mapped,
        unmapped,
    }
}
