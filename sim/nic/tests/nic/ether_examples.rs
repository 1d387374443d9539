//! Examples of handlers on a board whose cable loses, doubles and swaps frames.

use crate::ether::{Cable, PATIENCE};
use crate::kit::{captured, ok, program, runtime, spinneret, succeeds};
use spinneret_host::{Context, Nic, Options, Ruleset};
use spinneret_rpc::clib::Config;
use spinneret_rpc::{Libc, Offer, Services, opcode};
use spinneret_rules::{MatcherParams, RuleFile};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

/// Shares of frames that are lost, doubled and swapped.
const BAD: f64 = 0.01;
/// Packets for an example.
const PACKETS: u32 = 40;

fn rules(example: &str) -> Ruleset {
    let folder = runtime(&format!("examples/{example}"));
    let file = RuleFile::read(&folder.join("rules.toml"), &MatcherParams::BOARD);
    ok(file).rulesets.remove(0).ruleset
}

/// A context with less memory on the NIC than by default: each word is an access, and they are all cleared.
fn open(nic: &Nic, example: &str, rules: &Ruleset) -> Context {
    let folder = format!("examples/{example}");
    let options = Options {
        handler_bytes: Some(16384),
        ..Options::default()
    };
    ok(nic.open_context(&program(&folder), example, rules, &options))
}

/// Frames that a run has sent, in any order.
fn sent(path: &Path) -> Vec<Vec<u8>> {
    let mut frames: Vec<_> = captured(path).into_iter().map(|packet| packet.data).collect();
    frames.sort();
    frames
}

/// Runs an example on a board. Its replies are those of `spinneret run`.
fn replies(example: &str, packets: &str) {
    let folder = ok(tempfile::tempdir());
    let [on_board, alone] = ["board", "alone"].map(|name| folder.path().join(name).with_extension("pcap"));
    let packets = format!("{packets},pps=100000,count={PACKETS}");
    let more = ["--generate", &packets, "--out", &on_board.display().to_string()];
    let Some(cable) = Cable::start(&example[..4], BAD, &more) else {
        return;
    };
    let nic = ok(Nic::open(&cable.name()));
    let context = open(&nic, example, &rules(example));
    ok(nic.wait_until("packets", PATIENCE, || {
        Ok(nic.counters()?.get("ingress.matched") == Some(PACKETS))
    }));
    ok(context.close());
    drop(nic);
    cable.board.interrupt();
    let mut run = spinneret();
    run.args([
        "run",
        &format!("runtime/examples/{example}"),
        "--generate",
        &packets,
    ]);
    succeeds(run.arg("--out").arg(&alone));
    let (there, here) = (sent(&on_board), sent(&alone));
    assert!(
        there == here,
        "{example}: {} replies, and {}",
        there.len(),
        here.len()
    );
}

#[test]
fn pings_are_answered_on_a_board() {
    replies("udp_ping", "udp,size=200");
    replies("icmp_ping", "icmp,size=300");
}

#[test]
fn filters_and_sums_work_on_a_board() {
    replies("filter", "udp,size=100,dport=1..20");
    replies("aggregate", "udp,size=100");
    replies("histogram", "udp,size=64..1000");
}

/// Handlers call the host, and read its answers from host memory.
#[test]
fn handlers_on_a_board_keep_a_log_at_the_host() {
    let folder = ok(tempfile::tempdir());
    let packets = "udp,size=100,pps=20000,count=1e9";
    let Some(cable) = Cable::start("log", BAD, &["--generate", packets]) else {
        return;
    };
    let nic = ok(Nic::open(&cable.name()));
    let offer = Offer::default();
    let config = Config::of_folder(Some(folder.path().to_owned()));
    let libc = Rc::new(ok(Libc::new(offer.version, config)));
    let context = open(&nic, "host_log", &Ruleset::never());
    let mut services = ok(Services::open(context, &offer, |server| {
        server.add(opcode::LIBC, libc.clone());
        server.add(opcode::SPINNERET, libc);
    }));
    ok(services.context().set_ruleset(&rules("host_log")));
    let log = folder.path().join("packets.log");
    let wanted = "100 bytes to port 9330\n";
    let end = nic.now() + PATIENCE;
    while !std::fs::read_to_string(&log)
        .unwrap_or_default()
        .starts_with(&wanted.repeat(5))
    {
        assert!(nic.now() < end, "the log takes too long");
        ok(services.wait(Duration::from_micros(10)));
    }
    let (counts, _) = ok(services.close());
    assert!(counts.calls >= 25, "{counts:?}");
    drop(nic);
    let ended = cable.board.interrupt();
    assert!(ended.said.contains(" acknowledged, 0 lost"), "{}", ended.said);
}
