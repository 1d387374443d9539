//! The tables of ports in `docs/blocks` are those of the generated text.

use spinneret_gen::workspace::between;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Comments around a table; the first one names the module.
const BEGIN: [&str; 2] = [
    "<!-- ports of ",
    ": written by `./dev docs` from the generated Verilog -->",
];
const END: &str = "<!-- end of ports -->";
/// Where text is that was generated, that of the drop-in blocks first.
const TEXTS: [&str; 3] = [
    "gen/verilog/reference",
    "gen/verilog/board-vcu1525/rtl",
    "gen/verilog/board-vcu1525/lint",
];

/// A port of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Port {
    name: String,
    is_input: bool,
    /// How many bits, as a number or in parameters; one if it is empty.
    width: String,
}

/// Ports that have one comment.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    meaning: String,
    ports: Vec<Port>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The ports of the module in the order of its text, which has one for each line.
fn groups(text: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let lines = text.lines().map(str::trim);
    let head = lines
        .skip_while(|line| !line.starts_with("module "))
        .take_while(|line| *line != ");");
    for line in head {
        let (code, comment) = line.split_once("//").unwrap_or((line, ""));
        let comment = comment.trim();
        match port(code.trim()) {
            None if code.is_empty() && !comment.is_empty() => groups.push(Group {
                meaning: comment.to_owned(),
                ports: Vec::new(),
            }),
            None => {}
            Some(port) => match groups.last_mut() {
                Some(group) if comment.is_empty() => group.ports.push(port),
                _ => groups.push(Group {
                    meaning: comment.to_owned(),
                    ports: vec![port],
                }),
            },
        }
    }
    groups.retain(|group| !group.ports.is_empty());
    groups
}

/// A line such as `input  wire  [511:0] s_axis_tdata,`.
fn port(code: &str) -> Option<Port> {
    let (direction, rest) = code.split_once(' ')?;
    let is_input = match direction {
        "input" => true,
        "output" => false,
        _ => return None,
    };
    let name = rest.trim_end_matches(',').rsplit(' ').next()?;
    let range = rest
        .split_once('[')
        .and_then(|(_, range)| range.split_once(":0]"));
    let width = range.map_or_else(String::new, |(highest, _)| match highest.parse::<u32>() {
        Ok(highest) => (highest + 1).to_string(),
        Err(_) => format!("`{}`", highest.trim_end_matches("-1")),
    });
    Some(Port {
        name: name.to_owned(),
        is_input,
        width,
    })
}

/// The common prefix of the names of all ports, up to an underscore; nothing for a single port.
fn prefix(ports: &[Port]) -> &str {
    let [first, others @ ..] = ports else { return "" };
    let mut prefix = first.name.as_str();
    while !others.is_empty() && !others.iter().all(|port| port.name.starts_with(prefix)) {
        prefix = &prefix[..prefix.len() - 1];
    }
    let end = prefix.rfind('_').map_or(0, |at| at + 1);
    if others.is_empty() { "" } else { &prefix[..end] }
}

fn table(text: &str) -> String {
    let mut table = "\n| ports | in | out | what |\n|---|---|---|---|\n".to_owned();
    for group in groups(text) {
        let prefix = prefix(&group.ports);
        let of = |wanted: bool| {
            let ports = group.ports.iter().filter(|port| port.is_input == wanted);
            let words = ports.map(|port| {
                let width = if port.width.is_empty() { "" } else { " " };
                format!("`{}`{width}{}", &port.name[prefix.len()..], port.width)
            });
            words.collect::<Vec<_>>().join(", ")
        };
        let name = if prefix.is_empty() {
            String::new()
        } else {
            format!("`{prefix}...`")
        };
        let (inputs, outputs) = (of(true), of(false));
        writeln!(table, "| {name} | {inputs} | {outputs} | {} |", group.meaning)
            .expect("strings take every text");
    }
    table + "\n"
}

/// The generated text of a module.
fn text_of(module: &str) -> Option<String> {
    let files = TEXTS.map(|folder| root().join(folder).join(format!("{module}.sv")));
    files.iter().find_map(|file| std::fs::read_to_string(file).ok())
}

#[test]
fn the_pages_of_blocks_have_the_ports_of_the_generated_text() {
    let folder = root().join("docs/blocks");
    let pages = std::fs::read_dir(&folder).expect("the folder is there");
    let mut known = 0;
    for page in pages {
        let page = page.expect("the folder can be read").path();
        let page_name = page.display();
        let found = std::fs::read_to_string(&page).expect("the page can be read");
        let mut wanted = found.clone();
        let modules = found
            .lines()
            .filter_map(|line| line.strip_prefix(BEGIN[0])?.strip_suffix(BEGIN[1]));
        for module in modules {
            known += 1;
            let text =
                text_of(module).unwrap_or_else(|| panic!("{page_name}: no text of {module} is generated"));
            let begin = format!("{}{module}{}", BEGIN[0], BEGIN[1]);
            wanted = between(&wanted, [&begin, END], &table(&text))
                .unwrap_or_else(|| panic!("{page_name}: the ports of {module} have no end, {END}"));
        }
        if std::env::var_os("SPINNERET_UPDATE_DOCS").is_some() {
            std::fs::write(&page, &wanted).expect("the page can be written");
        } else {
            assert!(
                found == wanted,
                "{page_name} has other ports than the generated text: run `./dev docs`, which runs this test with \
                 SPINNERET_UPDATE_DOCS=1"
            );
        }
    }
    assert!(known > 12, "only {known} tables of ports in {}", folder.display());
}

#[test]
fn ports_of_one_comment_are_one_row() {
    let text = "\
module block #(
    parameter integer WIDTH = 512, // width of a beat
    parameter integer KEEP = 64 // follows
) (
    input  wire          clk, // Clock.
    // Packets.
    input  wire  [511:0] s_axis_tdata,
    output logic         s_axis_tready,
    output logic   [1:0] dropped, // Why.
    output wire  [A*B-1:0] other
);
    // Not a port.
    input wire x;
";
    assert_eq!(
        table(text),
        "
| ports | in | out | what |
|---|---|---|---|
|  | `clk` |  | Clock. |
| `s_axis_...` | `tdata` 512 | `tready` | Packets. |
|  |  | `dropped` 2, `other` `A*B` | Why. |

"
    );
}
