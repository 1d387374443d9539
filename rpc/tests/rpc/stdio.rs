//! libc's calls, as a handler makes them.

use crate::support::handler::{Argument, Handler, STDERR, STDIN, STDOUT};
use crate::support::{Bench, Captured};
use spinneret_rpc::clib::{Access, Config, Heap, Limits, Permissions, refused};
use spinneret_rpc::server::{End, Refusal};
use spinneret_rpc::{Version, opcode};
use std::collections::HashMap;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Everything is allowed in a folder.
fn open_to(folder: &Path) -> impl FnOnce() -> Config + Send + 'static {
    let folder = Some(folder.to_owned());
    move || Config {
        folder,
        access: Access::Write,
        permissions: Permissions {
            remove: true,
            rename: true,
            system: true,
            exit: true,
            abort: true,
        },
        ..Config::default()
    }
}

fn in_folder(run: impl Fn(&Handler<'_, std::sync::Arc<spinneret_rpc::Buffer>>, &Path)) {
    for version in Version::ALL {
        let folder = folder();
        let bench = Bench::start(version, 2, open_to(folder.path()));
        run(&Handler(&bench.client), folder.path());
        let (counts, _) = bench.stop();
        assert!(counts.refusals.is_empty(), "{counts:?}");
    }
}

#[test]
fn a_file_is_written_and_read_again() {
    in_folder(|handler, folder| {
        let file = handler.fopen("file.txt", "w");
        assert!(file != 0 && file % 4 == 0 && u32::try_from(file).is_ok());
        assert_eq!(handler.write(file, b"first\nsecond"), 12);
        assert_eq!(handler.call(opcode::FFLUSH, &[file]), 0);
        assert_eq!(
            handler.read(file, 4),
            b"",
            "a file that is only written has nothing to read"
        );
        assert!(handler.has_failed(file));
        handler.call(opcode::CLEARERR, &[file]);
        assert!(!handler.has_failed(file));
        assert_eq!(handler.fclose(file), 0);
        assert_eq!(fs::read(folder.join("file.txt")).unwrap(), b"first\nsecond");

        let file = handler.fopen("file.txt", "r");
        assert_eq!(
            handler.write(file, b"no"),
            0,
            "a file that is only read takes nothing"
        );
        assert!(handler.has_failed(file));
        handler.call(opcode::CLEARERR, &[file]);
        assert_eq!(handler.gets(file, 100).as_deref(), Some("first\n"));
        assert_eq!(handler.gets(file, 4).as_deref(), Some("sec"));
        assert_eq!(handler.getc(file), i64::from(b'o'));
        assert_eq!(handler.ungetc(i64::from(b'O'), file), i64::from(b'O'));
        assert_eq!(handler.tell(file), 9);
        assert_eq!(handler.gets(file, 100).as_deref(), Some("Ond"));
        assert!(handler.is_at_end(file) && !handler.has_failed(file));
        assert_eq!((handler.gets(file, 100), handler.getc(file)), (None, -1));
        assert_eq!(handler.ungetc(-1, file), -1);
        assert_eq!(handler.seek(file, 6, 0), 0);
        assert!(!handler.is_at_end(file));
        assert_eq!(handler.seek(file, -2, 1), 0);
        assert_eq!(handler.read(file, 4), b"t\nse");
        assert_eq!((handler.seek(file, -3, 2), handler.tell(file)), (0, 9));
        assert_eq!(handler.seek(file, -30, 2), -1);
        assert_eq!(handler.seek(file, 0, 3), -1);
        assert_eq!(handler.fclose(file), 0);
    });
}

#[test]
fn modes_are_those_of_c() {
    in_folder(|handler, folder| {
        assert_eq!(handler.fopen("new", "r"), 0);
        let file = handler.fopen("new", "w+x");
        assert_eq!((handler.write(file, b"abcdef"), handler.seek(file, 2, 0)), (6, 0));
        assert_eq!(handler.read(file, 2), b"cd");
        assert_eq!(handler.write(file, b"EF"), 2);
        assert_eq!((handler.tell(file), handler.fclose(file)), (6, 0));
        assert_eq!(handler.fopen("new", "wx"), 0, "it is there already");
        let file = handler.fopen("new", "ab");
        assert_eq!((handler.write(file, b"gh"), handler.fclose(file)), (2, 0));
        assert_eq!(fs::read(folder.join("new")).unwrap(), b"abcdEFgh");
        let file = handler.fopen("new", "r+");
        assert_eq!((handler.write(file, b"X"), handler.fclose(file)), (1, 0));
        assert_eq!(fs::read(folder.join("new")).unwrap(), b"XbcdEFgh");
        assert_eq!(handler.fclose(handler.fopen("new", "w")), 0);
        assert_eq!(fs::read(folder.join("new")).unwrap(), b"");
    });
}

#[test]
fn files_are_renamed_and_removed() {
    in_folder(|handler, folder| {
        fs::write(folder.join("a"), "text").unwrap();
        fs::create_dir(folder.join("empty")).unwrap();
        assert_eq!(handler.rename("a", "b"), 0);
        assert_eq!(handler.rename("a", "c"), -1);
        assert!(!folder.join("a").exists() && folder.join("b").exists());
        assert_eq!(
            (handler.remove("b"), handler.remove("b"), handler.remove("empty")),
            (0, -1, 0)
        );
        assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
    });
}

#[test]
fn a_command_runs_in_the_folder_and_holds_nobody() {
    in_folder(|handler, folder| {
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| handler.system("while ! test -e go; do sleep 0.01; done; exit 3"));
            for value in 0..100 {
                assert_eq!(handler.increment(value), value + 1);
            }
            assert!(!waits.is_finished());
            fs::write(folder.join("go"), "").unwrap();
            assert_eq!(
                waits.join().unwrap(),
                3 << 8,
                "the status is as C's system gives it"
            );
        });
    });
}

