//! `spinneret serve --gdb`: the program on the host brings the handlers, and gdb holds them.

use super::super::root;
use super::{ELF, assert_said, if_there, where_gdb_may_come};
use spinneret_host::{Nic, Options, Program, Rule, Ruleset};
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::time::Duration;

const PACKETS: u32 = 20;

/// A program that loads the handlers, and leaves when they have had all packets.
fn program(socket: &str) -> Result<u32, Box<dyn std::error::Error>> {
    let nic = Nic::open(socket)?;
    let program = Program::open(&root().join(ELF))?;
    let rules = Ruleset::all().rule(Rule::IPV4).end_of_message(Rule::NEVER);
    let context = nic.open_context(&program, "udp_ping", &rules, &Options::default())?;
    let count = || Ok(context.handler_counter(0)?.count);
    nic.wait_until("the last packet", Duration::from_millis(10), || {
        Ok(count()? == PACKETS)
    })?;
    Ok(count()?)
}

#[test]
fn handlers_of_another_program_are_held() {
    let folder = tempfile::tempdir().expect("there is room");
    let socket = folder.path().join("nic.sock");
    let packets = format!("udp,size=100,pps=200000,count={PACKETS}");
    let mut serve = Command::new(env!("CARGO_BIN_EXE_spinneret"))
        .arg("serve")
        .arg(&socket)
        .args(["--once", "--generate", &packets, "--gdb", "0"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command was built");
    let address = where_gdb_may_come(&mut serve);
    let commands = [
        // Nothing runs yet: the program opens its context while this goes on.
        "break udp_ping_ph",
        "continue",
        "print args->task->pkt_mem_size",
        "delete",
        "detach",
    ];
    let mut gdb = super::gdb_of(ELF, &address, &commands);
    let gdb = if_there(gdb.stdout(Stdio::piped()).stderr(Stdio::null()).spawn());
    let mut said = gdb.map(|mut gdb| BufReader::new(gdb.stdout.take().expect("it is piped")));
    let mut text = String::new();
    while let Some(said) = &mut said
        && !text.contains("Breakpoint 1 at")
    {
        assert_ne!(
            said.read_line(&mut text).expect("it is text"),
            0,
            "gdb has gone: {text}"
        );
    }
    let counted = program(&format!("unix:{}", socket.display()));
    assert_eq!(counted.unwrap_or_else(|error| panic!("{error}")), PACKETS);
    if let Some(mut said) = said {
        said.read_to_string(&mut text).expect("it is text");
        assert_said(&text, &["hit Breakpoint 1, udp_ping_ph", "$1 = 100", "detached"]);
    }
    assert!(serve.wait().expect("it ends").success());
}
