//! A client and a server in two processes, over a file that both map.

use crate::support::Process;
use crate::support::handler::{Argument, Handler, STDOUT};
use spinneret_rpc::clib::Config;
use spinneret_rpc::{Client, Layout, Libc, Mapping, Server, TestCalls, Version, opcode};
use std::fs::{File, OpenOptions};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

/// Says to the test's own binary that it is the client, with the file and the version.
const VARIABLE: &str = "SPINNERET_RPC_CLIENT";
const PORTS: u32 = 16;

/// What the client does in its process. In a run of all tests there is nothing to do.
#[test]
fn client_of_another_process() {
    let Ok(text) = std::env::var(VARIABLE) else {
        return;
    };
    let (path, version) = text.split_once(' ').unwrap();
    let version = Version::ALL
        .into_iter()
        .find(|known| known.number().to_string() == version)
        .unwrap();
    let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mapping = Mapping::open(file).unwrap();
    let client = Client::new(mapping, Layout::new(version, PORTS).unwrap()).unwrap();
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
        let client = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "processes::client_of_another_process",
                "--test-threads=1",
            ])
            .env(VARIABLE, format!("{path} {}", version.number()))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        assert!(Process(client).serve(&mut server));
        let Ok(is_idle) = server.drain(Duration::from_secs(1));
        assert!(is_idle);
        assert_eq!(server.ended(), Some(spinneret_rpc::server::End::Exit(42)));
        assert_eq!(output.text(), "process 2\n");
        assert_eq!(server.counts().refusals.len(), 0);
    }
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
