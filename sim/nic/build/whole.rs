//! The NIC with its clusters as hardware: text for each number of clusters, that the command compiles when it first needs it.
//!
//! ```text
//!   spinneret_nic
//!   +-- app: spinneret_app, with all its ports to Corundum
//!   +-- cluster: pspin_wrap, that is hpu_complex
//! ```
//!
//! Wires between both, and signals inside of the clusters that reports need, are outputs of the top module. From outside it only
//! writes memories, while a program is loaded.

use spinneret_hdl::app::corundum::{CLUSTER, ClusterClock, Generation, Shell};
use spinneret_hdl::app::{AppOptions, Cluster, TOP as BLOCK, sources};
use spinneret_hdl::hpu::cluster::{TASK_PAIR, TASK_PAIRS, TASK_SOURCE};
use spinneret_verilog::PortDirection;
use std::fmt::Write as _;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

/// Name of the top module and of the model, before the number of clusters.
const TOP: &str = "spinneret_nic";
/// Frequency of the cluster's clock, which software can read: that of the core.
const CLOCK_KHZ: u64 = 250_000;
/// Numbers of clusters that the command knows.
const CLUSTERS: [usize; 4] = [1, 2, 4, 8];
/// Pipelines of a cluster, and threads of a pipeline.
const PIPELINES: usize = 2;
const THREADS: usize = 4;
/// Sources that decide how a library is made of the text: a change of them makes a new one.
const BUILDER: [&str; 4] = [
    include_str!("../../verilate/src/shared.rs"),
    include_str!("../../verilate/src/cpp.rs"),
    include_str!("../../verilate/cpp/spinneret_model.h"),
    include_str!("../../verilate/cpp/spinneret_fst.cpp"),
];

/// A port of the top module: its name, whether it is an input, its width, and the value of an output that is not connected.
struct TopPort {
    name: String,
    is_input: bool,
    width: usize,
    value: Option<String>,
}

impl TopPort {
    fn input(name: &str, width: usize) -> Self {
        Self {
            name: name.to_owned(),
            is_input: true,
            width,
            value: None,
        }
    }

    fn probe(name: String, width: usize, value: String) -> Self {
        Self {
            name,
            is_input: false,
            width,
            value: Some(value),
        }
    }
}

/// Writes the texts, and their description `whole.rs`, into a folder.
///
/// # Errors
/// If the blocks cannot be generated, or a file cannot be written.
pub(crate) fn write(out: &Path) -> Result<(), String> {
    let put = |file: &str, text: &str| {
        let path = out.join(file);
        fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
    };
    let mut described = "const MODELS: &[Whole] = &[\n".to_owned();
    for clusters in CLUSTERS {
        let top = format!("{TOP}_{clusters}");
        let (text, ports) = whole(clusters, &top)?;
        let mut hasher = DefaultHasher::new();
        (&text, BUILDER).hash(&mut hasher);
        // Writing to a String cannot fail.
        let _ = writeln!(
            described,
            "    Whole {{\n        clusters: {clusters},\n        top: {top:?},\n        key: \"{:016x}\",\n        \
             text: include_str!(concat!(env!(\"OUT_DIR\"), \"/{top}.sv\")),\n        ports: &[",
            hasher.finish()
        );
        for TopPort {
            name,
            is_input,
            width,
            ..
        } in &ports
        {
            let direction = if *is_input { "Input" } else { "Output" };
            let _ = writeln!(
                described,
                "            PortInfo {{ name: {name:?}, direction: Direction::{direction}, width: {width} }},"
            );
        }
        described += "        ],\n    },\n";
        put(&format!("{top}.sv"), &text)?;
    }
    described += "];\n";
    put("whole.rs", &described)
}

