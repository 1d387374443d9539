//! Calls of libc by a handler: files, streams, commands.

use crate::support::{Argument, Bench, Captured, Handler, STDERR, STDIN, STDOUT};
use spinneret_rpc::clib::{Access, Config, Heap, Permissions, refused};
use spinneret_rpc::{Version, opcode};
use std::collections::HashMap;
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc;

pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Everything is allowed in a folder.
pub(crate) fn open_to(folder: &Path) -> impl FnOnce() -> Config + Send + 'static {
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
fn command_runs_in_the_folder_without_blocking() {
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
fn output_goes_to_the_configured_writers() {
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
        // By the tag, in calls that LLVM's server treats as addresses, and with the bits that a device has above it.
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
fn waiting_for_input_does_not_block_others() {
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
fn host_functions_and_heap_are_configurable() {
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
