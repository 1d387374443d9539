//! The clusters as hardware: application and clusters in one Verilated model.
//!
//! ```text
//!  build.rs --texts, ports--> library(): Verilator, once --> libspinneret_nic.so --> Hardware
//!                                                                                      |
//!  Nic <--ClusterBackend-- RtlBackend <--State-- Observer: outputs, each clock  <------+
//!                              +------- Memories: a program is loaded at once, lines are read
//! ```
//!
//! The texts, one for each number of clusters, are in the program, so that an installation needs only Verilator, and that once. [`State`] makes the same events of
//! the outputs that the model of the cluster tells: a task begins with the read of its handler's address, and ends with an
//! access to the doorbell; its packet and handler are read from the words of the task when the driver gives it.
//!
//! Time passes without simulation while nothing moves at the application's ports, no packet is inside and every HPU waits for a
//! task, or has stopped. Cycle counters of HPUs do not count such time.

mod memories;
mod observer;
mod state;

use super::backend::{Activity, QUIET_CLOCKS};
use super::{ClusterBackend, Hardware, Names, NicError};
use crate::terminal::tell;
use memories::Memories;
use observer::Observer;
use spinneret_cluster::{Event, Profile, Program, Segment, TraceEntry};
use spinneret_sim::agent::Agent;
use spinneret_sim::model::{Direction, Instance, Model, ModelError, PortInfo};
use spinneret_sim::simulation::Simulation;
use spinneret_verilate::{Port, Progress, SharedModel};
use state::{CORES, State};
use std::cell::RefCell;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::{env, fmt};

include!(concat!(env!("OUT_DIR"), "/whole.rs"));

/// The hardware with some number of clusters.
struct Whole {
    clusters: usize,
    /// Name of the top module, and of the model.
    top: &'static str,
    /// Hash of all that a library is made of.
    key: &'static str,
    /// All modules, and the top module with both.
    text: &'static str,
    ports: &'static [PortInfo],
}

/// Seed of the initial values of registers without a reset.
const SEED: u64 = 1;
/// The file that says for which text a library was built.
const STAMP: &str = "text";

/// The hardware with that many clusters, after its library was built if necessary; with `waves` from a library that can write
/// waveforms.
///
/// # Errors
/// If there is none with that many, or if Verilator or the compiler is missing or fails.
pub fn hardware(clusters: usize, waves: bool) -> Result<Hardware, NicError> {
    let whole = MODELS.iter().find(|whole| whole.clusters == clusters);
    let whole = whole.ok_or(NicError::NoClusters { clusters })?;
    let library = library(whole, waves)?;
    let instance = Instance::load(&library, whole.top, whole.ports.to_vec(), SEED)?;
    Ok(Hardware::new(instance, Names::APPLICATION))
}

/// The library of the model. All processes build it only once.
fn library(whole: &Whole, waves: bool) -> Result<PathBuf, NicError> {
    let variant = if waves { "-waves" } else { "" };
    let folder = folder().join(format!("{}{variant}", whole.top));
    let library = folder.join(format!("lib{}.so", whole.top));
    let is_built =
        || fs::read_to_string(folder.join(STAMP)).is_ok_and(|key| key == whole.key) && library.is_file();
    if is_built() {
        return Ok(library);
    }
    fs::create_dir_all(&folder).map_err(|error| at(&folder, error))?;
    let lock = folder.with_extension("lock");
    let held = File::create(&lock).map_err(|error| at(&lock, error))?;
    held.lock().map_err(|error| at(&lock, error))?;
    if !is_built() {
        build(whole, &folder, waves)?;
        let stamp = folder.join(STAMP);
        fs::write(&stamp, whole.key).map_err(|error| at(&stamp, error))?;
    }
    Ok(library)
}

fn at(path: &Path, error: io::Error) -> NicError {
    NicError::Folder {
        path: path.to_owned(),
        error,
    }
}

fn build(whole: &Whole, folder: &Path, waves: bool) -> Result<(), NicError> {
    let (top, clusters) = (whole.top, whole.clusters);
    let purpose = if waves { ", for waveforms" } else { "" };
    tell(format_args!(
        "building the model of the hardware with clusters: {clusters}{purpose}, in {}: a minute or two, once",
        folder.display()
    ));
    let port = |port: &PortInfo| Port {
        name: port.name.to_owned(),
        input: port.direction == Direction::Input,
        width: port.width,
    };
    let shared = SharedModel {
        model: spinneret_verilate::Model {
            name: top.to_owned(),
            top: top.to_owned(),
            sources: vec![(format!("{top}.sv"), whole.text.to_owned())],
            ports: whole.ports.iter().map(port).collect(),
        },
        includes: Vec::new(),
        defines: Vec::new(),
        level: "-O3",
        waves,
    };
    spinneret_verilate::build_shared(&shared, folder, &|_: Progress| ())?;
    Ok(())
}

