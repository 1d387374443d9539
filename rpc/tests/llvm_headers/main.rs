//! LLVM's own headers as the other side: its client against our server, and its server for our client.
//!
//! The headers are not ours and not part of this project: `SPINNERET_LLVM_LIBC` names the folder `libc` of LLVM's sources, or
//! several, with colons between. Machines that test everything need not have them, so the feature `llvm-headers` asks for
//! these tests.

#[path = "../rpc/support.rs"]
#[allow(dead_code, reason = "these tests need a part of it")]
mod support;

use spinneret_rpc::clib::{Access, Config, Permissions};
use spinneret_rpc::{Client, Layout, Libc, Mapping, Refusal, Server, TestCalls, Version, opcode};
use std::fs;
use std::io::Read as _;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use support::{Argument, Captured, ChildProcess, Handler, STDOUT};

const VARIABLE: &str = "SPINNERET_LLVM_LIBC";
const PORTS: u32 = 3;

/// Runs a test with each folder of sources that there is.
fn with_headers(test: &str, run: impl Fn(&Path, Version)) {
    let Some(folders) = std::env::var_os(VARIABLE) else {
        let why = format!("{VARIABLE} names no folder `libc` of LLVM's sources");
        return spinneret_skip::skip(test, &why);
    };
    for folder in std::env::split_paths(&folders) {
        let header = folder.join("shared/rpc.h");
        let text =
            fs::read_to_string(&header).unwrap_or_else(|error| panic!("{}: {error}", header.display()));
        let version = match text.contains("Doorbell") {
            true => Version::V23,
            false => Version::V22,
        };
        run(&folder, version);
    }
}

/// Compiles one of this project's programs with LLVM's headers.
fn compile(headers: &Path, version: Version, name: &str, scratch: &Path) -> PathBuf {
    let program = scratch.join(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/llvm_headers")
        .join(name)
        .with_extension("cpp");
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "g++".into());
    let mut command = Command::new(compiler);
    command
        .args(["-std=c++17", "-O1", "-w", "-pthread", "-I"])
        .arg(headers);
    if version == Version::V23 {
        command.arg("-DLIBC_CALLS");
    }
    let status = command.arg("-o").arg(&program).arg(source).status().unwrap();
    assert!(
        status.success(),
        "{name} does not compile with {}",
        headers.display()
    );
    program
}

fn shared(layout: Layout) -> (Arc<Mapping>, String) {
    let mapping = Mapping::create(layout.bytes()).unwrap();
    let path = format!(
        "/proc/{}/fd/{}",
        std::process::id(),
        mapping.file().as_fd().as_raw_fd()
    );
    (Arc::new(mapping), path)
}

#[test]
fn llvms_client_is_answered_by_our_server() {
    with_headers("llvms_client_is_answered_by_our_server", |headers, version| {
        let scratch = tempfile::tempdir().unwrap();
        let program = compile(headers, version, "client", scratch.path());
        let layout = Layout::new(version, PORTS).unwrap();
        let (mapping, path) = shared(layout);
        let (folder, output) = (tempfile::tempdir().unwrap(), Captured::default());
        let config = Config {
            folder: Some(folder.path().to_owned()),
            access: Access::Write,
            permissions: Permissions {
                remove: true,
                rename: true,
                ..Permissions::default()
            },
            output: Box::new(output.clone()),
            ..Config::default()
        };
        let mut server = Server::new(mapping, layout).unwrap();
        server.add(opcode::LIBC, Rc::new(TestCalls));
        server.add(opcode::LIBC, Rc::new(Libc::new(version, config).unwrap()));
        let client = Command::new(program)
            .args([&path, &PORTS.to_string()])
            .spawn()
            .unwrap();
        assert!(
            ChildProcess(client).serve(&mut server),
            "LLVM's client found something wrong"
        );
        assert_eq!(server.drain(Duration::from_secs(1)), Ok(true));
        assert_eq!(
            output.text(),
            "by puts\n7 (null) text 0.50 -1\n009onetwo\nplain\n"
        );
        let expected = format!("first\n{}", "x".repeat(1000));
        assert_eq!(
            fs::read_to_string(folder.path().join("renamed")).unwrap(),
            expected
        );
        let counts = server.counts();
        assert_eq!(counts.of(Refusal::UNKNOWN_OPCODE), 1);
        assert_eq!(counts.refusals.values().sum::<u64>(), 4, "{counts:?}");
        println!(
            "LLVM {}'s client: {} calls answered",
            version.number(),
            counts.calls
        );
    });
}

#[test]
fn our_client_is_answered_by_llvms_server() {
    with_headers("our_client_is_answered_by_llvms_server", |headers, version| {
        let scratch = tempfile::tempdir().unwrap();
        let program = compile(headers, version, "server", scratch.path());
        let layout = Layout::new(version, PORTS).unwrap();
        let (mapping, path) = shared(layout);
        let server = Command::new(program)
            .args([&path, &PORTS.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut server = ChildProcess(server.unwrap());
        let client = Client::new(Arc::clone(&mapping), layout).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..3_u64 {
                let client = &client;
                scope.spawn(move || {
                    let handler = Handler(client);
                    for round in 0..20 {
                        assert_eq!(
                            handler.increment(thread * 1000 + round),
                            thread * 1000 + round + 1
                        );
                        handler.noop();
                        let bytes = vec![thread as u8; (round as usize * 7) % 400];
                        assert_eq!(handler.echo(&bytes), bytes);
                        assert_eq!(handler.interface(round % 2 == 0), 9);
                    }
                });
            }
        });
        let handler = Handler(&client);
        if version == Version::V23 {
            calls_of_libc(&handler, scratch.path());
        }
        drop(server.0.stdin.take());
        let mut output = String::new();
        server
            .0
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut output)
            .unwrap();
        assert!(server.0.wait().unwrap().success());
        if version == Version::V23 {
            assert_eq!(output, "by us\n5 text (null) 0.250\n");
        }
        for port in 0..PORTS {
            assert_eq!(client.process().inbox(port), client.process().outbox(port));
        }
    });
}

/// The calls that LLVM 23's own handler answers, in the same packets as ours.
fn calls_of_libc<M: spinneret_rpc::Memory<Error = std::convert::Infallible>>(
    handler: &Handler<'_, M>,
    folder: &Path,
) {
    assert_eq!(handler.puts("by us"), 6);
    let arguments = [
        Argument::Int(5),
        Argument::String(Some("text")),
        Argument::String(None),
        Argument::Double(0.25),
    ];
    let (result, asked) = handler.print(opcode::PRINTF_TO_STDOUT, STDOUT, "%d %s %s %.3f\n", &arguments);
    assert_eq!((result, asked.len()), (20, 1));
    let path = folder.join("file");
    let path = path.to_str().unwrap();
    let file = handler.fopen(path, "w+");
    assert_ne!(file, 0);
    assert_eq!(handler.write(file, b"line\nmore"), 9);
    assert_eq!(
        (handler.seek(file, 0, 0), handler.gets(file, 50).as_deref()),
        (0, Some("line\n"))
    );
    assert_eq!(handler.tell(file), 5);
    assert_eq!(
        (handler.read(file, 10), handler.is_at_end(file)),
        (b"more".to_vec(), true)
    );
    assert_eq!((handler.fclose(file), handler.remove(path)), (0, 0));
}
