//! Blocks in plain rust-hdl: the block in Rust against its text in Icarus Verilog and Verilator.

#![allow(clippy::nonminimal_bool, reason = "the kernels are what is tested")]

use rust_hdl::prelude::*;

use crate::case;
use crate::support::Suite;

/// Declares a block of inputs and outputs with a kernel of rust-hdl.
macro_rules! block {
    ($name:ident { $($field:ident : $direction:ident $type:ty),* $(,)? } $($kernel:tt)*) => {
        #[derive(LogicBlock, Default)]
        struct $name { $( $field: Signal<$direction, $type>, )* }
        impl Logic for $name { $($kernel)* }
    };
}

block!(Precedence { a: In Bits<3>, b: In Bits<3>, c: In Bits<3>, y: Out Bit, z: Out Bit, x: Out Bit } #[hdl_gen] fn update(&mut self) {
    self.y.next = self.a.val() & self.b.val() == self.c.val();
    self.z.next = self.a.val() | self.b.val() ^ self.c.val() != self.a.val() + self.b.val();
    self.x.next = (self.a.val() < self.b.val()) == (self.b.val() <= self.c.val());
});

block!(WrappingSum { a: In Bits<4>, b: In Bits<4>, y: Out Bit, z: Out Bit } #[hdl_gen] fn update(&mut self) {
    self.y.next = (self.a.val() + 1) == self.b.val();
    self.z.next = (self.a.val() - self.b.val()) > 3;
});

block!(NotCompared { a: In Bits<4>, y: Out Bit, z: Out Bits<4>, w: Out Bit } #[hdl_gen] fn update(&mut self) {
    self.y.next = !self.a.val() == 15;
    self.z.next = !self.a.val() + 1;
    self.w.next = !(self.a.val() == 3);
});

block!(CastSum { a: In Bits<4>, b: In Bits<4>, wide: Out Bits<8>, carry: Out Bits<5>, narrow: Out Bits<2>, odd: Out Bits<8> } #[hdl_gen] fn update(&mut self) {
    self.wide.next = bit_cast::<8, 4>(self.a.val() + self.b.val());
    self.carry.next = bit_cast::<5, 4>(self.a.val()) + bit_cast::<5, 4>(self.b.val());
    self.narrow.next = bit_cast::<2, 4>(self.a.val() - self.b.val());
    self.odd.next = bit_cast::<8, 4>(self.a.val() << 1) | bit_cast::<8, 4>(!self.b.val());
});

block!(Comparisons { a: In Bits<5>, b: In Bits<5>, y: Out Bits<6> , lt: Out Bit, le: Out Bit, gt: Out Bit, ge: Out Bit, ltk: Out Bit, gek: Out Bit, zero: Out Bit, full: Out Bit } #[hdl_gen] fn update(&mut self) {
    self.y.next = bits::<6>(9);
    self.lt.next = self.a.val() < self.b.val();
    self.le.next = self.a.val() <= self.b.val();
    self.gt.next = self.a.val() > self.b.val();
    self.ge.next = self.a.val() >= self.b.val();
    self.ltk.next = self.a.val() < 17;
    self.gek.next = 20 >= self.b.val();
    self.zero.next = self.a.val() >= 0;
    self.full.next = self.a.val() > 31;
});

block!(Reductions { a: In Bits<5>, all: Out Bit, any: Out Bit, odd: Out Bit, mixed: Out Bit } #[hdl_gen] fn update(&mut self) {
    self.all.next = self.a.val().all();
    self.any.next = self.a.val().any();
    self.odd.next = self.a.val().xor();
    self.mixed.next = !self.a.val().all() & self.a.val().any() ^ (self.a.val() + 3).xor();
});

block!(Shifts { a: In Bits<5>, n: In Bits<4>, l: Out Bits<5>, r: Out Bits<5>, l2: Out Bits<5>, r9: Out Bits<5>, c: Out Bit, k: Out Bits<5> } #[hdl_gen] fn update(&mut self) {
    self.l.next = self.a.val() << self.n.val();
    self.r.next = self.a.val() >> self.n.val();
    self.l2.next = self.a.val() << 2;
    self.r9.next = self.a.val() >> 9;
    self.c.next = (self.a.val() << self.n.val()) == self.a.val();
    self.k.next = (self.a.val() + 1) >> (self.n.val() + 1);
});

