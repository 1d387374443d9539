//! The example in C, on a NIC in another process.

#[path = "host/server.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod server;

use server::Server;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PACKETS: u32 = 50;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn succeeds(command: &mut Command) -> Output {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?} does not run: {error}"));
    assert!(
        output.status.success(),
        "{command:?}:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// The library for C. Cargo builds it for no test of another crate, so it is asked to build a test that needs it, with the
/// features that crates have when the whole workspace is tested: most is there already then.
fn library() -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_spinneret"))
        .parent()
        .expect("it is in a folder");
    let profile = match folder.ends_with("release") {
        true => "release",
        false => "dev",
    };
    let target = folder.parent().expect("profiles have folders of their own");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root());
    cargo.args(["build", "--quiet", "--workspace", "--test", "interface"]);
    cargo.args(["--profile", profile, "--target-dir"]);
    succeeds(cargo.arg(target));
    folder.join("deps/libspinneret.a")
}

fn example(build: &Path) -> PathBuf {
    let mut make = Command::new("make");
    make.arg("-C").arg(root().join("host/examples/c"));
    make.arg(format!("LIBRARY={}", library().display()));
    succeeds(make.arg(format!("BUILD={}", build.display())));
    build.join("count")
}

fn count(example: &Path, server: &Server, elf: &Path, handlers: &str, packets: u32) -> Output {
    let mut command = Command::new(example);
    command.arg(server.name()).arg(elf);
    command.args([handlers, "7000", "7999", &packets.to_string()]);
    command.output().expect("it was built")
}

#[test]
fn a_program_in_c_counts_packets_and_cleans_up() {
    let folder = tempfile::tempdir().expect("there is room");
    let example = example(folder.path());
    let handlers = root().join("runtime/tests/contexts");
    let elf = spinneret_nic::run::program(&handlers, 2).unwrap_or_else(|error| panic!("{error}"));
    let packets = format!("udp,dport=7000,size=100,rate=1Gbps,count={PACKETS}");
    let server = Server::start(&["--generate", &packets]);
    let output = count(&example, &server, &elf, "count", PACKETS);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    // What handlers print is not looked at: `spinneret serve` prints it itself.
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
fn the_page_shows_the_example_as_it_is() {
    let page = include_str!("../../../docs/host/library.md");
    let source = include_str!("../../../host/examples/c/count.c");
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
