//! Random numbers that are the same in every run with the same seed, on every platform.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::env;
use std::fmt;
use thiserror::Error;

/// The environment variable that replaces the seed of every test.
pub const VARIABLE: &str = "SPINNERET_SEED";

/// The one number that all random choices of a test depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seed(pub u64);

/// The seed in the environment is not a number.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{VARIABLE} is `{text}`, which is not a whole number below 2^64, decimal or with 0x")]
pub struct SeedError {
    text: String,
}

impl Seed {
    /// The seed in the environment, or this one if there is none.
    ///
    /// # Errors
    /// If the value in the environment is not a number.
    pub fn from_env_or(default: u64) -> Result<Self, SeedError> {
        match env::var_os(VARIABLE) {
            None => Ok(Self(default)),
            Some(text) => Self::parse(&text.to_string_lossy()),
        }
    }

    /// A generator for one purpose. Different names give independent generators, so that a new one in a test does not
    /// change the numbers of the others.
    pub fn rng(self, name: &str) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.0);
        rng.set_stream(fnv1a(name));
        rng
    }

    /// Reads a decimal or hexadecimal number.
    fn parse(text: &str) -> Result<Self, SeedError> {
        let digits = text.trim();
        let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        value.map(Self).map_err(|_| SeedError {
            text: text.to_owned(),
        })
    }
}

/// As in the environment: `0x1234`.
impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// The 64-bit FNV-1a hash, which unlike the standard library's hashes is the same in every version.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::{Seed, fnv1a};
    use rand::Rng;

    #[test]
    fn reads_decimal_and_hexadecimal_numbers() {
        assert_eq!(Seed::parse("42"), Ok(Seed(42)));
        assert_eq!(Seed::parse(" 0xffffffffffffffff "), Ok(Seed(u64::MAX)));
        for wrong in ["", "0x", "-1", "1.5", "0x10000000000000000", "seed"] {
            assert_eq!(
                Seed::parse(wrong).map_err(|error| error.to_string()),
                Err(format!(
                    "SPINNERET_SEED is `{wrong}`, which is not a whole number below 2^64, decimal or with 0x"
                ))
            );
        }
    }

    #[test]
    fn prints_what_it_reads() {
        assert_eq!(Seed::parse(&Seed(0x1234).to_string()), Ok(Seed(0x1234)));
    }

    #[test]
    fn names_give_independent_generators() {
        let draw = |seed, name| Seed(seed).rng(name).next_u64();
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
    }

    #[test]
    fn hashes_as_published() {
        assert_eq!(fnv1a(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a("a"), 0xaf63_dc4c_8601_ec8c);
    }
}
