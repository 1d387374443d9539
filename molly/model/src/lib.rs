//! Affine loop nests over fields, distributed over ranks: from a description of loops ([`Program`]) and numbers ([`Sizes`],
//! [`Geometry`]) to what each rank does ([`Plan`]), with every message between ranks and exactly the elements it has to
//! carry. Nothing here reads, writes or sends anything.
//!
//! After Michael Kruse, "Introducing Molly: Distributed Memory Parallelization with LLVM" (2014), with merged messages,
//! exact sets, and remote values next to a rank's own.
//!
//! Why a plan is right, in three sentences. A channel's chunk is everything that is read where time begins with some prefix,
//! and all of it was written where time begins with smaller ones. So when a chunk is received, each of its values is what the
//! element has in a serial run at this time, and stays so until the reader of the chunk has read it. Ranks execute their
//! instances in the order of the serial run, so an element that a rank reads always has the serial run's value.

mod channels;
mod expressions;
mod flow;
mod geometry;
mod lifetime;
mod nest;
mod order;
mod overlap;
mod pipeline;
mod plan;
mod program;
mod scan;
mod schedule;
mod storage;
mod summary;
mod tree;
mod versions;

pub use channels::Channel;
pub use expressions::{Op, Value};
pub use flow::{Flow, Level};
pub use geometry::Geometry;
pub use lifetime::{Departure, Lifetimes, Room};
pub use pipeline::{Pipeline, Turns};
pub use plan::{Columns, Message, Options, Plan, Span};
pub use program::{Access, Body, Bounds, Comparison, Cond, Expr, Node, Operator, Program, Site, Sizes};
pub use summary::{Costs, Executed, Pace, Stuck, Summary};
pub use tree::{Again, Call, LoopRange, Points, Row, Run, Tree};
pub use versions::{Exchange, Group};

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// An element that the field does not have.
    #[error(
        "{site}: `{field}` has no element {element:?}; it is accessed where the loops' variables are {instance:?}"
    )]
    OutOfBounds {
        /// The access.
        site: Site,
        /// The field.
        field: String,
        /// Such an element.
        element: Vec<i64>,
        /// An instance that accesses it: the values of the loops' variables.
        instance: Vec<i64>,
    },
    /// Parameters or sizes do not fit the program.
    #[error("{program}: {what}")]
    Sizes {
        /// The program.
        program: String,
        /// The part that does not fit.
        what: String,
    },
    /// A product of two variables, or a division by one or by what is not positive.
    #[error("{site}: not affine with these sizes: {what}")]
    NotAffine {
        /// The body it belongs to.
        site: Site,
        /// The expression that is not affine.
        what: String,
    },
    /// Coordinates that are no geometry.
    #[error("{0}")]
    Geometry(String),
    /// A pair of ranks would need more messages under way.
    #[error(
        "messages of `{field}` would need more than {limit} buffers for each pair of ranks; put fewer iterations \
             between what is written and what is read"
    )]
    Depth {
        /// The field.
        field: String,
        /// Buffers that are possible.
        limit: usize,
    },
    /// The analysis needs more than it is allowed.
    #[error(
        "{site}: there is no plan for `{program}` in {limit} operations of isl; allow more in `Options::operations`, or make the \
         loops simpler"
    )]
    Limit {
        /// The first body.
        site: Site,
        /// The program.
        program: String,
        /// Operations that were allowed.
        limit: u64,
    },
    /// isl gave no answer.
    #[error("the analysis gave up: {0}")]
    Isl(#[from] spinneret_isl::Error),
}

/// A plan, or why there is none.
pub type Result<T> = std::result::Result<T, Error>;