#[test]
fn output_goes_where_the_application_wants_it() {
    for version in Version::ALL {
        let (output, errors) = (Captured::default(), Captured::default());
        let (out, err) = (output.clone(), errors.clone());
        let bench = Bench::start(version, 1, move || Config {
            output: Box::new(out),
            errors: Box::new(err),
            ..Config::default()
        });
        let handler = Handler(&bench.client);
        assert_eq!(handler.puts("a line"), 7);
        assert_eq!(handler.puts(""), 1);
        assert_eq!(handler.write(STDOUT, b"bytes "), 6);
        assert_eq!(handler.write(STDERR, b"wrong"), 5);
        let mut long = "long ".repeat(200);
        assert_eq!(handler.write(STDOUT, long.as_bytes()), 1000);
        // By the tag, in calls that LLVM's server takes for addresses, and with what a device has above it.
        let mut port = bench.client.open(opcode::WRITE_TO_STREAM).unwrap();
        port.send(&[0xdead_beef_0000 | STDERR]).unwrap();
        port.send_stream(b"!").unwrap();
        drop(port);
        assert_eq!(handler.call(opcode::FFLUSH, &[STDOUT]), 0);
        let (result, _) = handler.print(opcode::PRINTF_TO_STREAM, STDERR, "%d", &[Argument::Int(5)]);
        assert_eq!(
            (result, handler.tell(STDOUT), handler.seek(STDOUT, 0, 0)),
            (1, -1, -1)
        );
        let (counts, _) = bench.stop();
        assert!(counts.refusals.is_empty(), "{counts:?}");
        long.insert_str(0, "a line\n\nbytes ");
        assert_eq!((output.text(), errors.text()), (long, "wrong!5".to_owned()));
    }
}

/// Input that comes when a test sends it.
struct Pipe(mpsc::Receiver<&'static [u8]>);

impl Read for Pipe {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let now = self.0.recv().unwrap_or_default();
        bytes[..now.len()].copy_from_slice(now);
        Ok(now.len())
    }
}

