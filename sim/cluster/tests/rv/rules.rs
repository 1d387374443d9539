//! The effects in the table of instructions, as Icarus Verilog executes `hpu_rules`, against the hart: one instruction at a
//! time, from any state.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use spinneret_cluster::rv::{
    Access, Bus, Costs, CsrSet, Fault, Hart, Instruction, Misaligned, Op, Privilege, Step, Width,
};
use spinneret_isa::{COMPRESSED, Format, TABLE, rules};
use std::fmt::Write as _;
use std::process::Command;

/// Instructions for each row of the table.
const EACH: usize = 200;
const MSCRATCH: u32 = 0x340;

/// Memory that is the same few bytes at every place, and what was done with them.
struct Bytes {
    instruction: u32,
    bytes: u32,
    first: Option<u32>,
    read: u32,
    written: u32,
    data: u32,
}

impl Bytes {
    /// The offset of an access from the first one, and its bytes as a mask.
    fn place(&mut self, address: u32, width: Width) -> (u32, u32) {
        let offset = address.wrapping_sub(*self.first.get_or_insert(address));
        (8 * offset, ((1 << width.bytes()) - 1) << offset)
    }
}

impl Bus for Bytes {
    fn fetch(&mut self, _: u32, _: Privilege) -> Result<u32, Fault> {
        Ok(self.instruction)
    }

    fn load(&mut self, address: u32, width: Width, _: Privilege) -> Result<Access, Fault> {
        let (shift, mask) = self.place(address, width);
        self.read |= mask;
        let value = (u64::from(self.bytes) >> shift & ((1 << (8 * width.bytes())) - 1)) as u32;
        Ok(Access::Done { value, clocks: 0 })
    }

    fn store(&mut self, address: u32, width: Width, value: u32, _: Privilege) -> Result<Access, Fault> {
        let (shift, mask) = self.place(address, width);
        self.written |= mask;
        self.data |= (u64::from(value) & ((1 << (8 * width.bytes())) - 1)) as u32 * (1 << shift);
        Ok(Access::Done { value: 0, clocks: 0 })
    }

    fn modify(
        &mut self,
        address: u32,
        who: Privilege,
        change: &mut dyn FnMut(u32) -> u32,
    ) -> Result<Access, Fault> {
        self.store(address, Width::Word, change(self.bytes), who)?;
        self.load(address, Width::Word, who)
    }
}

/// A word of registers: every second one is on an edge.
fn value(rng: &mut ChaCha8Rng) -> u32 {
    const EDGES: [u32; 8] = [0, 1, 2, 31, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, u32::MAX];
    match rng.random_range(0..16) {
        edge @ 0..8 => EDGES[edge],
        _ => rng.random(),
    }
}

/// Any instruction that fits a pattern.
fn instruction(bits: &str, rng: &mut ChaCha8Rng) -> u32 {
    bits.chars().filter(|bit| *bit != '_').fold(0, |word, bit| {
        word << 1 | bit.to_digit(2).unwrap_or_else(|| rng.random_range(0..2))
    })
}

