//! One RISC-V hart: RV32IMAC with Zicsr and Zifencei, machine and user mode, without interrupts. That of our HPU has `csum`.
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
//! - [`Hart::step`] executes an instruction completely or not at all. If the bus returns [`Access::Wait`], nothing has
//!   changed, and the next step retries the instruction.
//! - [`Step`] has the clocks of the instruction: those of the table [`Costs`] plus those of the bus.
//! - A trap is entered in the same step: the hart is at `mtvec` in machine mode when `step` returns.
//! - Bad programs trap; no program panics or hangs `step`.
//!
//! Several harts share memory through one bus, which tells the others of a store through
//! [`Hart::lost_reservation`]; see there for load-reserved and store-conditional.
//!
//! Sources: The RISC-V Instruction Set Manual, volume I (20191213) and volume II (20211203); for what RI5CY adds and what
//! instructions cost, see `docs/cluster/model.md`.

mod bus;
mod csr;
mod execute;
mod hart;

pub use bus::{Access, Bus, DecodeCache, Fault, Privilege, Ram, Reservations, Width};
pub use csr::{CsrSet, Trap};
pub use hart::{Costs, DivisionCost, Hart, Misaligned, Step};
pub use spinneret_isa::{Instruction, Located, Op};
