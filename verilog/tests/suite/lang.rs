//! The language layer, run in Rust: words, registers, memories, kernels.

use spinneret_verilog::prelude::*;

/// Settles the block with the clock low, then raises the clock.
fn tick<B: Block>(block: &mut B, clock: fn(&mut B) -> &mut Signal<In, Clock>) {
    for level in [false, true] {
        clock(block).next = level.into();
        assert!(simulate(block, 20), "the block does not settle");
    }
}

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Phase {
    Idle,
    Run,
    Done,
}

/// Counts while it runs.
#[derive(LogicBlock, Describe, Debug)]
struct Counter {
    pub clk: Signal<In, Clock>,
    pub rst: Wire<In, bool>,
    pub go: Wire<In, bool>,
    pub count: Wire<Out>,
    pub busy: Wire<Out, bool>,
    phase: Reg<Phase>,
    value: Reg,
    _end: u64,
}

impl Counter {
    fn new(width: usize, end: u64) -> Self {
        Self {
            clk: Signal::default(),
            rst: Wire::bit(),
            go: Wire::bit(),
            count: Wire::word(width),
            busy: Wire::bit(),
            phase: Reg::reset_to(Phase::Idle),
            value: Reg::word_reset(width),
            _end: end,
        }
    }
}

impl Logic for Counter {
    #[kernel(suffix = self._end)]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.phase, self.value);
        match self.phase.q.val() {
            Phase::Idle => {
                if self.go.val() {
                    self.phase.d.next = Phase::Run;
                }
            }
            Phase::Run => {
                self.value.d.next = self.value.q.val() + 1;
                if self.value.q.val() == self._end - 1 {
                    self.phase.d.next = Phase::Done;
                }
            }
            Phase::Done => self.phase.d.next = Phase::Idle,
        }
        self.busy.next = self.phase.q.val() != Phase::Idle;
        self.count.next = self.value.q.val();
    }
}

#[test]
fn kernel_runs_in_rust_with_registers_and_states() {
    let mut counter = Counter::new(4, 3);
    counter.connect_all();
    counter.rst.next = true;
    tick(&mut counter, |c| &mut c.clk);
    counter.rst.next = false;
    counter.go.next = true;
    let mut seen = Vec::new();
    for _ in 0..7 {
        tick(&mut counter, |c| &mut c.clk);
        seen.push((counter.busy.val(), counter.count.val().low_u64()));
        counter.go.next = false;
    }
    let expected = [
        (true, 0),
        (true, 1),
        (true, 2),
        (true, 3),
        (false, 3),
        (false, 3),
        (false, 3),
    ];
    assert_eq!(seen, expected);
    counter.rst.next = true;
    tick(&mut counter, |c| &mut c.clk);
    assert_eq!(counter.count.val(), 0);
}

#[test]
fn kernel_names_its_module_and_carries_its_documentation() {
    let Verilog::Combinatorial(statements) = Counter::new(4, 3).hdl() else {
        panic!("a kernel is combinatorial")
    };
    let comments: Vec<String> = statements
        .iter()
        .filter_map(|s| {
            if let ast::VerilogStatement::Comment(text) = s {
                Some(text.clone())
            } else {
                None
            }
        })
        .collect();
    assert_eq!(
        comments,
        [
            "block: counter",
            "module: counter_3",
            "doc: Counts while it runs."
        ]
    );
}

#[test]
fn block_ram_reads_the_old_word_one_cycle_later() {
    let mut ram = Ram::new(RamStyle::Block, 4, 8);
    ram.connect_all();
    let step = |ram: &mut Ram, write: Option<(u64, u64)>, read: Option<u64>| {
        ram.write_enable.next = write.is_some();
        let (address, data) = write.unwrap_or_default();
        ram.write_addr.next = address.into();
        ram.write_data.next = data.into();
        ram.read_enable.next = read.is_some();
        ram.read_addr.next = read.unwrap_or(0).into();
        tick(ram, |ram| &mut ram.clk);
        ram.read_data.val().low_u64()
    };
    step(&mut ram, Some((2, 0xaa)), None);
    assert_eq!(step(&mut ram, Some((2, 0xbb)), Some(2)), 0xaa);
    assert_eq!(step(&mut ram, None, None), 0xaa, "held while read_enable is low");
    assert_eq!(step(&mut ram, None, Some(2)), 0xbb);
}

