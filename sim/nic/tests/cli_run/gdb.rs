//! `spinneret run --gdb`, with gdb itself.

use super::{refusal, root, run};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
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
    let mut lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
    let address = lines.by_ref().map_while(Result::ok).find_map(|line| {
        Some(
            line.split_once("target remote ")?
                .1
                .trim_end_matches('\'')
                .to_owned(),
        )
    });
    // What is told later is read, so that nobody waits to tell it.
    std::thread::spawn(move || lines.for_each(drop));
    (child, address.expect("it says where it waits"))
}

/// What gdb says to these commands, at a run with that program.
fn gdb(elf: &str, address: &str, commands: &[&str]) -> Option<String> {
    let remote = format!("target remote {address}");
    let fixed = ["set pagination off", "set confirm off", "set width 0", &remote];
    let mut gdb = Command::new("gdb-multiarch");
    gdb.args(["-nx", "-batch", elf]).current_dir(root());
    for command in fixed.iter().chain(commands) {
        gdb.args(["-ex", command]);
    }
    let output = match gdb.output() {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            spinneret_skip::skip("spinneret run --gdb", &"gdb-multiarch is not installed");
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    let [said, complained] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    Some(said + &complained)
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
        let _ = TcpStream::connect(&address);
        result(child);
        return;
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
    let (child, address) = held(&folder.path().display().to_string(), "udp,count=1", &[]);
    let elf = folder.path().join("build/bad.elf").display().to_string();
    let Some(said) = gdb(&elf, &address, &["continue", "backtrace", "continue"]) else {
        let _ = TcpStream::connect(&address);
        result(child);
        return;
    };
    assert_said(&said, &["SIGSEGV", "bad_ph", "bad.c:3", "exited normally"]);
    assert_eq!(result(child)["faults"].as_array().map(Vec::len), Some(1));
}

#[test]
fn who_is_no_gdb_or_goes_holds_nobody() {
    for said in [
        "",
        "GET / HTTP/1.1\r\n\r\n",
        "$qSupported#37$",
        "$m10000000,ffffffff#dd+$vCont;c#a8",
    ] {
        let (child, address) = held(PING, "udp,count=3", &[]);
        let mut stream = TcpStream::connect(&address).expect("it listens");
        std::io::Write::write_all(&mut stream, said.as_bytes()).expect("it reads");
        drop(stream);
        let result = result(child);
        assert_eq!(super::packets(&result, "sent by handlers"), 3, "{said}");
    }
}

#[test]
fn a_port_that_is_taken_is_refused() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a free port");
    let port = taken.local_addr().expect("it has one").port().to_string();
    let said = refusal(&[PING, "--generate", "udp,count=1", "--gdb", &port]);
    assert_said(&said, &[&port, "name another port"]);
}