block!(Bools { a: In Bit, b: In Bit, c: In Bit, y: Out Bit, z: Out Bit, w: Out Bit, v: Out Bit } #[hdl_gen] fn update(&mut self) {
    self.y.next = self.a.val() && !self.b.val() || self.c.val();
    self.z.next = self.a.val() & self.b.val() | self.c.val() ^ true;
    self.w.next = !(self.a.val() | self.b.val()) == self.c.val();
    self.v.next = self.a.val() != self.b.val() || false;
});

block!(AddBool { a: In Bits<4>, b: In Bit, y: Out Bits<4> } #[hdl_gen] fn update(&mut self) {
    self.y.next = self.a.val() + self.b.val();
});

block!(ReplaceBits { a: In Bits<8>, i: In Bits<3>, v: In Bit, c: Out Bits<8>, d: Out Bits<8>, e: Out Bits<8>, f: Out Bits<8> } #[hdl_gen] fn update(&mut self) {
    self.c.next = self.a.val().replace_bit(5, self.v.val());
    self.d.next = self.a.val().replace_bit(self.i.val().index(), self.v.val());
    self.e.next = self.a.val().replace_bit(self.i.val().index(), self.v.val()) + 1;
    self.f.next = 0.into();
    self.f.next = self.f.val().replace_bit(self.i.val().index(), self.v.val()).replace_bit(2, true);
});

block!(Concatenation { a: In Bits<3>, b: In Bits<4>, c: In Bit, y: Out Bits<8>, z: Out Bits<12>, k: Out Bits<8>, o: Out Bits<8>, p: Out Bits<8> } #[hdl_gen] fn update(&mut self) {
    self.y.next = bit_cast::<8, 3>(self.a.val()) << 5 | bit_cast::<8, 4>(self.b.val()) << 1;
    self.z.next = bit_cast::<12, 4>(self.b.val()) << 8 | bit_cast::<12, 3>(self.a.val());
    self.k.next = bit_cast::<8, 4>(self.b.val()) << 4 | 0x0A;
    self.o.next = bit_cast::<8, 4>(self.b.val()) << 2 | bit_cast::<8, 3>(self.a.val());
    self.p.next = bit_cast::<8, 3>(self.a.val()) << 7 | bit_cast::<8, 4>(self.b.val());
});

block!(Wide { a: In Bits<100>, b: In Bits<100>, n: In Bits<7>, sum: Out Bits<100>, dif: Out Bits<100>, lt: Out Bit, eq: Out Bit, sh: Out Bits<100>, cut: Out Bits<70>, inv: Out Bits<100>, lit: Out Bits<100> } #[hdl_gen] fn update(&mut self) {
    self.sum.next = self.a.val() + self.b.val();
    self.dif.next = self.a.val() - self.b.val();
    self.lt.next = self.a.val() < self.b.val();
    self.eq.next = (self.a.val() ^ self.b.val()) == (self.b.val() ^ self.a.val());
    self.sh.next = self.a.val() >> self.n.val();
    self.cut.next = self.a.val().get_bits::<70>(17);
    self.inv.next = !self.a.val();
    self.lit.next = self.a.val() & 0xFFFF_0000_FFFF_0000_u64;
});

block!(Slices { a: In Bits<10>, j: In Bits<4>, y: Out Bits<3>, z: Out Bits<4>, w: Out Bits<6>, v: Out Bits<4>, b: Out Bit, c: Out Bit, e: Out Bit, m: Out Bits<4> } #[hdl_gen] fn update(&mut self) {
    self.y.next = self.a.val().get_bits::<3>(4);
    self.z.next = (self.a.val() + 77).get_bits::<4>(5);
    self.w.next = (self.a.val() ^ 0x155).get_bits::<6>(2);
    self.v.next = (self.a.val() >> 3).get_bits::<4>(2);
    self.b.next = self.a.val().get_bit(9);
    self.c.next = (self.a.val() - 5).get_bit(6);
    self.e.next = false;
    if self.j.val() < 10 {
        self.e.next = self.a.val().get_bit(self.j.val().index());
    }
    self.m.next = 0.into();
    if self.j.val() < 7 {
        self.m.next = self.a.val().get_bits::<4>(self.j.val().index());
    }
});

