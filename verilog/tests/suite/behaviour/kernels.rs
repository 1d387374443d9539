//! Kernels with memories and wide words against models in Rust.

use std::collections::BTreeMap;

use num_bigint::BigUint;
use spinneret_verilog::prelude::*;

use crate::support::Suite;

fn ones(width: usize) -> BigUint {
    (BigUint::from(1_u32) << width) - 1_u32
}

/// A constant that no literal of rust-hdl's could hold.
fn wide() -> Word {
    Word::from_biguint((ones(180) << 11_u32) | BigUint::from(5_u32), 200)
}

/// Operators of words.
#[module(no_clock, width: usize)]
struct Words {
    a: Wire<In, { width }>,
    b: Wire<In, { width }>,
    n: Wire<In, 5>,
    flag: Wire<In, bool>,
    product: Wire<Out, { width }>,
    triple: Wire<Out, { width }>,
    shifted: Wire<Out, { width }>,
    joined: Wire<Out, { 2 * width + 1 }>,
    swapped: Wire<Out, 16>,
    filled: Wire<Out, { width }>,
    part: Wire<Out, 8>,
    flags: Wire<Out, 5>,
    huge: Wire<Out, 200>,
}

#[kernel(Words { a, b, n, flag, product, triple, shifted, joined, swapped, filled, part, flags, huge, width })]
fn update() {
    product = a * b;
    triple = a * 3 - b;
    shifted = (a << n) | (b >> n);
    joined = cat!(b, flag, n.slice(1, 0), a);
    swapped = a.slice(0, 16).swap_bytes();
    filled = a & flag.repeat(width);
    part = a.at(n, 8);
    flags = 0;
    flags[0] = a.any();
    flags[1] = a < b;
    flags[2] = a + 1 == b;
    flags.slice(3, 2) = n.slice(1, 2);
    huge = wide();
}

fn words(width: usize, inputs: &[BigUint]) -> Vec<BigUint> {
    let [a, b, n, flag] = inputs else {
        panic!("four inputs")
    };
    let (mask, modulus) = (ones(width), BigUint::from(1_u32) << width);
    let places = usize::try_from(n).expect("five bits");
    let bit = |value: bool, place: usize| BigUint::from(u32::from(value)) << place;
    let low = a.iter_u32_digits().next().unwrap_or(0);
    vec![
        (a * b) & &mask,
        (a * 3_u32 + &modulus - b) % &modulus,
        ((a << places) & &mask) | (b >> places),
        (b << (width + 1)) | (flag << width) | a,
        BigUint::from(((low & 0xff) << 8) | (low >> 8 & 0xff)),
        if flag.bit(0) { a.clone() } else { BigUint::ZERO },
        (a >> places) & ones(8),
        bit(*a != BigUint::ZERO, 0)
            | bit(a < b, 1)
            | bit((a + 1_u32) % &modulus == *b, 2)
            | (((n >> 1_u32) & ones(2)) << 3_u32),
        wide().value().clone(),
    ]
}

/// A memory of each style, which is filled before it is read, as its contents are undefined at power-up.
#[module(no_clock, depth: usize, width: usize, bits: usize = address_width(depth))]
struct Memories {
    clk: Signal<In, Clock>,
    address: Wire<In, { bits }>,
    write: Wire<In, bool>,
    data: Wire<In, { width }>,
    read: Wire<Out, { width }>,
    now: Wire<Out, { width }>,
    #[new(Reg::starting_with(Word::zero(bits + 1)))]
    filling: Reg,
    #[new(Reg::starting_with(false))]
    seen: Reg<bool>,
    block: Ram<{ RamStyle::Block }, { depth }, { width }>,
    distributed: Ram<{ RamStyle::Distributed }, { depth }, { width }>,
}

