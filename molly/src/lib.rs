//! Affine loops over distributed fields.
//!
//! You put an attribute on a plain Rust function with loops over fields. The function stays as it is, and runs
//! serially. The attribute adds a module of the same name with `run`, which many ranks call together. Each rank
//! executes the iterations whose results it owns. The values that it needs of other ranks come in messages that an
//! exact analysis of the loops has planned: one message for each neighbour and step, with exactly the elements that are
//! needed.
//!
//! ```
//! use molly::{Field, Geometry, Network};
//!
//! #[molly::scop]
//! fn smooth(a: &mut Field<f64, 1>, b: &mut Field<f64, 1>, steps: i64) {
//!     for _ in 0..steps {
//!         for x in 1..a.len(0) - 1 {
//!             b[[x]] = 0.5 * a[[x]] + 0.25 * (a[[x - 1]] + a[[x + 1]]);
//!         }
//!         for x in 1..a.len(0) - 1 {
//!             a[[x]] = b[[x]];
//!         }
//!     }
//! }
//!
//! # fn main() -> Result<(), molly::Error> {
//! let start = |[x]: [i64; 1]| (x * x % 7) as f64;
//! let (mut a, mut b) = (Field::new([40], start), Field::new([40], start));
//! smooth(&mut a, &mut b, 10);
//!
//! let geometry = Geometry::parse("3")?;
//! let whole = molly::threads(&geometry, &Network::default(), |rank| {
//!     let (mut a, mut b) = (rank.field([40], start), rank.field([40], start));
//!     smooth::run(rank, &mut a, &mut b, 10)?;
//!     rank.gather(&a)
//! })?;
//! assert_eq!(whole[0], Some(a));
//! # Ok(())
//! # }
//! ```
//!
//! [docs/molly.md](https://github.com/spinneret-nic/spinneret/blob/main/docs/molly.md) explains which loops the
//! attribute accepts, and what a plan is.

#![deny(unsafe_code)]

// The code that the attribute writes names this crate as its users do.
extern crate self as molly;

mod error;
mod field;
mod memory;
pub mod mpi;
pub mod programs;
pub mod random;
mod rank;
pub mod report;
mod sums;
mod threads;
mod transport;

pub use error::{Error, Result};
pub use field::{Field, Storage};
pub use memory::{Element, Layout, Memory, Stride};
pub use rank::{Rank, Traffic, Work};
pub use report::Report;
pub use spinneret_molly_macro::scop;
pub use spinneret_molly_model as model;
pub use spinneret_molly_model::{Columns, Geometry, Options, Pipeline, Plan};
pub use sums::{Exact, FastSum, Part, Sum, Summand};
pub use threads::{MOST_THREADS, Network, threads};
pub use transport::{Line, Place, Placing, Transport};

/// The tutorial works as it is written.
#[cfg(doctest)]
#[doc = include_str!("../../docs/molly-tutorial.md")]
struct Tutorial;
