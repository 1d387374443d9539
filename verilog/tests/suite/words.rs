//! Signed words, pipelines, checks and memories: their text against models in Rust.

use crate::support::Suite;
use num_bigint::BigUint;
use spinneret_verilog::generate;
use spinneret_verilog::prelude::*;

/// All that looks at a sign.
#[module(no_clock, width: usize)]
struct Signs {
    a: Wire<In, { width }>,
    b: Wire<In, { width }>,
    places: Wire<In, 3>,
    order: Wire<Out, 6>,
    shifted: Wire<Out, { width }>,
    product: Wire<Out, { 2 * width }>,
    least: Wire<Out, { width }>,
    saturated: Wire<Out, { width }>,
}

#[kernel(Signs { a, b, places, order, shifted, product, least, saturated, width }, suffix = self._width)]
fn update() {
    let (x, y) = (a.signed(), b.signed());
    order = cat!(x < y, x <= y, x > y, x >= y, x == y, x != -3);
    shifted = (x >> places).word();
    product = (x.resize(2 * width) * y.resize(2 * width)).word();
    least = if x < y { x } else { y }.word();
    let sum = x.resize(width + 2) + y.resize(width + 2) - 1;
    saturated = if sum < -4 {
        (-x).word()
    } else {
        sum.resize(width).word()
    };
}

fn signs(inputs: &[BigUint], width: u32) -> [u64; 5] {
    let number = |at: usize| inputs[at].iter_u64_digits().next().unwrap_or(0);
    let signed = |value: u64| ((value << (64 - width)) as i64) >> (64 - width);
    let cut = |value: i64, width: u32| value as u64 & ((1 << width) - 1);
    let (a, b) = (signed(number(0)), signed(number(1)));
    let order = [a < b, a <= b, a > b, a >= b, a == b, a != -3];
    let sum = a + b - 1;
    [
        order.iter().fold(0, |word, bit| word << 1 | u64::from(*bit)),
        cut(a >> number(2), width),
        cut(a * b, 2 * width),
        cut(a.min(b), width),
        cut(if sum < -4 { -a } else { sum }, width),
    ]
}

/// Adds three words, one in each stage; the stage of the last is a parameter.
#[module(last: usize)]
struct Adder {
    valid: Wire<In, bool>,
    words: [Wire<In, 8>; 3],
    total: Wire<Out, 8>,
    total_valid: Wire<Out, bool>,
}

#[kernel(Adder { valid, words, total, total_valid, last }, suffix = self._last)]
fn update() {
    let [first, second, third] = [0, 1, 2].map(|number| staged(&format!("word_{number}"), 0, words[number]));
    let valid = staged("valid", 0, valid).reset_to(false);
    let partial = staged("partial", 1, first.at(1) + second.at(1));
    if valid.at(last) {
        total = partial.at(last) + third.at(last);
    } else {
        total = 0;
    }
    total_valid = valid.at(last);
}

#[test]
fn signed_words_and_pipelines_do_what_their_models_do() {
    let mut suite = Suite::default();
    for width in [4, 13] {
        let block = Signs::new(width as usize);
        suite.model(&format!("signs_{width}"), &block, false, move |inputs| {
            signs(inputs, width).map(BigUint::from).to_vec()
        });
    }
    for last in [1, 3] {
        let mut past: Vec<(bool, u64)> = Vec::new();
        suite.model(
            &format!("adder_top_{last}"),
            &Adder::new(last),
            true,
            move |inputs| {
                let number = |at: usize| inputs[at].iter_u64_digits().next().unwrap_or(0);
                let (is_valid, total) = past.get(last - 1).copied().unwrap_or_default();
                past.insert(0, (number(1) == 1, (number(2) + number(3) + number(4)) & 255));
                if number(0) == 1 {
                    past.clear();
                }
                [if is_valid { total } else { 0 }, u64::from(is_valid)]
                    .map(BigUint::from)
                    .to_vec()
            },
        );
    }
    suite.check();
}

#[test]
fn a_value_is_not_there_before_its_stage() {
    let early = std::panic::catch_unwind(|| generate(&Adder::new(0), "adder").map(|_| ()));
    let message = *early
        .expect_err("stage 1 is after stage 0")
        .downcast::<String>()
        .expect("a message");
    assert!(
        message.ends_with("`partial` is there from stage 1 on, not in stage 0"),
        "{message}"
    );
}

/// Counts to a limit, and says what holds.
#[module]
struct Checked {
    go: Wire<In, bool>,
    count: Wire<Out, 4>,
    held: Reg<4, Reset>,
}

#[kernel(Checked)]
fn update() {
    if go {
        assert!(held != 9, "the count stops before 9");
        held = held + 1;
    } else {
        assume!(held < 12);
    }
    cover!(held == 3, "three are counted");
    assert!(held.width() == 4, "the generator checks this one");
    count = held;
}

