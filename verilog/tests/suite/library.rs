//! Modules: which are shared, how they are called, what their files hold.

use rust_hdl::core::ast::{BlackBox, Verilog, VerilogOp, VerilogOpUnary, Wrapper};
use rust_hdl::prelude::{AtomKind, Block};
use rustix::time::{ClockId, clock_gettime};
use spinneret_verilog::{Design, Library, Parameter, Port, PortDirection, TopOptions, generate};

use crate::support::raw::*;
use crate::support::tools;

/// Blocks with names of their own.
mod named {
    use spinneret_verilog::prelude::*;

    macro_rules! inverters {
        ($($name:ident)+) => {
            $(
                #[module(no_clock, width: usize)]
                pub(super) struct $name {
                    a: Wire<In, { width }>,
                    y: Wire<Out, { width }>,
                }

                #[kernel($name { a, y })]
                fn update() {
                    y = !a;
                }
            )+
        };
    }
    inverters! { Stage Inverter Fifo PspinPart OurPart Bit }

    /// An inverter inside of a block.
    #[module(no_clock, width: usize)]
    pub(super) struct Half {
        a: Wire<In, { width }>,
        y: Wire<Out, { width }>,
        bit: Bit<{ width }>,
    }

    #[kernel(Half { a, y, bit })]
    fn update() {
        bit.a = a;
        y = bit.y;
    }

    /// Its variants differ in two numbers.
    #[module(no_clock, width: usize, limit: u64)]
    pub(super) struct Part {
        a: Wire<In, { width }>,
        y: Wire<Out, { width }>,
    }

    #[kernel(Part { a, y, limit }, parameters(WIDTH = self._width, LIMIT = self._limit as usize))]
    fn update() {
        y = a + (limit - 1);
    }

    /// Its variants differ in a number without a name, too.
    #[module(no_clock, width: usize, limit: u64)]
    pub(super) struct Apart {
        a: Wire<In, { width }>,
        y: Wire<Out, { width }>,
    }

    #[kernel(Apart { a, y, limit }, parameters(WIDTH = self._width))]
    fn update() {
        y = a + limit;
    }

    /// Its width follows from its bytes.
    #[module(no_clock, width: usize)]
    pub(super) struct Derived {
        a: Wire<In, { width }>,
        y: Wire<Out, { width }>,
    }

    #[kernel(Derived { a, y }, parameters(BYTES = self._width * 3), numbers(WIDTH = BYTES / 3))]
    fn update() {
        y = a;
    }

    /// Passes its input on.
    #[module(no_clock, width: usize)]
    pub(super) struct Inner {
        a: Wire<In, { width }>,
        y: Wire<Out, { width }>,
    }

    #[kernel(Inner { a, y }, parameters(WIDTH = self._width))]
    fn update() {
        y = a;
    }

    /// Passes its input on through another block.
    #[module(no_clock, width: usize)]
    pub(super) struct Outer {
        a: Wire<In, { width }>,
        y: Wire<Out, { width }>,
        inner: Inner<{ width }>,
    }

    #[kernel(Outer { a, y, inner }, parameters(WIDTH = self._width))]
    fn update() {
        inner.a = a;
        y = inner.y;
    }
}

use named::{Apart, Derived, Fifo, Half, Inner, Inverter, OurPart, Outer, Part, PspinPart, Stage};

/// An inverter in plain rust-hdl, which has no name of its own.
fn inverter(width: usize) -> Raw {
    let statements = vec![set("y", un(VerilogOpUnary::Not, sig("a")))];
    Raw::new(vec![input("a", width), output("y", width)], statements)
}

fn boxed(block: impl Block + 'static) -> Box<dyn Block> {
    Box::new(block)
}

fn chain(parts: Vec<(&str, Box<dyn Block>)>, width: usize) -> Raw {
    let mut statements = Vec::new();
    let mut before = "a".to_owned();
    for (name, _) in &parts {
        statements.push(set(&format!("{name}$a"), sig(&before)));
        before = format!("{name}$y");
    }
    statements.push(set("y", sig(&before)));
    let block = Raw::new(vec![input("a", width), output("y", width)], statements);
    parts
        .into_iter()
        .fold(block, |block, (name, part)| block.with_boxed(name, part))
}

