//! Setup of a run: everything is opened before it begins.

use super::handlers::{contexts_on, names};
use super::host::{HostPing, HostProgram, RpcService};
use super::wave::Wave;
use super::{HardwareArguments, PacketArguments, ResultArguments, RunArguments, handlers};
use crate::device::Simulated;
use crate::gdb;
use crate::net::generator::RecipeError;
use crate::net::{
    Generator, Interrupt, NetError, Next, PacketSocket, PcapSink, PcapSource, Recipe, Sink, Source, Tap,
    TapConfig, TapEnd, Timing,
};
use crate::nic::{Backend, NicConfig, rtl};
use crate::report::{Options, PageOptions, Recorder};
use crate::terminal::{Failure, Files, tell};
use anyhow::anyhow;
use spinneret_cluster::{Config, Program};
use spinneret_host::Context;
use spinneret_rules::{MatcherParams, RuleFile};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Time limit of start-up in picoseconds: 100 ms.
const START_PS: u64 = 100_000_000_000;

/// A NIC with running handlers, its sources and sinks.
pub(super) struct Setup {
    pub(super) nic: Simulated,
    pub(super) ends: PacketIo,
    pub(super) recorder: Recorder,
    /// The waveform that is written.
    pub(super) wave: Option<Wave>,
    /// The host program.
    pub(super) host: Option<Box<dyn HostProgram>>,
    /// The port of gdb.
    pub(super) gdb: Option<gdb::Port>,
}

/// Opens everything. Ctrl-C is caught before the first file is created.
///
/// # Errors
/// If something is missing or cannot be used, or the user pressed Ctrl-C.
pub(super) fn open(arguments: &RunArguments) -> Result<(Setup, Interrupt), Failure> {
    let config = config(&arguments.hardware)?;
    let rules = rules_of(&arguments.target, arguments.rules.as_deref());
    let files = Files::of_command().reads("--rules", Some(&rules));
    let files = arguments.results.files(arguments.packets.files(files));
    let (elf, program) = handlers(&arguments.target, &config, files)?;
    if arguments.rules.is_none() && !rules.exists() {
        let rules = rules.display();
        return Err(Failure::usage(anyhow!(
            "there is no {rules}: name the rules with --rules"
        )));
    }
    let rules = RuleFile::read(&rules, &MatcherParams::BOARD).map_err(Failure::usage)?;
    let handler = arguments.handler.as_deref();
    names(&program, &rules.rulesets, handler).map_err(Failure::usage)?;
    let gdb = arguments.debug.listen(&config)?;
    let interrupt = Interrupt::catch().map_err(Failure::usage)?;
    let ends = open_packets(&arguments.packets)?;
    let mut setup = Setup::new(ends, &arguments.results, config, Some(&program))?;
    let contexts = setup.start(&interrupt, |nic| {
        let contexts = contexts_on(nic, &program, &rules.rulesets, handler)?;
        wait_for_hpus(nic).map(|()| contexts)
    })?;
    if let Some(folder) = &arguments.services {
        let mut answering = RpcService::open(contexts, folder.as_deref())
            .map_err(|error| Failure::usage(anyhow!("--services for {}: {error:#}", elf.display())))?;
        if arguments.results.trace.is_some() {
            answering.watch();
        }
        setup.host = Some(Box::new(answering));
    } else {
        contexts.into_iter().for_each(Context::leave);
    }
    if let Some(gdb) = &gdb {
        let (address, elf) = (gdb.address(), elf.display());
        tell(format_args!(
            "the run waits for gdb: gdb-multiarch {elf} -ex 'target remote {address}' -ex 'set scheduler-locking step'\n  \
             if gdb misses variables or lines: build the handlers with `make OPT=-Og`, and run the ELF file"
        ));
    }
    if arguments.host_ping {
        let contexts = rules.rulesets.len();
        let program = HostPing::new(&program, &setup.nic, contexts).ok_or_else(|| {
            Failure::usage(anyhow!(
                "--host-ping: {} has no variable `__host_data`, which handlers such as host_ping use",
                elf.display()
            ))
        })?;
        setup.host = Some(Box::new(program));
    }
    setup.gdb = gdb;
    Ok((setup, interrupt))
}

