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
#[module]
struct Part {
    other_clk: Signal<In, Clock>,
    s: StreamIn<8>,
    m: StreamOut<8>,
    word: StreamIn<3>,
    word_out: StreamOut<3>,
    level: Wire<In, 1>,
    level_out: Wire<Out, 1>,
    far: Wire<Out, bool>,
    #[new(AsyncFifo::new(8, 4).expect("a FIFO"))]
    fifos: [AsyncFifo; 2],
    bus: BusSync<3>,
    levels: LevelSync<1>,
    link: LinkReset,
}

#[kernel(Part)]
fn update() {
    levels.d = level;
    level_out = levels.q;
    link.near_clk = clk;
    link.near_rst = rst;
    link.request = false;
    link.far_clk = other_clk;
    far = link.far_rst;
    fifos[0].s_clk = clk;
    fifos[0].s_rst = link.near_link_rst;
    fifos[0].m_clk = other_clk;
    fifos[0].m_rst = link.far_rst;
    fifos[0].s = s;
    fifos[1].s = fifos[0].m;
    fifos[1].s_clk = other_clk;
    fifos[1].s_rst = link.far_rst;
    fifos[1].m_clk = clk;
    fifos[1].m_rst = link.near_link_rst;
    m = fifos[1].m;
    bus.s_clk = clk;
    bus.s_rst = link.near_link_rst;
    bus.m_clk = other_clk;
    bus.m_rst = link.far_rst;
    bus.s = word;
    word_out = bus.m;
}

/// The part, and parts at the top.
#[module(no_clock)]
struct Top {
    nic_clk: Signal<In, Clock>,
    cluster_clk: Signal<In, Clock>,
    board_rst: Wire<In, bool>,
    s: StreamIn<8>,
    m: StreamOut<8>,
    word: StreamIn<3>,
    word_out: StreamOut<3>,
    level: Wire<In, 1>,
    level_out: Wire<Out, 1>,
    far: Wire<Out, bool>,
    s_axi: AxiTarget<{ SHAPE }>,
    m_axi: AxiMaster<{ SHAPE }>,
    part: Part,
    #[new(AxiCrossing::new(SHAPE, 8).expect("a crossing"))]
    axi: AxiCrossing,
    reset: ResetSync,
}

#[kernel(Top)]
fn update() {
    reset.clk = nic_clk;
    reset.rst_async = board_rst;
    part.clk = nic_clk;
    part.rst = reset.rst;
    part.other_clk = cluster_clk;
    part.s = s;
    m = part.m;
    part.word = word;
    word_out = part.word_out;
    part.level = level;
    level_out = part.level_out;
    far = part.far;
    axi.s_clk = nic_clk;
    axi.s_rst = reset.rst;
    axi.m_clk = cluster_clk;
    axi.m_rst = part.far;
    axi.s = s_axi;
    m_axi = axi.m;
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