fn names(design: &Design) -> Vec<&str> {
    design.modules.iter().map(|module| module.name.as_str()).collect()
}

#[test]
fn equal_modules_are_one_and_different_ones_are_numbered() {
    let wide = Raw::new(
        vec![input("a", 4), output("y", 4)],
        vec![set("y", bin(sig("a"), VerilogOp::Add, num(1)))],
    );
    let parts = vec![
        ("stage$0", boxed(inverter(4))),
        ("stage$1", boxed(inverter(4))),
        ("stage$2", boxed(wide)),
        ("other", boxed(inverter(4))),
        ("named", boxed(Stage::new(4))),
    ];
    let design = generate(&chain(parts, 4), "top").expect("a design");
    assert_eq!(names(&design), ["stage", "stage_1", "top"]);
    assert_eq!(design.modules[2].instances, ["stage", "stage_1"]);
    let text = design.text();
    for instance in [
        "stage u_stage_0 (",
        "stage u_stage_1 (",
        "stage_1 u_stage_2 (",
        "stage u_other (",
        "stage u_named (",
    ] {
        assert!(text.contains(instance), "{instance}\n{text}");
    }
}

/// Verilator and yosys read the design without a complaint.
fn elaborates(text: &str) {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("dut.sv"), text).expect("dut.sv");
    tools::yosys(directory.path());
    tools::lint(directory.path(), &[]);
}

/// Returns a block with two parallel sub-blocks, of four and of nine bits.
fn beside(narrow: impl Block + 'static, wide: impl Block + 'static) -> Raw {
    let both = Raw::new(
        vec![input("a", 4), output("y", 4), input("b", 9), output("z", 9)],
        vec![
            set("narrow$a", sig("a")),
            set("wide$a", sig("b")),
            set("y", sig("narrow$y")),
            set("z", sig("wide$y")),
        ],
    );
    both.with("narrow", narrow).with("wide", wide)
}