/// If and match, with an enum state machine in registers of rust-hdl.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum State {
    Idle,
    Run,
    Done,
}

#[derive(LogicBlock, Default)]
struct Machine {
    clk: Signal<In, Clock>,
    start: Signal<In, Bit>,
    limit: Signal<In, Bits<3>>,
    busy: Signal<Out, Bit>,
    count: Signal<Out, Bits<3>>,
    level: Signal<Out, Bits<2>>,
    state: DFF<State>,
    counter: DFF<Bits<3>>,
    is_last: Signal<Local, Bit>,
}

impl Logic for Machine {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, state, counter);
        self.is_last.next = self.counter.q.val() == self.limit.val();
        self.busy.next = true;
        match self.state.q.val() {
            State::Idle => {
                self.busy.next = false;
                if self.start.val() {
                    self.state.d.next = State::Run;
                    self.counter.d.next = 0.into();
                }
            }
            State::Run => {
                self.counter.d.next = self.counter.q.val() + 1;
                if self.is_last.val() {
                    self.state.d.next = State::Done;
                }
            }
            State::Done => {
                self.state.d.next = State::Idle;
            }
        }
        match self.state.q.val() {
            State::Run => {
                self.level.next = 2.into();
            }
            _ => {
                self.level.next = 1.into();
            }
        }
        self.count.next = self.counter.q.val();
    }
}

/// `match` on numbers, `else if`, and a match without a default arm that names all values.
#[derive(LogicBlock, Default)]
struct Choices {
    a: Signal<In, Bits<4>>,
    b: Signal<In, Bit>,
    y: Signal<Out, Bits<8>>,
    z: Signal<Out, Bits<2>>,
    w: Signal<Out, Bits<40>>,
}

impl Logic for Choices {
    #[hdl_gen]
    fn update(&mut self) {
        match self.a.val().index() {
            0 => self.y.next = 0x5A.into(),
            0b11 => self.y.next = bit_cast::<8, 4>(self.a.val()),
            0x0F => self.y.next = 255.into(),
            _ => self.y.next = 9.into(),
        }
        match self.b.val() {
            true => self.z.next = 1.into(),
            false => self.z.next = 2.into(),
        }
        if self.a.val() < 4 {
            self.w.next = 1.into();
        } else if self.a.val().any() & self.b.val() {
            self.w.next = 0xFF_FFFF_FFFF_u64.into();
        } else if self.a.val() == 12 {
            self.w.next = 0xAB_CDEF_0123_u64.into();
        } else {
            self.w.next = 3.into();
        }
    }
}

/// Registers whose next value is read, sliced, and shared with other logic.
#[derive(LogicBlock, Default)]
struct Registers {
    clk: Signal<In, Clock>,
    a: Signal<In, Bits<8>>,
    i: Signal<In, Bits<3>>,
    v: Signal<In, Bit>,
    bits: Signal<Out, Bits<8>>,
    halves: Signal<Out, Bits<8>>,
    peek: Signal<Out, Bits<8>>,
    sum: Signal<Out, Bits<8>>,
    set: DFF<Bits<8>>,
    half: DFF<Bits<8>>,
    seen: DFF<Bits<8>>,
    total: DFF<Bits<8>>,
}

impl Logic for Registers {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, set, half, seen, total);
        if self.v.val() {
            self.set.d.next = self
                .set
                .q
                .val()
                .replace_bit(self.i.val().index(), self.a.val().get_bit(0));
        }
        self.half.d.next = self.half.q.val() ^ self.a.val();
        self.sum.next = self.total.q.val();
        if self.i.val().all() {
            self.total.d.next = self.total.q.val() + self.a.val();
            self.sum.next = self.a.val();
        }
        self.seen.d.next = self.a.val() + 1;
        self.peek.next = self.seen.d.val();
        self.bits.next = self.set.q.val();
        self.halves.next = self.half.q.val() + self.seen.q.val();
    }
}

/// Two ways through one block that would close a loop between two groups of statements.
#[derive(LogicBlock, Default)]
struct Woven {
    a: Signal<In, Bits<4>>,
    c: Signal<In, Bit>,
    x: Signal<Out, Bits<4>>,
    y: Signal<Out, Bits<4>>,
    p: Signal<Local, Bits<4>>,
    q: Signal<Local, Bits<4>>,
}

