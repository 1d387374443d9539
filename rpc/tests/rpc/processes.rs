//! A client and a server in two processes, over a file that both map.

use crate::support::handler::{Argument, Handler, STDOUT};
use crate::support::{Bench, Process};
use spinneret_rpc::clib::Config;
use spinneret_rpc::{Client, Layout, Libc, Mapping, Refusal, Server, TestCalls, Version, opcode};
use std::fs::{File, OpenOptions};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Says to the test's own binary that it is the client, with the file, the version, and whether it dies in mid-stream.
const VARIABLE: &str = "SPINNERET_RPC_CLIENT";
const PORTS: u32 = 16;
/// The status of a client that dies.
const DIED: i32 = 9;

/// What the client does in its process. In a run of all tests there is nothing to do.
#[test]
fn client_of_another_process() {
    let Ok(text) = std::env::var(VARIABLE) else {
        return;
    };
    let [path, version, dies] = text.split(' ').collect::<Vec<_>>()[..] else {
        panic!("{VARIABLE} is {text:?}");
    };
    let version = Version::ALL
        .into_iter()
        .find(|known| known.number().to_string() == version)
        .unwrap();
    let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mapping = Mapping::open(file).unwrap();
    let client = Client::new(mapping, Layout::new(version, PORTS).unwrap()).unwrap();
    if dies == "true" {
        // As many packets as a server has taken for certain when the last one is sent.
        let mut port = client.open(opcode::TEST_STREAM).unwrap();
        for packet in [1000, 1, 2] {
            port.send(&[packet]).unwrap();
        }
        std::process::exit(DIED);
    }
    let handler = Handler(&client);
    for value in 0..1000 {
        assert_eq!(handler.increment(value), value + 1);
    }
    let bytes: Vec<u8> = (0..5000_u32).map(|byte| byte as u8).collect();
    assert_eq!(handler.echo(&bytes), bytes);
    assert_eq!(handler.interface(true), 9);
    let arguments = [Argument::String(Some("process")), Argument::Int(2)];
    let (result, _) = handler.print(opcode::PRINTF_TO_STDOUT, STDOUT, "%s %d\n", &arguments);
    assert_eq!(result, 10);
    handler.leave(opcode::EXIT, 42);
}

#[test]
fn two_processes_share_a_buffer() {
    for version in Version::ALL {
        let layout = Layout::new(version, PORTS).unwrap();
        let mapping = Mapping::create(layout.bytes()).unwrap();
        let path = format!(
            "/proc/{}/fd/{}",
            std::process::id(),
            mapping.file().as_fd().as_raw_fd()
        );
        let mut server = Server::new(mapping, layout).unwrap();
        server.add(opcode::LIBC, Rc::new(TestCalls));
        let output = crate::support::Captured::default();
        let mut config = Config {
            output: Box::new(output.clone()),
            ..Config::default()
        };
        config.permissions.exit = true;
        server.add(opcode::LIBC, Rc::new(Libc::new(version, config).unwrap()));
        let client = |dies: bool| {
            let client = Command::new(std::env::current_exe().unwrap())
                .args([
                    "--exact",
                    "processes::client_of_another_process",
                    "--test-threads=1",
                ])
                .env(VARIABLE, format!("{path} {} {dies}", version.number()))
                .stdout(Stdio::null())
                .spawn();
            Process(client.unwrap())
        };
        let mut first = client(true);
        assert!(!first.serve(&mut server));
        assert_eq!(first.0.wait().unwrap().code(), Some(DIED));
        let Ok(()) = server.abandon_all();
        assert!(client(false).serve(&mut server));
        let Ok(is_idle) = server.drain(Duration::from_secs(1));
        assert!(is_idle);
        assert_eq!(server.ended(), Some(spinneret_rpc::server::End::Exit(42)));
        assert_eq!(output.text(), "process 2\n");
        let counts = server.counts();
        assert_eq!((counts.of(Refusal::ABANDONED), counts.refusals.len()), (1, 1));
    }
}

#[test]
fn a_server_on_a_thread_is_told_that_its_client_is_gone() {
    let bench = Bench::start(Version::V23, 1, Config::default);
    let mut port = bench.client.open(opcode::TEST_STREAM).unwrap();
    port.send(&[1000, 1]).unwrap();
    std::mem::forget(port);
    bench.abandon_all();
    let buffer = Arc::clone(bench.client.process().memory());
    let next = Client::new(buffer, bench.layout).unwrap();
    assert_eq!(Handler(&next).echo(b"whole"), b"whole");
    bench.stop();
}

#[test]
fn a_mapping_cannot_be_made_shorter_by_its_clients() {
    let mapping = Mapping::create(4096).unwrap();
    let path = format!("/proc/self/fd/{}", mapping.file().as_fd().as_raw_fd());
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    assert!(file.set_len(0).is_err());
    let empty = tempfile::tempfile().unwrap();
    let refused = Mapping::open(empty).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "a buffer for calls is a file of 4 bytes to 4 GiB, and this one has 0"
    );
    assert!(
        Mapping::open(File::open(path).unwrap()).is_err(),
        "it has to be writable"
    );
}
