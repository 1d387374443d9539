//! The receiver of SLMP messages.
//!
//! The host memory of [`Bench`](crate::bench::Bench) holds the bytes that were written, and no others. That what was
//! written is nothing but regions and completions is so more than that everything around them is unchanged.

mod causes;
mod clusters;
pub(crate) mod frame;
mod order;
mod places;
mod races;
mod receiver;
mod speed;
mod storm;