/// The text with that many clusters, and the ports of its top module.
fn whole(clusters: usize, top: &str) -> Result<(String, Vec<TopPort>), String> {
    let options = AppOptions {
        cluster: Cluster::Spinneret,
        clusters,
        clock: ClusterClock::External,
        cluster_clock_khz: CLOCK_KHZ,
        ..AppOptions::default()
    };
    let sources = sources(options).map_err(|error| error.to_string())?;
    let shell = Shell {
        generation: Generation::ALL[0],
        clock: ClusterClock::External,
        interfaces: 1,
        cluster: [0; 2],
        app: &sources.app,
    };
    let (wires, of_cluster) = shell.cluster_wires();
    let is_wire = |name: &str| wires.iter().any(|wire| wire.name == name);
    let mut ports: Vec<TopPort> = sources
        .app
        .ports
        .iter()
        .filter(|port| !is_wire(&port.name) || is_shown(&port.name))
        .map(|port| TopPort {
            name: port.name.clone(),
            is_input: port.direction == PortDirection::Input && !is_wire(&port.name),
            width: port.width,
            value: None,
        })
        .collect();
    ports.extend(loader_ports());
    ports.extend(probes(clusters));

    let mut text = crate::design::shared_functions()? + "`verilog\n";
    for file in sources.files.iter().filter(|file| file.module != BLOCK) {
        text += &file.text;
        text.push('\n');
    }
    let declarations: Vec<_> = ports
        .iter()
        .map(|port| {
            let direction = if port.is_input { "input " } else { "output" };
            declaration(&format!("{direction} wire"), &port.name, port.width)
        })
        .collect();
    let inner: Vec<_> = wires
        .iter()
        .filter(|wire| !is_shown(&wire.name))
        .map(|wire| format!("    {};\n", declaration("wire", &wire.name, wire.width)))
        .collect();
    let of_app: Vec<_> = sources
        .app
        .ports
        .iter()
        .map(|port| format!(".{0}({0})", port.name))
        .collect();
    let _ = write!(
        text,
        "module {top} (\n    {}\n);\n{}\n    {} app (\n        {}\n    );\n    {CLUSTER} cluster (\n        {}\n    );\n{}{}",
        declarations.join(",\n    "),
        inner.concat(),
        sources.app.name,
        of_app.join(",\n        "),
        of_cluster.join(",\n        "),
        loader(clusters),
        observers(clusters),
    );
    for port in &ports {
        if let Some(value) = &port.value {
            let _ = writeln!(text, "    assign {} = {value};", port.name);
        }
    }
    text += "endmodule\n";
    Ok((text, ports))
}

/// Whether reports or the detection of idle time look at a wire to the cluster.
fn is_shown(wire: &str) -> bool {
    const NAMES: [&str; 7] = [
        "cluster_rstn",
        "cl_fetch_en",
        "ni_slave_aw_addr",
        "ni_slave_w_data",
        "ni_slave_w_strb",
        "ni_slave_w_last",
        "stdout_rd_en",
    ];
    const GROUPS: [&str; 3] = ["her_", "feedback_", "nic_cmd_"];
    NAMES.contains(&wire)
        || wire.ends_with("_valid")
        || wire.ends_with("_ready")
        || GROUPS.iter().any(|group| wire.starts_with(group))
}

/// A line of a memory is written with an edge of a clock of its own, and a line of handler memory can always be read.
fn loader_ports() -> Vec<TopPort> {
    let mut ports: Vec<_> = [
        ("load_clk", 1),
        ("load_is_program", 1),
        ("load_line", 14),
        ("load_strobe", 64),
        ("load_data", 512),
        ("peek_line", 14),
    ]
    .into_iter()
    .map(|(name, width)| TopPort::input(name, width))
    .collect();
    ports.push(TopPort::probe(
        "peek_data".to_owned(),
        512,
        "cluster.u_handler.u_ram.memory[peek_line]".to_owned(),
    ));
    ports
}

fn loader(clusters: usize) -> String {
    let mut programs = String::new();
    for pipeline in pipelines(clusters) {
        for (half, offset) in [("even", 0), ("odd", 32)] {
            let _ = writeln!(
                programs,
                "                {pipeline}.u_program.u_{half}.memory[{{load_line[8:0], i[2:0]}}] <= load_data[64*i + {offset} +: 32];"
            );
        }
    }
    format!(
        "
    always @(posedge load_clk) begin
        if (load_is_program) begin
            for (int i = 0; i < 8; i++) begin
{programs}            end
        end else begin
            for (int i = 0; i < 64; i++) begin
                if (load_strobe[i]) cluster.u_handler.u_ram.memory[load_line][8*i +: 8] <= load_data[8*i +: 8];
            end
        end
    end
"
    )
}

fn pipelines(clusters: usize) -> impl Iterator<Item = String> {
    (0..clusters * PIPELINES).map(|number| {
        format!(
            "cluster.u_clusters_{}.u_pipelines_{}",
            number / PIPELINES,
            number % PIPELINES
        )
    })
}

fn driver(cluster: usize) -> String {
    format!("cluster.u_clusters_{cluster}.u_driver")
}