#[test]
fn blocks_that_differ_in_named_numbers_are_one_module_with_parameters() {
    let design = generate(&beside(Part::new(4, 5), Part::new(9, 300)), "top").expect("a design");
    assert_eq!(names(&design), ["part", "top"]);
    let text = design.text();
    for expected in [
        "module part #(\n    parameter integer WIDTH = 4,\n    parameter integer LIMIT = 5\n)",
        "input  wire  [WIDTH-1:0] a,",
        "assign y = a + WIDTH'(LIMIT-1);",
        "part #(.WIDTH(4), .LIMIT(5)) u_narrow (",
        "part #(.WIDTH(9), .LIMIT(300)) u_wide (",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    elaborates(&text);
}

#[test]
fn a_number_that_follows_from_parameters_is_declared_with_its_formula() {
    let text = generate(&beside(Derived::new(4), Derived::new(9)), "top")
        .expect("a design")
        .text();
    for expected in [
        "    parameter integer BYTES = 12,\n    localparam integer WIDTH = BYTES / 3\n)",
        "output logic [WIDTH-1:0] y",
        "derived #(.BYTES(27)) u_wide (",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    elaborates(&text);
}

#[test]
fn a_parameter_is_passed_on_to_parts() {
    let design = generate(&beside(Outer::new(4), Outer::new(9)), "top").expect("a design");
    assert_eq!(names(&design), ["inner", "outer", "top"]);
    let text = design.text();
    assert!(text.contains("inner #(.WIDTH(WIDTH)) u_inner ("), "{text}");
    elaborates(&text);
}

#[test]
fn blocks_stay_apart_where_a_number_follows_from_none_that_is_named() {
    let design = generate(&beside(Apart::new(4, 5), Apart::new(9, 300)), "top").expect("a design");
    assert_eq!(names(&design), ["apart", "apart_1", "top"]);
    assert!(!design.text().contains("parameter"), "{}", design.text());
}

#[test]
fn a_module_gets_its_parameters_when_a_design_brings_another_variant() {
    let mut library = Library::new();
    let options = TopOptions::default();
    let first = library
        .add(&chain(vec![("part", boxed(Inner::new(4)))], 4), "first", &options)
        .expect("a design");
    assert!(first.text().contains("input  wire  [3:0] a,"), "{}", first.text());
    let second = library
        .add(
            &chain(vec![("part", boxed(Inner::new(9)))], 9),
            "second",
            &options,
        )
        .expect("a design");
    assert!(
        second.text().contains("inner #(.WIDTH(9)) u_part ("),
        "{}",
        second.text()
    );
    let modules = library.modules();
    let texts: Vec<&str> = modules.iter().map(|module| module.text.as_str()).collect();
    assert_eq!(modules.len(), 3);
    assert!(
        texts.concat().contains("inner #(.WIDTH(4)) u_part ("),
        "{}",
        texts.concat()
    );
}

#[test]
fn a_signal_of_another_width_than_its_parameter_is_refused() {
    let mut part = Raw::new(vec![input("a", 6), output("y", 6)], Vec::new());
    part.code = Verilog::Custom("// parameter WIDTH = 5: a y\nassign y = a;\n".to_owned());
    let error = generate(&chain(vec![("part", boxed(part))], 6), "top").expect_err("it is refused");
    assert_eq!(
        error.to_string(),
        "top.part: `a` cannot be translated: the parameter of the module that lists it has another value than it has bits"
    );
}

#[test]
fn designs_of_one_library_share_modules() {
    let mut library = Library::new();
    let first = library
        .add(&Fifo::new(4), "inverter", &TopOptions::default())
        .expect("a design");
    assert_eq!(names(&first), ["inverter"]);
    let second = library
        .add(
            &chain(vec![("x", boxed(Inverter::new(4)))], 4),
            "outer",
            &TopOptions::default(),
        )
        .expect("a design");
    assert_eq!(names(&second), ["inverter", "outer"]);
    assert_eq!(second.modules[0], first.modules[0]);
    let third = library
        .add(
            &chain(vec![("x", boxed(Inverter::new(5)))], 5),
            "wider",
            &TopOptions::default(),
        )
        .expect("a design");
    assert_eq!(names(&third), ["inverter_1", "wider"]);
}

#[test]
fn a_prefix_keeps_sub_blocks_apart_from_modules_of_other_sources() {
    let core = "module BUFG(I, O);\n  input I;\n  output O;\n  assign O = I;\nendmodule";
    let mut wrapped = Raw::new(vec![input("a", 1), output("y", 1)], vec![]);
    wrapped.code = Verilog::Wrapper(Wrapper {
        code: "BUFG u_bufg (.I(a), .O(y));".into(),
        cores: core.into(),
    });
    let parts = vec![
        ("stage", boxed(inverter(1))),
        ("named", boxed(Fifo::new(1))),
        ("contract", boxed(PspinPart::new(1))),
        ("ours", boxed(OurPart::new(1))),
        ("clock", boxed(wrapped)),
    ];
    let mut library = Library::with_prefix("our_", &["pspin_", "mqnic_"]);
    let design = library
        .add(&chain(parts, 1), "top", &TopOptions::default())
        .expect("a design");
    assert_eq!(
        names(&design),
        [
            "our_stage",
            "our_fifo",
            "pspin_part",
            "our_part",
            "BUFG",
            "our_clock",
            "top"
        ]
    );
    let text = design.text();
    for line in [
        "our_stage u_stage (",
        "our_fifo u_named (",
        "module our_fifo (",
        "endmodule : our_fifo",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    elaborates(&text);
}

#[test]
fn a_prefix_for_all_is_given_to_those_that_begin_with_it_as_well() {
    let parts = vec![("stage", boxed(inverter(1))), ("ours", boxed(OurPart::new(1)))];
    let design = Library::with_prefix_for_all("our_")
        .add(&chain(parts, 1), "our_top", &TopOptions::default())
        .expect("a design");
    assert_eq!(names(&design), ["our_stage", "our_our_part", "our_top"]);
    elaborates(&design.text());
}

#[test]
fn a_prefix_that_is_no_identifier_is_refused() {
    let error = Library::with_prefix("2-", &[])
        .add(
            &chain(vec![("x", boxed(inverter(4)))], 4),
            "top",
            &TopOptions::default(),
        )
        .expect_err("an error");
    assert_eq!(
        error.to_string(),
        "top.x: `2-x` is no Verilog identifier or is a keyword of SystemVerilog: rename the field"
    );
}

#[test]
fn a_library_lists_the_modules_of_all_its_designs_once_and_children_first() {
    let mut library = Library::with_prefix("our_", &[]);
    let whole = chain(
        vec![
            ("first", boxed(named::Bit::new(4))),
            ("second", boxed(Half::new(4))),
        ],
        4,
    );
    let options = TopOptions::default();
    library
        .add(&Half::new(4), "our_half", &options)
        .expect("a design");
    library.add(&whole, "whole", &options).expect("a design");
    library.add(&inverter(5), "other", &options).expect("a design");
    let modules = library.modules();
    let names: Vec<_> = modules.iter().map(|module| module.name.as_str()).collect();
    assert_eq!(names, ["our_bit", "our_half", "whole", "other"]);
    for (number, module) in modules.iter().enumerate() {
        for instance in &module.instances {
            assert!(
                names[..number].contains(&instance.as_str()),
                "{instance} comes late"
            );
        }
    }
}

#[test]
fn a_sub_block_never_takes_the_name_of_the_top() {
    let design = generate(&chain(vec![("top", boxed(inverter(4)))], 4), "top").expect("a design");
    assert_eq!(names(&design), ["top_1", "top"]);
}

#[test]
fn a_block_without_ports_and_logic_vanishes() {
    let empty = Raw::new(vec![local("unused", 3)], vec![]);
    let design = generate(&inverter(2).with("empty", empty), "top").expect("a design");
    assert_eq!(names(&design), ["top"]);
    assert!(!design.text().contains("empty"));
}

#[test]
fn ports_keep_the_order_of_the_fields() {
    let pad = atom("pad", AtomKind::InOutParameter, 2);
    let block = Raw {
        code: Verilog::Custom("assign pad = 2'bz;\nassign y = pad;\n".into()),
        ..Raw::new(vec![pad, signed(output("y", 2))], vec![])
    };
    let design = generate(&block, "pads").expect("a design");
    let port = |name: &str, direction, signed| Port {
        name: name.into(),
        direction,
        width: 2,
        signed,
        doc: "".into(),
    };
    assert_eq!(
        design.ports,
        [
            port("pad", PortDirection::InOut, false),
            port("y", PortDirection::Output, true)
        ]
    );
}

#[test]
fn black_boxes_and_wrappers_bring_their_modules() {
    let core = "module BUFG(I, O);\n  input I;\n  output O;\n  assign O = I;\nendmodule";
    let mut black = Raw::new(vec![input("I", 1), output("O", 1)], vec![]);
    black.code = Verilog::Blackbox(BlackBox {
        code: core.into(),
        name: "BUFG".into(),
    });
    let mut wrapped = Raw::new(vec![input("a", 1), output("y", 1)], vec![]);
    wrapped.code = Verilog::Wrapper(Wrapper {
        code: "BUFG u_bufg (.I(a), .O(y));".into(),
        cores: core.into(),
    });
    let statements = vec![
        set("black$I", sig("a")),
        set("wrapped$a", sig("black$O")),
        set("y", sig("wrapped$y")),
    ];
    let block = Raw::new(vec![input("a", 1), output("y", 1)], statements)
        .with("black", black)
        .with("wrapped", wrapped);
    let design = generate(&block, "top").expect("a design");
    assert_eq!(names(&design), ["BUFG", "wrapped", "top"]);
    assert_eq!(design.modules[1].instances, ["BUFG"]);
    assert_eq!(design.modules[2].instances, ["BUFG", "wrapped"]);
    elaborates(&design.text());
}

#[test]
fn another_value_of_a_parameter_does_not_elaborate() {
    let parameter = |name: &str, value| Parameter {
        name: name.into(),
        value,
        doc: "Width in bits.".into(),
    };
    let options = TopOptions {
        parameters: vec![parameter("WIDTH", 4), parameter("BASE", 0x1_0000_0000)],
    };
    let design = Library::new()
        .add(&inverter(4), "inverter", &options)
        .expect("a design");
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("dut.sv"), design.text()).expect("dut.sv");
    tools::yosys(directory.path());
    tools::lint(directory.path(), &[]);
    let outer = |width: u32, base: u64| {
        format!(
            "module outer (input wire [3:0] a, output wire [3:0] y);\n    \
             inverter #(.WIDTH({width}), .BASE(64'd{base})) u_inverter (.a(a), .y(y));\nendmodule\n"
        )
    };
    for (width, base, accepted) in [(4, 0x1_0000_0000, true), (5, 0x1_0000_0000, false), (4, 0, false)] {
        std::fs::write(directory.path().join("outer.sv"), outer(width, base)).expect("outer.sv");
        let files = ["dut.sv", "outer.sv"];
        for (tool, mut arguments) in [
            ("iverilog", vec!["-g2012", "-s", "outer", "-o", "outer.vvp"]),
            (
                "verilator",
                vec!["--lint-only", "-Wno-fatal", "--top-module", "outer"],
            ),
            (
                "yosys",
                vec![
                    "-q",
                    "-p",
                    "read_verilog -sv dut.sv outer.sv; hierarchy -check -top outer",
                ],
            ),
        ] {
            if tool != "yosys" {
                arguments.extend(files);
            }
            let (text, success) = tools::run(directory.path(), tool, &arguments);
            assert_eq!(success, accepted, "{tool} with {width} and {base}:\n{text}");
            let named = text.contains("WIDTH_is_fixed_at_4") || text.contains("BASE_is_fixed_at_4294967296");
            assert!(accepted || named, "{tool} does not name the parameter:\n{text}");
        }
    }
}

#[test]
fn the_same_block_gives_the_same_bytes() {
    let text = || {
        let parts = (0..20).map(|_| ("p", boxed(inverter(8)))).take(1).collect();
        generate(&chain(parts, 8), "top").expect("a design").text()
    };
    assert_eq!(text(), text());
}

/// A kernel of that many statements, each with a condition, that form a chain.
fn long_chain(statements: u64) -> Raw {
    let name = |number: u64| format!("y{number}");
    let mut atoms = vec![input("a", 16)];
    let mut chain = Vec::new();
    for number in 0..statements {
        atoms.push(output(&name(number), 16));
        let before = number.checked_sub(1).map_or("a".to_owned(), name);
        let test = bin(sig("a"), VerilogOp::Lt, num(number));
        chain.push(set(&name(number), bin(sig(&before), VerilogOp::Add, num(3))));
        chain.push(when(test, vec![set(&name(number), sig(&before))]));
    }
    Raw::new(atoms, chain)
}

#[test]
fn time_grows_as_the_kernel_does() {
    let seconds = |statements: u64| {
        let block = long_chain(statements);
        let spent = || {
            let time = clock_gettime(ClockId::ThreadCPUTime);
            time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
        };
        let begun = spent();
        let design = generate(&block, "long").expect("a design");
        let spent = spent() - begun;
        assert!(design.text().lines().count() as u64 > 5 * statements);
        spent
    };
    // The processor's time of this thread: other work on the machine does not count. A step that looks at all statements
    // for each of them would take 64 times as long.
    let times = [1000, 8000].map(|statements| seconds(statements).min(seconds(statements)));
    assert!(times[1] < 24.0 * times[0], "{times:?} s");
}