#[test]
fn byte_ram_writes_the_enabled_bytes_alone_and_reads_the_old_word() {
    let mut ram = ByteRam::new(4, 3);
    ram.connect_all();
    let step = |ram: &mut ByteRam, enables: u64, data: u64, read: Option<u64>| {
        ram.write_enable.next = enables.into();
        ram.write_addr.next = 2.into();
        ram.write_data.next = data.into();
        ram.read_enable.next = read.is_some();
        ram.read_addr.next = read.unwrap_or(0).into();
        tick(ram, |ram| &mut ram.clk);
        ram.read_data.val().low_u64()
    };
    step(&mut ram, 0b111, 0xaa_bb_cc, None);
    assert_eq!(step(&mut ram, 0b101, 0x11_22_33, Some(2)), 0xaa_bb_cc);
    assert_eq!(
        step(&mut ram, 0, 0x44_55_66, None),
        0xaa_bb_cc,
        "held while read_enable is low"
    );
    assert_eq!(step(&mut ram, 0, 0, Some(2)), 0x11_bb_33);
}

#[test]
#[should_panic(expected = "a memory of 4 words of 0 bytes holds nothing")]
fn byte_ram_has_bytes() {
    let _ = ByteRam::new(4, 0);
}

#[test]
fn distributed_ram_reads_in_the_same_cycle() {
    let mut ram = Ram::new(RamStyle::Distributed, 3, 8);
    ram.connect_all();
    ram.write_enable.next = true;
    ram.write_addr.next = 1.into();
    ram.write_data.next = 0x5a.into();
    tick(&mut ram, |ram| &mut ram.clk);
    ram.write_enable.next = false;
    ram.read_addr.next = 1.into();
    assert!(simulate(&mut ram, 20));
    assert_eq!(ram.read_data.val(), 0x5a);
}

#[test]
fn words_wrap_and_slice_as_hardware_does() {
    let a = Word::new(0xe, 4);
    assert_eq!(a.clone() + 3, Word::new(1, 4));
    assert_eq!(Word::new(1, 4) - 3, Word::new(0xe, 4));
    assert_eq!(!a.clone(), Word::new(1, 4));
    assert_eq!(-Word::new(1, 4), Word::ones(4));
    assert_eq!(a.clone() << 2, Word::new(8, 4));
    assert_eq!(a.clone() << 70, Word::zero(4));
    assert_eq!(a.clone() >> Word::new(3, 2), Word::new(1, 4));
    assert_eq!(a.slice(1, 2), Word::new(3, 2));
    assert_eq!(a.slice(3, 4), Word::new(1, 4));
    assert_eq!(Word::new(0x1234, 16).swap_bytes(), Word::new(0x3412, 16));
    assert!(Word::ones(130).all() && !Word::zero(130).any() && Word::new(7, 3).xor());
    let mut word = Word::zero(12);
    word.set_slice(4, 4, 0xa_u64);
    word.set_bit(12, true);
    assert_eq!(word, Word::new(0xa0, 12));
}

#[test]
#[should_panic(expected = "operands of 4 and 5 bits do not mix: use resize")]
fn words_of_different_widths_do_not_mix() {
    let _ = Word::new(1, 4) + Word::new(1, 5);
}

#[test]
#[should_panic(expected = "0x10 does not fit into 4 bits")]
fn integers_must_fit() {
    let _ = Word::new(1, 4) + 16;
}

/// Counts, from a number that one of its variants can be told.
#[derive(LogicBlock, Describe, Debug)]
struct Preset {
    pub clk: Signal<In, Clock>,
    pub rst: Wire<In, bool>,
    pub offset: Optional<Wire<In>>,
    pub count: Wire<Out>,
    value: Reg,
    held: Optional<Reg>,
    _with_offset: bool,
}

impl Preset {
    fn new(with_offset: bool) -> Self {
        Self {
            clk: Signal::default(),
            rst: Wire::bit(),
            offset: Optional::new(with_offset, || Wire::word(4)),
            count: Wire::word(4),
            value: Reg::word_reset(4),
            held: Optional::new(with_offset, || Reg::word_reset(4)),
            _with_offset: with_offset,
        }
    }
}

impl Logic for Preset {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.value, self.held);
        self.value.d.next = self.value.q.val() + 1;
        self.count.next = self.value.q.val();
        if self._with_offset {
            self.held.d.next = self.offset.val();
            self.count.next = self.value.q.val() + self.held.q.val();
        }
    }
}

