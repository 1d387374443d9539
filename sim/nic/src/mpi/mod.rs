//! Messages of MPI datatypes between two ranks, each with its NIC, in one fabric of this process, and what the
//! receiving host can compute meanwhile.
//!
//! ```text
//! ranks: a library on each NIC
//!    |
//! types ----> exchange: buffers, every byte compared <---- tests, `./dev experiments`, `./dev bench mpi`
//! priced: what the host does takes time
//!    +------> overlap: {multiply, look} while messages come, by the paper's rule
//! ```

mod exchange;
mod overlap;
mod priced;

pub use exchange::{Exchange, Exchanged, FILL, GUARD, LIMIT, exchange, room};
pub use overlap::{Alone, Multiplication, Overlapped, Trial, overlap};
pub use priced::{HostAccesses, HostLatencies, LatencyModel};

use crate::device::Simulated;
use crate::fabric::{Hosted, run_programs};
use crate::installed::{DataError, example};
use crate::nic::NicConfig;
use crate::run;
use crate::run::BuildError;
use spinneret_cluster::{Program, ProgramError};
use spinneret_fabric::topology::{Simple, ip_of, mac_of};
use spinneret_fabric::{FabricError, Faults, NodeExit, Settings, TopologyError};
use spinneret_host::{Address, Nic};
use spinneret_mpi::library::{Config, Library};
use spinneret_mpi::{Layout, LayoutError};
use spinneret_mpi_sys::{Bounds, Combiner, Datatype, Error, Mpi, Tree};

/// A rank of MPI.
pub type Rank = Library<LatencyModel<Simulated>>;

/// A program of a rank, on its NIC.
pub type Work<'p> = Box<dyn FnOnce(&Simulated) -> Result<(), ExchangeError> + Send + 'p>;

/// Errors of an exchange.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// The library.
    #[error(transparent)]
    Mpi(#[from] spinneret_mpi::library::Error),
    /// The NIC.
    #[error(transparent)]
    Host(#[from] spinneret_host::Error),
    /// A type.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The handlers were not found.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The handlers cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Their program cannot be read.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The cable is not valid.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// The simulation.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// Received data is wrong or missing.
    #[error("{0}")]
    Wrong(String),
}

/// The handlers.
///
/// # Errors
/// If they cannot be built.
pub fn program() -> Result<Program, ExchangeError> {
    let elf = run::program(&example("mpi_types")?, NicConfig::default().cluster.clusters)?;
    Ok(Program::open(&elf)?)
}

/// The library on a NIC of a fabric with that many ranks.
///
/// # Errors
/// If the library cannot be opened.
pub fn rank_on(
    nic: &Simulated,
    program: &Program,
    ranks: usize,
    config: Config,
) -> Result<Rank, ExchangeError> {
    let address = |number| Address {
        mac: mac_of(number),
        ip: ip_of(number),
    };
    let ranks: Vec<Address> = (0..ranks).map(address).collect();
    let nic = Nic::new(LatencyModel::new(nic.clone()))?;
    Ok(Library::open(&nic, program, &ranks, config)?)
}

/// Runs a program on each NIC, that many NICs in parallel.
///
/// # Errors
/// If one of them fails.
pub fn ranks(
    faults: Faults,
    seed: u64,
    threads: usize,
    programs: Vec<Work<'_>>,
) -> Result<(), ExchangeError> {
    ranks_on(&NicConfig::default(), faults, seed, threads, programs)
}

/// The same on NICs of this configuration.
///
/// # Errors
/// As [`ranks`].
pub fn ranks_on(
    nic: &NicConfig,
    faults: Faults,
    seed: u64,
    threads: usize,
    programs: Vec<Work<'_>>,
) -> Result<(), ExchangeError> {
    let topology = Simple {
        nics: programs.len(),
        faults,
        seed,
        ..Simple::default()
    };
    let programs = programs.into_iter().map(|program| {
        Box::new(move |nic: &Simulated| {
            // A rank that another's failure has stopped is not the cause.
            program(nic).map_err(|error| match nic.borrow().is_stopped() {
                true => NodeExit::Stopped(spinneret_fabric::Stopped),
                false => NodeExit::Failed(error.to_string()),
            })
        }) as Hosted<'_>
    });
    let settings = Settings {
        threads,
        ..Settings::default()
    };
    run_programs(&topology.topology()?, nic, settings, programs.collect())?;
    Ok(())
}

/// Bytes of `MPI_FLOAT`.
const FLOAT_BYTES: i64 = 4;

/// A type of Figure 9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum PaperType {
    /// One run.
    Simple,
    /// From the application MILC: runs in strides of four levels. It overlaps itself.
    Complex,
}

/// A constructor of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constructor {
    /// `MPI_Type_contiguous`.
    Contiguous,
    /// `MPI_Type_vector`, with a stride in extents.
    Vector,
    /// `MPI_Type_create_hvector`, with a stride in bytes.
    Hvector,
}

/// One step of the construction of the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The constructor.
    pub constructor: Constructor,
    /// Number of blocks.
    pub count: i64,
    /// Elements of a block.
    pub block: i64,
    /// Stride, in the unit of the constructor.
    pub stride: i64,
}

