//! What is refused before anything starts.

use crate::support::{Folder, fabric, run};
use std::fs;
use std::path::Path;

const PAIR: &str = "[[nic]]\nname = 'a'\nMORE\n[[nic]]\nname = 'b'\n[[cable]]\nbetween = ['a', 'b']\n";

#[test]
fn a_topology_that_cannot_be_is_refused_with_its_line() {
    for (more, said) in [
        ("application = true", "--sockets does not say"),
        (
            "transmit = 'udp,size=9999999'",
            "a: transmit = \"udp,size=9999999\"",
        ),
        (
            "transmit = 'udp'\nto = 'c'",
            "topology.toml:4: there is no NIC `c`",
        ),
        ("handlers = 'nowhere'", "nowhere"),
        (
            "when-gone = 'explode'",
            "topology.toml:3: unknown variant `explode`",
        ),
        (
            "[[cable]]\nbetween = ['a', 'b']",
            "is a NIC with more than one cable",
        ),
    ] {
        let folder = Folder::new();
        let output = run(fabric().arg(folder.topology(&PAIR.replace("MORE", more))));
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains(said), "{text}\nsays nothing of {said}");
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn arguments_that_cannot_be_are_refused() {
    let folder = Folder::new();
    let sockets = folder.path("nics");
    let sockets = sockets.to_str().expect("it is text");
    for (arguments, said) in [
        (&["--nics", "1", "--sockets", sockets][..], "1 is not in 2..=4096"),
        (&["--nics", "2"], "--sockets"),
        (
            &["--nics", "2", "--sockets", sockets, "--latency", "5 ns"],
            "a latency of 5 ns",
        ),
        (
            &["--nics", "2", "--sockets", sockets, "--rate", "fast"],
            "`fast` is no rate",
        ),
        (
            &["--nics", "2", "--sockets", sockets, "--cluster-mhz", "10"],
            "20 MHz and more",
        ),
        (
            &["--nics", "3", "--sockets", sockets, "--buffer", "1 KiB"],
            "smaller than a frame",
        ),
        (&["--nics", "2", "--sockets", "/proc/no"], "cannot be listened at"),
        (&["/nowhere.toml"], "/nowhere.toml cannot be read"),
        (&["/nowhere.toml", "--rate", "1 Gbps"], "cannot be used with"),
    ] {
        let output = run(fabric().args(arguments));
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(
            text.contains(said),
            "{arguments:?}: {text}\nsays nothing of {said}"
        );
        assert_eq!(output.status.code(), Some(2), "{text}");
    }
    assert!(!folder.path("nics/nic0").exists(), "no socket is left");
}

/// Two NICs with handlers and rules of their own in the folder of the topology, and captures of them.
fn with_captures(folder: &Folder, captures: &[(&str, &str)]) -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/examples/icmp_ping");
    let elf = spinneret_nic::run::program(&examples, 2).expect("it can be built");
    fs::copy(elf, folder.path("h.elf")).expect("there is room");
    fs::copy(examples.join("rules.toml"), folder.path("r.toml")).expect("there is room");
    let mut text = "[[nic]]\nname = 'a'\ntransmit = 'icmp,count=3'\nto = 'b'\n[[nic]]\nname = 'b'\n\
                    handlers = 'h.elf'\nrules = 'r.toml'\n[[cable]]\nbetween = ['a', 'b']\n"
        .to_owned();
    for (at, file) in captures {
        text += &format!("[[capture]]\nat = '{at}'\nfile = '{file}'\n");
    }
    text
}

#[test]
fn nothing_that_is_written_destroys_an_input_or_another_output() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/examples/icmp_ping/icmp_ping.c");
    let source = sources.canonicalize().expect("it is there").display().to_string();
    for (captures, handlers, option, said) in [
        (
            &[("a", "topology.toml")][..],
            "h.elf",
            None,
            "topology.toml:13: TOPOLOGY and the capture at `a` are the same file",
        ),
        (
            &[("a", "h.elf")],
            "h.elf",
            None,
            ":13: the handlers of `b` and the capture at `a` are the same file",
        ),
        (
            &[("b", "./r.toml")],
            "h.elf",
            None,
            ":13: the rules of `b` and the capture at `b` are the same file",
        ),
        (
            &[("b", "link")],
            "h.elf",
            None,
            ":13: the rules of `b` and the capture at `b` are the same file",
        ),
        (
            &[("b", &source)],
            "EXAMPLES/icmp_ping",
            None,
            ":13: the capture at `b` and a source of the handlers of `b` are the same file",
        ),
        (
            &[("a", "new"), ("b", "./new")],
            "h.elf",
            None,
            ":16: the capture at `a` and the capture at `b` are the same file",
        ),
        (
            &[("a", "new")],
            "h.elf",
            Some("--trace"),
            ":13: the capture at `a` and --trace are the same file",
        ),
        (
            &[("a", "new")],
            "h.elf",
            Some("--plot"),
            ":13: the capture at `a` and --plot are the same file",
        ),
        (
            &[("a", "none/new")],
            "h.elf",
            None,
            "none/new: there is no such folder",
        ),
        (
            &[("a", "/dev/full")],
            "h.elf",
            None,
            ":13: the capture at `a` /dev/full: it exists and is not a regular file",
        ),
    ] {
        let folder = Folder::new();
        let text =
            with_captures(&folder, captures).replace("'h.elf'\nrules", &format!("'{handlers}'\nrules"));
        std::os::unix::fs::symlink("r.toml", folder.path("link")).expect("there is room");
        let mut command = fabric();
        command.arg(folder.topology(&text));
        if let Some(option) = option {
            command.arg(option).arg(folder.path("new"));
        }
        let names = ["topology.toml", "h.elf", "r.toml"];
        let files = || names.map(|name| fs::read(folder.path(name)).expect("it is there"));
        let before = files();
        let output = run(&mut command);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains(said), "{told}\nsays nothing of {said}");
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(output.stdout.is_empty());
        assert!(files() == before, "{said}");
        let left = fs::read_dir(folder.path("")).expect("it is ours").count();
        assert_eq!(left, names.len() + 1, "{said}");
    }
}

#[test]
fn options_destroy_no_input_of_a_topology_either() {
    for (option, name, said) in [
        (
            "--trace",
            "h.elf",
            "the handlers of `b` and --trace are the same file",
        ),
        (
            "--plot",
            "r.toml",
            "the rules of `b` and --plot are the same file",
        ),
        ("--plot", "topology.toml", "TOPOLOGY and --plot are the same file"),
    ] {
        let folder = Folder::new();
        let text = with_captures(&folder, &[]);
        let topology = folder.topology(&text);
        let before = fs::read(folder.path(name)).expect("it is there");
        let output = run(fabric().arg(topology).arg(option).arg(folder.path(name)));
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains(said), "{told}\nsays nothing of {said}");
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(fs::read(folder.path(name)).expect("it is there") == before);
    }
}
