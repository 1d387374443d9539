//! Arrays, structs, interfaces and sub-blocks: the block in Rust against its text in Icarus Verilog and Verilator.

use rust_hdl::prelude::*;

use crate::case;
use crate::support::Suite;

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
    case!(suite, Row, [a]);
    case!(suite, Grid, [a]);
    case!(suite, Structs, [level, offset, valid], clk);
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
