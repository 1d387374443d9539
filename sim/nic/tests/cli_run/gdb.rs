//! `spinneret run --gdb`, with gdb itself.

mod going;
mod serve;

use super::{packets, root, run};
use serde_json::Value;
use spinneret_packets::capture::CaptureReader;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const PING: &str = "runtime/examples/udp_ping";
const ELF: &str = "runtime/examples/udp_ping/build/udp_ping.elf";
const PACKETS: &str = "udp,size=100,pps=200000,count=20";

/// A run that waits for gdb, and where.
fn held(handlers: &str, packets: &str, more: &[&str]) -> (Child, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_spinneret"))
        .args(["run", handlers, "--generate", packets, "--json", "--gdb", "0"])
        .args(more)
        .current_dir(root())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command was built");
    let address = where_gdb_may_come(&mut child);
    (child, address)
}

/// The address that a command tells. What it tells later is read, so that it does not wait for a reader.
fn where_gdb_may_come(command: &mut Child) -> String {
    let mut lines = BufReader::new(command.stderr.take().expect("it is piped")).lines();
    let address = lines.by_ref().map_while(Result::ok).find_map(|line| {
        let (_, address) = line.split_once("target remote ")?;
        Some(address.split('\'').next()?.to_owned())
    });
    std::thread::spawn(move || lines.for_each(drop));
    address.expect("it says where it waits")
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

/// What it returned, if it is installed.
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

/// What gdb says to these commands, at a run with that program.
fn gdb(elf: &str, address: &str, commands: &[&str]) -> Option<String> {
    let output = if_there(gdb_of(elf, address, commands).output())?;
    let [said, complained] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    Some(said + &complained)
}

/// What gdb says first.
const GREETING: &[u8] = b"+$?#3f";

/// Somebody at the port who says this.
fn come(address: &str, said: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.write_all(said).expect("it reads");
    stream
}

/// Lets a run go on that gdb was not there to hold.
fn let_go(child: Child, address: &str) {
    drop(come(address, GREETING));
    result(child);
}

/// What a run printed in the end, without how fast it was on this machine.
fn result(mut child: Child) -> Value {
    let mut text = String::new();
    let mut stdout = child.stdout.take().expect("it is piped");
    stdout.read_to_string(&mut text).expect("it is text");
    assert!(child.wait().expect("it ends").success(), "{text}");
    simulated(&text)
}

fn simulated(text: &str) -> Value {
    let mut summary: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
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
fn a_handler_is_held_at_breakpoints_and_its_run_is_the_same() {
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
    assert_eq!(
        debugged_result,
        simulated(&String::from_utf8_lossy(&alone.stdout))
    );
    let read = |path: &str| std::fs::read(path).expect("it was written");
    assert_eq!(read(&debugged), read(&free), "the same replies at the same times");
}

#[test]
fn a_fault_is_a_signal_at_its_source_line() {
    let folder = tempfile::tempdir().expect("there is room");
    let source = "#include <handler.h>\n\
                  __handler__ void bad_ph(handler_args_t *args) {\n\
                  \x20   *(volatile uint32_t *)0x40000000 = args->hpu_id;\n\
                  }\n";
    let makefile = format!("include {}\n", root().join("runtime/spin.mk").display());
    let rules = std::fs::read_to_string(root().join(PING).join("rules.toml")).expect("it is there");
    for (name, text) in [
        ("bad.c", source.to_owned()),
        ("Makefile", makefile),
        ("rules.toml", rules.replace("\"udp\"", "\"bad\"")),
    ] {
        std::fs::write(folder.path().join(name), text).expect("there is room");
    }
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
    // What cannot be written says so.
    assert_said(
        &said,
        &[
            "Cannot access memory at address 0x40000000",
            "Could not write register \"mhartid\"",
        ],
    );
    assert_eq!(packets(&result(child), "sent by handlers"), 3);
    let last_bytes: Vec<u8> = packets_of(&replies)
        .iter()
        .filter_map(|packet| packet.last().copied())
        .collect();
    assert_eq!(
        last_bytes.iter().filter(|byte| **byte == 0xa5).count(),
        1,
        "{last_bytes:?}"
    );
}

fn packets_of(capture: &Path) -> Vec<Vec<u8>> {
    let packets = CaptureReader::open(capture).expect("it is a capture");
    packets.map(|packet| packet.expect("it is whole").data).collect()
}

#[test]
fn ctrl_c_holds_a_run_and_kill_ends_it() {
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
        let mut child = child;
        child.kill().expect("it runs");
        return;
    };
    let told = BufReader::new(gdb.stderr.take().expect("it is piped"));
    // From now on it goes on until it is stopped.
    let goes_on = told
        .lines()
        .map_while(Result::ok)
        .any(|line| line.contains("vCont;c"));
    assert!(goes_on, "gdb has gone");
    let gdb_process = rustix::process::Pid::from_child(&gdb);
    rustix::process::kill_process(gdb_process, rustix::process::Signal::INT).expect("it runs");
    let output = gdb.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_said(
        &said,
        &["received signal SIGINT", "(cluster 1, core 7)", "killed"],
    );
    assert!(packets(&result(child), "wire in") > 0);
}
