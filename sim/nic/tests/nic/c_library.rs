//! The example in C, on a NIC in another process.

use crate::kit::{Served, build, built, handlers, library, ok, root, runtime, succeeds};
use spinneret_rpc::opcode::emissary::RESERVE;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const PACKETS: u32 = 50;

fn example(build: &Path) -> PathBuf {
    let mut make = Command::new("make");
    make.arg("-C").arg(root().join("host/examples/c"));
    make.arg(format!("LIBRARY={}", library().display()));
    succeeds(make.arg(format!("BUILD={}", build.display())));
    build.join("count")
}

fn count(example: &Path, server: &Served, elf: &Path, handlers: &str, packets: u32) -> Output {
    let mut command = Command::new(example);
    command.arg(server.name()).arg(elf);
    command.args([handlers, "7000", "7999", &packets.to_string()]);
    command.output().expect("it was built")
}

/// A program that is linked with the shared library where cargo puts it starts.
#[test]
fn the_shared_library_is_found_by_its_name() {
    let build = tempfile::tempdir().expect("there is room");
    let archive = library();
    let deps = archive.parent().expect("it is in a folder");
    let profile = deps.parent().expect("profiles have folders of their own");
    let program = build.path().join("count");
    let mut compiler = Command::new("cc");
    compiler.arg(root().join("host/examples/c/count.c"));
    compiler.arg("-I").arg(root().join("host/include"));
    compiler
        .arg("-L")
        .arg(deps)
        .arg("-lspinneret")
        .arg("-o")
        .arg(&program);
    // This kind of path comes before LD_LIBRARY_PATH, in which cargo puts a folder with what was built before.
    let found = format!("-Wl,--disable-new-dtags,-rpath,{}", profile.display());
    succeeds(compiler.arg(found));
    let output = Command::new(&program).output().expect("it was built");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(2) && said.starts_with("usage: "),
        "{said}"
    );
}

#[test]
fn a_c_program_counts_packets_and_cleans_up() {
    let folder = tempfile::tempdir().expect("there is room");
    let example = example(folder.path());
    let handlers = runtime("tests/contexts");
    let elf = ok(spinneret_nic::run::program(&handlers, 2));
    let packets = format!("udp,dport=7000,size=100,rate=1Gbps,count={PACKETS}");
    let server = Served::start(&[], &["--generate", &packets]);
    let output = count(&example, &server, &elf, "count", PACKETS);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    // Output of handlers is not checked: `spinneret serve` prints it.
    let rest: Vec<&str> = printed
        .lines()
        .filter(|line| !line.starts_with("a handler prints: "))
        .collect();
    assert_eq!(
        rest,
        [
            "handlers have counted 500 in 50 calls",
            "ingress.matched 50",
            "ingress.hers 50",
            "ingress.dropped_overload 0",
        ]
    );
    // The NIC is free again, and says what is wrong with other programs.
    let output = count(&example, &server, &elf, "conut", 1);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.starts_with("count: context: Nic::open_context: ") && said.contains("`conut`"),
        "{said}"
    );
    let source = handlers.join("contexts.c");
    let output = count(&example, &server, &source, "count", 1);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.starts_with("count: program: ") && said.contains("no ELF file"),
        "{said}"
    );
    let output = Command::new(&example)
        .args(["a", "b", "c", "1", "65536", "1"])
        .output();
    let said = output.expect("it was built").stderr;
    assert_eq!(
        String::from_utf8_lossy(&said),
        "count: `65536` is no number from 0 to 65535\n"
    );
}

