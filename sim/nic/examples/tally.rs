//! A service of one's own: handlers tell how many bytes came to which port, and the host keeps the sums
//! (docs/host/services.md).

use spinneret_host::{Nic, Options, Program, Rule, Ruleset};
use spinneret_nic::Simulated;
use spinneret_nic::nic::NicConfig;
use spinneret_packets::udp;
use spinneret_rpc::{Offer, Services, Status, opcode};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

/// Sums by port.
#[spinneret_rpc::service(api = 64, prefix = "tally")]
pub(crate) trait Tally {
    /// Adds bytes to those of a port, and gives their sum.
    #[call(1)]
    fn add(&self, port: u16, bytes: u32) -> Result<u64, Status>;
}

/// The host's sums, by port.
#[derive(Debug, Default)]
pub(crate) struct Sums(RefCell<BTreeMap<u16, u64>>);

impl Tally for Rc<Sums> {
    fn add(&self, port: u16, bytes: u32) -> Result<u64, Status> {
        if port == 0 {
            return Err(Status::failed(1));
        }
        let mut sums = self.0.borrow_mut();
        let sum = sums.entry(port).or_default();
        *sum += u64::from(bytes);
        Ok(*sum)
    }
}

/// Sends packets to the ports, and gives the sums that handlers have told.
///
/// # Errors
/// If the handlers cannot be built, or the NIC fails.
pub(crate) fn count(ports: &[u16]) -> Result<BTreeMap<u16, u64>, Box<dyn std::error::Error>> {
    let handlers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/examples/tally");
    let program = Program::open(&spinneret_nic::run::program(&handlers, 2)?)?;
    let simulated = Simulated::new(NicConfig::default())?;
    let nic = Nic::new(simulated.clone())?;
    let rules = Ruleset::all().end_of_message(Rule::NEVER);
    let context = nic.open_context(&program, "tally", &rules, &Options::default())?;
    let sums = Rc::new(Sums::default());
    let mut services = Services::open(context, &Offer::default(), |server| {
        server.add(opcode::SPINNERET, Rc::new(TallyService::new(Rc::clone(&sums))));
    })?;
    for port in ports {
        simulated.borrow_mut().receive(udp(*port, &[0; 58]));
    }
    services.wait(Duration::from_millis(1))?;
    services.close()?;
    Ok(sums.0.take())
}

/// Prints the sums; or, with `--header`, what handlers include.
#[allow(dead_code)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    if std::env::args().any(|argument| argument == "--header") {
        print!("{}", tally::C_HEADER);
        return Ok(());
    }
    for (port, bytes) in count(&[7, 9, 7, 7, 9])? {
        println!("port {port}: {bytes} bytes");
    }
    Ok(())
}
