//! Every crossing of a nested design is found once, with its clocks, and its constraints name registers that exist.

use spinneret_hdl::axi::{AxiExtras, AxiMaster, AxiShape, AxiTarget};
use spinneret_hdl::cdc::{
    AsyncFifo, AxiCrossing, BusSync, CrossingKind, LevelSync, LinkReset, ResetSync, constraints, xdc,
};
use spinneret_hdl::stream::{StreamIn, StreamOut};
use spinneret_verilog::prelude::*;
use spinneret_verilog::{Design, generate};

const SHAPE: AxiShape = AxiShape {
    address: 16,
    data: 32,
    id: 2,
    extras: AxiExtras::NONE,
};

/// A part with all kinds of crossings.
#[derive(LogicBlock, Describe, Debug)]
struct Part {
    pub clk: Signal<In, Clock>,
    pub rst: Wire<In, bool>,
    pub other_clk: Signal<In, Clock>,
    pub s: StreamIn,
    pub m: StreamOut,
    pub word: StreamIn,
    pub word_out: StreamOut,
    pub level: Wire<In>,
    pub level_out: Wire<Out>,
    pub far: Wire<Out, bool>,
    fifos: Vec<AsyncFifo>,
    bus: BusSync,
    levels: LevelSync,
    link: LinkReset,
}

impl Part {
    fn new() -> Self {
        Self {
            clk: Signal::default(),
            rst: Wire::bit(),
            other_clk: Signal::default(),
            s: StreamIn::new(8),
            m: StreamOut::new(8),
            word: StreamIn::new(3),
            word_out: StreamOut::new(3),
            level: Wire::word(1),
            level_out: Wire::word(1),
            far: Wire::bit(),
            fifos: vec![8; 2]
                .into_iter()
                .map(|width| AsyncFifo::new(width, 4).expect("a FIFO"))
                .collect(),
            bus: BusSync::new(3),
            levels: LevelSync::new(1),
            link: LinkReset::new(),
        }
    }
}

impl Logic for Part {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.clk => self.levels);
        self.levels.d.next = self.level.val();
        self.level_out.next = self.levels.q.val();
        self.link.near_clk.next = self.clk.val();
        self.link.near_rst.next = self.rst.val();
        self.link.request.next = false;
        self.link.far_clk.next = self.other_clk.val();
        self.far.next = self.link.far_rst.val();
        self.fifos[0].s_clk.next = self.clk.val();
        self.fifos[0].s_rst.next = self.link.near_link_rst.val();
        self.fifos[0].m_clk.next = self.other_clk.val();
        self.fifos[0].m_rst.next = self.link.far_rst.val();
        connect!(self.s => self.fifos[0].s);
        self.fifos[1].s.data.next = self.fifos[0].m.data.val();
        self.fifos[1].s.valid.next = self.fifos[0].m.valid.val();
        self.fifos[0].m.ready.next = self.fifos[1].s.ready.val();
        self.fifos[1].s_clk.next = self.other_clk.val();
        self.fifos[1].s_rst.next = self.link.far_rst.val();
        self.fifos[1].m_clk.next = self.clk.val();
        self.fifos[1].m_rst.next = self.link.near_link_rst.val();
        connect!(self.fifos[1].m => self.m);
        self.bus.s_clk.next = self.clk.val();
        self.bus.s_rst.next = self.link.near_link_rst.val();
        self.bus.m_clk.next = self.other_clk.val();
        self.bus.m_rst.next = self.link.far_rst.val();
        connect!(self.word => self.bus.s);
        connect!(self.bus.m => self.word_out);
    }
}

/// The part, and parts at the top.
#[derive(LogicBlock, Describe, Debug)]
struct Top {
    pub nic_clk: Signal<In, Clock>,
    pub cluster_clk: Signal<In, Clock>,
    pub board_rst: Wire<In, bool>,
    pub s: StreamIn,
    pub m: StreamOut,
    pub word: StreamIn,
    pub word_out: StreamOut,
    pub level: Wire<In>,
    pub level_out: Wire<Out>,
    pub far: Wire<Out, bool>,
    pub s_axi: AxiTarget,
    pub m_axi: AxiMaster,
    part: Part,
    axi: AxiCrossing,
    reset: ResetSync,
}

impl Top {
    fn new() -> Self {
        Self {
            nic_clk: Signal::default(),
            cluster_clk: Signal::default(),
            board_rst: Wire::bit(),
            s: StreamIn::new(8),
            m: StreamOut::new(8),
            word: StreamIn::new(3),
            word_out: StreamOut::new(3),
            level: Wire::word(1),
            level_out: Wire::word(1),
            far: Wire::bit(),
            s_axi: AxiTarget::new(SHAPE),
            m_axi: AxiMaster::new(SHAPE),
            part: Part::new(),
            axi: AxiCrossing::new(SHAPE, 8).expect("a crossing"),
            reset: ResetSync::new(),
        }
    }
}