impl Logic for Woven {
    #[hdl_gen]
    fn update(&mut self) {
        self.x.next = 0.into();
        self.p.next = 0.into();
        if self.c.val() {
            self.p.next = self.a.val() + 1;
            self.x.next = 5.into();
        }
        self.q.next = self.p.val() + 2;
        self.y.next = self.q.val();
        if self.q.val() == 7 {
            self.x.next = self.q.val() ^ self.a.val();
        }
    }
}

/// A macro of rust-hdl's own library with its own initial value.
#[derive(LogicBlock)]
struct Initial {
    clk: Signal<In, Clock>,
    a: Signal<In, Bits<4>>,
    y: Signal<Out, Bits<4>>,
    stored: DFFWithInit<Bits<4>>,
    detector: EdgeDetector,
    seen: Signal<Out, Bit>,
}

impl Default for Initial {
    fn default() -> Self {
        Self {
            clk: Default::default(),
            a: Default::default(),
            y: Default::default(),
            stored: DFFWithInit::new(bits(9)),
            detector: EdgeDetector::new(true),
            seen: Default::default(),
        }
    }
}

impl Logic for Initial {
    #[hdl_gen]
    fn update(&mut self) {
        self.stored.clock.next = self.clk.val();
        self.stored.d.next = self.a.val();
        self.y.next = self.stored.q.val();
        self.detector.clock.next = self.clk.val();
        self.detector.input_signal.next = self.a.val().get_bit(1);
        self.seen.next = self.detector.edge_signal.val();
    }
}

/// Loops over arrays of signals and of blocks, nested.
#[derive(LogicBlock, Default)]
struct Cell {
    a: Signal<In, Bits<3>>,
    k: Signal<In, Bits<3>>,
    y: Signal<Out, Bits<3>>,
    hit: Signal<Out, Bit>,
}

impl Logic for Cell {
    #[hdl_gen]
    fn update(&mut self) {
        self.y.next = self.a.val() + self.k.val();
        self.hit.next = self.a.val() == self.k.val();
    }
}

#[derive(LogicBlock, Default)]
struct Row {
    a: Signal<In, Bits<3>>,
    y: Signal<Out, Bits<3>>,
    hits: Signal<Out, Bits<4>>,
    cells: [Cell; 4],
}

impl Logic for Row {
    #[hdl_gen]
    fn update(&mut self) {
        self.hits.next = 0.into();
        for i in 0..4 {
            self.cells[i].k.next = i.to_bits();
            self.hits.next = self.hits.val().replace_bit(i, self.cells[i].hit.val());
        }
        self.cells[0].a.next = self.a.val();
        for i in 0..3 {
            self.cells[i + 1].a.next = self.cells[i].y.val();
        }
        self.y.next = self.cells[3].y.val();
    }
}

#[derive(LogicBlock)]
struct Grid {
    a: Signal<In, Bits<3>>,
    y: Signal<Out, Bits<3>>,
    first: Signal<Out, Bits<4>>,
    rows: Vec<Row>,
}

impl Default for Grid {
    fn default() -> Self {
        Self {
            a: Default::default(),
            y: Default::default(),
            first: Default::default(),
            rows: (0..3).map(|_| Row::default()).collect(),
        }
    }
}

impl Logic for Grid {
    #[hdl_gen]
    fn update(&mut self) {
        self.rows[0].a.next = self.a.val();
        for i in 1..3 {
            self.rows[i].a.next = self.rows[i - 1].y.val();
        }
        self.y.next = self.rows[2].y.val();
        self.first.next = self.rows[0].hits.val();
    }
}

/// Structs: fields read and written one by one, in registers and as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
struct Pixel {
    level: Bits<4>,
    offset: Bits<4>,
    valid: Bit,
}

#[derive(LogicBlock, Default)]
struct Structs {
    clk: Signal<In, Clock>,
    level: Signal<In, Bits<4>>,
    offset: Signal<In, Bits<4>>,
    valid: Signal<In, Bit>,
    low: Signal<Out, Bit>,
    sum: Signal<Out, Bits<4>>,
    joined: Signal<Out, Pixel>,
    made: Signal<Local, Pixel>,
    last: DFF<Pixel>,
}

