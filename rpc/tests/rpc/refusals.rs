//! Refusals of libc's calls: nothing leaves the folder, and every port stays usable.

use crate::stdio::{folder, open_to};
use crate::support::Bench;
use crate::support::{Argument, Handler, STDOUT};
use spinneret_rpc::clib::{Access, Config, Limits, Permissions, refused};
use spinneret_rpc::server::{End, Refusal};
use spinneret_rpc::{Version, opcode};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

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