/// Registers of the top module that follow the hardware.
fn observers(clusters: usize) -> String {
    let mut text = "
    reg [63:0] printed = 0, instructions = 0;
    always @(posedge cluster_clk) begin
        printed <= printed + 64'(cluster.words_stdout_valid && cluster.stdout_s_ready);
        instructions <= instructions"
        .to_owned();
    for number in 0..clusters * PIPELINES {
        let _ = write!(text, " + 64'(retired_{number})");
    }
    text += ";\n    end\n";
    for (number, pipeline) in pipelines(clusters).enumerate() {
        let _ = write!(
            text,
            "
    reg is_user_{number}, retired_{number} = 0;
    always @(posedge cluster_clk) begin
        is_user_{number} <= {pipeline}.u_csrs.status_7.is_user;
        retired_{number} <= {pipeline}.retires;
    end
"
        );
    }
    for cluster in 0..clusters {
        // The first of two areas is checked when the second one begins.
        let check = format!("{}.u_starts.u_check", driver(cluster));
        let _ = write!(
            text,
            "
    reg is_second_{cluster};
    always @(posedge cluster_clk) if ({check}.runs) is_second_{cluster} <= {check}.second && {check}.are_inside;
"
        );
    }
    text
}

/// Signals in the clusters: those of cluster c begin with `c<c>_`, those of pipeline p of all with `p<p>_`.
fn probes(clusters: usize) -> Vec<TopPort> {
    let mut all = vec![
        TopPort::probe("printed_words".to_owned(), 64, "printed".to_owned()),
        TopPort::probe("retired_instructions".to_owned(), 64, "instructions".to_owned()),
    ];
    let of_drivers = |signal: &str| {
        let paths = (0..clusters)
            .rev()
            .map(|cluster| format!("{}.{signal}", driver(cluster)));
        format!("{{{}}}", paths.collect::<Vec<_>>().join(", "))
    };
    let hpus = clusters * PIPELINES * THREADS;
    all.push(TopPort::probe(
        "hpus_idle".to_owned(),
        hpus,
        of_drivers("tasks_idle"),
    ));
    all.push(TopPort::probe(
        "hpus_asked".to_owned(),
        hpus,
        of_drivers("u_tasks.has_asked"),
    ));
    let mut events = vec![
        "her_valid && her_ready".to_owned(),
        "feedback_valid && feedback_ready".to_owned(),
        "nic_cmd_req_valid && nic_cmd_req_ready".to_owned(),
        "nic_cmd_resp_valid".to_owned(),
        "ni_slave_aw_valid && ni_slave_aw_ready".to_owned(),
        "ni_slave_w_valid && ni_slave_w_ready".to_owned(),
    ];
    for cluster in 0..clusters {
        let driver = driver(cluster);
        let mut add = |name: &str, width, value: String| {
            all.push(TopPort::probe(format!("c{cluster}_{name}"), width, value));
        };
        let slot = format!("{driver}.giver_given_slot");
        for (name, width) in [("valid", 1), ("hpu", 3)] {
            add(
                &format!("given_{name}"),
                width,
                format!("{driver}.giver_given_{name}"),
            );
        }
        for (name, word) in [("given_handler", 0), ("given_packet", TASK_SOURCE)] {
            let pair = TASK_PAIRS.iter().position(|pair| pair[0] == word);
            let pair = pair.expect("it is the first word of a pair");
            add(
                name,
                32,
                format!("{driver}.u_slots.u_pairs.memory[{{{slot}, {TASK_PAIR}'d{pair}}}][31:0]"),
            );
        }
        for (name, width) in [
            ("valid", 1),
            ("hpu", 3),
            ("is_dma", 1),
            ("offset", 8),
            ("is_write", 1),
            ("data", 32),
        ] {
            add(
                &format!("access_{name}"),
                width,
                format!("{driver}.accesses_m_{name}"),
            );
        }
        add("access_read", 32, format!("{driver}.u_accesses.s_0_read_data"));
        add("refused_second", 1, format!("is_second_{cluster}"));
        events.extend([
            format!("{driver}.giver_given_valid"),
            format!("{driver}.accesses_m_valid"),
        ]);
    }
    for (number, pipeline) in pipelines(clusters).enumerate() {
        let mut add = |name: &str, width, value: String| {
            all.push(TopPort::probe(format!("p{number}_{name}"), width, value));
        };
        add("trap", 1, format!("{pipeline}.trap"));
        add("thread", 2, format!("{pipeline}.trap_thread"));
        add("cause", 5, format!("{pipeline}.trap_cause"));
        add("value", 32, format!("{pipeline}.csrs_trap_value"));
        add("pc", 32, format!("{{{pipeline}.pc_8, 1'b0}}"));
        add("is_user", 1, format!("is_user_{number}"));
        add("retired", 1, format!("retired_{number}"));
        events.push(format!("{pipeline}.trap"));
    }
    all.push(TopPort::probe(
        "has_event".to_owned(),
        1,
        format!("({})", events.join(") || (")),
    ));
    all
}

fn declaration(kind: &str, name: &str, width: usize) -> String {
    match width {
        1 => format!("{kind} {name}"),
        width => format!("{kind} [{}:0] {name}", width - 1),
    }
}
