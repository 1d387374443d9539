//! One RISC-V hart: RV32IMAC with Zicsr and Zifencei, machine and user mode, without interrupts.
//!
//! ```text
//!            step(bus, costs, now)
//!                   |
//!      Bus::decoded |  DecodeCache: one array access    Bus::load, store, modify
//!   +---------------v---+       +-----------------+       +------------------+
//!   | fetch and decode  |------>| execute         |------>| Done / Wait /    |
//!   | (Instruction)     |       | (Hart)          |<------| Fault            |
//!   +-------------------+       +--------+--------+       +------------------+
//!                                        v
//!                          Step: Retired, Waits, Trapped
//! ```
//!
//! - An instruction happens as a whole in one [`Hart::step`] or not at all. If the bus answers [`Access::Wait`], nothing
//!   has changed and the same instruction is tried again by the next step.
//! - [`Step`] says how many clocks the instruction took, by the table [`Costs`] plus what the bus added.
//! - A trap is entered in the same step: the hart stands at `mtvec` in machine mode when `step` returns.
//! - Bad programs trap; nothing a program does panics or hangs `step`.
//!
//! Several harts share memory through one bus, which tells the others of a store through
//! [`Hart::lost_reservation`]; see there for load-reserved and store-conditional.
//!
//! Sources: The RISC-V Instruction Set Manual, volume I (20191213) and volume II (20211203); for what RI5CY adds and what
//! instructions cost, see `docs/cluster/model.md`.

mod bus;
mod csr;
mod decode;
mod execute;
mod hart;
mod instruction;

pub use bus::{Access, Bus, DecodeCache, Fault, Privilege, Ram, Reservations, Width};
pub use csr::CsrSet;
pub use hart::{Costs, DivisionCost, Hart, Misaligned, Step, Trap};
pub use instruction::{Instruction, Located, Op};
