//! Ranks of this process, each on its NIC of a fabric.

use molly::{Geometry, Traffic};
use molly_nic::{Host, Placed, run};
use spinneret_fabric::Faults;
use spinneret_fabric::topology::{ip_of, mac_of};
use spinneret_host::{Address, Nic};
use spinneret_mpi::Rank;
use spinneret_mpi::library::Config;
use spinneret_nic::mpi::{ExchangeError, HostLatencies, LatencyModel, Work, program, ranks};
use std::sync::Mutex;
use std::time::Duration;

/// The variable that says how many steps; with it, everything is run that there is.
const STEPS: &str = "MOLLY_NIC_STEPS";

/// One frame in a hundred is lost, one comes twice, one is overtaken.
pub(crate) const BAD: Faults = Faults {
    loss: 0.01,
    duplication: 0.01,
    reordering: 0.01,
    corruption: 0.0,
};

/// How many steps programs have.
pub(crate) fn steps() -> i64 {
    let told = std::env::var(STEPS).ok();
    told.map_or(2, |steps| steps.parse().expect("MOLLY_NIC_STEPS is a number"))
}

/// Whether everything is to be run that there is.
pub(crate) fn is_whole() -> bool {
    std::env::var_os(STEPS).is_some()
}

/// What ranks of a grid did.
#[derive(Debug)]
pub(crate) struct Done(Vec<(Traffic, Placed)>);

/// What instances and acts of hosts take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Costs {
    pub(crate) instance: Duration,
    pub(crate) prices: HostLatencies,
}

/// Time passes for messages only.
pub(crate) const FREE: Costs = Costs {
    instance: Duration::ZERO,
    prices: HostLatencies::NONE,
};

/// Runs a program on each rank of a grid, which compares what it owns with a serial run.
pub(crate) fn on_nics(
    grid: &str,
    faults: Faults,
    costs: Costs,
    each: impl Fn(&mut molly::Rank) -> molly::Result<Traffic> + Sync,
) -> Done {
    Done(try_on_nics(grid, faults, costs, each).unwrap_or_else(|error| panic!("on {grid}: {error}")))
}

/// The same with a program that gives something else, or fails.
pub(crate) fn try_on_nics<R: Send>(
    grid: &str,
    faults: Faults,
    costs: Costs,
    each: impl Fn(&mut molly::Rank) -> molly::Result<R> + Sync,
) -> Result<Vec<(R, Placed)>, ExchangeError> {
    let geometry = Geometry::parse(grid).unwrap();
    let handlers = program().unwrap_or_else(|error| panic!("{error}"));
    let address = |rank| Address {
        mac: mac_of(rank),
        ip: ip_of(rank),
    };
    let addresses: Vec<Address> = (0..geometry.ranks()).map(address).collect();
    let host = Host {
        patience: Duration::from_secs(1),
        instance: costs.instance,
    };
    let ended: Mutex<Vec<(R, Placed)>> = Mutex::default();
    let work = |own: usize| -> Work<'_> {
        let (geometry, handlers, addresses, ended, each) = (&geometry, &handlers, &addresses, &ended, &each);
        Box::new(move |nic| {
            let nic = Nic::new(LatencyModel::new(nic.clone()))?;
            let world = (own, (0..addresses.len()).collect());
            let rank = Rank::new(&nic, handlers, addresses, world, Config::default())?;
            nic.device().set_latencies(costs.prices);
            let done = run(rank, geometry, host, |rank| each(rank));
            let done = done.map_err(|error| ExchangeError::Wrong(error.to_string()))?;
            ended.lock().unwrap().push((done.result, done.placed));
            Ok(())
        })
    };
    let works = (0..geometry.ranks()).map(work).collect();
    ranks(faults, 20, 2, works)?;
    Ok(ended.into_inner().unwrap())
}

impl Done {
    fn sum(&self, of: fn(&(Traffic, Placed)) -> u64) -> u64 {
        self.0.iter().map(of).sum()
    }

    /// All messages were put in place by NICs, and nothing by hosts; there are so many.
    pub(crate) fn is_placed(&self, messages: u64) {
        let [sent, placed] = [
            self.sum(|(traffic, _)| traffic.messages),
            self.sum(|(_, placed)| placed.messages),
        ];
        assert_eq!([sent, placed], [messages; 2], "sent, and put in place by NICs");
        assert_eq!(
            self.sum(|(_, placed)| placed.bytes),
            self.sum(|(traffic, _)| traffic.bytes)
        );
        let by_hosts = self.sum(|(traffic, placed)| traffic.unpacked + placed.unpacked);
        assert_eq!(by_hosts, 0, "bytes put in place by hosts");
    }

    /// Bytes of all messages.
    pub(crate) fn bytes(&self) -> u64 {
        self.sum(|(traffic, _)| traffic.bytes)
    }

    /// Simulated time of a step, in microseconds.
    pub(crate) fn step_us(&self, steps: i64) -> f64 {
        let longest = self.0.iter().map(|(_, placed)| placed.time).max();
        longest.unwrap_or_default().as_secs_f64() * 1e6 / steps as f64
    }
}