#[kernel(Memories { address, write, data, read, now, filling, seen, block, distributed, bits, width })]
fn update() {
    let ready = filling[bits];
    let place = if ready { address } else { filling.resize(bits) };
    block.write(write || !ready, place, data);
    distributed.write(write || !ready, place, data);
    block.read_enable = ready;
    block.read_addr = address;
    distributed.read_addr = address;
    seen = ready;
    if !ready {
        filling = filling + 1;
    }
    read = if seen { block.read_data } else { lit(0, width) };
    now = if ready {
        distributed.read_data
    } else {
        lit(0, width)
    };
}

/// Models memories that are filled first: returns the read data of both styles.
fn memories(depth: usize) -> impl FnMut(&[BigUint]) -> Vec<BigUint> {
    let mut memory: BTreeMap<BigUint, BigUint> = BTreeMap::new();
    let (mut filled, mut last) = (0, BigUint::ZERO);
    move |inputs| {
        let [address, write, data] = inputs else {
            panic!("three inputs")
        };
        let ready = filled == depth;
        let now = match ready {
            true => memory[address].clone(),
            false => BigUint::ZERO,
        };
        let read = last.clone();
        last = now.clone();
        if !ready {
            memory.insert(BigUint::from(filled), data.clone());
            filled += 1;
        } else if write.bit(0) {
            memory.insert(address.clone(), data.clone());
        }
        vec![read, now]
    }
}

/// A memory whose bytes are written one by one.
#[module(no_clock, depth: usize, bytes: usize, bits: usize = address_width(depth))]
struct ByteMemory {
    clk: Signal<In, Clock>,
    enables: Wire<In, { bytes }>,
    write_address: Wire<In, { bits }>,
    data: Wire<In, { 8 * bytes }>,
    read_address: Wire<In, { bits }>,
    take: Wire<In, bool>,
    read: Wire<Out, { 8 * bytes }>,
    #[new(Reg::starting_with(Word::zero(bits + 1)))]
    filling: Reg,
    #[new(Reg::starting_with(false))]
    seen: Reg<bool>,
    memory: ByteRam<{ RamStyle::Block }, { depth }, { bytes }>,
}

#[kernel(ByteMemory { enables, write_address, data, read_address, take, read, filling, seen, memory, bits, bytes })]
fn update() {
    let ready = filling[bits];
    memory.write_enable = enables;
    memory.write_addr = write_address;
    memory.write_data = data;
    memory.read_enable = ready && take;
    memory.read_addr = read_address;
    seen = seen || ready && take;
    read = if seen { memory.read_data } else { lit(0, 8 * bytes) };
    if !ready {
        filling = filling + 1;
        memory.write_enable = Word::ones(bytes);
        memory.write_addr = filling.resize(bits);
    }
}

fn byte_memory(depth: usize, bytes: usize) -> impl FnMut(&[BigUint]) -> Vec<BigUint> {
    let mut memory: BTreeMap<BigUint, BigUint> = BTreeMap::new();
    let (mut filled, mut read) = (0, BigUint::ZERO);
    move |inputs| {
        let [enables, write_address, data, read_address, take] = inputs else {
            panic!("five inputs")
        };
        let (ready, shown) = (filled == depth, read.clone());
        if ready && take.bit(0) {
            read = memory[read_address].clone();
        }
        if !ready {
            memory.insert(BigUint::from(filled), data.clone());
            filled += 1;
        } else if let Some(word) = memory.get_mut(write_address) {
            for byte in (0..bytes).filter(|byte| enables.bit(*byte as u64)) {
                let mask = ones(8) << (8 * byte);
                *word = (&*word - (&*word & &mask)) | (data & mask);
            }
        }
        vec![shown]
    }
}

/// Adds the blocks of this file.
pub(crate) fn add_to(suite: &mut Suite) {
    for width in [16, 24, 67] {
        suite.model(&format!("words_{width}"), &Words::new(width), false, |inputs| {
            words(width, inputs)
        });
    }
    suite.model("memories", &Memories::new(16, 9), true, memories(16));
    for (depth, bytes) in [(4, 3), (2, 1)] {
        let block = ByteMemory::new(depth, bytes);
        suite.model(
            &format!("byte_memory_{bytes}"),
            &block,
            true,
            byte_memory(depth, bytes),
        );
    }
}
