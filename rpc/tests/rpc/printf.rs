//! printf over the protocol: results of LLVM's own test, the order of strings, and who formats.

use crate::support::handler::Argument::{Double, Int, Long, String};
use crate::support::handler::{Argument, Handler, STDOUT};
use crate::support::{Bench, Captured};
use spinneret_rpc::clib::Config;
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
