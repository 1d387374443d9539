//! What is refused before anything starts: all messages are in one snapshot.

use crate::support::{Folder, fabric, run};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Lines for a NIC of two.
const TOPOLOGIES: &[&str] = &[
    "application = true",
    "transmit = 'udp,size=9999999'",
    "transmit = 'udp'\nto = 'c'",
    "handlers = 'nowhere'",
    "when-gone = 'explode'",
    "[[cable]]\nbetween = ['a', 'b']",
];

/// Arguments; FOLDER is an empty one.
const ARGUMENTS: &[&str] = &[
    "--nics 1 --sockets FOLDER/nics",
    "--nics 2",
    "--nics 2 --sockets FOLDER/nics --latency 5ns",
    "--nics 2 --sockets FOLDER/nics --rate fast",
    "--nics 2 --sockets FOLDER/nics --cluster-mhz 10",
    "--nics 3 --sockets FOLDER/nics --buffer 1KiB",
    "--nics 2 --sockets /proc/no",
    "/nowhere.toml",
    "/nowhere.toml --rate 1Gbps",
];

/// Handlers, options, and captures as NIC and file. SOURCE is a source of EXAMPLES/icmp_ping.
type Outputs = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

const OUTPUTS: &[Outputs] = &[
    ("h.elf", "", &[("a", "topology.toml")]),
    ("h.elf", "", &[("a", "h.elf")]),
    ("h.elf", "", &[("b", "./r.toml")]),
    ("h.elf", "", &[("b", "link")]),
    ("EXAMPLES/icmp_ping", "", &[("b", "SOURCE")]),
    ("h.elf", "", &[("a", "new"), ("b", "./new")]),
    ("h.elf", "--trace FOLDER/new", &[("a", "new")]),
    ("h.elf", "--plot FOLDER/new", &[("a", "new")]),
    ("h.elf", "", &[("a", "none/new")]),
    ("h.elf", "", &[("a", "/dev/full")]),
    ("h.elf", "--trace FOLDER/h.elf", &[]),
    ("h.elf", "--plot FOLDER/r.toml", &[]),
    ("h.elf", "--plot FOLDER/topology.toml", &[]),
];

/// What a command says that has to be refused, with FOLDER for the folder.
fn refused(folder: &Folder, command: &mut Command, what: &str) -> String {
    let output = run(command);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{what}: {said}");
    assert!(
        output.stdout.is_empty() && said.starts_with("error: "),
        "{what}: {said}"
    );
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("it is there");
    let said = said.replace(&folder.path("").display().to_string(), "FOLDER/");
    format!("{what}\n{}", said.replace(&root.display().to_string(), "ROOT"))
}

#[test]
fn topologies_and_arguments_that_cannot_be_are_refused() {
    let topologies = TOPOLOGIES.iter().map(|more| {
        let folder = Folder::new();
        let text =
            format!("[[nic]]\nname = 'a'\n{more}\n[[nic]]\nname = 'b'\n[[cable]]\nbetween = ['a', 'b']\n");
        refused(&folder, fabric().arg(folder.topology(&text)), more)
    });
    let arguments = ARGUMENTS.iter().map(|shown| {
        let folder = Folder::new();
        let text = shown.replace("FOLDER/", &folder.path("").display().to_string());
        let said = refused(&folder, fabric().args(text.split(' ')), shown);
        assert!(!folder.path("nics/nic0").exists(), "{shown}: no socket is left");
        said
    });
    insta::assert_snapshot!(topologies.chain(arguments).collect::<Vec<_>>().join("\n"));
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
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/examples/icmp_ping/icmp_ping.c");
    let source = source.canonicalize().expect("it is there").display().to_string();
    let said = OUTPUTS.iter().map(|(handlers, options, captures)| {
        let what = format!("{handlers} {options} {captures:?}");
        let folder = Folder::new();
        let text = with_captures(&folder, captures)
            .replace("'h.elf'\nrules", &format!("'{handlers}'\nrules"))
            .replace("SOURCE", &source);
        std::os::unix::fs::symlink("r.toml", folder.path("link")).expect("there is room");
        let mut command = fabric();
        command.arg(folder.topology(&text));
        let options = options.replace("FOLDER/", &folder.path("").display().to_string());
        command.args(options.split_whitespace());
        let names = ["topology.toml", "h.elf", "r.toml"];
        let files = || names.map(|name| fs::read(folder.path(name)).expect("it is there"));
        let before = files();
        let said = refused(&folder, &mut command, &what);
        assert!(files() == before, "{what}");
        let left = fs::read_dir(folder.path("")).expect("it is ours").count();
        assert_eq!(left, names.len() + 1, "{what}");
        said
    });
    insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"));
}