#[test]
fn who_waits_for_input_holds_nobody() {
    for version in Version::ALL {
        let (send, receive) = mpsc::channel();
        let bench = Bench::start(version, 3, move || Config {
            input: Some(Box::new(Pipe(receive))),
            ..Config::default()
        });
        let handler = Handler(&bench.client);
        std::thread::scope(|scope| {
            let line = scope.spawn(|| handler.gets(STDIN, 100));
            for value in 0..100 {
                assert_eq!(handler.increment(value), value + 1);
            }
            send.send(b"half a ").unwrap();
            assert_eq!(handler.increment(1), 2);
            assert!(!line.is_finished());
            send.send(b"line\nmore").unwrap();
            assert_eq!(line.join().unwrap().as_deref(), Some("half a line\n"));
        });
        assert_eq!(handler.read(STDIN, 2), b"mo");
        // Two at once share what comes.
        std::thread::scope(|scope| {
            let pair = [
                scope.spawn(|| handler.read(STDIN, 3)),
                scope.spawn(|| handler.read(STDIN, 3)),
            ];
            send.send(b"1234").unwrap();
            drop(send);
            let mut all: Vec<u8> = pair.into_iter().flat_map(|read| read.join().unwrap()).collect();
            all.sort_unstable();
            assert_eq!(all, b"1234er");
        });
        assert_eq!(
            (
                handler.is_at_end(STDIN),
                handler.getc(STDIN),
                handler.is_at_end(STDIN)
            ),
            (false, -1, true)
        );
        assert_eq!(handler.ungetc(65, STDIN), 65);
        assert_eq!((handler.getc(STDIN), handler.getc(STDIN)), (65, -1));
        bench.stop();
    }
}

#[test]
fn no_path_leads_out_of_the_folder() {
    let outer = folder();
    let secret: PathBuf = outer.path().join("secret");
    fs::write(&secret, "secret").unwrap();
    let inner = outer.path().join("inner");
    fs::create_dir_all(inner.join("sub")).unwrap();
    fs::write(inner.join("own"), "own").unwrap();
    symlink(&secret, inner.join("absolute")).unwrap();
    symlink("../secret", inner.join("relative")).unwrap();
    symlink("..", inner.join("up")).unwrap();
    symlink("own", inner.join("fine")).unwrap();
    let bench = Bench::start(Version::V23, 1, open_to(&inner));
    let handler = Handler(&bench.client);
    let secret = secret.to_str().unwrap().to_owned();
    let paths = [
        &*secret,
        "/etc/passwd",
        "../secret",
        "sub/../../secret",
        "absolute",
        "relative",
        "up/secret",
        "..",
    ];
    for path in paths {
        for mode in ["r", "w", "a+"] {
            assert_eq!(handler.fopen(path, mode), 0, "{path}");
        }
    }
    for path in [&*secret, "../secret", "up/secret", "sub/../../secret"] {
        assert_eq!(
            (
                handler.remove(path),
                handler.rename(path, "x"),
                handler.rename("own", path)
            ),
            (-1, -1, -1)
        );
    }
    assert_ne!(
        (handler.fopen("fine", "r"), handler.fopen("sub/../own", "r")),
        (0, 0),
        "inside all paths are good"
    );
    assert_eq!(handler.remove("absolute"), 0, "a link itself is inside");
    let (counts, _) = bench.stop();
    assert_eq!(
        counts.of(refused::OUTSIDE),
        paths.len() as u64 * 3 + 12,
        "{counts:?}"
    );
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
    assert_eq!(fs::read_to_string(inner.join("own")).unwrap(), "own");
}

#[test]
fn what_is_no_regular_file_is_not_opened() {
    let folder = folder();
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let bench = Bench::start(Version::V23, 1, open_to(folder.path()));
    let handler = Handler(&bench.client);
    assert_eq!((handler.fopen("pipe", "r"), handler.fopen("pipe", "r+")), (0, 0));
    assert_eq!(handler.fopen("pipe", "w"), 0, "nobody reads it");
    assert_eq!(handler.fopen(".", "r"), 0);
    let (counts, _) = bench.stop();
    assert_eq!(counts.of(refused::NO_FILE), 3, "{counts:?}");
}

