//! Kernels without a translation: each message is in `snapshots/suite__errors__messages.snap`.

use rust_hdl::core::ast::{
    BlackBox, Verilog, VerilogCase, VerilogExpression, VerilogLink, VerilogLinkDetails, VerilogLoop,
    VerilogMatch, VerilogOp, VerilogOpUnary, VerilogStatement, Wrapper,
};
use rust_hdl::prelude::{AtomKind, Block, TimingInfo};
use spinneret_verilog::{Library, Parameter, TopOptions, generate};

use crate::support::raw::*;

fn refused(block: &impl Block, name: &str) -> String {
    let error = generate(block, name).expect_err("the block has no translation");
    error.to_string()
}

fn error(block: &Raw) -> String {
    refused(block, "top")
}

fn taken(library: &mut Library, block: &Raw, options: &TopOptions) -> String {
    let error = library.add(block, "top", options).expect_err("the name is taken");
    error.to_string()
}

/// The error of a kernel that assigns `value` to an output `y` of `width` bits; `a` has 8 bits, `b` 4,
/// `s` is signed with 8.
fn error_of(width: usize, value: VerilogExpression) -> String {
    let atoms = vec![
        input("a", 8),
        input("b", 4),
        signed(input("s", 8)),
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

/// All messages of the back-end are in one file, so that their wording can be read and changed there.
#[test]
fn messages() {
    let sections: [fn(&mut Vec<String>); 11] = [
        names_that_are_not_there,
        widths_and_signs,
        selections,
        operators_that_plain_kernels_do_not_have,
        targets,
        signals_without_a_driver,
        registers_and_parts_without_clock_or_reset,
        identifiers,
        names_of_modules_and_parameters,
        statements_without_translation,
        blocks_without_translation,
    ];
    let mut told = Vec::new();
    for section in sections {
        section(&mut told);
        told.push(String::new());
    }
    insta::assert_snapshot!(told.join("\n"));
}

fn names_that_are_not_there(told: &mut Vec<String>) {
    told.push(error_of(8, sig("rules$3$hit")));
    told.push(error_of(8, sig("rules[N]$hit")));
    let same = |values: &[&str]| of_enum(input(values[0], 1), "State", values);
    told.push(error_in(
        vec![same(&["Idle", "Run"]), same(&["Run", "Idle"]), output("y", 1)],
        vec![set("y", bin(sig("Idle"), VerilogOp::Eq, sig("State$Idle")))],
    ));
}

fn widths_and_signs(told: &mut Vec<String>) {
    let a_plus_b = bin(sig("a"), VerilogOp::Add, sig("b"));
    told.push(error_of(8, a_plus_b));
    told.push(error_of(4, sig("a")));
    told.push(error_of(1, bin(sig("a"), VerilogOp::Lt, sig("s"))));
    told.push(error_of(8, VerilogExpression::Signed(Box::new(sig("a")))));
    told.push(error_of(8, bin(sig("a"), VerilogOp::Add, num(256))));
    told.push(error_of(8, bin(sig("a"), VerilogOp::Add, num(-1))));
    told.push(error_of(8, un(VerilogOpUnary::Not, num(3))));
    told.push(error_of(1, bin(num(1), VerilogOp::Lt, num(2))));
    told.push(error_in(
        vec![input("none", 0), output("y", 1)],
        vec![set("y", num(1))],
    ));
}

fn selections(told: &mut Vec<String>) {
    told.push(error_of(1, bit(sig("a"), num(8))));
    told.push(error_of(1, bit(sig("a"), num(u128::MAX))));
    told.push(error_of(1, bit(sig("a"), bin(sig("b"), VerilogOp::Add, num(1)))));
    told.push(error_of(1, bit(sig("a"), num(-1))));
    told.push(error_of(9, slice(sig("a"), 9, sig("b"))));
}

fn operators_that_plain_kernels_do_not_have(told: &mut Vec<String>) {
    told.push(error_of(16, bin(sig("a"), VerilogOp::Mul, sig("a"))));
    told.push(error_of(8, bin(sig("a"), VerilogOp::Shl, num(-2))));
}

fn targets(told: &mut Vec<String>) {
    let atoms = || {
        let mut constant = atom("limit", AtomKind::Constant, 4);
        constant.literal = 9_u32.into();
        let pad = atom("pad", AtomKind::InOutParameter, 4);
        vec![input("a", 4), output("y", 4), constant, pad]
    };
    for name in ["a", "limit", "pad"] {
        told.push(error_in(atoms(), vec![set("y", num(1)), set(name, num(1))]));
    }
    let child = Raw::new(vec![input("x", 4), output("z", 4)], vec![set("z", sig("x"))]);
    let block = Raw::new(atoms(), vec![set("y", num(1)), set("part$z$next", num(1))]).with("part", child);
    told.push(error(&block));
    let block = Raw::new(atoms(), vec![set("y", num(1)), set("count$q", num(1))]).with("count", register());
    told.push(error(&block));
    let sum = bin(sig("y"), VerilogOp::Add, num(1));
    let statement = VerilogStatement::Assignment(sum, num(1));
    told.push(error_in(atoms(), vec![statement]));
}

fn signals_without_a_driver(told: &mut Vec<String>) {
    let test = || bin(sig("a"), VerilogOp::Lt, num(3));
    let atoms = || vec![input("a", 4), output("y", 4), local("t", 4)];
    told.push(error_in(atoms(), vec![]));
    told.push(error_in(atoms(), vec![when(test(), vec![set("y", num(1))])]));
    let half = VerilogStatement::SliceAssignment {
        base: sig("y"),
        width: 2,
        offset: num(1),
        replacement: num(3),
    };
    told.push(error_in(atoms(), vec![half]));
    told.push(error_in(atoms(), vec![set("y", sig("t"))]));
    told.push(error_in(atoms(), vec![set("y", sig("t")), set("t", sig("a"))]));
    told.push(error_in(
        atoms(),
        vec![when(test(), vec![set("t", num(1))]), set("y", sig("t"))],
    ));
    let child = || Raw::new(vec![input("x", 4), output("z", 4)], vec![set("z", sig("x"))]);
    told.push(error(
        &Raw::new(atoms(), vec![set("y", sig("part$z"))]).with("part", child()),
    ));
    let read_early = vec![
        set("part$x", num(1)),
        set("y", sig("part$x")),
        set("part$x", sig("a")),
    ];
    told.push(error(&Raw::new(atoms(), read_early).with("part", child())));
    let statements = vec![set("y", sig("count$q")), set("count$d", sig("a"))];
    let block = Raw::new(atoms(), statements).with("count", register());
    told.push(error(&block));
    for port in ["clk", "rst"] {
        let child = Raw::new(vec![input(port, 1), output("z", 4)], vec![set("z", num(1))]);
        let block = Raw::new(atoms(), vec![set("y", sig("part$z"))]).with("part", child);
        told.push(error(&block));
    }
}

/// Registers of blocks that have no clock, or no reset.
mod unclocked {
    use spinneret_verilog::prelude::*;

    /// It has no clock.
    #[module(no_clock)]
    pub(super) struct NoClock {
        a: Wire<In, bool>,
        y: Wire<Out, bool>,
    }

    #[kernel(NoClock { a, y })]
    fn update() {
        y = reg(a);
    }

    /// It has no reset.
    #[module(no_clock)]
    pub(super) struct NoReset {
        clk: Signal<In, Clock>,
        a: Wire<In, bool>,
        y: Wire<Out, bool>,
    }

    #[kernel(NoReset { a, y })]
    fn update() {
        y = reg_reset(a, true);
    }

    /// Its register has no reset.
    #[module(no_clock)]
    pub(super) struct FieldWithoutReset {
        clk: Signal<In, Clock>,
        a: Wire<In, bool>,
        y: Wire<Out, bool>,
        held: Reg<bool, Reset>,
    }

    #[kernel(FieldWithoutReset { a, y, held })]
    fn update() {
        held = a;
        y = held;
    }

    /// Its part has no reset.
    #[module(no_clock)]
    pub(super) struct PartWithoutReset {
        clk: Signal<In, Clock>,
        y: Wire<Out, bool>,
        part: Part,
    }

    #[kernel(PartWithoutReset { y, part })]
    fn update() {
        y = part.y;
    }

    #[module()]
    pub(super) struct Part {
        y: Wire<Out, bool>,
        held: Reg<bool, Reset>,
    }

    #[kernel(Part { y, held })]
    fn update() {
        held = !held;
        y = held;
    }
}

fn registers_and_parts_without_clock_or_reset(told: &mut Vec<String>) {
    told.push(refused(&unclocked::NoClock::new(), "top"));
    told.push(refused(&unclocked::NoReset::new(), "top"));
    told.push(refused(&unclocked::FieldWithoutReset::new(), "top"));
    told.push(refused(&unclocked::PartWithoutReset::new(), "top"));
}

mod hinted {
    use spinneret_verilog::prelude::*;

    /// Its name is none.
    #[module(no_clock)]
    pub(super) struct Hinted {
        z: Wire<Out, bool>,
    }

    #[kernel(Hinted { z }, suffix = "two words")]
    fn update() {
        z = true;
    }
}

fn identifiers(told: &mut Vec<String>) {
    told.push(error_in(
        vec![output("always", 1)],
        vec![set("always", num(true))],
    ));
    told.push(error_in(
        vec![output("x$y", 1), local("x_y", 1)],
        vec![set("x$y", num(true))],
    ));
    let part = hinted::Hinted::new();
    let block = Raw::new(vec![output("y", 1)], vec![set("y", sig("part$z"))]).with("part", part);
    told.push(error(&block));
    let block = Raw::new(vec![output("y", 1)], vec![set("y", num(true))]);
    told.push(refused(&block, "4to1"));
}

fn names_of_modules_and_parameters(told: &mut Vec<String>) {
    let one = Raw::new(vec![output("y", 1)], vec![set("y", num(true))]);
    let other = Raw::new(vec![output("y", 1)], vec![set("y", num(false))]);
    let mut library = Library::new();
    library
        .add(&one, "top", &TopOptions::default())
        .expect("a design");
    told.push(taken(&mut library, &other, &TopOptions::default()));
    let parameter = Parameter {
        name: "y".into(),
        value: 1,
        doc: String::new(),
    };
    let options = TopOptions {
        parameters: vec![parameter.clone()],
    };
    told.push(taken(&mut Library::new(), &one, &options));
    let keyword = TopOptions {
        parameters: vec![Parameter {
            name: "wire".into(),
            ..parameter
        }],
    };
    told.push(taken(&mut Library::new(), &one, &keyword));
}

fn statements_without_translation(told: &mut Vec<String>) {
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
    for label in ["5", "x", "State$Idle", "-1", ""] {
        told.push(case(label));
    }
    let repeated = |from: i32, to: u64, block| {
        VerilogStatement::Loop(VerilogLoop {
            index: "i".into(),
            from: from.into(),
            to: to.into(),
            block,
        })
    };
    told.push(error_in(atoms(), vec![repeated(0, u64::MAX, vec![])]));
    told.push(error_in(atoms(), vec![repeated(-1, 3, vec![])]));
    let link = VerilogLink::Bidirectional(VerilogLinkDetails {
        my_name: String::new(),
        owner_name: "a".into(),
        other_name: "b".into(),
    });
    told.push(error_in(atoms(), vec![VerilogStatement::Link(vec![link])]));
}

fn blocks_without_translation(told: &mut Vec<String>) {
    let custom = |text: &str| Raw {
        atoms: vec![output("z", 1)],
        children: vec![],
        code: Verilog::Custom(text.to_owned()),
        timing: vec![],
    };
    let outer = custom("assign z = 1'b0;").with("inner", custom("assign z = 1'b1;"));
    told.push(error(&outer));
    let blackbox = |code: &str| {
        let mut part = custom("");
        part.code = Verilog::Blackbox(BlackBox {
            code: code.to_owned(),
            name: "PLL".into(),
        });
        Raw::new(vec![output("y", 1)], vec![set("y", sig("part$z"))]).with("part", part)
    };
    told.push(error(&blackbox("module OTHER(z); output z; endmodule")));
    told.push(error(&blackbox("")));
    let mut wrapper = custom("");
    wrapper.code = Verilog::Wrapper(Wrapper {
        code: "PLL u (.Z(z));".into(),
        cores: "// nothing".into(),
    });
    told.push(error(&wrapper));
    let mut pad = Raw::new(vec![atom("pad", AtomKind::InOutParameter, 1)], vec![]);
    pad.code = Verilog::Custom("assign pad = 1'bz;".into());
    told.push(error(&Raw::new(vec![], vec![]).with("part", pad)));
    let stub = atom("s", AtomKind::StubInputSignal, 1);
    told.push(error_in(vec![stub], vec![]));
    let signals: Vec<rust_hdl::prelude::Signal<rust_hdl::prelude::In, bool>> = vec![];
    told.push(refused(&signals, "top"));
}
