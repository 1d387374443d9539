//! Every error, with its exact words.

use rust_hdl::core::ast::{
    BlackBox, Verilog, VerilogCase, VerilogExpression, VerilogLink, VerilogLinkDetails, VerilogLoop,
    VerilogMatch, VerilogOp, VerilogOpUnary, VerilogStatement, Wrapper,
};
use rust_hdl::prelude::{AtomKind, TimingInfo};
use spinneret_verilog::{Library, Parameter, TopOptions, generate};

use crate::support::raw::*;

fn error(block: &Raw) -> String {
    generate(block, "top")
        .expect_err("the block has no translation")
        .to_string()
}

/// The error of a kernel that assigns `value` to an output `y` of `width` bits; `a` has 8 bits, `b` 4,
/// `s` is signed with 8, `w` is a word of 8.
fn error_of(width: usize, value: VerilogExpression) -> String {
    let mut word = input("w", 8);
    word.descriptor.name = "Word<8>".to_owned();
    let atoms = vec![
        input("a", 8),
        input("b", 4),
        signed(input("s", 8)),
        signed(input("t", 8)),
        word,
        output("y", width),
    ];
    error(&Raw::new(atoms, vec![set("y", value)]))
}

fn error_in(atoms: Vec<RawAtom>, statements: Vec<VerilogStatement>) -> String {
    error(&Raw::new(atoms, statements))
}

/// A register of four bits without a reset.
fn register() -> Raw {
    let mut register = Raw::new(vec![input("clock", 1), input("d", 4), output("q", 4)], vec![]);
    register.timing = vec![TimingInfo {
        name: "reg".into(),
        clock: "clock".into(),
        inputs: vec![],
        outputs: vec![],
    }];
    register
}

#[test]
fn names_that_are_not_there() {
    assert_eq!(
        error_of(8, sig("rules$3$hit")),
        "top: the kernel uses `rules.3.hit`, which is no signal, constant or enum value of this block: declare a field for it (a const generic needs a `Constant` field)"
    );
    assert_eq!(
        error_of(8, sig("rules[N]$hit")),
        "top: the array index in `rules[N].hit` is not a constant here: use literals and loop variables, from 0 upwards"
    );
    let same = |values: &[&str]| of_enum(input(values[0], 1), "State", values);
    assert_eq!(
        error_in(
            vec![same(&["Idle", "Run"]), same(&["Run", "Idle"]), output("y", 1)],
            vec![set("y", bin(sig("Idle"), VerilogOp::Eq, sig("State$Idle")))]
        ),
        "top: the enum value `State.Idle` is defined differently by two types of the same name: rename one of the types"
    );
}

#[test]
fn widths_and_signs() {
    let a_plus_b = bin(sig("a"), VerilogOp::Add, sig("b"));
    assert_eq!(
        error_of(8, a_plus_b),
        "top: `a + b` joins 8 bits with 4 bits: make both the same width with `resize`, or with `bit_cast` for `Bits`"
    );
    assert_eq!(
        error_of(4, sig("a")),
        "top: `y = a` joins 4 bits with 8 bits: make both the same width with `resize`, or with `bit_cast` for `Bits`"
    );
    assert_eq!(
        error_of(1, bin(sig("a"), VerilogOp::Lt, sig("s"))),
        "top: `a < s` joins a signed with an unsigned value: convert one of them with `signed_cast` or `unsigned_cast`"
    );
    assert_eq!(
        error_of(8, bin(sig("a"), VerilogOp::Add, num(256))),
        "top: the literal 256 in `a + 256` does not fit 8 bits: use a smaller literal or a wider signal"
    );
    assert_eq!(
        error_of(1, bin(sig("s"), VerilogOp::Lt, un(VerilogOpUnary::Neg, num(129)))),
        "top: the literal -129 in `s < -129` does not fit 8 bits: use a smaller literal or a wider signal"
    );
    assert_eq!(
        error_of(8, un(VerilogOpUnary::Not, num(3))),
        "top: nothing gives the literals in `!3` a width: write them as `lit(value, width)`"
    );
    let extended = VerilogExpression::Signed(Box::new(sig("s")));
    assert_eq!(
        error_of(8, slice(extended, 4, num(0))),
        "top: the width of `signed_cast(s)` in `signed_cast(s)` is not known here: assign it to a Local signal of that width first"
            .replace("`signed_cast(s)` in", "`signed_bit_cast` in")
    );
    assert_eq!(
        error_of(8, cast(sig("a"), 1 << 21)),
        "top: `bit_cast::<2097152>(a)` is 2097152 bits wide: widths from 1 to 1048576 can be written as Verilog"
    );
    assert_eq!(
        error_in(vec![input("none", 0), output("y", 1)], vec![set("y", num(1))]),
        "top: `none` is 0 bits wide: widths from 1 to 1048576 can be written as Verilog"
    );
}