#[test]
fn optional_parts_run_in_rust_where_they_are_and_nowhere_else() {
    for (with_offset, expected) in [(false, [1, 2, 3]), (true, [10, 11, 12])] {
        let mut preset = Preset::new(with_offset);
        preset.connect_all();
        assert_eq!(preset.offset.is_present(), with_offset);
        if with_offset {
            preset.offset.next = 9.into();
        }
        let seen = [(); 3].map(|()| {
            tick(&mut preset, |p| &mut p.clk);
            preset.count.val().low_u64()
        });
        assert_eq!(seen, expected);
    }
}

#[test]
fn optional_parts_have_the_names_of_their_fields_or_leave_no_trace() {
    let design = |with_offset| {
        let design = spinneret_verilog::generate(&Preset::new(with_offset), "preset");
        design.unwrap_or_else(|error| panic!("{error}"))
    };
    let names = |with_offset| -> Vec<String> {
        let ports = design(with_offset).ports.into_iter();
        ports.map(|port| port.name).collect()
    };
    assert_eq!(names(false), ["clk", "rst", "count"]);
    assert_eq!(names(true), ["clk", "rst", "offset", "count"]);
    let text = |with_offset| design(with_offset).modules[0].text.clone();
    assert!(text(true).contains("held <= offset;") && !text(false).contains("held"));
}

#[test]
#[should_panic(expected = "this variant of the block does not have the part")]
fn an_absent_part_cannot_be_used() {
    let _ = Preset::new(false).offset.val();
}

/// Two clocks in one module, registers of each, and a memory that one writes and the other reads.
#[derive(LogicBlock, Describe, Debug)]
struct TwoClocks {
    pub a_clk: Signal<In, Clock>,
    pub b_clk: Signal<In, Clock>,
    pub rst: Wire<In, bool>,
    pub data: Wire<In>,
    pub seen: Wire<Out>,
    place: Reg,
    memory: Ram,
    stage: Vec<Reg>,
    copy: Reg,
}

impl TwoClocks {
    fn new() -> Self {
        let stage = || Reg::starting_with(Word::new(2, 2)).with(RegAttribute::AsyncReg);
        Self {
            a_clk: Signal::default(),
            b_clk: Signal::default(),
            rst: Wire::bit(),
            data: Wire::word(8),
            seen: Wire::word(8),
            place: Reg::word_reset(2).with(RegAttribute::DontTouch),
            memory: Ram::new(RamStyle::Distributed, 4, 8),
            stage: vec![stage(), stage()],
            copy: Reg::word(8),
        }
    }
}

impl Logic for TwoClocks {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.a_clk, self.rst => self.place, self.memory);
        clocked!(self.b_clk => self.stage, self.copy);
        self.memory.write_enable.next = true;
        self.memory.write_addr.next = self.place.q.val();
        self.memory.write_data.next = self.data.val();
        self.stage[0].d.next = self.place.q.val();
        self.stage[1].d.next = self.stage[0].q.val();
        self.memory.read_addr.next = self.stage[1].q.val();
        /// One condition for registers of both clocks.
        if self.data.val().any() {
            self.place.d.next = self.place.q.val() + 1;
            self.copy.d.next = self.memory.read_data.val();
        }
        self.seen.next = self.copy.q.val();
    }
}

#[test]
fn registers_follow_their_own_clock() {
    let mut block = TwoClocks::new();
    block.connect_all();
    assert!(simulate(&mut block, 20));
    let edge = |block: &mut TwoClocks, first: bool| {
        for level in [false, true] {
            let clock = if first { &mut block.a_clk } else { &mut block.b_clk };
            clock.next = level.into();
            assert!(simulate(block, 20));
        }
    };
    for value in [0x11_u64, 0x22, 0x33] {
        block.data.next = value.into();
        edge(&mut block, true);
    }
    assert_eq!(block.seen.val(), 0, "the second clock has not come");
    // The stages go from 2 over 2 to 3, so the third word is read and then the fourth, which nobody wrote.
    edge(&mut block, false);
    assert_eq!(block.seen.val(), 0x33);
    edge(&mut block, false);
    edge(&mut block, false);
    assert_eq!(block.seen.val(), 0);
}