#[test]
fn nothing_is_allowed_by_itself() {
    let bench = Bench::start(Version::V22, 1, Config::default);
    let handler = Handler(&bench.client);
    assert_eq!(
        (handler.fopen("/etc/hostname", "r"), handler.fopen("file", "w")),
        (0, 0)
    );
    assert_eq!(
        (
            handler.remove("file"),
            handler.rename("a", "b"),
            handler.system("true")
        ),
        (-1, -1, -1)
    );
    assert_eq!(
        (
            handler.host_call(0x40_1000, b"arguments"),
            handler.call(opcode::MALLOC, &[2 << 20])
        ),
        (-1, 0)
    );
    handler.leave(opcode::EXIT, 3);
    handler.leave(opcode::ABORT, 0);
    assert_eq!(handler.increment(1), 2, "the port is usable");
    let (counts, end) = bench.stop();
    assert_eq!(
        (counts.of(refused::NOT_ALLOWED), counts.of(refused::FUNCTION), end),
        (8, 1, None),
        "{counts:?}"
    );
}

#[test]
fn a_folder_to_read_is_not_written() {
    let folder = folder();
    fs::write(folder.path().join("file"), "text").unwrap();
    let path = Some(folder.path().to_owned());
    let bench = Bench::start(Version::V23, 1, move || Config {
        folder: path,
        permissions: Permissions {
            remove: true,
            rename: true,
            ..Permissions::default()
        },
        ..Config::default()
    });
    let handler = Handler(&bench.client);
    for mode in ["w", "a", "r+", "w+x"] {
        assert_eq!(handler.fopen("file", mode), 0, "{mode}");
    }
    assert_eq!(
        (handler.remove("file"), handler.rename("file", "other")),
        (-1, -1)
    );
    assert_eq!(handler.read(handler.fopen("file", "rb"), 10), b"text");
    let (counts, _) = bench.stop();
    assert_eq!(counts.of(refused::NOT_ALLOWED), 6);
    assert_eq!(fs::read_to_string(folder.path().join("file")).unwrap(), "text");
}

#[test]
fn exit_and_abort_end_the_handlers_context_only() {
    for (opcode, expected) in [(opcode::EXIT, End::Exit(3)), (opcode::ABORT, End::Abort)] {
        let folder = folder();
        let bench = Bench::start(Version::V23, 1, open_to(folder.path()));
        Handler(&bench.client).leave(opcode, 3);
        assert_eq!(Handler(&bench.client).increment(1), 2);
        let (counts, end) = bench.stop();
        assert_eq!((end, counts.refusals.len()), (Some(expected), 0));
    }
}

#[test]
fn handles_are_good_only_while_their_file_is_open() {
    let folder = folder();
    let bench = Bench::start(Version::V23, 1, open_to(folder.path()));
    let handler = Handler(&bench.client);
    let first = handler.fopen("a", "w");
    assert_eq!(handler.fclose(first), 0);
    let second = handler.fopen("a", "w");
    assert_ne!(first, second, "the place is the same, the generation another");
    let wrong = [
        0,
        first,
        second + 4,
        second | 1 << 40,
        second ^ 1 << 10,
        !3,
        0x7fff_1234_5678,
    ];
    for stream in wrong {
        assert_eq!(
            (handler.write(stream, b"x"), handler.fclose(stream)),
            (0, -1),
            "{stream:#x}"
        );
        assert_eq!((handler.tell(stream), handler.read(stream, 5)), (-1, Vec::new()));
        assert!(handler.is_at_end(stream) && handler.has_failed(stream));
        let (result, _) = handler.print(
            opcode::PRINTF_TO_STREAM,
            stream,
            "%s",
            &[Argument::String(Some("x"))],
        );
        assert_eq!(result, -1);
    }
    assert_eq!((handler.fclose(STDOUT), handler.write(second, b"good")), (-1, 4));
    let (counts, _) = bench.stop();
    assert_eq!(counts.of(refused::HANDLE), 7 * wrong.len() as u64, "{counts:?}");
    assert_eq!(counts.of(refused::STANDARD), 1);
    assert_eq!(fs::read_to_string(folder.path().join("a")).unwrap(), "good");
}

