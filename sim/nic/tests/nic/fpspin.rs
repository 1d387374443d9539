//! The interface of the FPsPIN paper in C: its listings, programs that use each name, and programs that must fail.

use crate::kit::{Served, captured, handlers, library, ok, root, spinneret, succeeds};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The programs of this test.
fn source(name: &str) -> PathBuf {
    root().join("sim/nic/tests/nic/fpspin").join(name)
}

/// `libfpspin.a`, with spinneret's library.
fn libfpspin(build: &Path) -> [PathBuf; 2] {
    let library = library();
    let mut make = Command::new("make");
    make.arg("-C").arg(root().join("host/lib/fpspin")).arg("archive");
    succeeds(make.arg(format!("BUILD={}", build.display())));
    [build.join("libfpspin.a"), library]
}

/// Builds a program of this test.
fn program(folder: &TempDir, name: &str) -> PathBuf {
    let program = folder.path().join(name);
    let mut compiler = Command::new("cc");
    compiler.args([
        "-std=gnu11",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-pthread",
        "-I",
    ]);
    compiler.arg(root().join("host/lib"));
    compiler.arg(source(&format!("{name}.c"))).arg("-o").arg(&program);
    compiler.args(libfpspin(&folder.path().join("objects")));
    succeeds(compiler.args(["-ldl", "-lm"]));
    program
}

/// Handlers of a file, as a program for the NIC.
fn handlers_of(source: &str) -> (TempDir, PathBuf) {
    let folder = handlers("asks", source);
    let elf = ok(spinneret_nic::run::program(folder.path(), 2));
    (folder, elf)
}

/// Packets for the programs; handlers may wait for the host as long as this machine is slow.
const PACKETS: [&str; 4] = [
    "--watchdog",
    "1000000000000",
    "--generate",
    "udp,dport=7000,size=100,rate=2Mbps",
];

/// A folder with `build/listing2` and `build/pingpong.elf`. The program is built by `cc` with `pkg-config`, from a folder as
/// `./dev install` makes it.
pub(crate) fn listing_2() -> TempDir {
    let folder = ok(tempfile::tempdir());
    let installed = folder.path().join("installed");
    let packages = installed.join("lib/pkgconfig");
    ok(std::fs::create_dir_all(&packages));
    ok(std::fs::create_dir_all(installed.join("include/fpspin")));
    let link = |from: PathBuf, to: &str| ok(std::os::unix::fs::symlink(from, installed.join(to)));
    link(root().join("host/include/spinneret.h"), "include/spinneret.h");
    link(root().join("host/lib/fpspin/fpspin.h"), "include/fpspin/fpspin.h");
    let [own, library] = libfpspin(&folder.path().join("objects"));
    link(own, "lib/libfpspin.a");
    link(library, "lib/libspinneret.a");
    for package in ["spinneret.pc", "fpspin.pc"] {
        let text = ok(std::fs::read_to_string(
            root().join("tools").join(format!("{package}.in")),
        ));
        ok(std::fs::write(
            packages.join(package),
            text.replace("@VERSION@", env!("CARGO_PKG_VERSION")),
        ));
    }
    let mut make = Command::new("make");
    make.arg("-C").arg(root().join("host/examples/paper"));
    make.args(["PACKAGE=--static fpspin", "pingpong", "listing2"]);
    make.arg(format!("BUILD={}", folder.path().join("build").display()));
    succeeds(make.env("PKG_CONFIG_PATH", &packages));
    folder
}

#[test]
fn listing_1_sends_each_udp_packet_back() {
    let folder = ok(tempfile::tempdir());
    let mut make = Command::new("make");
    make.arg("-C").arg(root().join("host/examples/paper"));
    make.arg(format!("BUILD={}", folder.path().display()));
    succeeds(make.arg("ping"));
    let replies = folder.path().join("replies.pcap");
    let mut run = spinneret();
    run.arg("run").arg(folder.path().join("ping.elf"));
    run.args(["--rules", "runtime/examples/udp_ping/rules.toml"]);
    run.args(["--generate", "udp,sport=5,dport=7000,size=100,count=20", "--out"]);
    succeeds(run.arg(&replies));
    let replies = captured(&replies);
    assert_eq!(replies.len(), 20);
    for reply in replies {
        assert_eq!(reply.data[34..38], [0x1b, 0x58, 0, 5], "ports 7000 to 5");
    }
}

#[test]
fn a_program_uses_each_name() {
    let folder = ok(tempfile::tempdir());
    let names = program(&folder, "names");
    let (_handlers, elf) = handlers_of(include_str!("fpspin/handlers.c"));
    let server = Served::start(&[], &PACKETS);
    let mut run = Command::new(names);
    let output = succeeds(
        run.arg(elf.with_extension(""))
            .env("FPSPIN_DEVICE", server.socket()),
    );
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "66 70 73 70 69 6E 3A 20 0A                       fpspin: .\n\
         30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66  0123456789abcdef\n\
         21                                               !\n"
    );
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn calls_that_must_fail_say_so_in_one_sentence() {
    let folder = ok(tempfile::tempdir());
    let refusals = program(&folder, "refusals");
    let (_handlers, elf) = handlers_of(include_str!("fpspin/handlers.c"));
    let (_silent, silent) =
        handlers_of("__handler__ void nothing_ph(handler_args_t *args) { (void)args; }\n");
    let server = Served::start(&[], &[]);
    let mut run = Command::new(refusals);
    let output = ok(run
        .args([&elf, &silent])
        .env("FPSPIN_DEVICE", server.name())
        .output());
    let printed = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{printed}{said}");
    assert!(printed.ends_with(" refusals, 0 wrong\n"), "{printed}");
}

/// Handlers push more than the host reads: what is not read is counted as lost.
#[test]
fn values_that_the_host_does_not_read_are_counted_as_lost() {
    let folder = ok(tempfile::tempdir());
    let slow = program(&folder, "slow");
    let (_handlers, elf) = handlers_of(include_str!("fpspin/handlers.c"));
    let server = Served::start(
        &[],
        &["--generate", "udp,dport=7000,size=100,rate=20Mbps,count=60"],
    );
    let mut run = Command::new(slow);
    let output = succeeds(run.arg(&elf).arg("60").env("FPSPIN_DEVICE", server.name()));
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.ends_with("all read or counted as lost\n"), "{printed}");
}

/// A program whose NIC goes away.
#[test]
fn a_nic_that_disappears_is_told_once() {
    let folder = ok(tempfile::tempdir());
    let slow = program(&folder, "slow");
    let (_handlers, elf) = handlers_of(include_str!("fpspin/handlers.c"));
    let server = Served::start(&[], &[]);
    let mut run = Command::new(slow);
    run.arg(&elf).arg("0").env("FPSPIN_DEVICE", server.name());
    let process = crate::kit::Process::start(&mut run);
    process.says("the context is open");
    server.process.kill();
    let said = process.end().said;
    let about = said
        .lines()
        .filter(|line| line.starts_with("fpspin: ") && line.contains("the device is gone"));
    assert_eq!(about.count(), 1, "{said}");
}