#[test]
fn selections() {
    assert_eq!(
        error_of(1, bit(sig("a"), num(8))),
        "top: `a.get_bit(8)` selects bit 8 of a value of 8 bits: keep the offset inside the value"
    );
    assert_eq!(
        error_of(1, bit(sig("a"), num(u128::MAX))),
        "top: `a.get_bit(340282366920938463463374607431768211455)` selects bit 340282366920938463463374607431768211455 of a value of 8 bits: keep the offset inside the value"
    );
    let ambiguous = "top: the arithmetic in the offset of `a.get_bit(b + 1)` may wrap, and the syntax tree does not say at which width: compute it in a Local signal first";
    assert_eq!(
        error_of(1, bit(sig("a"), bin(sig("b"), VerilogOp::Add, num(1)))),
        ambiguous
    );
    let words = bin(sig("w"), VerilogOp::Mul, num(4));
    assert_eq!(
        error_of(1, bit(sig("a"), words)),
        ambiguous.replace("b + 1", "w * 4")
    );
    assert_eq!(
        error_of(1, bit(sig("a"), num(-1))),
        "top: `a.get_bit(-1)` cannot be translated: an offset cannot be negative"
    );
    assert_eq!(
        error_of(1, bit(sig("a"), sig("s"))),
        "top: `a.get_bit(s)` cannot be translated: an offset must be unsigned"
    );
}

#[test]
fn operators_that_rust_does_not_have() {
    assert_eq!(
        error_of(16, bin(sig("a"), VerilogOp::Mul, sig("a"))),
        "top: `a * a` cannot be translated: Rust has no such product: multiply `Word`s"
    );
    assert_eq!(
        error_of(8, bin(sig("s"), VerilogOp::Shr, num(1))),
        "top: `s >> 1` cannot be translated: a right shift of a signed value: use `unsigned_cast` first"
    );
    assert_eq!(
        error_of(8, bin(sig("a"), VerilogOp::Shl, sig("s"))),
        "top: `a << s` cannot be translated: shift by an unsigned amount"
    );
    assert_eq!(
        error_of(8, bin(sig("a"), VerilogOp::Shl, num(-2))),
        "top: `a << -2` cannot be translated: shift by an amount that is not negative"
    );
    assert_eq!(
        error_of(8, bin(num(1), VerilogOp::Shl, num(u64::MAX))),
        "top: `1 << 18446744073709551615` cannot be translated: shift by less than the widest width"
    );
}

#[test]
fn targets() {
    let atoms = || {
        let mut constant = atom("limit", AtomKind::Constant, 4);
        constant.literal = 9_u32.into();
        let pad = atom("pad", AtomKind::InOutParameter, 4);
        vec![input("a", 4), output("y", 4), constant, pad]
    };
    let refused = |name: &str, role: &str| {
        let message = error_in(atoms(), vec![set("y", num(1)), set(name, num(1))]);
        let shown = name.replace('$', ".");
        assert_eq!(
            message,
            format!(
                "top: the kernel assigns `{shown}`, which is {role}: only outputs, Local signals, and inputs of sub-blocks and registers can be assigned"
            )
        );
    };
    refused("a", "an input of the block itself");
    refused("limit", "a constant");
    refused("pad", "a tri-state signal");
    let child = Raw::new(vec![input("x", 4), output("z", 4)], vec![set("z", sig("x"))]);
    let block = Raw::new(atoms(), vec![set("y", num(1)), set("part$z$next", num(1))]).with("part", child);
    assert_eq!(
        error(&block),
        "top: the kernel assigns `part.z`, which is an output of a sub-block: only outputs, Local signals, and inputs of sub-blocks and registers can be assigned"
    );
    let block = Raw::new(atoms(), vec![set("y", num(1)), set("count$q", num(1))]).with("count", register());
    assert_eq!(
        error(&block),
        "top: the kernel assigns `count.q`, which is the output of a register: only outputs, Local signals, and inputs of sub-blocks and registers can be assigned"
    );
    let sum = bin(sig("y"), VerilogOp::Add, num(1));
    let statement = VerilogStatement::Assignment(sum, num(1));
    assert_eq!(
        error_in(atoms(), vec![statement]),
        "top: `y + 1` cannot be translated: assign a signal or a slice of a signal"
    );
}

