//! The hart against the manual, against an independent simulator, with compiled programs, and with noise.

mod asm;
mod atomic;
mod cache;
mod compressed;
mod computation;
mod control;
mod cost;
mod disassembly;
mod memory;
mod noise;
mod privileged;
mod programs;
mod reference;
mod waiting;
mod world;
