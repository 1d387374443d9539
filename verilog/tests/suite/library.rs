//! Modules: which are shared, how they are called, what their files hold.

use rust_hdl::core::ast::{BlackBox, Verilog, VerilogOp, VerilogOpUnary, VerilogStatement, Wrapper};
use rust_hdl::prelude::AtomKind;
use spinneret_verilog::{Design, Library, Parameter, Port, PortDirection, TopOptions, generate};

use crate::support::raw::*;
use crate::support::tools;

fn inverter(hint: Option<&str>, width: usize) -> Raw {
    let mut statements = vec![set("y", un(VerilogOpUnary::Not, sig("a")))];
    if let Some(hint) = hint {
        statements.insert(0, VerilogStatement::Comment(format!("module: {hint}")));
    }
    Raw::new(vec![input("a", width), output("y", width)], statements)
}

fn chain(parts: Vec<(&str, Raw)>, width: usize) -> Raw {
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
        .fold(block, |block, (name, part)| block.with(name, part))
}

fn hinted(mut block: Raw, name: &str) -> Raw {
    if let Verilog::Combinatorial(statements) = &mut block.code {
        statements.insert(0, VerilogStatement::Comment(format!("module: {name}")));
    }
    block
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
        ("stage$0", inverter(None, 4)),
        ("stage$1", inverter(None, 4)),
        ("stage$2", wide),
        ("other", inverter(None, 4)),
        ("named", inverter(Some("stage"), 4)),
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

/// A sub-block that names numbers, with the statements that drive `y`.
fn naming(module: &str, numbers: &[&str], width: usize, statements: Vec<VerilogStatement>) -> Raw {
    let named = |number: &&str| VerilogStatement::Comment(format!("number {number}"));
    let head = [VerilogStatement::Comment(format!("module: {module}"))];
    let head = head.into_iter().chain(numbers.iter().map(named));
    Raw::new(
        vec![input("a", width), output("y", width)],
        head.chain(statements).collect(),
    )
}

/// Two sub-blocks beside one another, of four and of nine bits.
fn beside(narrow: Raw, wide: Raw) -> Raw {
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
    let part = |width: usize, limit: u32| {
        let numbers = [format!("WIDTH = {width}"), format!("LIMIT = {limit}")];
        let sum = bin(sig("a"), VerilogOp::Add, num(limit - 1));
        naming("part", &[&numbers[0], &numbers[1]], width, vec![set("y", sum)])
    };
    let design = generate(&beside(part(4, 5), part(9, 300)), "top").expect("a design");
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
    let part = |width: usize| {
        let numbers = [
            format!("BYTES = {}", width * 3),
            format!("WIDTH = {width}: BYTES / 3"),
        ];
        naming(
            "part",
            &[&numbers[0], &numbers[1]],
            width,
            vec![set("y", sig("a"))],
        )
    };
    let text = generate(&beside(part(4), part(9)), "top")
        .expect("a design")
        .text();
    for expected in [
        "    parameter integer BYTES = 12,\n    localparam integer WIDTH = BYTES / 3\n)",
        "output logic [WIDTH-1:0] y",
        "part #(.BYTES(27)) u_wide (",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    elaborates(&text);
}

#[test]
fn a_parameter_is_passed_on_to_parts() {
    let part = |width: usize| {
        let number = format!("WIDTH = {width}");
        let inner = naming("inner", &[&number], width, vec![set("y", sig("a"))]);
        let through = vec![set("inner$a", sig("a")), set("y", sig("inner$y"))];
        naming("part", &[&number], width, through).with("inner", inner)
    };
    let design = generate(&beside(part(4), part(9)), "top").expect("a design");
    assert_eq!(names(&design), ["inner", "part", "top"]);
    let text = design.text();
    assert!(text.contains("inner #(.WIDTH(WIDTH)) u_inner ("), "{text}");
    elaborates(&text);
}

#[test]
fn blocks_stay_apart_where_a_number_follows_from_none_that_is_named() {
    let part = |width: usize, limit: u32| {
        let sum = bin(sig("a"), VerilogOp::Add, num(limit));
        naming("part", &[&format!("WIDTH = {width}")], width, vec![set("y", sum)])
    };
    let design = generate(&beside(part(4, 5), part(9, 300)), "top").expect("a design");
    assert_eq!(names(&design), ["part", "part_1", "top"]);
    assert!(!design.text().contains("parameter"), "{}", design.text());
}

#[test]
fn a_module_gets_its_parameters_when_a_design_brings_another_variant() {
    let part = |width: usize| {
        naming(
            "part",
            &[&format!("WIDTH = {width}")],
            width,
            vec![set("y", sig("a"))],
        )
    };
    let mut library = Library::new();
    let options = TopOptions::default();
    let first = library
        .add(&chain(vec![("part", part(4))], 4), "first", &options)
        .expect("a design");
    assert!(first.text().contains("input  wire  [3:0] a,"), "{}", first.text());
    let second = library
        .add(&chain(vec![("part", part(9))], 9), "second", &options)
        .expect("a design");
    assert!(
        second.text().contains("part #(.WIDTH(9)) u_part ("),
        "{}",
        second.text()
    );
    let modules = library.modules();
    let texts: Vec<&str> = modules.iter().map(|module| module.text.as_str()).collect();
    assert_eq!(modules.len(), 3);
    assert!(
        texts.concat().contains("part #(.WIDTH(4)) u_part ("),
        "{}",
        texts.concat()
    );
}

#[test]
fn a_signal_of_another_width_than_its_parameter_is_refused() {
    let mut part = Raw::new(vec![input("a", 6), output("y", 6)], Vec::new());
    part.code = Verilog::Custom("// parameter WIDTH = 5: a y\nassign y = a;\n".to_owned());
    let error = generate(&chain(vec![("part", part)], 6), "top").expect_err("it is refused");
    assert_eq!(
        error.to_string(),
        "top.part: `a` cannot be translated: the parameter of the module that lists it has another value than it has bits"
    );
}

#[test]
fn designs_of_one_library_share_modules() {
    let mut library = Library::new();
    let first = library
        .add(&inverter(Some("ignored"), 4), "inverter", &TopOptions::default())
        .expect("a design");
    assert_eq!(names(&first), ["inverter"]);
    let second = library
        .add(
            &chain(vec![("x", inverter(Some("inverter"), 4))], 4),
            "outer",
            &TopOptions::default(),
        )
        .expect("a design");
    assert_eq!(names(&second), ["inverter", "outer"]);
    assert_eq!(second.modules[0], first.modules[0]);
    let third = library
        .add(
            &chain(vec![("x", inverter(Some("inverter"), 5))], 5),
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
        ("stage", inverter(None, 1)),
        ("named", inverter(Some("fifo"), 1)),
        ("contract", inverter(Some("pspin_part"), 1)),
        ("ours", inverter(Some("our_part"), 1)),
        ("clock", wrapped),
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
    let parts = vec![
        ("stage", inverter(None, 1)),
        ("ours", inverter(Some("our_part"), 1)),
    ];
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
            &chain(vec![("x", inverter(None, 4))], 4),
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
    let part = || chain(vec![("bit", inverter(None, 4))], 4);
    let whole = chain(
        vec![("first", inverter(None, 4)), ("second", hinted(part(), "half"))],
        4,
    );
    let options = TopOptions::default();
    library.add(&part(), "our_half", &options).expect("a design");
    library.add(&whole, "whole", &options).expect("a design");
    library
        .add(&inverter(None, 5), "other", &options)
        .expect("a design");
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
    let design = generate(&chain(vec![("top", inverter(None, 4))], 4), "top").expect("a design");
    assert_eq!(names(&design), ["top_1", "top"]);
}

#[test]
fn a_block_without_ports_and_logic_vanishes() {
    let empty = Raw::new(vec![local("unused", 3)], vec![]);
    let design = generate(&inverter(None, 2).with("empty", empty), "top").expect("a design");
    assert_eq!(names(&design), ["top"]);
    assert!(!design.text().contains("empty"));
}

#[test]
fn ports_keep_the_order_of_the_fields() {
    let comment = VerilogStatement::Comment("port a$b: First.".into());
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
    let block = Raw::new(
        vec![input("a$b", 3), output("y", 3)],
        vec![comment, set("y", sig("a$b"))],
    );
    let design = generate(&block, "documented").expect("a design");
    assert_eq!(design.ports[0].name, "a_b");
    assert_eq!(design.ports[0].doc, "First.");
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
        .add(&inverter(None, 4), "inverter", &options)
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
        let parts = (0..20).map(|_| ("p", inverter(None, 8))).take(1).collect();
        generate(&chain(parts, 8), "top").expect("a design").text()
    };
    assert_eq!(text(), text());
}

#[test]
fn large_kernels_take_well_under_a_second() {
    let names: Vec<String> = (0..10_000).map(|number| format!("y{number}")).collect();
    let mut atoms = vec![input("a", 16)];
    let mut statements = Vec::new();
    for (number, name) in names.iter().enumerate() {
        atoms.push(output(name, 16));
        let before = if number == 0 { "a" } else { &names[number - 1] };
        let test = bin(sig("a"), VerilogOp::Lt, num(number as u64));
        statements.push(set(name, bin(sig(before), VerilogOp::Add, num(3))));
        statements.push(when(test, vec![set(name, sig(before))]));
    }
    let block = Raw::new(atoms, statements);
    let start = std::time::Instant::now();
    let design = generate(&block, "huge").expect("a design");
    let elapsed = start.elapsed();
    assert!(design.text().lines().count() > 50_000);
    // Tests run without optimisation and beside others; released builds are several times faster.
    assert!(
        elapsed.as_millis() < 3_000,
        "{elapsed:?} for {} lines",
        design.text().lines().count()
    );
}