#[test]
fn lengths_are_refused_and_the_port_goes_on() {
    let folder = folder();
    let path = Some(folder.path().to_owned());
    let bench = Bench::start(Version::V23, 1, move || Config {
        folder: path,
        access: Access::Write,
        limits: Limits {
            path: 16,
            format: 32,
            stream: 100,
            files: 2,
        },
        ..Config::default()
    });
    let handler = Handler(&bench.client);
    let file = handler.fopen("file", "w+");
    assert_eq!(
        (handler.write(file, &[1; 101]), handler.has_failed(file)),
        (0, true)
    );
    assert_eq!(handler.write(file, &[1; 100]), 100);
    assert_eq!(
        (handler.read(file, 101), handler.read(file, u64::MAX)),
        (Vec::new(), Vec::new())
    );
    assert_eq!(
        (
            handler.fopen("a path that is longer", "r"),
            handler.fopen("file", "q")
        ),
        (0, 0)
    );
    assert_eq!(handler.fopen("file", &"r".repeat(64)), 0, "a mode without an end");
    assert_ne!(handler.fopen("second", "w"), 0);
    assert_eq!(handler.fopen("third", "w"), 0);
    assert_eq!(handler.printf(&"x".repeat(40), &[]), -1);
    assert_eq!(handler.printf("%101d", &[Argument::Int(1)]), -1);
    assert_eq!(handler.printf("%2147483647d", &[Argument::Int(1)]), -1);
    assert_eq!(
        handler.printf("%.*f", &[Argument::Int(i32::MAX), Argument::Double(1.0)]),
        -1
    );
    let long =
        "a string that is much longer than all that may be printed by one call of printf: one hundred bytes";
    let strings = [Argument::String(Some("short")), Argument::String(Some(long))];
    assert_eq!(handler.printf("%s%s", &strings), -1);
    assert_eq!(handler.increment(1), 2);
    let (counts, _) = bench.stop();
    let names = [Refusal::TOO_LONG, refused::MODE, refused::FILES, refused::WIDE];
    assert_eq!(names.map(|name| counts.of(name)), [6, 2, 1, 3], "{counts:?}");
}

/// Gives out numbers, as a device runtime's memory would have.
#[derive(Default)]
struct Numbers(Vec<u64>);

impl Heap for Numbers {
    fn allocate(&mut self, bytes: u64) -> Option<u64> {
        let address = 0x1c10_0000 + 64 * self.0.len() as u64;
        (bytes <= 64).then(|| {
            self.0.push(address);
            address
        })
    }

    fn free(&mut self, address: u64) -> bool {
        self.0.contains(&address)
    }
}

#[test]
fn functions_and_memory_are_the_applications() {
    let bench = Bench::start(Version::V22, 1, || Config {
        functions: HashMap::from([(
            7,
            Box::new(|bytes: &[u8]| bytes.iter().map(|byte| u64::from(*byte)).sum()) as _,
        )]),
        heap: Some(Box::new(Numbers::default())),
        ..Config::default()
    });
    let handler = Handler(&bench.client);
    assert_eq!(
        (handler.host_call(7, &[1, 2, 3]), handler.host_call(8, &[1])),
        (6, -1)
    );
    let address = handler.call(opcode::MALLOC, &[64]) as u64;
    assert_eq!((address, handler.call(opcode::MALLOC, &[65])), (0x1c10_0000, 0));
    for address in [address, 0, 12] {
        bench.client.open(opcode::FREE).unwrap().send(&[address]).unwrap();
    }
    let (counts, _) = bench.stop();
    assert_eq!(
        (counts.of(refused::FUNCTION), counts.of(refused::NOT_ALLOWED)),
        (1, 1),
        "{counts:?}"
    );
}