#[test]
fn each_clock_has_a_block_of_its_own_in_the_text() {
    let design = spinneret_verilog::generate(&TwoClocks::new(), "two_clocks");
    let design = design.unwrap_or_else(|error| panic!("{error}"));
    let text = &design.modules.last().expect("a module").text;
    for line in [
        "(* DONT_TOUCH = \"TRUE\" *) logic [1:0] place = 2'd0;",
        "(* ASYNC_REG = \"TRUE\" *) logic [1:0] stage_0 = 2'd2;",
        "always_ff @(posedge a_clk) begin\n        place <= place_d;\n        if (rst) begin",
        "always_ff @(posedge b_clk) begin\n        stage_0 <= place;\n        stage_1 <= stage_0;",
        ".clk(a_clk)",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    let instances = design.instances();
    assert_eq!(instances.len(), 1);
    assert_eq!(instances[0].path(), "u_memory");
    assert_eq!(instances[0].source("clk").as_deref(), Some("a_clk"));
    assert_eq!(instances[0].source("write_enable"), None, "it is a constant");
}

/// A number and who takes it.
#[interface(NumberIn, width: usize)]
struct NumberOut {
    pub number: Wire<Out, { width }>,
    pub taken: Wire<In, bool>,
}

/// One part of every kind.
#[hardware(width: usize, has_sum: bool, names: &[&str], error = String, twice = 2 * width, _ = positive(width)?)]
#[derive(LogicBlock, Describe, Debug)]
struct Parts {
    pub clk: Signal<In, Clock>,
    pub rst: Wire<In, bool>,
    pub s: NumberIn<{ width }>,
    pub m: NumberOut<{ width }>,
    pub both: Wire<Out, { twice }>,
    pub sum: Optional<Wire<Out, { width }>, { has_sum }>,
    held: [Reg<{ width }>; 2],
    is_held: Reg<bool, Reset>,
    #[new(Reg::reset_to(Word::new(3, width)))]
    three: Reg,
    named: Named<Reg<{ width }, Reset>, { names }>,
    doubling: Heaped<Checked<Doubling<{ width }>>>,
}

/// Twice a number.
#[hardware(width: usize, error = String, _ = positive(width)?)]
#[derive(LogicBlock, Describe, Debug)]
struct Doubling {
    pub a: Wire<In, { width }>,
    pub q: Wire<Out, { width }>,
}

fn positive(width: usize) -> Result<(), String> {
    (width > 0).then_some(()).ok_or_else(|| "no width".to_owned())
}

impl Logic for Doubling {
    #[kernel]
    fn update(&mut self) {
        self.q.next = self.a.val() + self.a.val();
    }
}

impl Logic for Parts {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.clk, self.rst => self.is_held, self.three, self.named);
        clocked!(self.clk => self.held);
        self.s.taken.next = self.m.taken.val();
        self.held[0].d.next = self.s.number.val();
        self.held[1].d.next = self.held[0].q.val();
        self.is_held.d.next = true;
        self.named["last"].d.next = self.held[1].q.val();
        self.doubling.a.next = self.s.number.val();
        self.m.number.next = self.doubling.q.val();
        self.both.next = cat!(self.held[0].q.val(), self.named["last"].q.val());
        if self._has_sum {
            self.sum.next = self.three.q.val() + self.s.number.val();
        }
    }
}

/// The constructor that the attribute writes gives every part its width, and the other side of a bundle its directions.
#[test]
fn hardware_is_made_as_its_fields_say() {
    let ports = |has_sum| {
        let parts = Parts::new(5, has_sum, &["last"]).expect("it has a width");
        let design = spinneret_verilog::generate(&parts, "parts").unwrap_or_else(|error| panic!("{error}"));
        let port = |port: spinneret_verilog::Port| (port.name, port.width);
        design.ports.into_iter().map(port).collect::<Vec<_>>()
    };
    let names = |ports: Vec<(String, usize)>| {
        let text = ports.iter().map(|(name, width)| format!("{name}:{width}"));
        text.collect::<Vec<_>>().join(" ")
    };
    let all = "clk:1 rst:1 s_number:5 s_taken:1 m_number:5 m_taken:1 both:10";
    assert_eq!(names(ports(false)), all);
    assert_eq!(names(ports(true)), format!("{all} sum:5"));
    assert_eq!(Parts::new(0, true, &["last"]).err().as_deref(), Some("no width"));

    let mut parts = Parts::new(5, true, &["last"]).expect("it has a width");
    parts.connect_all();
    parts.s.number.next = 4_u64.into();
    tick(&mut parts, |parts| &mut parts.clk);
    assert_eq!(
        (parts.m.number.val(), parts.sum.val()),
        (Word::new(8, 5), Word::new(7, 5))
    );
    assert_eq!(parts.both.val(), Word::new(4 << 5, 10));
}
