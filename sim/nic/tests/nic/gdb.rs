//! `spinneret run --gdb`, with gdb itself.

use crate::kit::{Process, captured, handlers, interrupt, json, ok, packets, root, spinneret};
use crate::run::{refusal, run};
use serde_json::Value;
use spinneret_host::{Nic, Options, Program, Rule, Ruleset};
use std::io;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

const PING: &str = "runtime/examples/udp_ping";
const ELF: &str = "runtime/examples/udp_ping/build/udp_ping.elf";
const PACKETS: &str = "udp,size=100,pps=200000,count=20";

/// A run that waits for gdb, and the address where it waits.
fn held(handlers: &str, packets: &str, more: &[&str]) -> (Process, String) {
    let mut command = spinneret();
    command.args(["run", handlers, "--generate", packets, "--json", "--gdb", "0"]);
    listening(command.args(more))
}

/// A process that waits for gdb, and the address where it waits.
fn listening(command: &mut Command) -> (Process, String) {
    let process = Process::start(command);
    let said = process.says("target remote ");
    let (_, address) = said.split_once("target remote ").expect("it was just seen");
    let address = address.split(['\'', '\n']).next().unwrap_or_default().to_owned();
    (process, address)
}

/// gdb that gives these commands to a run with that program.
fn gdb_of(elf: &str, address: &str, commands: &[&str]) -> Command {
    let remote = format!("target remote {address}");
    let fixed = ["set pagination off", "set confirm off", "set width 0", &remote];
    let mut gdb = Command::new("gdb-multiarch");
    gdb.args(["-nx", "-batch", elf]).current_dir(root());
    for command in fixed.iter().chain(commands) {
        gdb.args(["-ex", command]);
    }
    gdb
}

