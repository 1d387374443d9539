//! Generated vfio-user messages: mostly valid fields for each command.

use crate::number;
use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;

/// Commands, by their numbers in the protocol.
pub(super) const VERSION: u16 = 1;
pub(super) const MAP: u16 = 2;
const UNMAP: u16 = 3;
const DEVICE_INFO: u16 = 4;
const REGION_INFO: u16 = 5;
const INTERRUPT_INFO: u16 = 7;
const SET_INTERRUPTS: u16 = 8;
pub(super) const READ: u16 = 9;
pub(super) const WRITE: u16 = 10;
const RESET: u16 = 13;
const COMMANDS: [u16; 9] = [
    MAP,
    UNMAP,
    DEVICE_INFO,
    REGION_INFO,
    INTERRUPT_INFO,
    SET_INTERRUPTS,
    READ,
    WRITE,
    RESET,
];
/// Flags of a message: no reply wanted, and error.
const NO_REPLY: u32 = 1 << 4;
pub(super) const IS_ERROR: u32 = 1 << 5;
pub(super) const HEADER_BYTES: usize = 16;
/// The region of the configuration space, and its command register.
pub(super) const CONFIG: u32 = 7;
pub(super) const COMMAND: u64 = 4;
/// Memory answers, and the function is bus master.
pub(super) const MEMORY_AND_MASTER: u8 = 0b110;
/// Messages of a client.
const MESSAGES: usize = 200;
/// Most files with a message: more than may be.
pub(super) const FILES: usize = 20;
pub(super) const PAGE: u64 = 4096;
/// Pages of a memory file.
pub(super) const FILE_PAGES: u64 = 16;
/// Generates a client's messages; each is preceded by the number of its files, the index of the first, and its
/// length.
pub(super) fn input(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut input = Vec::new();
    // Most clients negotiate the version and enable the device.
    if rng.random_ratio(19, 20) {
        input.extend(piece(VERSION, rng));
    }
    if rng.random_ratio(9, 10) {
        let mut body = COMMAND.to_ne_bytes().to_vec();
        fields(&mut body, [CONFIG.into(), 1]);
        body.push(MEMORY_AND_MASTER);
        let bytes = [message(WRITE, (HEADER_BYTES + body.len()) as u32, 0), body].concat();
        input.extend([0, 0]);
        input.extend((bytes.len() as u16).to_le_bytes());
        input.extend(bytes);
    }
    for _ in 0..rng.random_range(1..MESSAGES) {
        let command = match rng.random_ratio(1, 100) {
            true => rng.random_range(0..20),
            false => *COMMANDS.choose(rng).unwrap_or(&READ),
        };
        input.extend(piece(command, rng));
    }
    input
}

/// Generates the body of a command, with mostly valid fields.
fn body(command: u16, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut body = Vec::new();
    let pages = |rng: &mut ChaCha8Rng, most: u64| PAGE * rng.random_range(0..most);
    match command {
        VERSION => {
            halves(&mut body, [0, rng.random_range(0..3)]);
            body.extend(br#"{"capabilities":{"max_msg_fds":8}}"#);
            body.push(0);
        }
        MAP | UNMAP => {
            let flags = if command == MAP { 3 } else { 0 };
            fields(&mut body, [32, flags].map(|field| any_of(field, 32, rng)));
            if command == MAP {
                longs(&mut body, [any_of(pages(rng, 4), 16, rng)]);
            }
            let (address, bytes) = (pages(rng, 64), PAGE + pages(rng, FILE_PAGES / 2));
            longs(&mut body, [any_of(address, 16, rng), any_of(bytes, 16, rng)]);
        }
        REGION_INFO | INTERRUPT_INFO => {
            let which = rng.random_range(0..10);
            fields(&mut body, [32, 0, any_of(which, 16, rng), 0, 0, 0, 0, 0]);
        }
        SET_INTERRUPTS => {
            let flags = *[0b10_0100, 0b10_0001].choose(rng).unwrap_or(&0);
            let (start, count) = (rng.random_range(0..4), rng.random_range(0..4));
            let all = [20, flags, 2, start, count];
            fields(&mut body, all.map(|field| any_of(field, 32, rng)));
        }
        READ | WRITE => {
            let region = *[0, 0, 2, CONFIG].choose(rng).unwrap_or(&0);
            // The offsets that the application behind the BAR interprets.
            let offset = 4 * rng.random_range(0..8);
            let count = *[1, 2, 4, 4, 4, 8, 64].choose(rng).unwrap_or(&4);
            longs(&mut body, [any_of(offset, 16, rng)]);
            let told = [u64::from(region), count].map(|field| any_of(field, 32, rng));
            fields(&mut body, told);
            if command == WRITE {
                let address = pages(rng, 64).to_le_bytes();
                body.extend(address.iter().cycle().take(count as usize));
            }
        }
        _ => fields(&mut body, [16, 0, 0, 0]),
    }
    body
}

/// Generates a message with its prefix.
fn piece(command: u16, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut body = body(command, rng);
    if rng.random_ratio(1, 100) {
        body.truncate(rng.random_range(0..=body.len()));
    }
    let size = match rng.random_ratio(1, 1000) {
        true => number(rng),
        false => (HEADER_BYTES + body.len()) as u64,
    };
    let flags = match rng.random_range(0..1000) {
        0 => rng.random(),
        1..100 => NO_REPLY,
        _ => 0,
    };
    let files = match command {
        MAP => u8::from(rng.random_ratio(9, 10)),
        SET_INTERRUPTS => rng.random_range(0..4),
        _ if rng.random_ratio(1, 50) => rng.random_range(0..FILES as u8),
        _ => 0,
    };
    let first = match command {
        MAP => u8::from(rng.random_ratio(1, 8)),
        SET_INTERRUPTS => 2,
        _ => rng.random_range(0..4),
    };
    let mut piece = vec![files, first];
    let bytes = [message(command, size as u32, flags), body].concat();
    piece.extend((bytes.len() as u16).to_le_bytes());
    piece.extend(bytes);
    piece
}

/// The header of a message.
pub(super) fn message(command: u16, size: u32, flags: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    halves(&mut bytes, [1, command]);
    fields(&mut bytes, [size.into(), flags.into(), 0]);
    bytes
}

/// Returns the number, or with probability 1 / `one_in` any other.
fn any_of(right: u64, one_in: u32, rng: &mut ChaCha8Rng) -> u64 {
    match rng.random_ratio(1, one_in) {
        true => number(rng),
        false => right,
    }
}

fn halves<const N: usize>(to: &mut Vec<u8>, halves: [u16; N]) {
    to.extend(halves.into_iter().flat_map(u16::to_ne_bytes));
}

/// Fields of 32 bits.
pub(super) fn fields<const N: usize>(to: &mut Vec<u8>, fields: [u64; N]) {
    to.extend(fields.into_iter().flat_map(|field| (field as u32).to_ne_bytes()));
}

pub(super) fn longs<const N: usize>(to: &mut Vec<u8>, longs: [u64; N]) {
    to.extend(longs.into_iter().flat_map(u64::to_ne_bytes));
}
