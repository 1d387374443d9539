//! A program with several handlers, and packets for them.

use spinneret_host::{Context, Device, Nic, Options, Program, Rule, Ruleset};
use spinneret_nic::Simulated;
use spinneret_nic::nic::{NicConfig, Out};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where the payload of a UDP packet begins.
pub(crate) const PAYLOAD: usize = 42;

pub(crate) fn ok<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}

/// A folder with handlers, below `runtime/`.
pub(crate) fn handlers(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../runtime")
        .join(folder)
}

pub(crate) fn program(folder: &str) -> Program {
    ok(Program::open(&ok(spinneret_nic::run::program(
        &handlers(folder),
        2,
    ))))
}

/// Handlers of four kinds.
pub(crate) fn contexts() -> Program {
    program("tests/contexts")
}

/// A NIC, and another hand on it.
pub(crate) fn nic() -> (Nic<Simulated>, Simulated) {
    let simulated = ok(Simulated::new(NicConfig::default()));
    (ok(Nic::new(simulated.clone())), simulated)
}

/// UDP packets to a port, each a message.
pub(crate) fn port(port: u16) -> Ruleset {
    Ruleset::all().rule(Rule::udp_destination_port(port, port))
}

pub(crate) fn open<D: Device>(nic: &Nic<D>, program: &Program, name: &str, rules: &Ruleset) -> Context<D> {
    ok(nic.open_context(program, name, rules, &Options::default()))
}

/// Packets come from the wire, slowly enough for all to be handled, and time passes until they are: what left for the
/// wire, and for the host.
pub(crate) fn exchange(nic: &Simulated, packets: impl IntoIterator<Item = Vec<u8>>) -> [Vec<Out>; 2] {
    let mut nic = nic.borrow_mut();
    for packet in packets {
        nic.receive(packet);
        let next = nic.now_ps() + 2_000_000;
        ok(nic.run_until(next));
    }
    let limit = nic.now_ps() + 10_000_000_000;
    assert!(ok(nic.run_until_idle(limit)), "packets stay on their way");
    let wire = std::iter::from_fn(|| nic.take_wire()).collect();
    [wire, std::iter::from_fn(|| nic.take_host()).collect()]
}

/// Longest that is waited for something.
pub(crate) const PATIENCE: Duration = Duration::from_millis(10);
