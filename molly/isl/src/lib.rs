//! A safe wrapper over the installed [isl](https://libisl.sourceforge.io) (MIT), the integer set library: what molly's
//! analysis of loops needs of it, and no more.
//!
//! ```
//! # fn main() -> Result<(), spinneret_isl::Error> {
//! use spinneret_isl::{Map, Set};
//!
//! let tile = Set::parse("{ [x] : 0 <= x < 8 }")?;
//! let read = Map::parse("{ [x] -> [x - 1] }")?;
//! let halo = tile.clone().apply(read)?.subtract(tile)?;
//! assert_eq!(halo.sample()?, Some(vec![-1]));
//! # Ok(())
//! # }
//! ```
//!
//! - isl's own rules as Rust's types: a taken object is passed by value, a kept one is borrowed, a given one is owned.
//! - Each thread has one context, made when it is first needed. Objects stay on their thread and never meet another
//!   context's.
//! - Nothing aborts or prints. An answer that isl cannot give is an [`Error`]; [`limited`] bounds the work.
//! - isl is linked as a shared library. `unsafe` is in this crate only.

mod ast;
mod ffi;
mod reader;
mod rows;
mod sets;

pub use ast::{Ast, Expr, Op, loops};
pub use ffi::{Error, Result, limited};
pub use rows::{Condition, Conditions, Kind};
pub use sets::{Map, Set, UnionMap, last_writers};