/// Its result, if it is installed.
fn if_there<T>(result: io::Result<T>) -> Option<T> {
    match result {
        Ok(result) => Some(result),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            spinneret_skip::skip("spinneret run --gdb", &"gdb-multiarch is not installed");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Output of gdb for these commands, at a run with that program.
fn gdb(elf: &str, address: &str, commands: &[&str]) -> Option<String> {
    let output = if_there(gdb_of(elf, address, commands).output())?;
    let [said, complained] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    Some(said + &complained)
}

/// First bytes of gdb.
const GREETING: &[u8] = b"+$?#3f";

/// A client at the port that sends this.
fn come(address: &str, said: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.write_all(said).expect("it reads");
    stream
}

/// Lets a run go on that gdb was not there to hold.
fn let_go(child: Process, address: &str) {
    drop(come(address, GREETING));
    result(child);
}

/// The summary of a run, without its speed on this machine.
fn result(child: Process) -> Value {
    simulated(child.end().json())
}

fn simulated(mut summary: Value) -> Value {
    let time = summary["time"].as_object_mut().expect("it is told");
    for of_this_machine in ["core_clocks_per_s", "mips", "slowdown", "wall_s"] {
        assert!(time.remove(of_this_machine).is_some(), "{of_this_machine}");
    }
    summary
}

#[track_caller]
fn assert_said(said: &str, wanted: &[&str]) {
    for wanted in wanted {
        assert!(said.contains(wanted), "{wanted} is not in: {said}");
    }
}

#[test]
fn breakpoints_do_not_change_a_run() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (free, debugged) = (file("free.pcap"), file("debugged.pcap"));
    let (child, address) = held(PING, PACKETS, &["--out", &debugged]);
    let commands = [
        "info threads",
        "break udp_ping_ph",
        "continue",
        "print args->task->pkt_mem_size",
        "print/x ((pkt_hdr_t *)args->task->pkt_mem)->udp_hdr.dst_port",
        "info registers pc mcause mhartid priv",
        "x/1i $pc",
        "watch -location ((pkt_hdr_t *)args->task->pkt_mem)->udp_hdr.dst_port",
        "delete 1",
        "stepi",
        "continue",
        "delete",
        "detach",
    ];
    let Some(said) = gdb(ELF, &address, &commands) else {
        return let_go(child, &address);
    };
    assert_said(
        &said,
        &[
            "(cluster 0, core 0)",
            "(cluster 1, core 7)",
            "hit Breakpoint 1, udp_ping_ph",
            "$1 = 100",
            "mcause",
            "User/Application",
            "=> 0x1d00",
            "Hardware watchpoint 2",
            "hit Hardware watchpoint 2",
            "Old value = 29220",
            "detached",
        ],
    );
    let debugged_result = result(child);
    let alone = run(&[PING, "--generate", PACKETS, "--json", "--out", &free]);
    assert_eq!(debugged_result, simulated(json(&alone)));
    let read = |path: &str| std::fs::read(path).expect("it was written");
    assert_eq!(read(&debugged), read(&free), "the same replies at the same times");
}

#[test]
fn a_fault_is_reported_as_a_signal_at_its_source_line() {
    let source = "__handler__ void bad_ph(handler_args_t *args) {\n\
                  \x20   *(volatile uint32_t *)0x40000000 = args->hpu_id;\n\
                  }\n";
    let folder = handlers("bad", source);
    let handlers = folder.path().display().to_string();
    let (child, address) = held(&handlers, "udp,count=1", &["--allow-faults"]);
    let elf = folder.path().join("build/bad.elf").display().to_string();
    let Some(said) = gdb(&elf, &address, &["continue", "backtrace", "continue"]) else {
        return let_go(child, &address);
    };
    assert_said(&said, &["SIGSEGV", "bad_ph", "bad.c:3", "exited normally"]);
    assert_eq!(result(child)["faults"].as_array().map(Vec::len), Some(1));
}

#[test]
fn registers_and_memory_can_be_written() {
    let folder = tempfile::tempdir().expect("there is room");
    let replies = folder.path().join("replies.pcap");
    let (child, address) = held(
        PING,
        "udp,size=100,pps=200000,count=4",
        &["--out", &replies.display().to_string()],
    );
    let commands = [
        "break udp_ping_ph",
        "continue",
        // By registers: this packet is not answered.
        "return",
        "continue",
        "set var ((unsigned char *)args->task->pkt_mem)[99] = 0xa5",
        "set $mscratch = $mscratch",
        "set var *(int *)0x40000000 = 1",
        "set $mhartid = 4",
        "detach",
    ];
    let Some(said) = gdb(ELF, &address, &commands) else {
        return let_go(child, &address);
    };
    // Failed writes are reported.
    assert_said(
        &said,
        &[
            "Cannot access memory at address 0x40000000",
            "Could not write register \"mhartid\"",
        ],
    );
    assert_eq!(packets(&result(child), "sent by handlers"), 3);
    let last_bytes: Vec<u8> = captured(&replies)
        .iter()
        .filter_map(|packet| packet.data.last().copied())
        .collect();
    assert_eq!(
        last_bytes.iter().filter(|byte| **byte == 0xa5).count(),
        1,
        "{last_bytes:?}"
    );
}

#[test]
fn ctrl_c_stops_a_run_and_kill_ends_it() {
    let (child, address) = held(PING, "udp,size=100,pps=200000,count=1000000000", &[]);
    let commands = [
        "break udp_ping_ph",
        "continue",
        "delete",
        "set debug remote 1",
        "continue",
        "set debug remote 0",
        "info threads",
        "kill",
    ];
    let mut gdb = gdb_of(ELF, &address, &commands);
    let Some(mut gdb) = if_there(gdb.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()) else {
        return child.kill();
    };
    let told = BufReader::new(gdb.stderr.take().expect("it is piped"));
    // From now on it goes on until it is stopped.
    let goes_on = told
        .lines()
        .map_while(Result::ok)
        .any(|line| line.contains("vCont;c"));
    assert!(goes_on, "gdb has gone");
    interrupt(&gdb);
    let output = gdb.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_said(
        &said,
        &["received signal SIGINT", "(cluster 1, core 7)", "killed"],
    );
    assert!(packets(&result(child), "wire in") > 0);
}

#[test]
fn a_run_is_unchanged_if_gdb_dies_at_a_breakpoint() {
    let folder = tempfile::tempdir().expect("there is room");
    let [left, free] = ["left.pcap", "free.pcap"].map(|name| folder.path().join(name));
    let (child, address) = held(PING, PACKETS, &["--out", &left.display().to_string()]);
    let commands = [
        // Breakpoints stay where they are while gdb thinks.
        "set breakpoint always-inserted on",
        "break udp_ping_ph",
        "continue",
        "continue",
        "shell kill -9 $PPID",
    ];
    if gdb(ELF, &address, &commands).is_none() {
        return let_go(child, &address);
    }
    assert_eq!(packets(&result(child), "sent by handlers"), 20);
    assert!(
        run(&[PING, "--generate", PACKETS, "--out", &free.display().to_string()])
            .status
            .success()
    );
    let [left, free] = [left, free].map(|path| std::fs::read(path).expect("it was written"));
    assert_eq!(left, free, "the same replies at the same times");
}

/// Impossible for handlers: the runtime has lost its context.
#[test]
fn a_runtime_broken_by_gdb_does_not_block_the_run() {
    let (child, address) = held(PING, "udp,size=100,pps=200000,count=4", &[]);
    let commands = ["break udp_ping_ph", "continue", "set $mscratch = 64", "detach"];
    if gdb(ELF, &address, &commands).is_none() {
        return let_go(child, &address);
    }
    // Its packet never leaves, which is the end of the run.
    let ended = child.end();
    assert_eq!(ended.code, Some(1));
    let result: Value = ok(serde_json::from_str(&ended.out));
    assert_eq!(result["broken"][0]["cause"], "the program terminated itself");
    assert_eq!(result["left"], 1);
}

#[test]
fn a_disconnecting_or_faulty_gdb_blocks_nothing() {
    let endless = [b"+$?#3f$", &vec![b'a'; 1 << 20][..]].concat();
    for said in [GREETING, b"$m10000000,ffffffff#4a+$vCont;c#a8"] {
        let (child, address) = held(PING, "udp,count=3", &[]);
        drop(come(&address, said));
        let said = String::from_utf8_lossy(said);
        assert_eq!(packets(&result(child), "sent by handlers"), 3, "{said}");
    }
    let (child, address) = held(PING, "udp,count=3", &[]);
    let mut gdb = TcpStream::connect(address).expect("it listens");
    // It is dropped during the session, and does not have to disconnect.
    let _ = gdb.write_all(&endless);
    assert_eq!(packets(&result(child), "sent by handlers"), 3);
}

#[test]
fn unknown_clients_neither_start_a_run_nor_delay_gdb() {
    let (child, address) = held(PING, "udp,count=3", &[]);
    // More than are listened to at once, and one who stays.
    let idle: Vec<TcpStream> = (0..12).map(|_| come(&address, b"+")).collect();
    for said in [
        &b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"[..],
        b"$qSupported#38",
        &[b'$'; 8192],
    ] {
        let mut stranger = come(&address, said);
        let answer = stranger.read(&mut [0; 16]);
        let is_dropped = answer.as_ref().map_or_else(
            |error| error.kind() == io::ErrorKind::ConnectionReset,
            |count| *count == 0,
        );
        assert!(is_dropped, "{answer:?} to {}", String::from_utf8_lossy(said));
    }
    drop(TcpStream::connect(&address));
    let commands = ["break udp_ping_ph", "continue", "delete", "detach"];
    let Some(said) = gdb(ELF, &address, &commands) else {
        return let_go(child, &address);
    };
    // The first packet had not come before.
    assert_said(&said, &["hit Breakpoint 1, udp_ping_ph", "detached"]);
    assert_eq!(packets(&result(child), "sent by handlers"), 3);
    drop(idle);
}

#[test]
fn a_port_that_is_taken_is_refused() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a free port");
    let port = taken.local_addr().expect("it has one").port().to_string();
    let said = refusal(&[PING, "--generate", "udp,count=1", "--gdb", &port]);
    assert_said(&said, &[&port, "name another port"]);
}

