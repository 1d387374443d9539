//! printf over the protocol: results of LLVM's own test, the order of strings, and who formats.

use crate::support::Argument::{Double, Int, Long, String};
use crate::support::{Argument, Bench, Captured, Handler, STDERR, STDOUT};
use spinneret_rpc::clib::{Config, Output as _, TerminalOutput};
use spinneret_rpc::{Version, opcode};

fn captured(version: Version) -> (Bench, Captured) {
    let output = Captured::default();
    let theirs = output.clone();
    let bench = Bench::start(version, 4, move || Config {
        output: Box::new(theirs),
        ..Config::default()
    });
    (bench, output)
}

const SIMPLE: &str = "A simple string\n";

#[test]
fn results_are_those_of_llvms_test() {
    let cases: [(&str, Vec<Argument>, &str); 12] = [
        (SIMPLE, vec![], SIMPLE),
        ("%s", vec![String(Some(SIMPLE))], SIMPLE),
        ("%8ld\n", vec![Long(5)], "       5\n"),
        ("%d%c%.1f\n", vec![Int(1), Int(99), Double(1.0)], "1c1.0\n"),
        (
            "%032b%s\n",
            vec![Int(1), String(Some(SIMPLE))],
            "00000000000000000000000000000001A simple string\n\n",
        ),
        ("%20ld\n", vec![Long(-3)], "                  -3\n"),
        ("%s", vec![String(None)], "(null)"),
        ("%**d", vec![Int(1), Int(2), Double(1.0)], "%**d"),
        ("%**d%6d", vec![Int(1), Int(2), Double(1.0)], "%**d     2"),
        ("%**.**f", vec![Int(1), Int(2), Double(1.0)], "%**.**f"),
        ("%n%5%%k%", vec![Long(4096)], "%%k%"),
        ("100%", vec![], "100%"),
    ];
    for version in Version::ALL {
        let (bench, output) = captured(version);
        let handler = Handler(&bench.client);
        let mut all = std::string::String::new();
        for (format, arguments, expected) in &cases {
            assert_eq!(
                handler.printf(format, arguments),
                expected.len() as i64,
                "{format:?}"
            );
            all.push_str(expected);
            assert_eq!(output.text(), all, "{format:?}");
        }
        let null = match version {
            Version::V22 => "(nullptr)",
            Version::V23 => "(nil)",
        };
        assert_eq!(handler.printf("%p", &[Long(0)]), null.len() as i64);
        assert!(output.text().ends_with(null));
        let (counts, _) = bench.stop();
        assert!(counts.refusals.is_empty(), "{counts:?}");
    }
}

#[test]
fn threads_print_different_arguments() {
    for version in Version::ALL {
        let (bench, output) = captured(version);
        std::thread::scope(|scope| {
            for thread in 0..4_i64 {
                let bench = &bench;
                scope.spawn(move || {
                    for _ in 0..20 {
                        let handler = Handler(&bench.client);
                        match thread % 2 {
                            0 => assert_eq!(handler.printf("%20ld\n", &[Long(thread)]), 21),
                            _ => assert_eq!(handler.printf("%s", &[String(Some(SIMPLE))]), 16),
                        }
                    }
                });
            }
        });
        bench.stop();
        let text = output.text();
        assert_eq!(text.lines().count(), 80);
        assert!(
            text.lines()
                .all(|line| line.len() == 20 || line == SIMPLE.trim_end()),
            "lines are whole"
        );
    }
}

#[test]
fn strings_are_asked_for_from_the_last_one_on() {
    let arguments = [
        String(Some("one")),
        String(None),
        Int(7),
        String(Some("two")),
        String(Some("three")),
    ];
    for version in Version::ALL {
        for opcode in [opcode::PRINTF_TO_STDOUT, opcode::PRINTF_TO_STDOUT_PACKED] {
            let (bench, output) = captured(version);
            let (result, asked) =
                Handler(&bench.client).print(opcode, STDOUT, "%s %.6s %d %-5s|%.2s|", &arguments);
            assert_eq!((result, asked), (22, vec![5000, 4000, 1000]));
            bench.stop();
            assert_eq!(output.text(), "one (null) 7 two  |th|");
        }
    }
}

