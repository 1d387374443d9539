//! Inputs that mean harm, for everything that reads what others wrote.
//!
//! A [`Target`] makes inputs and takes them; the [`engine`] drives it, and looks out for panics, hangs and growth. Every
//! input follows from the seed, the target's name and the number of the case alone, so a case can be run again by itself.
//!
//! ```text
//! seed, name, case --generate--> bytes --run--> what was in it
//!                                  |
//!                                  +-- a panic, a hang, a promise that does not hold: the bytes go to a file
//! ```

pub mod engine;
pub mod mutate;
pub mod targets;

use rand_chacha::ChaCha8Rng;

/// What an input turned out to hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fed {
    /// Pieces that were fed: messages, packets, handlers or files.
    pub pieces: u64,
    /// Those that were understood. A fuzzer that is refused at the door tests the door alone.
    pub understood: u64,
}

impl std::ops::AddAssign for Fed {
    fn add_assign(&mut self, other: Self) {
        self.pieces += other.pieces;
        self.understood += other.understood;
    }
}

/// Something that takes what others wrote.
pub trait Target {
    /// What its pieces are called.
    fn pieces(&self) -> &'static str;

    /// An input.
    fn generate(&self, rng: &mut ChaCha8Rng) -> Vec<u8>;

    /// Takes an input, which may be any bytes at all.
    ///
    /// # Errors
    /// If something that it promises does not hold, which it says.
    fn run(&mut self, input: &[u8]) -> Result<Fed, String>;
}