impl Logic for Structs {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, last);
        self.made.next.level = self.level.val();
        self.made.next.offset = self.offset.val();
        self.made.next.valid = self.valid.val();
        if self.made.val().valid {
            self.last.d.next = self.made.val();
        }
        self.low.next = self.made.val().offset < self.last.q.val().offset;
        self.sum.next = self.made.val().level + self.last.q.val().level;
        self.joined.next = self.last.q.val();
        self.joined.next.valid = self.valid.val();
    }
}

/// Interfaces: join between sub-blocks, link to the outside.
#[derive(LogicInterface, Clone, Debug, Default)]
#[join = "Source"]
struct Sink {
    data: Signal<In, Bits<4>>,
    valid: Signal<In, Bit>,
    ready: Signal<Out, Bit>,
}

#[derive(LogicInterface, Clone, Debug, Default)]
#[join = "Sink"]
struct Source {
    data: Signal<Out, Bits<4>>,
    valid: Signal<Out, Bit>,
    ready: Signal<In, Bit>,
}

#[derive(LogicBlock, Default)]
struct Stage {
    s: Sink,
    m: Source,
}

impl Logic for Stage {
    #[hdl_gen]
    fn update(&mut self) {
        self.m.data.next = self.s.data.val() + 1;
        self.m.valid.next = self.s.valid.val();
        self.s.ready.next = self.m.ready.val();
    }
}

#[derive(LogicBlock, Default)]
struct Pipeline {
    data: Signal<In, Bits<4>>,
    valid: Signal<In, Bit>,
    m: Source,
    take: Signal<In, Bit>,
    ready: Signal<Out, Bit>,
    first: Stage,
    second: Stage,
    inner: Wrapping,
}

/// Passes its interfaces through to a sub-block.
#[derive(LogicBlock, Default)]
struct Wrapping {
    s: Sink,
    m: Source,
    stage: Stage,
}

impl Logic for Wrapping {
    #[hdl_gen]
    fn update(&mut self) {
        Sink::link(&mut self.s, &mut self.stage.s);
        Source::link(&mut self.m, &mut self.stage.m);
    }
}

impl Logic for Pipeline {
    #[hdl_gen]
    fn update(&mut self) {
        self.first.s.data.next = self.data.val();
        self.first.s.valid.next = self.valid.val();
        self.ready.next = self.first.s.ready.val();
        Source::join(&mut self.first.m, &mut self.second.s);
        Source::join(&mut self.second.m, &mut self.inner.s);
        self.m.data.next = self.inner.m.data.val();
        self.m.valid.next = self.inner.m.valid.val();
        self.inner.m.ready.next = self.take.val() & self.m.ready.val();
    }
}

/// Adds the blocks of this file.
pub(crate) fn add_to(suite: &mut Suite) {
    case!(suite, Precedence, [a, b, c]);
    case!(suite, WrappingSum, [a, b]);
    case!(suite, NotCompared, [a]);
    case!(suite, CastSum, [a, b]);
    case!(suite, Comparisons, [a, b]);
    case!(suite, Reductions, [a]);
    case!(suite, Shifts, [a, n]);
    case!(suite, Bools, [a, b, c]);
    case!(suite, AddBool, [a, b]);
    case!(suite, ReplaceBits, [a, i, v]);
    case!(suite, Concatenation, [a, b, c]);
    case!(suite, Wide, [a, b, n]);
    case!(suite, Machine, [start, limit], clk);
    case!(suite, Choices, [a, b]);
    case!(suite, Registers, [a, i, v], clk);
    case!(suite, Woven, [a, c]);
    case!(suite, Initial, [a], clk);
    case!(suite, Row, [a]);
    case!(suite, Grid, [a]);
    case!(suite, Structs, [level, offset, valid], clk);
    case!(suite, Slices, [a, j]);
    suite.add(
        "Pipeline",
        Pipeline::default(),
        |block, values| {
            block.data.next = values[0].clone().into();
            block.valid.next = values[1].bit(0);
            block.m.ready.next = values[2].bit(0);
            block.take.next = values[3].bit(0);
        },
        None,
    );
}