#[test]
fn arguments_are_counted_as_llvm_counts_them() {
    for (format, aligned, packed) in [
        ("%d %ld %s %f", 32, 28),
        ("nothing", 0, 0),
        ("%*.*d", 12, 12),
        ("%c%hhd%hd%lld%zu%p%n", 48, 44),
        ("%d%%%*s", 16, 16),
        ("%La%jd%td%qd", 32, 32),
    ] {
        for (opcode, expected) in [
            (opcode::PRINTF_TO_STDERR, aligned),
            (opcode::PRINTF_TO_STDERR_PACKED, packed),
        ] {
            let bench = Bench::start(Version::V23, 1, || Config {
                errors: Box::new(std::io::sink()),
                ..Config::default()
            });
            let mut port = bench.client.open(opcode).unwrap();
            port.send_stream(&[format.as_bytes(), &[0]].concat()).unwrap();
            let mut word = [0];
            port.receive(&mut word).unwrap();
            assert_eq!(word, [expected], "{format:?}");
            port.send_stream(&vec![0; expected as usize]).unwrap();
            let mut end = [0; 2];
            port.receive(&mut end).unwrap();
            assert_eq!(end[1], 0, "null strings are not asked for");
            drop(port);
            bench.stop();
        }
    }
}

#[test]
fn a_missing_argument_reads_as_minus_one() {
    let (bench, output) = captured(Version::V23);
    let mut port = bench.client.open(opcode::PRINTF_TO_STDOUT).unwrap();
    port.send_stream(b"%d %ld %.1f %x\0").unwrap();
    port.receive(&mut [0]).unwrap();
    port.send_stream(&7_i32.to_le_bytes()).unwrap();
    let mut end = [0; 2];
    port.receive(&mut end).unwrap();
    drop(port);
    bench.stop();
    assert_eq!((output.text().as_str(), end), ("7 -1 -1.0 ffffffff", [18, 0]));
}

// Text of handlers as people see it, next to that of a program.

#[test]
fn lines_have_the_name_of_their_hpu_and_no_characters_that_a_terminal_obeys() {
    let captured = Captured::default();
    let mut shown = TerminalOutput::new(captured.clone());
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
    let mut wanted = std::string::String::new();
    for (port, text, lines) in cases {
        assert_eq!(shown.write_of(port, text).ok(), Some(text.len()));
        wanted += lines;
        assert_eq!(captured.text(), wanted);
    }
}

#[test]
fn lines_of_several_handlers_are_joined_and_ended_each_for_itself() {
    let captured = Captured::default();
    let mut shown = TerminalOutput::new(captured.clone());
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

/// By the calls of a handler, also if it exits before its line ends.
#[test]
fn calls_of_libc_are_shown_and_nothing_is_lost() {
    let captured = Captured::default();
    let [output, errors] = [captured.clone(), captured.clone()];
    let bench = Bench::start(Version::V23, 1, || Config {
        output: Box::new(TerminalOutput::new(output)),
        errors: Box::new(TerminalOutput::new(errors)),
        ..Config::default()
    });
    let handler = Handler(&bench.client);
    assert_eq!(handler.puts("\x1b[2J"), 5);
    assert_eq!(handler.write(STDOUT, b"be"), 2);
    assert_eq!(handler.write(STDERR, b"not mixed"), 9);
    assert_eq!(handler.call(opcode::FFLUSH, &[STDERR]), 0);
    assert_eq!(handler.printf("gun%c\n", &[Int(7)]), 5);
    assert_eq!(handler.write(STDOUT, b"no end"), 6);
    bench.stop();
    assert_eq!(
        captured.text(),
        "[0.0] \\u{1b}[2J\n[0.0] not mixed\n[0.0] begun\\u{7}\n[0.0] no end\n"
    );
}