const COUNT: u32 = 20;

/// A program that loads the handlers, and leaves when they have had all packets.
fn program(socket: &str) -> Result<u32, Box<dyn std::error::Error>> {
    let nic = Nic::open(socket)?;
    let program = Program::open(&root().join(ELF))?;
    let rules = Ruleset::all().rule(Rule::IPV4).end_of_message(Rule::NEVER);
    let context = nic.open_context(&program, "udp_ping", &rules, &Options::default())?;
    let count = || Ok(context.handler_counter(0)?.count);
    nic.wait_until("the last packet", Duration::from_millis(10), || {
        Ok(count()? == COUNT)
    })?;
    Ok(count()?)
}

#[test]
fn handlers_of_applications_can_be_debugged() {
    let folder = tempfile::tempdir().expect("there is room");
    let socket = folder.path().join("nic.sock");
    let packets = format!("udp,size=100,pps=200000,count={COUNT}");
    let mut command = spinneret();
    command.arg("serve").arg(&socket);
    let (serve, address) = listening(command.args(["--once", "--generate", &packets, "--gdb", "0"]));
    let commands = [
        // Nothing runs yet: the program opens its context while this goes on.
        "break udp_ping_ph",
        "continue",
        "print args->task->pkt_mem_size",
        "delete",
        "detach",
    ];
    let mut gdb = gdb_of(ELF, &address, &commands);
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
    assert_eq!(counted.unwrap_or_else(|error| panic!("{error}")), COUNT);
    if let Some(mut said) = said {
        said.read_to_string(&mut text).expect("it is text");
        assert_said(&text, &["hit Breakpoint 1, udp_ping_ph", "$1 = 100", "detached"]);
    }
    serve.end().assert_success();
}
