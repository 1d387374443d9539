//! Whole programs: C, compiled at four levels of optimisation, with results checked in Rust.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use spinneret_cluster::rv::{Costs, Hart, Ram, Step, Trap};
use std::path::Path;
use std::process::Command;

const BASE: u32 = 0x1d00_0000;
const DATA: u32 = BASE + 0x8000;
const STACK: u32 = BASE + 0x1_0000;

/// Runs a tool of the RISC-V compiler; says what to install if there is none.
fn tool(name: &str, arguments: &[&str]) {
    let name = format!("riscv64-unknown-elf-{name}");
    let output = Command::new(&name)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| {
            panic!(
                "{name} does not start ({error}): install it with `apt-get install gcc-riscv64-unknown-elf`"
            )
        });
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{name} {} failed:\n{messages}",
        arguments.join(" ")
    );
}

/// The bytes of a program of `tests/rv/programs`, linked to [`BASE`].
fn compile(name: &str, level: &str) -> Vec<u8> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rv/programs");
    let scratch = tempfile::tempdir().unwrap();
    let path = |folder: &Path, file: &str| folder.join(file).to_str().unwrap().to_string();
    let (elf, binary) = (
        path(scratch.path(), "program.elf"),
        path(scratch.path(), "program.bin"),
    );
    let (start, source) = (path(&sources, "start.S"), path(&sources, &format!("{name}.c")));
    let text = format!("-Wl,-Ttext={BASE:#x}");
    #[rustfmt::skip]
    tool("gcc", &["-march=rv32imac", "-mabi=ilp32", "-nostdlib", "-ffreestanding", "-Wall", "-Werror", level, &text,
        "-o", &elf, &start, &source, "-lgcc"]);
    tool(
        "objcopy",
        &[
            "-O",
            "binary",
            "--set-section-flags",
            ".bss=alloc,load,contents",
            &elf,
            &binary,
        ],
    );
    std::fs::read(binary).unwrap()
}

/// Runs a program on some data; gives its result and what became of the data.
fn run(program: &[u8], data: &[u8]) -> (u32, Vec<u8>, u64) {
    let mut ram = Ram::new(BASE, STACK - BASE);
    assert!(
        program.len() <= (DATA - BASE) as usize,
        "the program has {} bytes",
        program.len()
    );
    ram.write(BASE, program);
    ram.write(DATA, data);
    let mut hart = Hart::new(0, BASE);
    for (register, value) in [(2, STACK), (10, DATA), (11, data.len() as u32)] {
        hart.set_x(register, value);
    }
    let costs = Costs::default();
    for now in 0..20_000_000 {
        match hart.step(&mut ram, &costs, now) {
            Step::Retired { .. } => {}
            Step::Trapped {
                trap: Trap::Breakpoint,
                ..
            } => {
                return (hart.x(10), ram.read(DATA, data.len()).to_vec(), hart.retired());
            }
            stop => panic!("{stop:?}"),
        }
    }
    panic!("the program does not end");
}

/// Runs a program at all levels on some sets of data, and compares with the same in Rust.
fn check(name: &str, lengths: &[usize], expected: impl Fn(&mut Vec<u8>) -> u32) {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for level in ["-O0", "-O1", "-O2", "-O3"] {
        let program = compile(name, level);
        for &len in lengths {
            let data: Vec<u8> = (0..len).map(|_| rng.random()).collect();
            let (result, after, retired) = run(&program, &data);
            let mut same = data.clone();
            assert_eq!(result, expected(&mut same), "{name} {level} of {len} bytes");
            assert!(after == same, "{name} {level} of {len} bytes leaves other data");
            println!("{name} {level}: {len} bytes, {retired} instructions");
        }
    }
}

#[test]
fn sorts() {
    check("sort", &[4, 48, 400, 4096], |data| {
        let mut words: Vec<u32> = data
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect();
        words.sort_unstable();
        *data = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        words[0]
    });
}

#[test]
fn computes_checksums() {
    assert_eq!(crc32(b"123456789"), 0xcbf4_3926, "the check value of CRC-32");
    check("crc", &[0, 1, 9, 1000], |data| crc32(data));
}

