//! Random kernels as the text of a Rust file.

mod expression;
mod kernel;
mod statement;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::fmt::Write;

/// A file with `count` kernels, a list of them, and the seed that made them.
pub(crate) fn file(seed: u64, count: u64) -> String {
    let mut text = format!("/// What chose the kernels.\npub const SEED: u64 = {seed};\n\n");
    for number in 0..count {
        // Each kernel has a generator of its own, so that it is the same whatever the count.
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(number);
        text += &kernel::text(number, &mut rng);
    }
    text += "/// All kernels with their names.\npub fn kernels() -> Vec<(String, Box<dyn Stimulated>)> {\n    vec![\n";
    for number in 0..count {
        let _ = writeln!(
            text,
            "        (\"random_{number}\".into(), Box::new(Random{number}::default())),"
        );
    }
    text + "    ]\n}\n"
}