impl Logic for Top {
    #[kernel]
    fn update(&mut self) {
        clocked!(self.nic_clk => self.reset);
        self.reset.rst_async.next = self.board_rst.val();
        clocked!(self.nic_clk => self.part);
        self.part.rst.next = self.reset.rst.val();
        self.part.other_clk.next = self.cluster_clk.val();
        connect!(self.s => self.part.s);
        connect!(self.part.m => self.m);
        connect!(self.word => self.part.word);
        connect!(self.part.word_out => self.word_out);
        self.part.level.next = self.level.val();
        self.level_out.next = self.part.level_out.val();
        self.far.next = self.part.far.val();
        self.axi.s_clk.next = self.nic_clk.val();
        self.axi.s_rst.next = self.reset.rst.val();
        self.axi.m_clk.next = self.cluster_clk.val();
        self.axi.m_rst.next = self.part.far.val();
        connect!(self.s_axi => self.axi.s);
        connect!(self.axi.m => self.m_axi);
    }
}

fn design() -> Design {
    generate(&Top::new(), "top").unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_crossing_is_listed_once_with_its_clocks() {
    let found = constraints(&design(), "a/top_inst");
    let listed: Vec<_> = found
        .iter()
        .map(|crossing| {
            let path = crossing
                .path
                .strip_prefix("a/top_inst/")
                .expect("the path of the top");
            (path, crossing.kind, crossing.clocks.join(" "))
        })
        .collect();
    use CrossingKind as K;
    let (there, back) = ("nic_clk cluster_clk".to_owned(), "cluster_clk nic_clk".to_owned());
    let nic = "nic_clk".to_owned();
    assert_eq!(
        listed,
        [
            ("u_axi/u_ar", K::AsyncFifo, there.clone()),
            ("u_axi/u_aw", K::AsyncFifo, there.clone()),
            ("u_axi/u_b", K::AsyncFifo, back.clone()),
            ("u_axi/u_r", K::AsyncFifo, back.clone()),
            ("u_axi/u_w", K::AsyncFifo, there.clone()),
            ("u_part/u_bus", K::BusSync, there.clone()),
            ("u_part/u_fifos_0", K::AsyncFifo, there.clone()),
            ("u_part/u_fifos_1", K::AsyncFifo, back),
            ("u_part/u_levels", K::LevelSync, nic.clone()),
            ("u_part/u_link", K::LinkReset, there),
            ("u_reset", K::ResetSync, nic),
        ]
    );
}

const PERIODS: [(&str, u64); 2] = [("nic_clk", 4000), ("cluster_clk", 25_000)];

#[test]
fn constraints_are_those_of_the_snapshot() {
    let text = xdc(&constraints(&design(), "app"), &PERIODS).unwrap_or_else(|error| panic!("{error}"));
    insta::assert_snapshot!(text);
}

/// Every pattern ends in the name of a register, or of a memory, of the instance that it begins with.
#[test]
fn constraints_name_what_exists() {
    let design = design();
    let text = xdc(&constraints(&design, ""), &PERIODS).unwrap_or_else(|error| panic!("{error}"));
    let instances = design.instances();
    let mut seen = 0;
    for pattern in text
        .split("[get_cells {")
        .skip(1)
        .filter_map(|rest| rest.split_once('}'))
    {
        let (path, register) = pattern.0.rsplit_once('/').expect("a path");
        let register = register.strip_suffix("_reg*").expect("a register");
        let instance = instances.iter().find(|instance| instance.path() == path);
        let module = instance
            .unwrap_or_else(|| panic!("there is no instance {path}"))
            .module;
        let declares = |line: &str| {
            let words: Vec<&str> = line.split([' ', ';']).collect();
            words.contains(&"logic") && words.contains(&register)
        };
        assert!(module.text.lines().any(declares), "{path} has no {register}");
        seen += 1;
    }
    assert!(seen > 100, "{seen} patterns");
}

#[test]
fn an_unknown_clock_is_refused_with_its_crossing() {
    let error = xdc(&constraints(&design(), ""), &PERIODS[..1]).map_err(|error| error.to_string());
    assert_eq!(
        error,
        Err(
            "the crossing u_axi/u_ar is clocked by `cluster_clk`, whose period is not known: give one of nic_clk, \
             or add it"
                .to_owned()
        )
    );
}

#[test]
fn synchronisers_are_marked() {
    let design = design();
    let text = design.text();
    for declaration in [
        "(* ASYNC_REG = \"TRUE\" *) logic [POINTER-1:0] pointer_stage_0 = POINTER'(0);",
        "(* ASYNC_REG = \"TRUE\" *) logic stage_1 = 1'b1;",
        "(* DONT_TOUCH = \"TRUE\" *) logic [POINTER-1:0] gray = POINTER'(0);",
        "(* ram_style = \"distributed\" *)",
    ] {
        assert!(text.contains(declaration), "{declaration}");
    }
}