#[test]
fn signals_without_a_driver() {
    let test = || bin(sig("a"), VerilogOp::Lt, num(3));
    let atoms = || vec![input("a", 4), output("y", 4), local("t", 4)];
    assert_eq!(
        error_in(atoms(), vec![]),
        "top: nothing drives `y`: assign it in the kernel"
    );
    let latch = "top: `y` is not assigned in every bit on every path, which would make a latch: give it a default at the start of the kernel";
    assert_eq!(
        error_in(atoms(), vec![when(test(), vec![set("y", num(1))])]),
        latch
    );
    let half = VerilogStatement::SliceAssignment {
        base: sig("y"),
        width: 2,
        offset: num(1),
        replacement: num(3),
    };
    assert_eq!(error_in(atoms(), vec![half]), latch);
    let early = "top: `t` is read before it is assigned on every path, which closes a combinational loop: assign it first, or keep the old value in a register";
    assert_eq!(error_in(atoms(), vec![set("y", sig("t"))]), early);
    assert_eq!(
        error_in(atoms(), vec![set("y", sig("t")), set("t", sig("a"))]),
        early
    );
    assert_eq!(
        error_in(
            atoms(),
            vec![when(test(), vec![set("t", num(1))]), set("y", sig("t"))]
        ),
        early
    );
    let child = || Raw::new(vec![input("x", 4), output("z", 4)], vec![set("z", sig("x"))]);
    assert_eq!(
        error(&Raw::new(atoms(), vec![set("y", sig("part$z"))]).with("part", child())),
        "top: nothing drives `part.x`: assign it in the kernel"
    );
    let read_early = vec![
        set("part$x", num(1)),
        set("y", sig("part$x")),
        set("part$x", sig("a")),
    ];
    assert_eq!(
        error(&Raw::new(atoms(), read_early).with("part", child())),
        "top: the input `part.x` of a sub-block or register is read before its last assignment: read it afterwards, or use a Local signal"
    );
    let statements = vec![set("y", sig("count$q")), set("count$d", sig("a"))];
    let block = Raw::new(atoms(), statements).with("count", register());
    assert_eq!(
        error(&block),
        "top: the register `count` is not in `clocked!`: add it there, which gives it a clock and lets it hold its value where the kernel assigns none"
    );
    for port in ["clk", "rst"] {
        let child = Raw::new(vec![input(port, 1), output("z", 4)], vec![set("z", num(1))]);
        let block = Raw::new(atoms(), vec![set("y", sig("part$z"))]).with("part", child);
        assert_eq!(
            error(&block),
            format!(
                "top: nothing drives `part.{port}`: name `part` in `clocked!` with clock and reset, or assign it in the kernel"
            )
        );
    }
}

/// A counter that counts in every lane as well, whose kernel may forget registers in `clocked!`.
mod forgetful {
    use spinneret_verilog::prelude::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(super) enum Clocked {
        Nothing,
        CountOnly,
        LanesWithoutReset,
        All,
    }

    #[derive(LogicBlock, Describe, Debug)]
    pub(super) struct Counter {
        pub clk: Signal<In, Clock>,
        pub rst: Wire<In, bool>,
        pub go: Wire<In, bool>,
        pub total: Wire<Out>,
        count: Reg,
        lanes: Vec<Reg>,
        _clocked: Clocked,
    }

    impl Counter {
        pub(super) fn new(clocked: Clocked) -> Self {
            Self {
                clk: Signal::default(),
                rst: Wire::bit(),
                go: Wire::bit(),
                total: Wire::word(4),
                count: Reg::word_reset(4),
                lanes: (0..2).map(|_| Reg::word_reset(4)).collect(),
                _clocked: clocked,
            }
        }
    }