impl Setup {
    /// A NIC without handlers, and its output files.
    ///
    /// # Errors
    /// If a file cannot be created, or the hardware fails.
    pub(super) fn new(
        ends: PacketIo,
        results: &ResultArguments,
        config: NicConfig,
        program: Option<&Program>,
    ) -> Result<Self, Failure> {
        let config = NicConfig {
            waves: results.wave.is_some(),
            ..config
        };
        // Before anything that looks at the time: a model of the clusters may have to be built.
        let nic = Simulated::new(config.clone()).map_err(Failure::work)?;
        let recorder = recorder(results, &config, program)?;
        let wave = Wave::create(results, &config)?;
        if let Some(wave) = &wave {
            nic.borrow_mut().trace(wave.request()).map_err(Failure::work)?;
        }
        if results.profile {
            nic.borrow_mut().enable_profile();
        }
        Ok(Self {
            nic,
            ends,
            recorder,
            wave,
            host: None,
            gdb: None,
        })
    }

    /// Starts the handlers, unless the user pressed Ctrl-C.
    ///
    /// # Errors
    /// If the user pressed Ctrl-C, or the start fails.
    pub(super) fn start<T>(
        &mut self,
        interrupt: &Interrupt,
        work: impl FnOnce(&Simulated) -> anyhow::Result<T>,
    ) -> Result<T, Failure> {
        self.nic.wait_unless(Some(interrupt.clone()));
        let started = work(&self.nic);
        self.nic.wait_unless(None);
        match interrupt.is_set() {
            true => Err(Failure::Interrupted),
            false => started.map_err(|error| {
                tell_start(&self.nic, &mut self.recorder);
                Failure::Work(error)
            }),
        }
    }
}

/// The handlers of a path, built if necessary, after the checks of all files of the command.
///
/// # Errors
/// If a file would be overwritten, or the handlers cannot be built or read.
pub(super) fn handlers(
    target: &Path,
    config: &NicConfig,
    files: Files,
) -> Result<(PathBuf, Program), Failure> {
    files.check().map_err(Failure::Usage)?;
    let clusters = config.cluster.clusters;
    let elf = handlers::program(target, clusters).map_err(Failure::usage)?;
    let files = files_of_handlers(files, "HANDLERS", (target, &elf), clusters)?;
    files.check().map_err(Failure::Usage)?;
    let program = Program::open(&elf).map_err(Failure::usage)?;
    Ok((elf, program))
}

/// Adds the files of handlers: their program, and the files that make reads and writes for it.
///
/// # Errors
/// If make cannot be started.
pub(crate) fn files_of_handlers(
    files: Files,
    handlers: &str,
    (target, elf): (&Path, &Path),
    clusters: usize,
) -> Result<Files, Failure> {
    let files = files.reads(handlers.to_owned(), Some(elf));
    // A missing file cannot be overwritten.
    if !target.is_dir() || !files.replaces_any() {
        return Ok(files);
    }
    let made = handlers::files_of_make(target, clusters, elf).map_err(Failure::usage)?;
    Ok(files.reads_all(&format!("a source of {handlers}"), made))
}

/// The recorder of a NIC.
///
/// # Errors
/// If a file cannot be created.
fn recorder(
    results: &ResultArguments,
    config: &NicConfig,
    program: Option<&Program>,
) -> Result<Recorder, Failure> {
    let options = Options {
        trace: results.trace.clone(),
        plot: results.plot.clone(),
        page: PageOptions {
            watch: results.watch,
            report: results.report.clone(),
            title: program.map_or_else(|| "spinneret".to_owned(), title),
        },
        ..Options::default()
    };
    let recorder = Recorder::new(options, program, config).map_err(Failure::usage)?;
    if let Some(address) = recorder.page_address() {
        tell(format_args!("the run is shown at {address}"));
    }
    Ok(recorder)
}