fn crc32(data: &[u8]) -> u32 {
    !data.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 0 {
                crc >> 1
            } else {
                crc >> 1 ^ 0xedb8_8320
            }
        })
    })
}

#[test]
fn divides_long_numbers() {
    check("divide", &[16, 3200], |data| {
        let mut sum = 0_u64;
        for pair in data.chunks_exact_mut(16) {
            let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
            let (a, b) = (number(&pair[..8]), number(&pair[8..]) | 1);
            let signed_b = match (b as i64) >> (a & 31) | 1 {
                -1 => 3,
                other => other,
            };
            let quotient = (a / b).wrapping_mul(3).wrapping_add((a as i64 / signed_b) as u64);
            let remainder = (a % b)
                .wrapping_add((a as i64 % signed_b) as u64)
                .wrapping_add(a.wrapping_mul(b));
            pair[..8].copy_from_slice(&quotient.to_le_bytes());
            pair[8..].copy_from_slice(&remainder.to_le_bytes());
            sum = sum.wrapping_add(quotient ^ remainder);
        }
        (sum ^ sum >> 32) as u32
    });
}

#[test]
fn hashes() {
    assert_eq!(
        sha256(b"abc")[..4],
        [0xba, 0x78, 0x16, 0xbf],
        "the example of FIPS 180-4"
    );
    assert_eq!(sha256(b"")[..4], [0xe3, 0xb0, 0xc4, 0x42]);
    assert_eq!(
        sha256(&[0; 32])[..4],
        [0x66, 0x68, 0x7a, 0xad],
        "as sha256sum says"
    );
    check("sha256", &[32, 55, 56, 64, 1000], |data| {
        let digest = sha256(data);
        data[..32].copy_from_slice(&digest);
        u32::from_be_bytes(digest[..4].try_into().unwrap())
    });
}

/// The first 32 bits behind the point of a root; `root` is `f64::sqrt` or `f64::cbrt`, exact enough for these.
fn fraction(number: u32, root: fn(f64) -> f64) -> u32 {
    let value = root(f64::from(number));
    ((value - value.floor()) * 4_294_967_296.0) as u32
}

fn sha256(data: &[u8]) -> [u8; 32] {
    let primes: Vec<u32> = (2..)
        .filter(|n: &u32| (2..*n).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d)))
        .take(64)
        .collect();
    let mut state: Vec<u32> = primes[..8]
        .iter()
        .map(|prime| fraction(*prime, f64::sqrt))
        .collect();
    let constants: Vec<u32> = primes.iter().map(|prime| fraction(*prime, f64::cbrt)).collect();
    let mut padded = data.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((8 * data.len() as u64).to_be_bytes());
    for block in padded.chunks_exact(64) {
        let mut w: Vec<u32> = block
            .chunks_exact(4)
            .map(|word| u32::from_be_bytes(word.try_into().unwrap()))
            .collect();
        for t in 16..64 {
            let small = |x: u32, a: u32, b: u32, c: u32| x.rotate_right(a) ^ x.rotate_right(b) ^ x >> c;
            let word = small(w[t - 2], 17, 19, 10).wrapping_add(w[t - 7]);
            w.push(
                word.wrapping_add(small(w[t - 15], 7, 18, 3))
                    .wrapping_add(w[t - 16]),
            );
        }
        let mut v = state.clone();
        for t in 0..64 {
            let large = |x: u32, a, b, c| x.rotate_right(a) ^ x.rotate_right(b) ^ x.rotate_right(c);
            let choice = v[4] & v[5] ^ !v[4] & v[6];
            let majority = v[0] & v[1] ^ v[0] & v[2] ^ v[1] & v[2];
            let one = [large(v[4], 6, 11, 25), choice, constants[t], w[t]]
                .iter()
                .fold(v[7], |a, b| a.wrapping_add(*b));
            let two = large(v[0], 2, 13, 22).wrapping_add(majority);
            v.rotate_right(1);
            v[4] = v[4].wrapping_add(one);
            v[0] = one.wrapping_add(two);
        }
        for (word, value) in state.iter_mut().zip(v) {
            *word = word.wrapping_add(value);
        }
    }
    let bytes: Vec<u8> = state.iter().flat_map(|word| word.to_be_bytes()).collect();
    bytes.try_into().unwrap()
}