    impl Logic for Counter {
        #[kernel]
        fn update(&mut self) {
            if self._clocked != Clocked::Nothing {
                clocked!(self.clk, self.rst => self.count);
            }
            if self._clocked == Clocked::LanesWithoutReset {
                clocked!(self.clk => self.lanes);
            }
            if self._clocked == Clocked::All {
                clocked!(self.clk, self.rst => self.lanes);
            }
            if self.go.val() {
                self.count.d.next = self.count.q.val() + 1;
                for lane in 0..2 {
                    self.lanes[lane].d.next = self.count.q.val();
                }
            }
            self.total.next = self.lanes[0].q.val() + self.lanes[1].q.val();
        }
    }
}

#[test]
fn registers_that_clocked_does_not_name() {
    use forgetful::{Clocked, Counter};
    let refused = |clocked| generate(&Counter::new(clocked), "top").map_err(|error| error.to_string());
    let missing = |name: &str| {
        format!(
            "top: the register `{name}` is not in `clocked!`: add it there, which gives it a clock and lets it hold its value where the kernel assigns none"
        )
    };
    assert_eq!(refused(Clocked::Nothing).err(), Some(missing("count")));
    assert_eq!(refused(Clocked::CountOnly).err(), Some(missing("lanes.0")));
    assert_eq!(
        refused(Clocked::LanesWithoutReset).err().as_deref(),
        Some(
            "top: the register `lanes.0` has a reset, but is in a `clocked!` without one: write `clocked!(clk, rst => ...)`, or make the register without a reset"
        )
    );
    assert!(refused(Clocked::All).is_ok());
}

#[test]
fn identifiers() {
    assert_eq!(
        error_in(vec![output("always", 1)], vec![set("always", num(true))]),
        "top: `always` is no Verilog identifier or is a keyword of SystemVerilog: rename the field"
    );
    assert_eq!(
        error_in(
            vec![output("x$y", 1), local("x_y", 1)],
            vec![set("x$y", num(true))]
        ),
        "top: `x.y` and `x_y` are both called `x_y` in Verilog: rename one of the fields"
    );
    let hinted = |name: &str| {
        let hint = VerilogStatement::Comment(format!("module: {name}"));
        let child = Raw::new(vec![output("z", 1)], vec![hint, set("z", num(true))]);
        Raw::new(vec![output("y", 1)], vec![set("y", sig("part$z"))]).with("part", child)
    };
    assert_eq!(
        error(&hinted("two words")),
        "top.part: `two words` is no Verilog identifier or is a keyword of SystemVerilog: rename the field"
    );
    let block = Raw::new(vec![output("y", 1)], vec![set("y", num(true))]);
    assert_eq!(
        generate(&block, "4to1").expect_err("no identifier").to_string(),
        "4to1: `4to1` is no Verilog identifier or is a keyword of SystemVerilog: rename the field"
    );
}

#[test]
fn names_of_modules_and_parameters() {
    let one = Raw::new(vec![output("y", 1)], vec![set("y", num(true))]);
    let other = Raw::new(vec![output("y", 1)], vec![set("y", num(false))]);
    let mut library = Library::new();
    library
        .add(&one, "top", &TopOptions::default())
        .expect("a design");
    assert_eq!(
        library
            .add(&other, "top", &TopOptions::default())
            .expect_err("taken")
            .to_string(),
        "top: the library already holds another module named `top`: choose another name, or add this top-level design first"
    );
    let parameter = Parameter {
        name: "y".into(),
        value: 1,
        doc: String::new(),
    };
    let options = TopOptions {
        parameters: vec![parameter.clone()],
    };
    assert_eq!(
        Library::new()
            .add(&one, "top", &options)
            .expect_err("clash")
            .to_string(),
        "top: `y` and `y` are both called `y` in Verilog: rename one of the fields"
    );
    let keyword = TopOptions {
        parameters: vec![Parameter {
            name: "wire".into(),
            ..parameter
        }],
    };
    assert_eq!(
        Library::new()
            .add(&one, "top", &keyword)
            .expect_err("keyword")
            .to_string(),
        "top: `wire` is no Verilog identifier or is a keyword of SystemVerilog: rename the field"
    );
}