/// One line for the test bench: what `hpu_rules` gets, and what the hart makes of it.
fn line(word: u32, rng: &mut ChaCha8Rng) -> String {
    let decoded = Instruction::decode(word);
    let format = decoded.op().row().map(|row| row.format);
    let is_csr = matches!(format, Some(Format::Csr | Format::CsrImm));
    let is_atomic = matches!(format, Some(Format::Atomic | Format::Reserve));
    let word = if is_csr {
        word & 0xf_ffff | MSCRATCH << 20
    } else {
        word
    };

    let mut hart = Hart::new(0, 0).with_csrs(CsrSet::Hpu);
    let costs = Costs {
        misaligned: Misaligned::Split,
        ..Costs::unit()
    };
    let mut bus = Bytes {
        instruction: 0x1002_a02f, // lr.w x0, (x5)
        bytes: value(rng),
        first: None,
        read: 0,
        written: 0,
        data: 0,
    };
    for register in 1..32 {
        let value = value(rng);
        hart.set_x(register, if is_atomic { value & !3 } else { value });
    }
    let reserved = decoded.op() == Op::ScW && rng.random();
    if reserved {
        let x5 = hart.x(5);
        hart.set_x(5, hart.x(decoded.rs1()));
        hart.step(&mut bus, &costs, 0);
        hart.set_x(5, x5);
    }
    // If the address came from x5, it has changed, and the word is not the reserved one.
    let reserved = reserved && hart.reservation() == Some(hart.x(decoded.rs1()));
    let (csr, mepc, mpp) = (value(rng), value(rng) & !1, 3 * rng.random_range(0..2));
    for (number, value) in [(MSCRATCH, csr), (0x341, mepc), (0x300, mpp << 11)] {
        hart.set_csr(number, value, 0).expect("it can be written");
    }
    let is_user = !is_csr && rng.random();
    hart.set_privilege(if is_user {
        Privilege::User
    } else {
        Privilege::Machine
    });
    let pc = value(rng) & !1;
    hart.set_pc(pc);
    hart.wake();
    let (a, b) = (hart.x(decoded.rs1()), hart.x(decoded.rs2()));
    bus = Bytes {
        instruction: word,
        first: None,
        read: 0,
        ..bus
    };

    let step = hart.step(&mut bus, &costs, 0);
    let cause = match step {
        Step::Trapped { trap, .. } => 0x20 | trap.cause(),
        _ => 0,
    };
    let mode = |is_user| if is_user { 0 } else { 3 };
    let [is_legal, next_reserved] = [decoded.op() != Op::Illegal, hart.reservation().is_some()].map(u8::from);
    let mut line = format!(
        "{word:08x}{pc:08x}{:x}{a:08x}{b:08x}{:08x}",
        mode(is_user),
        bus.bytes
    );
    let _ = write!(line, "{csr:08x}{mepc:08x}{mpp:x}{:x}_", u8::from(reserved));
    let _ = write!(
        line,
        "{is_legal:x}{cause:02x}{:08x}{:08x}",
        hart.x(decoded.rd()),
        hart.pc()
    );
    let next_mode = mode(hart.privilege() == Privilege::User);
    let _ = write!(
        line,
        "{next_mode:x}{:08x}{:x}{:x}",
        bus.first.unwrap_or(0),
        bus.read,
        bus.written
    );
    let next_csr = hart.csr(MSCRATCH, 0).expect("it can be read");
    let _ = writeln!(line, "{:08x}{next_reserved:x}{next_csr:08x}", bus.data);
    line
}

#[test]
fn the_effects_in_the_table_are_those_of_the_hart() {
    let mut rng = ChaCha8Rng::seed_from_u64(0x00ef_fec7);
    let patterns = TABLE.iter().map(|row| row.bits);
    let patterns: Vec<_> = patterns.chain(COMPRESSED.iter().map(|row| row.bits)).collect();
    let mut lines = String::new();
    for _ in 0..EACH {
        for bits in &patterns {
            let word = instruction(bits, &mut rng);
            lines += &line(word, &mut rng);
        }
        // Most of these are illegal.
        let word = rng.random();
        lines += &line(word, &mut rng);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect(name);
    write("lines.hex", &lines);
    write(
        "rules.sv",
        &rules(TABLE).expect("all effects are in the notation"),
    );
    write("bench.sv", include_str!("rules_bench.sv"));
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(&folder)
            .output();
        let output = output.unwrap_or_else(|error| panic!("{program}: {error}: run `./dev setup`"));
        format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
    };
    let count = format!("-Pbench.COUNT={}", EACH * (patterns.len() + 1));
    let said = run(
        "iverilog",
        &["-g2012", "-Wall", &count, "-o", "bench", "bench.sv", "rules.sv"],
    );
    assert_eq!(said, "");
    let said = run("vvp", &["-n", "bench"]);
    assert_eq!(said.trim(), "done", "{said}");
}