impl Step {
    const fn contiguous(count: i64) -> Self {
        Self {
            constructor: Constructor::Contiguous,
            count,
            block: 1,
            stride: 1,
        }
    }

    const fn hvector(count: i64, stride: i64) -> Self {
        Self {
            constructor: Constructor::Hvector,
            count,
            block: 1,
            stride,
        }
    }

    /// As text in terms of MPI.
    pub fn words(&self) -> String {
        let Self {
            count, block, stride, ..
        } = self;
        match self.constructor {
            Constructor::Contiguous => format!("contiguous({count})"),
            Constructor::Vector => format!("vector({count}, {block}, {stride})"),
            Constructor::Hvector => format!("hvector({count}, {block}, {stride} B)"),
        }
    }

    fn of(&self, child: Tree) -> Tree {
        let Self {
            count, block, stride, ..
        } = *self;
        let (combiner, integers, addresses, stride) = match self.constructor {
            Constructor::Contiguous => (Combiner::Contiguous, vec![count], vec![], child.bounds.extent),
            Constructor::Vector => (
                Combiner::Vector,
                vec![count, block, stride],
                vec![],
                stride * child.bounds.extent,
            ),
            Constructor::Hvector => (Combiner::Hvector, vec![count, block], vec![stride], stride),
        };
        let size = count * block * child.bounds.size;
        let extent = (count - 1) * stride + block * child.bounds.extent;
        tree(combiner, integers, addresses, child, size, extent)
    }
}

impl PaperType {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Simple, Self::Complex];

    /// The paper's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Complex => "complex",
        }
    }

    /// The construction from `MPI_FLOAT`, from the inside.
    pub fn steps(self) -> &'static [Step] {
        const SIMPLE: [Step; 1] = [Step::contiguous(27_648)];
        const COMPLEX: [Step; 5] = [
            Step::contiguous(18),
            Step {
                constructor: Constructor::Vector,
                count: 32,
                block: 6,
                stride: 8,
            },
            Step::hvector(2, 6144),
            Step::hvector(2, 12_288),
            Step::hvector(2, 18_432),
        ];
        match self {
            Self::Simple => &SIMPLE,
            Self::Complex => &COMPLEX,
        }
    }

    /// The type after each step; strides are positive, so no bound is below 0.
    pub fn stages(self) -> Vec<Tree> {
        let mut stages = Vec::new();
        let mut inner = bytes(FLOAT_BYTES);
        for step in self.steps() {
            inner = step.of(inner);
            stages.push(inner.clone());
        }
        stages
    }

    /// That many elements.
    ///
    /// # Errors
    /// Never: the types have layouts.
    pub fn layout(self, count: u64) -> Result<Layout, LayoutError> {
        let inner = self.stages().pop().unwrap_or_else(|| bytes(FLOAT_BYTES));
        Layout::of(&inner, count)
    }

    /// The type in an MPI.
    ///
    /// # Errors
    /// If it refuses.
    pub fn datatype(self, mpi: &Mpi) -> Result<Datatype, Error> {
        let float = mpi.named("MPI_FLOAT")?;
        self.steps()
            .iter()
            .try_fold(float, |inner, step| match step.constructor {
                Constructor::Contiguous => inner.contiguous(step.count),
                Constructor::Vector => inner.vector(step.count, step.block, step.stride),
                Constructor::Hvector => inner.hvector(step.count, step.block, step.stride),
            })
    }
}

fn tree(
    combiner: Combiner,
    integers: Vec<i64>,
    addresses: Vec<i64>,
    child: Tree,
    size: i64,
    extent: i64,
) -> Tree {
    Tree {
        combiner,
        integers,
        addresses,
        children: vec![child],
        name: None,
        bounds: bounds(size, extent),
    }
}

fn bounds(size: i64, extent: i64) -> Bounds {
    Bounds {
        size,
        lower_bound: 0,
        extent,
        true_lower_bound: 0,
        true_extent: extent,
    }
}

/// A contiguous type of that many bytes.
pub fn bytes(count: i64) -> Tree {
    Tree {
        combiner: Combiner::Named,
        integers: Vec::new(),
        addresses: Vec::new(),
        children: Vec::new(),
        name: None,
        bounds: bounds(count, count),
    }
}

/// Repeats a type at a stride in bytes, with the extent for further repetition.
pub fn hvector(count: i64, stride: i64, child: Tree, extent: i64) -> Tree {
    tree(Combiner::Hvector, vec![count, 1], vec![stride], child, 0, extent)
}

/// Blocks of (length, start in bytes) of a type.
pub fn hindexed(blocks: &[(i64, i64)], child: Tree, extent: i64) -> Tree {
    let mut integers = vec![blocks.len() as i64];
    integers.extend(blocks.iter().map(|block| block.0));
    let starts = blocks.iter().map(|block| block.1).collect();
    tree(Combiner::Hindexed, integers, starts, child, 0, extent)
}

/// Blocks with gaps of the same size between them.
///
/// # Errors
/// Never: it has a layout.
pub fn blocks(block: i64, total: i64) -> Result<Layout, LayoutError> {
    Layout::of(&hvector(total / block, 2 * block, bytes(block), 0), 1)
}
