//! Affine loop nests over fields, distributed over ranks: from a description of loops ([`Program`]) and numbers ([`Sizes`],
//! [`Geometry`]) to what each rank does ([`Plan`]), with every message between ranks and exactly the elements it has to
//! carry. Nothing here reads, writes or sends anything.
//!
//! After Michael Kruse, "Introducing Molly: Distributed Memory Parallelization with LLVM" (2014), with merged messages,
//! exact sets, and remote values beside a rank's own.
//!
//! Why a plan is right, in three sentences. A channel's chunk is everything that is read where time begins with some prefix,
//! and all of it was written where time begins with smaller ones. So when a chunk is received, each of its values is what the
//! element has in a serial run at this time, and stays so until the reader of the chunk has read it. Ranks execute their
//! instances in the order of the serial run, so an element that a rank reads always has the serial run's value.

mod boxes;
mod channels;
mod columns;
mod error;
mod flow;
mod geometry;
mod lifetime;
mod nest;
mod order;
mod overlap;
mod pace;
mod pieces;
mod pipeline;
mod plan;
mod program;
mod progress;
mod rows;
mod scan;
mod schedule;
mod strips;
mod summary;
mod text;
mod tree;
mod value;
mod versions;

pub use channels::Channel;
pub use columns::Columns;
pub use error::{Error, Result};
pub use flow::{Flow, Level};
pub use geometry::Geometry;
pub use lifetime::{Departure, Lifetimes, Room};
pub use pace::{Costs, Pace};
pub use pipeline::{Pipeline, Turns};
pub use plan::{Message, Options, Plan, Span};
pub use program::{Access, Body, Bounds, Comparison, Cond, Expr, Node, Program, Site, Sizes};
pub use progress::Stuck;
pub use summary::{Executed, Summary};
pub use tree::{Again, Call, Points, Row, Run, Tree};
pub use value::{Op, Value};
pub use versions::{Exchange, Group};