/// Where the library is: in the checkout that the program was built in, or in the user's cache.
fn folder() -> PathBuf {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if checkout.join("Cargo.toml").is_file() {
        return checkout.join("target/rtl");
    }
    let of_user = || {
        let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        cache.or_else(|| env::home_dir().map(|home| home.join(".cache")))
    };
    let cache = of_user().unwrap_or_else(env::temp_dir);
    cache.join(concat!("spinneret/rtl-", env!("CARGO_PKG_VERSION")))
}

/// Whether the hardware can have that many clusters.
pub(crate) fn has(clusters: usize) -> bool {
    MODELS.iter().any(|whole| whole.clusters == clusters)
}

/// The clusters of a [`hardware`].
pub struct RtlBackend {
    state: Rc<RefCell<State>>,
    activity: Rc<RefCell<Activity>>,
    memories: Memories,
}

impl RtlBackend {
    /// Observes the clusters; the cluster's clock is selected.
    ///
    /// # Errors
    /// If the design has no such ports.
    pub fn attach(
        sim: &mut Simulation<Hardware>,
        clusters: usize,
    ) -> Result<Box<dyn ClusterBackend>, ModelError> {
        let state = Rc::new(RefCell::new(State::new(clusters)));
        let observer = Observer::find(sim.dut.instance(), Rc::clone(&state))?;
        sim.attach(Rc::new(RefCell::new(observer)) as Rc<RefCell<dyn Agent>>);
        Ok(Box::new(Self {
            state,
            memories: Memories::find(sim.dut.instance())?,
            activity: Activity::attach(sim)?,
        }))
    }
}

impl fmt::Debug for RtlBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RtlBackend").finish_non_exhaustive()
    }
}

impl ClusterBackend for RtlBackend {
    fn is_quiet(&self) -> bool {
        self.activity.borrow().quiet() >= QUIET_CLOCKS && self.is_idle()
    }

    fn is_idle(&self) -> bool {
        self.state.borrow().is_idle()
    }

    fn starting(&self) -> usize {
        self.state.borrow().starting()
    }

    fn printed(&self) -> u64 {
        self.state.borrow().printed
    }

    fn skip(&mut self, clocks: u64) -> u64 {
        self.state.borrow_mut().now += clocks;
        clocks
    }

    fn next_clocks(&self) -> Option<u64> {
        (!self.is_idle()).then_some(1)
    }

    fn load(&mut self, dut: &mut Instance, program: &Program) -> bool {
        self.state.borrow_mut().set_program(program);
        self.memories.write(dut, &program.segments)
    }

    fn write(&mut self, dut: &mut Instance, segments: &[Segment]) -> bool {
        self.memories.write(dut, segments)
    }

    fn peek(&self, dut: &mut Instance, address: u32, bytes: u32) -> Option<Vec<u8>> {
        self.memories.peek(dut, address, bytes)
    }

    fn tells_contexts(&self) -> bool {
        true
    }

    fn shape(&self) -> [u32; 2] {
        [self.state.borrow().clusters() as u32, CORES as u32]
    }

    fn now(&self) -> u64 {
        self.state.borrow().now
    }

    fn hers(&self) -> u64 {
        self.state.borrow().hers
    }

    fn packets_inside(&self) -> [u64; 2] {
        self.state.borrow().packets_inside()
    }

    fn busy(&self) -> Vec<u64> {
        self.state.borrow().busy()
    }

    fn busy_hpus(&self) -> usize {
        self.state.borrow().busy_hpus()
    }

    fn queued(&self) -> usize {
        self.state.borrow().queued()
    }

    fn instructions(&self) -> u64 {
        self.state.borrow().instructions
    }

    fn refused(&self) -> u64 {
        self.state.borrow().refused
    }

    fn progress(&self) -> u64 {
        self.state.borrow().progress
    }

    fn enable_profile(&mut self) {
        let mut state = self.state.borrow_mut();
        state.profile = Some(Profile::new(state.hpus()));
    }

    fn profile(&self) -> Option<Profile> {
        self.state.borrow().profile.clone()
    }

    fn enable_trace(&mut self) {
        self.state.borrow_mut().trace = Some(Vec::new());
    }

    fn take_trace(&mut self) -> Vec<TraceEntry> {
        let mut state = self.state.borrow_mut();
        state.trace.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.state.borrow_mut().events)
    }
}