/// Simulations check what a block asserts; synthesis does not see it.
#[test]
fn checks_are_in_the_text() {
    let text = generate(&Checked::new(), "checked").expect("it is right").text();
    insta::assert_snapshot!("checks", text);
    let folder = tempfile::tempdir().expect("a folder");
    let bench = "module bench; reg clk = 0; reg rst = 1; wire [3:0] count; \
                 checked dut(.clk(clk), .rst(rst), .go(1'b1), .count(count)); \
                 initial begin repeat (40) begin #1 clk = !clk; if (clk) rst <= 0; end end endmodule";
    let file = folder.path().join("checked.sv");
    std::fs::write(&file, format!("{text}\n{bench}")).expect("a file");
    let program = folder.path().join("checked");
    let run = |program: &str, arguments: &[&std::ffi::OsStr]| {
        let output = std::process::Command::new(program)
            .args(arguments)
            .output()
            .expect(program);
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    };
    let (file, program) = (file.as_os_str(), program.as_os_str());
    let told = run("iverilog", &["-g2012".as_ref(), "-o".as_ref(), program, file]);
    assert_eq!(told, "");
    let told = run("vvp", &["-N".as_ref(), program]);
    assert!(told.contains("the count stops before 9"), "{told}");
    let script = format!(
        "read_verilog -formal -sv {}; hierarchy -top checked; proc; select -assert-count 1 t:$assert; select -assert-count 1 t:$cover",
        file.display()
    );
    let formal = run("yosys", &["-q".as_ref(), "-p".as_ref(), script.as_ref()]);
    assert_eq!(formal, "");
    let script = format!(
        "read_verilog -sv {}; hierarchy -top checked; proc; select -assert-none t:$assert",
        file.display()
    );
    assert_eq!(run("yosys", &["-q".as_ref(), "-p".as_ref(), script.as_ref()]), "");
}

/// A table with contents and two read ports, in block RAM or UltraRAM, and one whose bytes are written, in distributed RAM.
#[module(style: RamStyle, squares: Vec<BigUint>)]
struct Tables {
    write: Wire<In, bool>,
    bytes: Wire<In, 2>,
    to: Wire<In, 2>,
    data: Wire<In, 16>,
    from: [Wire<In, 2>; 2],
    read: [Wire<Out, 16>; 2],
    merged: Wire<Out, 16>,
    #[new(if style == RamStyle::Ultra {
        Ram::new(style, 4, 16).with_reads(2)
    } else {
        Ram::new(style, 4, 16).with_reads(2).holding("squares", squares.clone())
    })]
    table: Ram,
    by_bytes: ByteRam<{ RamStyle::Distributed }, 4, 2>,
    /// A write of the word that is read came before, and reset is over.
    known: [Reg<bool, Reset>; 4],
    read_known: [Reg<bool, Reset>; 2],
}

#[kernel(Tables, suffix = format!("{style:?}").to_lowercase())]
fn update() {
    let has_contents = style != RamStyle::Ultra;
    table.write(write, to, data);
    by_bytes.write(bytes & write.repeat(2), to, data);
    for (place, known) in known.iter().enumerate() {
        if write && bytes.all() && to == place {
            *known = true;
        }
    }
    let is_known = |from: Sig| word_of(known.iter().copied())[from];
    for (port, (from, read)) in from.iter().zip(read).enumerate() {
        let word = table.read(port, *from);
        table.enable(port) = true;
        read_known[port] = if has_contents {
            constant(lit(1, 1))[0]
        } else {
            is_known(*from)
        };
        read = word & read_known[port].repeat(16);
    }
    merged = by_bytes.read(0, to) & is_known(to).repeat(16);
}

#[test]
fn memories_do_what_their_models_do() {
    let mut suite = Suite::default();
    for style in [RamStyle::Block, RamStyle::Ultra] {
        let squares: Vec<_> = [1_u32, 4, 9].map(BigUint::from).to_vec();
        // Contents, words that were written whole, the table by bytes, and the words that are read.
        let (mut words, mut known, mut bytes, mut read) = ([1, 4, 9, 0], [false; 4], [0_u64; 4], [0; 2]);
        let name = format!("tables_top_{}", format!("{style:?}").to_lowercase());
        suite.model(&name, &Tables::new(style, squares), true, move |inputs| {
            let number = |at: usize| inputs[at].iter_u64_digits().next().unwrap_or(0);
            let [rst, write, enables, to, data] = [0, 1, 2, 3, 4].map(number);
            let from = [number(5) as usize, number(6) as usize];
            let byte = if known[to as usize] { bytes[to as usize] } else { 0 };
            let outputs = [read[0], read[1], byte];
            read = from.map(
                |from| match rst == 0 && (style == RamStyle::Block || known[from]) {
                    true => words[from],
                    false => 0,
                },
            );
            if write == 1 {
                let mask = [0, 0xff, 0xff00, 0xffff][enables as usize];
                words[to as usize] = data;
                bytes[to as usize] = bytes[to as usize] & !mask | data & mask;
                known[to as usize] |= enables == 3;
            }
            if rst == 1 {
                known = [false; 4];
            }
            outputs.map(BigUint::from).to_vec()
        });
    }
    suite.check();
}
