//! The crossings between clocks, on the generated text, with two clocks of any ratio and phase.

mod axi;
mod clocks;
mod fifo;
mod link;
mod resets;