#[test]
fn the_documentation_shows_the_current_example() {
    let page = include_str!("../../../../docs/host/library.md");
    let source = include_str!("../../../../host/examples/c/count.c");
    let shown = page
        .split("```c\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .expect("the page shows some C");
    assert!(
        source.contains(shown),
        "docs/host/library.md shows other lines than count.c has"
    );
}

/// A handler that prints and writes at the host, for each packet.
const HANDLER: &str = "#include <spin_stdio.h>

__handler__ void say_ph(handler_args_t *args) {
    spin_printf(\"a packet of %u bytes\\n\", (unsigned)args->task->pkt_mem_size);
    SPIN_FILE *file = spin_fopen(\"said\", \"a\");
    spin_fprintf(file, \"x\");
    spin_fclose(file);
}
";

/// A program that answers its handlers until that many packets have written.
const PROGRAM: &str = "#include <spinneret.h>
#include <stdio.h>
#include <stdlib.h>

static void check(const char *what, int result) {
    if (result < 0) {
        fprintf(stderr, \"%s: %s\\n\", what, spinneret_error_message());
        exit(1);
    }
}

static long size_of(const char *path) {
    FILE *file = fopen(path, \"r\");
    if (file == NULL)
        return 0;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    fclose(file);
    return size;
}

/* NIC, ELF file, folder, file in it, packets */
int main(int count, char **words) {
    (void)count;
    spinneret_nic *nic;
    spinneret_program *program;
    spinneret_context *context;
    uint64_t calls;
    spinneret_ruleset nothing = {.join = SPINNERET_ALL, .count = 1,
                                 .rules = {spinneret_rule_udp_destination_port(1, 1)}};
    spinneret_ruleset ipv4 = {.join = SPINNERET_ALL, .count = 1, .rules = {spinneret_rule_ipv4()}};
    check(\"open\", spinneret_open(words[1], &nic));
    check(\"program\", spinneret_program_open(words[2], &program));
    check(\"context\", spinneret_open_context(nic, program, \"say\", &nothing, NULL, &context));
    if (spinneret_services_open(context, \"/nowhere/at/all\") != SPINNERET_ERROR_ARGUMENT ||
        spinneret_services_close(context, NULL) != SPINNERET_ERROR_ARGUMENT)
        return 2;
    check(\"services\", spinneret_services_open(context, words[3]));
    if (spinneret_services_open(context, words[3]) != SPINNERET_ERROR_ARGUMENT)
        return 3;
    check(\"rules\", spinneret_set_rules(context, &ipv4));
    for (int look = 0; look < 1000 && size_of(words[4]) < atol(words[5]); look++)
        check(\"wait\", spinneret_wait(nic, 100000));
    check(\"close\", spinneret_services_close(context, &calls));
    printf(\"%llu calls\\n\", (unsigned long long)calls);
    check(\"close\", spinneret_close(nic));
    return 0;
}
";

#[test]
fn a_c_program_serves_handlers_that_print_and_write() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = |name: &str| folder.path().join(name);
    let handlers = handlers("say", HANDLER);
    ok(std::fs::write(path("answers.c"), PROGRAM));
    let elf = ok(spinneret_nic::run::program(handlers.path(), 2));
    let mut compiler = Command::new("cc");
    compiler
        .args(["-Wall", "-Wextra", "-Werror", "-o"])
        .arg(path("answers"));
    compiler
        .arg(path("answers.c"))
        .arg("-I")
        .arg(root().join("host/include"));
    succeeds(compiler.arg(library()).args(["-lpthread", "-ldl", "-lm"]));
    let files = path("files");
    std::fs::create_dir(&files).expect("there is room");
    let server = Served::start(&[], &["--generate", "udp,size=100,rate=10Mbps"]);
    let output = succeeds(
        Command::new(path("answers"))
            .arg(server.name())
            .arg(&elf)
            .arg(&files)
            .arg(files.join("said"))
            .arg("5"),
    );
    // Packets come before rules send them to the handlers, and go on after the fifth.
    let printed = String::from_utf8_lossy(&output.stderr);
    let count = printed.lines().count();
    assert!(count >= 5, "{printed}");
    // Each line has the HPU before it, which no text of a handler can forge.
    let text = |line: &str| Some(line.strip_prefix('[')?.split_once("] ")?.1.to_owned());
    assert!(
        printed
            .lines()
            .all(|line| text(line).as_deref() == Some("a packet of 100 bytes")),
        "{printed}"
    );
    // Each packet prints, opens, writes and closes, and the services may have been closed before the last of that.
    let said = std::fs::read_to_string(files.join("said")).expect("it was written");
    assert!(said.len() >= 5 && said.bytes().all(|byte| byte == b'x'), "{said}");
    let told = String::from_utf8_lossy(&output.stdout);
    let calls: usize = told.trim_end_matches(" calls\n").parse().expect("it is a number");
    assert!((15..=4 * count).contains(&calls), "{told}");
}

/// A handler that calls functions of a program in C: numbers, text, memory in both directions, and what does not fit.
const CALLER: &str = "#include <emissary.h>

#define IDS(...) _PACK_EMIS_IDS(EMIS_ID_RESERVE, __VA_ARGS__)
enum { SUM = 1, LENGTH, REVERSE, REPORT };

__handler__ void call_ph(handler_args_t *args) {
    uint32_t size = args->task->pkt_mem_size;
    static char word[] = \"handlers\", turned[sizeof(word) - 1];
    uint32_t bytes = sizeof(turned);
    uint32_t sum = _emissary_exec(IDS(SUM), size, -1, 0.5);
    uint32_t length = _emissary_exec(IDS(LENGTH), (const char *)word);
    uint32_t back = _emissary_exec(IDS(REVERSE, 1, 1), word, bytes, turned, bytes, (void *)word, (void *)turned);
    bool failed = _emissary_exec(IDS(SUM), size) == EMIS_FAILED && _emissary_exec(IDS(99), size) == EMIS_FAILED &&
                  _emissary_exec(IDS(LENGTH), 1) == EMIS_FAILED;
    _emissary_exec(IDS(REPORT), sum, length, back, turned[0], failed);
}
";

/// A program that answers these calls.
const ANSWERS: &str = "#include <spinneret.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUM = 1, LENGTH, REVERSE, REPORT };

static void check(const char *what, int result) {
    if (result < 0) {
        fprintf(stderr, \"%s: %s\\n\", what, spinneret_error_message());
        exit(1);
    }
}

static uint64_t answer(void *state, spinneret_call *call) {
    volatile int *reports = state;
    int64_t one, other, numbers[5];
    double half;
    const char *text;
    const void *in;
    void *out;
    size_t size, room;
    switch (spinneret_call_function(call)) {
    case SUM:
        if (spinneret_call_integer(call, 0, &one) < 0 || spinneret_call_integer(call, 1, &other) < 0 ||
            spinneret_call_double(call, 2, &half) < 0)
            return 0;
        return (uint64_t)(one + other + (int64_t)(2 * half));
    case LENGTH:
        return spinneret_call_string(call, 0, &text) < 0 ? 0 : strlen(text);
    case REVERSE:
        if (spinneret_call_input(call, 0, &in, &size) < 0 || spinneret_call_output(call, 1, &out, &room) < 0 || room < size)
            return 0;
        for (size_t byte = 0; byte < size; byte++)
            ((char *)out)[byte] = ((const char *)in)[size - 1 - byte];
        check(\"filled\", spinneret_call_filled(call, 1, size));
        return size;
    case REPORT:
        for (size_t number = 0; number < spinneret_call_arguments(call); number++)
            check(\"report\", spinneret_call_integer(call, number, &numbers[number]));
        printf(\"%d %d %d %c %d\\n\", (int)numbers[0], (int)numbers[1], (int)numbers[2], (char)numbers[3], (int)numbers[4]);
        ++*reports;
        return 0;
    default:
        spinneret_call_refuse(call);
        return 0;
    }
}

/* NIC, ELF file */
int main(int count, char **words) {
    (void)count;
    spinneret_nic *nic;
    spinneret_program *program;
    spinneret_context *context;
    volatile int reports = 0;
    spinneret_ruleset nothing = {.join = SPINNERET_ALL, .count = 1,
                                 .rules = {spinneret_rule_udp_destination_port(1, 1)}};
    spinneret_ruleset ipv4 = {.join = SPINNERET_ALL, .count = 1, .rules = {spinneret_rule_ipv4()}};
    check(\"open\", spinneret_open(words[1], &nic));
    check(\"program\", spinneret_program_open(words[2], &program));
    check(\"context\", spinneret_open_context(nic, program, \"call\", &nothing, NULL, &context));
    if (spinneret_services_offer(context, 40, NULL, NULL) != SPINNERET_ERROR_ARGUMENT ||
        spinneret_services_offer(context, 64, answer, NULL) != SPINNERET_ERROR_ARGUMENT)
        return 2;
    check(\"offer\", spinneret_services_offer(context, RESERVE, answer, (void *)&reports));
    if (spinneret_services_offer(context, RESERVE, answer, NULL) != SPINNERET_ERROR_ARGUMENT)
        return 3;
    fprintf(stderr, \"%s\\n\", spinneret_error_message());
    check(\"services\", spinneret_services_open(context, NULL));
    if (spinneret_services_offer(context, 41, answer, NULL) != SPINNERET_ERROR_ARGUMENT)
        return 4;
    check(\"rules\", spinneret_set_rules(context, &ipv4));
    for (int look = 0; look < 1000 && reports < 3; look++)
        check(\"wait\", spinneret_wait(nic, 100000));
    check(\"close\", spinneret_services_close(context, NULL));
    check(\"close\", spinneret_close(nic));
    return reports < 3 ? 5 : 0;
}
";

#[test]
fn functions_of_a_c_program_answer_calls_of_handlers() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = |name: &str| folder.path().join(name);
    let handlers = handlers("call", CALLER);
    ok(std::fs::write(path("answers.c"), ANSWERS));
    let elf = ok(spinneret_nic::run::program(handlers.path(), 2));
    let mut compiler = Command::new("cc");
    compiler.args(["-Wall", "-Wextra", "-Werror", "-o"]);
    compiler.arg(path("answers")).arg(path("answers.c"));
    compiler.arg(format!("-DRESERVE={RESERVE}"));
    compiler.arg("-I").arg(root().join("host/include"));
    succeeds(compiler.arg(library()).args(["-lpthread", "-ldl", "-lm"]));
    let server = Served::start(&[], &["--generate", "udp,size=100,rate=10Mbps"]);
    let output = succeeds(Command::new(path("answers")).arg(server.name()).arg(&elf));
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.lines().count() >= 3, "{told}");
    assert!(told.lines().all(|line| line == "100 8 8 s 1"), "{told}");
    let said = String::from_utf8_lossy(&output.stderr);
    let twice = format!("api: API {RESERVE} is registered already: give this one another number\n");
    assert_eq!(said, twice);
}

/// Longest that anything takes, on a machine with much else to do: a second is usual.
const PATIENCE: Duration = Duration::from_secs(400);

/// An MPI of this machine.
#[derive(Clone, Copy, Debug)]
struct Mpi {
    compiler: &'static str,
    launcher: &'static str,
}

/// Those that there are; the others are skipped, with a word.
fn mpis() -> impl Iterator<Item = Mpi> {
    let both = ["openmpi", "mpich"].map(|name| match name {
        "openmpi" => ("mpicc.openmpi", "mpirun.openmpi"),
        _ => ("mpicc.mpich", "mpirun.mpich"),
    });
    both.into_iter().filter_map(|(compiler, launcher)| {
        let is_there = Command::new(launcher).arg("--version").output().is_ok();
        if !is_there {
            spinneret_skip::skip(module_path!(), &format!("{launcher} is not installed"));
        }
        is_there.then_some(Mpi { compiler, launcher })
    })
}

/// A folder with a program, and the handlers for it.
struct Built {
    folder: TempDir,
    handlers: PathBuf,
    mpi: Mpi,
}

impl Built {
    fn new(mpi: Mpi, source: &Path) -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        build(&["--test", "rank_header"]);
        let library = built().join("deps");
        let mut compiler = Command::new(mpi.compiler);
        compiler.args([
            "-std=c11",
            "-D_POSIX_C_SOURCE=200809L",
            "-O2",
            "-Wall",
            "-Wextra",
            "-Werror",
        ]);
        for include in ["mpi/include", "host/include"] {
            compiler.arg("-I").arg(root().join(include));
        }
        compiler.arg(source).arg("-o").arg(folder.path().join("program"));
        compiler.arg("-L").arg(&library).arg("-lspinneret_rank");
        // This kind of path comes before LD_LIBRARY_PATH, in which cargo puts a folder with what was built before.
        let found = format!("-Wl,--disable-new-dtags,-rpath,{}", library.display());
        succeeds(compiler.arg(found));
        let handlers = ok(spinneret_nic::run::program(&runtime("examples/mpi_types"), 2));
        Self {
            folder,
            handlers,
            mpi,
        }
    }

    /// Runs it on that many ranks, with a NIC for each.
    fn run(&self, ranks: usize, fabric: &[&str], arguments: &[&str]) -> Output {
        self.run_with_digest(ranks, fabric, arguments).0
    }

    /// The same, and the fabric's line with the digest of all frames.
    fn run_with_digest(&self, ranks: usize, fabric: &[&str], arguments: &[&str]) -> (Output, String) {
        let sockets = self.folder.path().join(format!("nics{ranks}"));
        let served = serve(&sockets, ranks, fabric);
        let begun = Instant::now();
        while (0..ranks).any(|rank| !sockets.join(format!("nic{rank}")).exists()) {
            assert!(begun.elapsed() < PATIENCE, "there is no fabric");
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut launcher = Command::new("timeout");
        launcher.args([&PATIENCE.as_secs().to_string(), self.mpi.launcher]);
        launcher.args(["-n", &ranks.to_string()]);
        if self.mpi.launcher.ends_with("openmpi") {
            launcher.arg("--oversubscribe");
            launcher.envs([
                ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
                ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
            ]);
        }
        launcher.arg(self.folder.path().join("program"));
        launcher.arg(&sockets).arg(&self.handlers).args(arguments);
        let output = launcher.output().expect("there is a launcher");
        let served = served.wait_with_output().expect("it runs");
        let (ended, said) = (served.status, String::from_utf8_lossy(&output.stderr));
        assert!(ended.success(), "the fabric ended with {ended}: {said}");
        let printed = String::from_utf8_lossy(&served.stdout);
        let digest = printed.lines().find(|line| line.starts_with("digest "));
        let digest = digest.expect("the fabric prints one").to_owned();
        (output, digest)
    }
}

fn serve(sockets: &Path, nics: usize, more: &[&str]) -> Child {
    let mut fabric = Command::new("timeout");
    fabric.args([
        &PATIENCE.as_secs().to_string(),
        env!("CARGO_BIN_EXE_spinneret"),
        "fabric",
    ]);
    // Fewer rounds than with the usual latency, so that much that goes on at once on few processors does not take long.
    fabric.args(["--nics", &nics.to_string(), "--latency", "2 us", "--sockets"]);
    fabric.arg(sockets).args(more);
    fabric.stdin(Stdio::null()).stdout(Stdio::piped());
    fabric.spawn().expect("the command was built")
}

/// Steps of the example.
const STEPS: &str = "4";

#[test]
fn columns_travel_a_ring_with_both_mpis_and_faulty_cables() {
    let source = root().join("mpi/examples/c/columns.c");
    for mpi in mpis() {
        let built = Built::new(mpi, &source);
        let bad = ["--loss", "5%", "--duplication", "1%", "--reordering", "1%"];
        for (ranks, fabric) in [(2, &[][..]), (4, &bad)] {
            let output = built.run(ranks, fabric, &[STEPS]);
            let printed = String::from_utf8_lossy(&output.stdout);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{mpi:?}, {ranks} ranks: {printed}{said}");
            for rank in 0..ranks {
                let line = format!("rank {rank}: {STEPS} columns placed by the NIC, 0 wrong");
                assert!(printed.contains(&line), "{mpi:?}: {printed}{said}");
            }
        }
    }
}

/// Simulated time and frames do not depend on when ranks were started or how busy the machine is, and neither on the MPI.
#[test]
fn time_and_frames_are_the_same_in_every_run() {
    let source = root().join("mpi/examples/c/columns.c");
    let mut times = Vec::new();
    for mpi in mpis() {
        let built = Built::new(mpi, &source);
        let (output, digest) = built.run_with_digest(3, &["--loss", "2%"], &[STEPS]);
        let printed = String::from_utf8_lossy(&output.stdout);
        let mut lines: Vec<String> = printed.lines().map(str::to_owned).collect();
        lines.sort();
        assert_eq!(lines.len(), 3, "{lines:?}");
        lines.push(digest);
        times.push(lines);
    }
    assert!(times.windows(2).all(|pair| pair[0] == pair[1]), "{times:#?}");
}

/// Valid calls behave as in MPI; invalid ones return an error with a message, and the rank can be used afterwards.
#[test]
fn valid_and_invalid_calls() {
    for what in ["allowed", "refused"] {
        let file = if what == "allowed" {
            "allowed.c"
        } else {
            "refusals.c"
        };
        let source = root().join("sim/nic/tests/nic/ranks").join(file);
        for mpi in mpis() {
            let output = Built::new(mpi, &source).run(2, &[], &[]);
            let printed = String::from_utf8_lossy(&output.stdout);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{mpi:?}: {printed}{said}");
            let mut lines: Vec<&str> = printed.lines().collect();
            lines.sort_unstable();
            assert_eq!(
                lines,
                [0, 1].map(|rank| format!("rank {rank}: all {what}")),
                "{said}"
            );
        }
    }
}
