//! Text of handlers as people see it beside that of a program.

use crate::support::handler::{Handler, STDERR, STDOUT};
use crate::support::{Bench, Captured};
use spinneret_rpc::clib::{Config, Output as _, Shown};
use spinneret_rpc::{Version, opcode};

#[test]
fn lines_have_the_name_of_their_hpu_and_no_characters_that_a_terminal_obeys() {
    let captured = Captured::default();
    let mut shown = Shown::new(captured.clone());
    let cases: [(u32, &[u8], &str); 9] = [
        (0, b"plain\n", "[0.0] plain\n"),
        (
            9,
            b"A\x1b]0;pwn\x07\x1b[2JB\n",
            "[1.1] A\\u{1b}]0;pwn\\u{7}\\u{1b}[2JB\n",
        ),
        (
            7,
            b"context 0: 7 calls\rover\n",
            "[0.7] context 0: 7 calls\\rover\n",
        ),
        (
            3,
            b"inject\n[0.0] forged\nerror: no\n",
            "[0.3] inject\n[0.3] [0.0] forged\n[0.3] error: no\n",
        ),
        (3, "\u{9b}31m \u{85}\n".as_bytes(), "[0.3] \\u{9b}31m \\u{85}\n"),
        (
            3,
            "\u{202e}desrever\u{2066}\u{200f}\u{2028}\n".as_bytes(),
            "[0.3] \\u{202e}desrever\\u{2066}\\u{200f}\\u{2028}\n",
        ),
        (
            3,
            b"\x9b31m\x00\x08\x7f\n",
            "[0.3] \u{fffd}31m\\u{0}\\u{8}\\u{7f}\n",
        ),
        (3, "\tgood: ä €\r\n".as_bytes(), "[0.3] \tgood: ä €\n"),
        (3, b"\n\n", "[0.3] \n[0.3] \n"),
    ];
    let mut wanted = String::new();
    for (port, text, lines) in cases {
        assert_eq!(shown.write_of(port, text).ok(), Some(text.len()));
        wanted += lines;
        assert_eq!(captured.text(), wanted);
    }
}

#[test]
fn lines_of_several_handlers_are_joined_and_ended_each_for_itself() {
    let captured = Captured::default();
    let mut shown = Shown::new(captured.clone());
    for (port, text) in [
        (0, "one "),
        (1, "two "),
        (0, "line\nne"),
        (2, "three"),
        (1, "lines\n"),
    ] {
        assert_eq!(shown.write_of(port, text.as_bytes()).ok(), Some(text.len()));
    }
    assert_eq!(captured.text(), "[0.0] one line\n[0.1] two lines\n");
    shown.flush_of(Some(0)).unwrap();
    shown.flush_of(Some(0)).unwrap();
    shown.write_of(0, b"xt\n").unwrap();
    shown.flush_of(None).unwrap();
    let wanted = "[0.0] one line\n[0.1] two lines\n[0.0] ne\n[0.0] xt\n[0.2] three\n";
    assert_eq!(captured.text(), wanted);
}

/// By the calls of a handler, also if it is gone before its line ends.
#[test]
fn calls_of_libc_are_shown_and_nothing_is_lost() {
    let captured = Captured::default();
    let [output, errors] = [captured.clone(), captured.clone()];
    let bench = Bench::start(Version::V23, 1, || Config {
        output: Box::new(Shown::new(output)),
        errors: Box::new(Shown::new(errors)),
        ..Config::default()
    });
    let handler = Handler(&bench.client);
    assert_eq!(handler.puts("\x1b[2J"), 5);
    assert_eq!(handler.write(STDOUT, b"be"), 2);
    assert_eq!(handler.write(STDERR, b"not mixed"), 9);
    assert_eq!(handler.call(opcode::FFLUSH, &[STDERR]), 0);
    assert_eq!(
        handler.printf("gun%c\n", &[crate::support::handler::Argument::Int(7)]),
        5
    );
    assert_eq!(handler.write(STDOUT, b"no end"), 6);
    bench.stop();
    assert_eq!(
        captured.text(),
        "[0.0] \\u{1b}[2J\n[0.0] not mixed\n[0.0] begun\\u{7}\n[0.0] no end\n"
    );
}