#[test]
fn statements_without_translation() {
    let atoms = || vec![input("a", 2), output("y", 4)];
    let case = |label: &str| {
        let cases = vec![VerilogCase {
            condition: label.to_owned(),
            block: vec![set("y", num(1))],
        }];
        error_in(
            atoms(),
            vec![VerilogStatement::Match(VerilogMatch {
                test: sig("a"),
                cases,
            })],
        )
    };
    let pattern = |label: &str| {
        format!(
            "top: the pattern `{label}` of a match is no literal and no enum value of 2 bits: use one, or `_`"
        )
    };
    for label in ["5", "x", "State.Idle", "-1", ""] {
        assert_eq!(case(&label.replace('.', "$")), pattern(label));
    }
    let repeated = |from: i32, to: u64, block| {
        VerilogStatement::Loop(VerilogLoop {
            index: "i".into(),
            from: from.into(),
            to: to.into(),
            block,
        })
    };
    assert_eq!(
        error_in(atoms(), vec![repeated(0, u64::MAX, vec![])]),
        "top: the kernel unrolls to more than 1000000 statements: move the loop into a sub-block"
    );
    assert_eq!(
        error_in(atoms(), vec![repeated(-1, 3, vec![])]),
        "top: `for i in 32'h-1..64'h3` cannot be translated: loop over a range of 64-bit constants that are not negative"
    );
    let deep = (0..4_100).fold(sig("a"), |value, _| un(VerilogOpUnary::Not, value));
    assert_eq!(
        error_in(atoms(), vec![set("y", deep)]),
        "top: the kernel nests deeper than 4000 levels: split the expression with Local signals"
    );
    let link = VerilogLink::Bidirectional(VerilogLinkDetails {
        my_name: String::new(),
        owner_name: "a".into(),
        other_name: "b".into(),
    });
    assert_eq!(
        error_in(atoms(), vec![VerilogStatement::Link(vec![link])]),
        "top: `link of a and b` cannot be translated: tri-state signals cannot be linked: keep the tri-state buffer in the top block"
    );
}

#[test]
fn blocks_without_translation() {
    let custom = |text: &str| Raw {
        atoms: vec![output("z", 1)],
        children: vec![],
        code: Verilog::Custom(text.to_owned()),
        timing: vec![],
    };
    let outer = custom("assign z = 1'b0;").with("inner", custom("assign z = 1'b1;"));
    assert_eq!(
        error(&outer),
        "top: `inner` cannot be translated: a block whose body is verbatim Verilog cannot have sub-blocks: use a `Wrapper`"
    );
    let blackbox = |code: &str| {
        let mut part = custom("");
        part.code = Verilog::Blackbox(BlackBox {
            code: code.to_owned(),
            name: "PLL".into(),
        });
        Raw::new(vec![output("y", 1)], vec![set("y", sig("part$z"))]).with("part", part)
    };
    let declares = "top.part: `black box PLL` cannot be translated: its code must declare the module of that name first, and it cannot be the top";
    assert_eq!(error(&blackbox("module OTHER(z); output z; endmodule")), declares);
    assert_eq!(error(&blackbox("")), declares);
    let mut wrapper = custom("");
    wrapper.code = Verilog::Wrapper(Wrapper {
        code: "PLL u (.Z(z));".into(),
        cores: "// nothing".into(),
    });
    assert_eq!(
        error(&wrapper),
        "top: `verbatim Verilog of an external core` cannot be translated: it must declare the module that it stands for"
    );
    let mut pad = Raw::new(vec![atom("pad", AtomKind::InOutParameter, 1)], vec![]);
    pad.code = Verilog::Custom("assign pad = 1'bz;".into());
    assert_eq!(
        error(&Raw::new(vec![], vec![]).with("part", pad)),
        "top: `part.pad` cannot be translated: a tri-state port of a sub-block cannot be connected: keep the tri-state buffer in the top block"
    );
    let stub = atom("s", AtomKind::StubInputSignal, 1);
    assert_eq!(
        error_in(vec![stub], vec![]),
        "top: `s` cannot be translated: declare the signal as In, Out, InOut or Local"
    );
    let signals: Vec<rust_hdl::prelude::Signal<rust_hdl::prelude::In, bool>> = vec![];
    assert_eq!(
        generate(&signals, "top").expect_err("no block").to_string(),
        "top: `top` cannot be translated: the top must be one block, not an array or an interface"
    );
}
