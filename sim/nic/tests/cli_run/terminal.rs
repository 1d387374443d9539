//! What a run looks like in a terminal of 80 columns.

use crate::root;
use std::process::Command;

const COLUMNS: usize = 80;

/// What a terminal shows of a command of the shell: lines without colours, and all bytes.
fn in_terminal(command: &str, environment: &[(&str, &str)]) -> (Vec<String>, String) {
    let command = format!(
        "stty cols {COLUMNS} rows 24; {} {command}",
        env!("CARGO_BIN_EXE_spinneret")
    );
    let output = Command::new("script")
        .args(["--quiet", "--return", "--command", &command, "/dev/null"])
        .current_dir(root())
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .envs(environment.iter().copied())
        .output()
        .expect("util-linux is there");
    let all = String::from_utf8_lossy(&output.stdout).into_owned();
    let plain = strip(&all);
    // A progress bar returns to the begin of its line.
    let lines = plain.split(['\n', '\r']).map(str::to_owned).collect();
    (lines, all)
}

/// Without what moves the cursor and colours: ESC, `[`, figures and a letter.
fn strip(text: &str) -> String {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\x1b' => {
                characters.by_ref().skip(1).find(char::is_ascii_alphabetic);
            }
            _ => plain.push(character),
        }
    }
    plain
}

fn assert_fits(lines: &[String]) {
    for line in lines {
        assert!(line.chars().count() <= COLUMNS, "{line}\nof {lines:#?}");
    }
}

#[test]
fn nothing_is_wider_than_the_terminal() {
    let (lines, _) = in_terminal(
        "run runtime/examples/histogram --generate udp,size=64..1500,rate=10Gbps,count=60 --profile",
        &[],
    );
    assert_fits(&lines);
    let text = lines.join("\n");
    // Words are whole, and a line of source is one line.
    for word in ["histogram_hh", "packets/s", "cluster to handler", "MIPS)"] {
        assert!(text.contains(word), "{word}\n{text}");
    }
    let mut rows = lines.iter().skip_while(|line| !line.ends_with("source"));
    assert!(rows.next().is_some(), "{text}");
    let goes_on = |line: &&String| line.starts_with("          ");
    assert_eq!(rows.find(goes_on), None, "{text}");
}

#[test]
fn what_others_tell_stands_in_lines_of_its_own() {
    let (lines, _) = in_terminal(
        "run runtime/examples/host_log --generate udp,count=2 --services",
        &[],
    );
    assert_fits(&lines);
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("context 0: 2 calls were")),
        "{lines:#?}"
    );
}

#[test]
fn failures_are_red_unless_colours_are_not_wanted() {
    let command = "run nothing-of-this-name --generate icmp,count=20";
    let (lines, all) = in_terminal(command, &[]);
    assert!(
        all.contains("\x1b[31merror:\x1b[0m nothing-of-this-name"),
        "{all}"
    );
    assert_fits(&lines);
    let (_, all) = in_terminal(command, &[("NO_COLOR", "1")]);
    assert!(all.contains("error: nothing-of-this-name"), "{all}");
    assert!(!all.contains("\x1b[3"), "{all}");
    // An empty value is as none.
    let (_, all) = in_terminal(command, &[("NO_COLOR", "")]);
    assert!(all.contains("\x1b[31m"), "{all}");
}

#[test]
fn help_fits_too() {
    for command in [
        "run", "serve", "fabric", "send", "receive", "match", "new", "where",
    ] {
        let (lines, _) = in_terminal(&format!("{command} --help"), &[]);
        assert!(lines.len() > 5, "{lines:#?}");
        assert_fits(&lines);
    }
}
