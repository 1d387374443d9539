//! Statements and registers: the block in Rust against its text in Icarus Verilog and Verilator.

use rust_hdl::prelude::*;

use crate::case;
use crate::support::Suite;

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

/// A Local that is written several times and read in between.
#[derive(LogicBlock, Default)]
struct Sequence {
    a: Signal<In, Bits<4>>,
    b: Signal<In, Bits<4>>,
    x: Signal<Out, Bits<4>>,
    y: Signal<Out, Bits<4>>,
    z: Signal<Out, Bits<4>>,
    t: Signal<Local, Bits<4>>,
    u: Signal<Local, Bits<4>>,
}

impl Logic for Sequence {
    #[hdl_gen]
    fn update(&mut self) {
        self.t.next = self.a.val() + 1;
        self.x.next = self.t.val();
        self.u.next = self.x.val() ^ self.t.val();
        if self.b.val() > self.a.val() {
            self.t.next = self.t.val() + self.b.val();
            self.u.next = self.u.val() + 3;
        }
        self.y.next = self.t.val() & self.u.val();
        self.t.next = self.y.val() - 1;
        self.z.next = self.t.val();
    }
}

/// Constants, signed ones too, and a falling edge.
#[derive(LogicBlock)]
struct Constants {
    clk: Signal<In, Clock>,
    a: Signal<In, Bits<8>>,
    s: Signal<In, Signed<8>>,
    above: Signal<Out, Bit>,
    below: Signal<Out, Bit>,
    late: Signal<Out, Bits<8>>,
    sum: Signal<Out, Bits<8>>,
    limit: Constant<Bits<8>>,
    floor: Constant<Signed<8>>,
    first: Constant<State>,
    early: DFF<Bits<8>>,
    falling: DFF<Bits<8>>,
    state: DFF<State>,
}

impl Default for Constants {
    fn default() -> Self {
        Self {
            clk: Default::default(),
            a: Default::default(),
            s: Default::default(),
            above: Default::default(),
            below: Default::default(),
            late: Default::default(),
            sum: Default::default(),
            limit: Constant::new(bits(200)),
            floor: Constant::new(signed(-20)),
            first: Constant::new(State::Done),
            early: Default::default(),
            falling: Default::default(),
            state: Default::default(),
        }
    }
}

impl Logic for Constants {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, early, state);
        self.falling.clock.next = !self.clk.val();
        self.falling.d.next = self.early.q.val();
        self.early.d.next = self.a.val();
        self.above.next = self.a.val() > self.limit.val();
        self.below.next = self.s.val() < self.floor.val();
        self.late.next = self.falling.q.val();
        self.sum.next = self.limit.val() + bit_cast::<8, 4>(self.limit.val().get_bits::<4>(3));
        self.state.d.next = self.first.val();
        if self.state.q.val() == State::Done {
            self.state.d.next = State::Idle;
            self.sum.next = self.a.val();
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

/// Writes at variable places that may lie beyond the end.
#[derive(LogicBlock, Default)]
struct Places {
    a: Signal<In, Bits<3>>,
    v: Signal<In, Bit>,
    n: Signal<In, Bits<2>>,
    y: Signal<Out, Bits<6>>,
    z: Signal<Out, Bits<5>>,
}

impl Logic for Places {
    #[hdl_gen]
    fn update(&mut self) {
        self.y.next = 0x15.into();
        if self.a.val() < 6 {
            self.y.next = self.y.val().replace_bit(self.a.val().index(), self.v.val());
        }
        self.z.next = (bit_cast::<5, 3>(self.a.val()) + 3)
            .replace_bit(bit_cast::<3, 2>(self.n.val()).index() + 1, self.v.val());
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

/// Adds the blocks of this file.
pub(crate) fn add_to(suite: &mut Suite) {
    case!(suite, Machine, [start, limit], clk);
    case!(suite, Choices, [a, b]);
    case!(suite, Sequence, [a, b]);
    case!(suite, Constants, [a, s], clk);
    case!(suite, Registers, [a, i, v], clk);
    case!(suite, Woven, [a, c]);
    case!(suite, Places, [a, v, n]);
    case!(suite, Initial, [a], clk);
}
