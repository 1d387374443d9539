//! Parts of blocks: what is there in some variants, names, constructors, clocks.

use spinneret_verilog::prelude::*;
use spinneret_verilog::{Design, generate};

fn design(block: &dyn Block, name: &str) -> Design {
    generate(block, name).unwrap_or_else(|error| panic!("{error}"))
}

fn names(design: Design) -> String {
    let port = |port: spinneret_verilog::Port| format!("{}:{}", port.name, port.width);
    design.ports.into_iter().map(port).collect::<Vec<_>>().join(" ")
}

#[test]
#[should_panic(expected = "a memory of 4 words of 0 bits holds nothing")]
fn byte_ram_has_bytes() {
    let _ = ByteRam::new(RamStyle::Block, 4, 0);
}

/// Counts from a number, which is an input of one variant.
#[module(with_offset: bool)]
struct Preset {
    offset: Optional<Wire<In, 4>, { with_offset }>,
    count: Wire<Out, 4>,
    value: Reg<4, Reset>,
    held: Optional<Reg<4, Reset>, { with_offset }>,
}

#[kernel(Preset { offset, count, value, held, with_offset })]
fn update() {
    value = value + 1;
    count = value;
    if with_offset {
        *held = *offset;
        count = value + *held;
    }
}

#[test]
fn optional_parts_have_the_names_of_their_fields_or_leave_no_trace() {
    let preset = |with_offset| design(&Preset::new(with_offset), "preset");
    assert_eq!(names(preset(false)), "clk:1 rst:1 count:4");
    assert_eq!(names(preset(true)), "clk:1 rst:1 offset:4 count:4");
    let text = |with_offset| preset(with_offset).text();
    assert!(text(true).contains("held <= offset;") && !text(false).contains("held"));
}

/// Uses a part that it does not have.
#[module()]
struct Careless {
    a: Optional<Wire<In, bool>, { false }>,
    y: Wire<Out, bool>,
}

#[kernel(Careless { a, y })]
fn update() {
    y = *a;
}

#[test]
#[should_panic(expected = "this variant of the block does not have the part")]
fn an_absent_part_cannot_be_used() {
    let _ = generate(&Careless::new(), "careless");
}

/// Two stages on another clock.
#[module()]
struct Stages {
    d: Wire<In, 2>,
    q: Wire<Out, 2>,
    #[new((0..2).map(|_| Reg::starting_with(Word::new(2, 2)).with(RegAttribute::AsyncReg)).collect())]
    stage: Vec<Reg>,
}

#[kernel(Stages { d, q, stage })]
fn update() {
    stage[0] = d;
    stage[1] = stage[0];
    q = stage[1];
}

/// Two clocks, and a memory that one writes and the other reads.
#[module()]
struct TwoClocks {
    other_clk: Signal<In, Clock>,
    data: Wire<In, 8>,
    seen: Wire<Out, 8>,
    #[new(Reg::word_reset(2).with(RegAttribute::DontTouch))]
    place: Reg,
    memory: Ram<{ RamStyle::Distributed }, 4, 8>,
    stages: Stages,
}

#[kernel(TwoClocks { other_clk, data, seen, place, memory, stages })]
fn update() {
    stages.clk = other_clk;
    stages.d = place;
    memory.write(true, place, data);
    memory.read_addr = stages.q;
    if data.any() {
        place = place + 1;
    }
    seen = memory.read_data;
}

#[test]
fn each_part_has_its_clock_in_the_text() {
    let design = design(&TwoClocks::new(), "two_clocks");
    let text = design.text();
    for line in [
        "(* DONT_TOUCH = \"TRUE\" *) logic [1:0] place = 2'd0;",
        "(* ASYNC_REG = \"TRUE\" *) logic [1:0] stage_0 = 2'd2;",
        "always_ff @(posedge clk) begin\n        stage_0 <= d;\n        stage_1 <= stage_0;",
        ".clk(other_clk)",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    let instances = design.instances();
    let memory = instances
        .iter()
        .find(|instance| instance.path() == "u_memory")
        .expect("a memory");
    assert_eq!(memory.source("clk").as_deref(), Some("clk"));
    assert_eq!(memory.source("write_enable"), None, "it is a constant");
    let stages = instances.iter().find(|instance| instance.path() == "u_stages");
    assert_eq!(
        stages.and_then(|stages| stages.source("clk")).as_deref(),
        Some("other_clk")
    );
}

/// A number and who takes it.
#[interface(NumberIn, width: usize)]
struct NumberOut {
    pub number: Wire<Out, { width }>,
    pub taken: Wire<In, bool>,
}

/// One part of every kind.
#[module(width: usize, has_sum: bool, names: &[&str], error = String, twice = 2 * width, _ = positive(width)?)]
struct Parts {
    s: NumberIn<{ width }>,
    m: NumberOut<{ width }>,
    both: Wire<Out, { twice }>,
    sum: Optional<Wire<Out, { width }>, { has_sum }>,
    held: [Reg<{ width }>; 2],
    is_held: Reg<bool, Reset>,
    #[new(Reg::reset_to(Word::new(3, width)))]
    three: Reg,
    named: Named<Reg<{ width }, Reset>, { names }>,
    doubling: Heaped<Checked<Doubling<{ width }>>>,
}

/// Twice a number.
#[module(no_clock, width: usize, error = String, _ = positive(width)?)]
struct Doubling {
    a: Wire<In, { width }>,
    q: Wire<Out, { width }>,
}

fn positive(width: usize) -> Result<(), String> {
    (width > 0).then_some(()).ok_or_else(|| "no width".to_owned())
}

#[kernel(Doubling { a, q }, suffix = self._width)]
fn update() {
    q = a + a;
}

#[kernel(Parts { s, m, both, sum, held, is_held, three, named, doubling, has_sum })]
fn update() {
    s.taken = m.taken && is_held;
    held[0] = s.number;
    held[1] = held[0];
    is_held = true;
    named["last"] = held[1];
    doubling.a = s.number;
    m.number = doubling.q;
    both = cat!(held[0], named["last"]);
    if has_sum {
        *sum = three + s.number;
    }
}

/// The constructor that the attribute writes gives every part its width, and the other side of a bundle its directions.
#[test]
fn a_module_is_made_as_its_fields_say() {
    let parts = |has_sum| {
        let parts = Parts::new(5, has_sum, &["last"]).expect("it has a width");
        design(&parts, "parts")
    };
    let all = "clk:1 rst:1 s_number:5 s_taken:1 m_number:5 m_taken:1 both:10";
    assert_eq!(names(parts(false)), all);
    assert_eq!(names(parts(true)), format!("{all} sum:5"));
    assert_eq!(Parts::new(0, true, &["last"]).err().as_deref(), Some("no width"));
    let text = parts(true).text();
    for line in [
        "// Twice a number.\nmodule doubling_5 (",
        "logic [4:0] three = 5'd3;",
        "named_last <= held_1;",
        "named_last <= 5'd0;",
        "assign sum = three + s_number;",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}