/// The title of a run.
fn title(program: &Program) -> String {
    let name = program.path().file_stem().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Waits until all HPUs ask for tasks: not every runtime reports this, and earlier packets are dropped.
pub(super) fn wait_for_hpus(simulated: &Simulated) -> anyhow::Result<()> {
    let mut nic = simulated.borrow_mut();
    let limit_ps = nic.now_ps() + START_PS;
    while !nic.cluster().is_ready() {
        anyhow::ensure!(!simulated.is_interrupted(), "interrupted");
        anyhow::ensure!(
            nic.now_ps() < limit_ps,
            "{} of {} HPUs do not wait for packets 100 ms after their start, so the run did not begin: check what \
             `init_handlers` waits for, or link the handlers with the start-up code in runtime/ (docs/cluster/runtime.md)",
            nic.cluster().starting(),
            nic.cluster().busy().len()
        );
        nic.step(limit_ps)?;
    }
    Ok(())
}

/// Records output and traps of HPUs after a failed start-up.
pub(super) fn tell_start(nic: &Simulated, recorder: &mut Recorder) {
    let mut nic = nic.borrow_mut();
    while let Some(word) = nic.take_printed() {
        recorder.stdout(word);
    }
    let time = nic.cluster_time();
    for event in nic.take_events() {
        recorder.event(&event, time);
    }
}

/// The given rules, or those in the folder of the handlers.
pub(crate) fn rules_of(target: &Path, rules: Option<&Path>) -> PathBuf {
    match rules {
        Some(rules) => rules.to_owned(),
        None if target.is_dir() => target.join("rules.toml"),
        None => target.with_file_name("rules.toml"),
    }
}

/// The configuration of the hardware.
///
/// # Errors
/// If the clusters of the [`Backend`] are not like that.
pub(crate) fn config(arguments: &HardwareArguments) -> Result<NicConfig, Failure> {
    let defaults = NicConfig::with(arguments.backend);
    let cluster = Config {
        clusters: arguments.clusters.into(),
        hpus: arguments.hpus.into(),
        watchdog: arguments.watchdog,
        is_strict: arguments.strict_pspin,
        ..defaults.cluster
    };
    check_shape(arguments.backend, &cluster).map_err(Failure::Usage)?;
    let default_ps = match arguments.backend {
        Backend::Model => defaults.cluster_ps,
        Backend::Own | Backend::Rtl => arguments.core_ps,
    };
    Ok(NicConfig {
        backend: arguments.backend,
        cluster,
        waves: false,
        core_ps: arguments.core_ps,
        cluster_ps: arguments.cluster_ps.unwrap_or(default_ps),
        host_latency: arguments.host_latency * 1000 / arguments.core_ps,
        skips: !arguments.no_skip,
    })
}

/// Checks that the clusters can have this shape.
fn check_shape(backend: Backend, asked: &Config) -> anyhow::Result<()> {
    let Config { hpus, watchdog, .. } = Config::default();
    let is_rtl = backend == Backend::Rtl;
    let differs = [
        ("--clusters", is_rtl && !rtl::has(asked.clusters)),
        ("--hpus", is_rtl && asked.hpus != hpus),
        ("--watchdog", is_rtl && asked.watchdog != watchdog),
        ("--strict-pspin", backend != Backend::Model && asked.is_strict),
    ];
    match differs.into_iter().find(|(_, differs)| *differs) {
        None => Ok(()),
        Some((option @ "--strict-pspin", _)) => Err(anyhow!(
            "{option} needs --cluster model: spinneret's own clusters do not have the defects of PsPIN's"
        )),
        Some((option, _)) => Err(anyhow!(
            "{option} needs a model of the clusters: the hardware has 1, 2, 4 or 8 clusters of {hpus} HPUs, and ends handlers after \
             {watchdog} clocks"
        )),
    }
}

/// Sources and sinks of the NIC.
pub(crate) struct PacketIo {
    /// Frames from the wire.
    pub(crate) source: Box<dyn Source>,
    /// Frames of the host.
    pub(crate) host_sources: Vec<Box<dyn Source>>,
    /// Sink of frames to the wire.
    pub(crate) wire: Vec<Box<dyn Sink>>,
    /// Sink of packets to the host.
    pub(crate) host: Vec<Box<dyn Sink>>,
    /// Descriptors to wait for while the NIC is idle.
    pub(crate) wakes: Vec<Box<dyn AsFd>>,
}

/// Opens sources and sinks; at least one source must be given.
///
/// # Errors
/// If something is missing or cannot be used.
pub(super) fn open_packets(arguments: &PacketArguments) -> Result<PacketIo, Failure> {
    let live = &arguments.live;
    let interfaces = [&live.tap, &live.attach, &arguments.generate];
    match arguments.pcap.is_none() && interfaces.into_iter().all(Option::is_none) {
        true => Err(Failure::usage(anyhow!(
            "no packets: give --pcap, --generate, --tap or --attach"
        ))),
        false => open_any_packets(arguments),
    }
}

/// Opens sources and sinks; without a source, the wire is silent.
///
/// # Errors
/// If something is missing or cannot be used.
pub(super) fn open_any_packets(arguments: &PacketArguments) -> Result<PacketIo, Failure> {
    let mut ends = match (
        &arguments.pcap,
        &arguments.generate,
        &arguments.live.attach,
        &arguments.live.tap,
    ) {
        (Some(file), ..) => PacketIo::new(capture(file, arguments.back_to_back)?),
        (_, Some(text), ..) => PacketIo::new(Box::new(Generator::new(recipe(text)?))),
        (_, _, Some(name), _) => attach(name)?,
        (.., Some(name)) => return tap(name, arguments),
        (None, None, None, None) => PacketIo::silent(),
    };
    if let Some(name) = &arguments.live.tap {
        let cable = Tap::create(&TapConfig::new(name)).map_err(Failure::usage)?;
        ends.take_host(&cable);
    }
    ends.write_captures(arguments)?;
    Ok(ends)
}

/// A silent wire.
#[derive(Debug)]
struct Silence;

impl Source for Silence {
    fn next(&mut self, _now_ps: u64) -> Result<Next, NetError> {
        Ok(Next::End)
    }
}

impl PacketIo {
    /// A source of packets without sinks.
    pub(super) fn new(source: Box<dyn Source>) -> Self {
        Self {
            source,
            host_sources: Vec::new(),
            wire: Vec::new(),
            host: Vec::new(),
            wakes: Vec::new(),
        }
    }

    /// A silent wire.
    pub(crate) fn silent() -> Self {
        Self::new(Box::new(Silence))
    }

    /// An interface of this machine as the host.
    pub(crate) fn add_host(&mut self, end: &TapEnd) {
        self.host_sources.push(Box::new(end.clone()));
        self.host.push(Box::new(end.clone()));
    }

    /// A virtual cable, with the host at one end.
    fn take_host(&mut self, cable: &Tap) {
        self.add_host(&cable.host);
        self.wakes.push(Box::new(cable.host.clone()));
        // The other end is unused, but lives as long as this one.
        self.wakes.push(Box::new(cable.wire.clone()));
    }

    fn write_captures(&mut self, arguments: &PacketArguments) -> Result<(), Failure> {
        for (file, sinks) in [
            (&arguments.out, &mut self.wire),
            (&arguments.out_host, &mut self.host),
        ] {
            if let Some(file) = file {
                sinks.push(Box::new(PcapSink::create(file).map_err(Failure::usage)?));
            }
        }
        Ok(())
    }
}

fn capture(file: &Path, back_to_back: bool) -> Result<Box<dyn Source>, Failure> {
    let timing = match back_to_back {
        true => Timing::BackToBack,
        false => Timing::Recorded,
    };
    Ok(Box::new(PcapSource::open(file, timing).map_err(Failure::usage)?))
}

fn recipe(text: &str) -> Result<Recipe, Failure> {
    text.parse()
        .map_err(|error: RecipeError| Failure::usage(anyhow!("--generate {text}: {error}")))
}

/// An existing interface as the wire.
fn attach(name: &str) -> Result<PacketIo, Failure> {
    let socket = PacketSocket::attach(name).map_err(Failure::usage)?;
    let mut ends = PacketIo::new(Box::new(socket.clone()));
    ends.wire.push(Box::new(socket.clone()));
    ends.wakes.push(Box::new(socket));
    Ok(ends)
}

/// A cable between the host and a namespace of its own, with the NIC in between.
fn tap(name: &str, arguments: &PacketArguments) -> Result<PacketIo, Failure> {
    let config = TapConfig::new(name);
    let cable = Tap::create(&config).map_err(Failure::usage)?;
    let mut ends = PacketIo::new(Box::new(cable.wire.clone()));
    ends.wire.push(Box::new(cable.wire.clone()));
    ends.take_host(&cable);
    ends.write_captures(arguments)?;
    tell(format_args!(
        "{} is the NIC ({}), {} ({}) the other end of its cable; try in another terminal:\n  {}",
        config.name,
        config.host,
        config.wire_name(),
        config.wire,
        config.ping_command()
    ));
    Ok(ends)
}
