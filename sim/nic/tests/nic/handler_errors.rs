//! Handlers of a source file, run as a user runs them.

use crate::kit::{self, json, ok, packets, spinneret, stderr};
use serde_json::Value;
use spinneret_host::Context;
use spinneret_nic::net::{NetError, Next, Sink, Source};
use spinneret_nic::nic::Backend;
use spinneret_nic::run::{Embedded, HandlerFiles, HardwareArguments};
use spinneret_packets::udp;
use std::cell::Cell;
use std::process::Output;
use std::rc::Rc;
use std::vec::IntoIter;
use tempfile::TempDir;

/// Runs handlers with some packets.
pub(crate) fn run(folder: &TempDir, count: usize, arguments: &[&str]) -> Output {
    let traffic = format!("udp,size=98,rate=1Gbps,count={count}");
    let mut command = spinneret();
    command.arg("run").arg(folder.path());
    ok(command.args(["--generate", &traffic]).args(arguments).output())
}

const PACKETS: u64 = 20;

/// Result of handlers whose fourth line does this.
fn summary_of(statement: &str) -> (Value, String) {
    let folder = kit::handlers(
        "app",
        &format!(
            "static uint8_t own[64];\n\
         __handler__ void app_ph(handler_args_t *args) {{\n\
         \x20   {statement};\n\
         }}\n"
        ),
    );
    let output = run(&folder, PACKETS as usize, &["--json", "--allow-faults"]);
    let summary = json(&output);
    assert_eq!(packets(&summary, "done with"), PACKETS, "{statement}");
    assert_eq!(summary["unbalanced"], serde_json::json!([]), "{statement}");
    let table = run(&folder, PACKETS as usize, &[]);
    assert_eq!(table.status.code(), Some(1), "{statement}");
    (summary, stderr(&table) + &String::from_utf8_lossy(&table.stdout))
}

/// Kinds of faults or refusals: how often, why, in which handler, where.
fn kinds(of: &Value) -> Vec<(u64, String, String, bool)> {
    let kinds = of.as_array().expect("it is a list").iter();
    kinds
        .map(|kind| {
            let text = |name: &str| kind[name].as_str().expect("it is text").to_owned();
            let is_there = text("source").ends_with("app.c:4");
            (
                kind["count"].as_u64().expect("it is a number"),
                text("cause"),
                text("handler"),
                is_there,
            )
        })
        .collect()
}

/// Other tasks' packets, another cluster's L1, what is for the runtime alone, registers, the program, another name of L1 that
/// commands do not know, and nothing at all.
const BEYOND: [&str; 9] = [
    "(char *)args->task->pkt_mem + args->task->pkt_mem_size",
    "(char *)args->task->pkt_mem - 64",
    "(void *)(0x10000000 + (args->cluster_id ? 0 : 0x400000) + 0x800)",
    "(void *)0x10000000",
    "(void *)0x1c100000",
    "(void *)0x1b204000",
    "(void *)0x1d000000",
    "(void *)0x1b010000",
    "(void *)0x30000000",
];

const READS: &str = "read of memory outside of the task";
const WRITES: &str = "write to memory outside of the task";

fn fails(statement: &str, cause: &str) {
    let (summary, shown) = summary_of(statement);
    let wanted = (PACKETS, cause.to_owned(), "app_ph".to_owned(), true);
    assert_eq!(kinds(&summary["faults"]), [wanted], "{statement}: {shown}");
    assert_eq!(kinds(&summary["refusals"]), [], "{statement}: {shown}");
    assert!(
        shown.contains("its command or copy")
            && shown.contains(&format!("failed: {PACKETS} x {cause} in app_ph")),
        "{statement}: {shown}"
    );
}

#[test]
fn sends_access_no_more_than_loads() {
    for address in BEYOND {
        let send = format!("spin_send_packet({address}, 64, NULL)");
        fails(&send, READS);
    }
}

#[test]
fn host_copies_access_no_more_than_loads_and_stores() {
    for address in BEYOND {
        let host = "(uint64_t)args->task->host_mem_high << 32 | args->task->host_mem_low";
        let copy =
            |to| format!("spin_dma_{to}_host({host}, (uint32_t)(uintptr_t)({address}), 64, true, NULL)");
        fails(&copy("to"), READS);
        fails(&copy("from"), WRITES);
    }
}

#[test]
fn nic_copies_access_no_more_than_loads_and_stores() {
    for address in &BEYOND[..4] {
        fails(&format!("spin_dma({address}, own, 64, 0, 0, NULL)"), READS);
        fails(&format!("spin_dma(own, {address}, 64, 0, 0, NULL)"), WRITES);
    }
}

fn is_refused(statement: &str, cause: &str) {
    let (summary, shown) = summary_of(statement);
    let wanted = (PACKETS, cause.to_owned(), "app_ph".to_owned(), true);
    assert_eq!(kinds(&summary["refusals"]), [wanted], "{statement}: {shown}");
    assert_eq!(kinds(&summary["faults"]), [], "{statement}: {shown}");
    assert_eq!(summary["refused_commands"], PACKETS, "{statement}");
    assert!(
        shown.contains("was refused something")
            && shown.contains(&format!("refused: {PACKETS} x {cause} in app_ph")),
        "{statement}: {shown}"
    );
}

#[test]
fn refused_commands_are_reported_with_their_source_line() {
    let length = "packet of invalid length";
    is_refused("spin_send_packet(own, 0, NULL)", length);
    let scratchpad = "(void *)args->task->scratchpad[args->cluster_id]";
    is_refused(&format!("spin_send_packet({scratchpad}, 9601, NULL)"), length);
    let host = "failed access to host memory";
    is_refused("spin_write_to_host(0x7000000000, 1, NULL)", host);
    is_refused("spin_write_to_host(0x7000000008, 1, NULL)", host);
    // Without the function, the bytes are in lanes that the address does not reach.
    let direct = |address| {
        format!(
            "MMIO_WRITE(CMD_WORD0, {address}); MMIO_WRITE(CMD_WORD1, args->task->host_mem_high); \
             MMIO_WRITE(CMD_WORD2, 8 << 1 | 1); spin_cmd_issue(CMD_INFO_HOST_DIRECT, NULL)"
        )
    };
    for offset in [1, 8, 63] {
        is_refused(&direct(format!("args->task->host_mem_low + {offset}")), host);
    }
    is_refused(
        "spin_dma_to_host(0x7000000000, (uint32_t)(uintptr_t)own, 64, true, NULL)",
        host,
    );
    is_refused(
        "spin_dma_from_host(0x7000000000, (uint32_t)(uintptr_t)own, 64, true, NULL)",
        host,
    );
    is_refused("spin_cmd_issue(6, NULL)", "invalid command");
}

#[test]
fn refused_commands_of_start_up_are_reported() {
    let folder = kit::handlers(
        "app",
        "static uint8_t own[64];\n\
         void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **memory) {\n\
         \x20   spin_send_packet(own, 0, NULL);\n\
         }\n\
         __handler__ void app_ph(handler_args_t *args) {}\n",
    );
    let output = run(&folder, PACKETS as usize, &["--json", "--allow-faults"]);
    let summary = json(&output);
    let cause = "packet of invalid length";
    let [(count, why, who, is_there)] = &kinds(&summary["refusals"])[..] else {
        panic!("{summary:#}")
    };
    assert_eq!((why.as_str(), who.as_str(), *is_there), (cause, "start-up", true));
    assert_eq!(summary["refused_commands"], *count);
    assert_eq!(summary["unbalanced"], serde_json::json!([]));
    assert_eq!(packets(&summary, "done with"), PACKETS);
    let table = run(&folder, PACKETS as usize, &[]);
    let shown = stderr(&table) + &String::from_utf8_lossy(&table.stdout);
    assert!(shown.contains("start-up was refused something"), "{shown}");
    assert!(
        shown.contains(&format!("refused: {count} x {cause} in init_handlers")),
        "{shown}"
    );
}

/// The hardware counts the frames that it drops by cause; the summary says for whom they were.
#[test]
fn dropped_frames_are_reported_by_handler() {
    let folder = kit::handlers(
        "app",
        "__handler__ void slow_ph(handler_args_t *args) { rt_time_wait_cycles(5000); }\n\
         __handler__ void other_ph(handler_args_t *args) { rt_time_wait_cycles(5000); }\n",
    );
    let rules = ["slow", "other"].map(|name| {
        let port = if name == "slow" { 7000 } else { 7001 };
        format!(
            "[[ruleset]]\nname = \"{name}\"\nrules = [{{ udp-dport = {port} }}]\nend-of-message = \"never\"\n"
        )
    });
    std::fs::write(folder.path().join("rules.toml"), rules.concat()).expect("there is room");
    let flood = |more: &[&str]| {
        let traffic = [
            "--generate",
            "udp,size=64,dport=7000..7002,rate=50Gbps,count=1800",
        ];
        let mut command = spinneret();
        command.arg("run").arg(folder.path());
        ok(command.args(traffic).args(more).output())
    };
    let summary = json(&flood(&["--json"]));
    let sum = |of: &str| -> u64 {
        let counts = summary[of].as_object().expect("it is a table").values();
        counts.filter_map(Value::as_u64).sum()
    };
    let dropped_for = |name: &str| summary["dropped_for"][name].as_u64().expect("it is counted");
    assert_eq!(summary["unbalanced"], serde_json::json!([]));
    let dropped = [dropped_for("slow"), dropped_for("other")];
    assert!(dropped.iter().all(|frames| *frames > 50), "{dropped:?}");
    assert_eq!(sum("dropped_for"), sum("drops"));
    assert_eq!(
        sum("drops") + packets(&summary, "done with"),
        1200,
        "a third of the frames matches nothing"
    );

    let table = String::from_utf8(flood(&[]).stdout).expect("it is text");
    for name in ["slow", "other"] {
        assert!(table.contains(&format!("dropped, for {name}")), "{table}");
    }
}

/// Packets with their times, in picoseconds.
struct Packets(IntoIter<(Option<u64>, Vec<u8>)>);

impl Source for Packets {
    fn next(&mut self, _: u64) -> Result<Next, NetError> {
        Ok(match self.0.next() {
            Some((Some(at_ps), bytes)) => Next::Packet { at_ps, bytes },
            Some((None, bytes)) => Next::WithRoom(bytes),
            None => Next::End,
        })
    }
}

/// How many frames came.
#[derive(Clone, Default)]
struct Count(Rc<Cell<u64>>);

impl Sink for Count {
    fn put(&mut self, _: u64, _: &[u8]) -> Result<(), NetError> {
        self.0.set(self.0.get() + 1);
        Ok(())
    }
}

/// A NIC whose handlers send packets back after that many clocks.
fn echo(clocks: u32) -> Embedded {
    let folder = kit::handlers(
        "app",
        &format!(
            "__handler__ void app_ph(handler_args_t *args) {{\n\
         \x20   rt_time_wait_cycles({clocks});\n\
         \x20   spin_send_packet(args->task->pkt_mem, args->task->pkt_mem_size, NULL);\n\
         }}\n"
        ),
    );
    let hardware = HardwareArguments {
        backend: Backend::Model,
        clusters: 2,
        hpus: 8,
        cluster_ps: None,
        core_ps: 4000,
        host_latency: 450,
        watchdog: 1_000_000,
        strict_pspin: false,
        no_skip: false,
    };
    let files = HandlerFiles {
        target: folder.path(),
        rules: None,
        handler: None,
    };
    let (nic, contexts) = Embedded::open(files, &hardware).unwrap_or_else(|error| panic!("{error:#}"));
    contexts.into_iter().for_each(Context::leave);
    nic
}

/// Runs packets of 98 bytes: how many came back.
fn replies(nic: &mut Embedded, times: Vec<Option<u64>>) -> anyhow::Result<u64> {
    let packets: Vec<_> = times.into_iter().map(|at| (at, udp(7, &[1; 56]))).collect();
    let (source, replies) = (Packets(packets.into_iter()), Count::default());
    let sinks = [replies.clone(), Count::default()].map(|count| Box::new(count) as _);
    nic.run(Box::new(source), sinks, || Ok(()))?;
    Ok(replies.0.get())
}

/// The check of the cluster may happen when a burst has arrived and no HPU has a packet of it. The pause before must not
/// count then.
#[test]
fn a_burst_after_a_pause_is_not_reported_as_stuck() {
    let mut nic = echo(0);
    for count in 33..=64 {
        let burst = (0..count).map(|number| Some(1_200_000_000 + 8000 * number));
        let replies = replies(&mut nic, [Some(0)].into_iter().chain(burst).collect());
        assert_eq!(
            replies.ok(),
            Some(1 + count),
            "1 packet, and {count} after 1.2 ms"
        );
    }
}

/// Packets without times lose nothing, however long handlers take; the same packets at once do.
#[test]
fn packets_without_times_are_sent_at_the_speed_of_the_nic() {
    for clocks in [0, 2000] {
        let mut nic = echo(clocks);
        assert_eq!(
            replies(&mut nic, vec![None; 400]).ok(),
            Some(400),
            "{clocks} clocks"
        );
        let at_once = replies(&mut nic, vec![Some(0); 400]).expect("it runs");
        assert!(at_once < 400, "{clocks} clocks: {at_once}");
        let both = [Some(0), None, None, Some(2_000_000_000), None];
        assert_eq!(replies(&mut nic, both.to_vec()).ok(), Some(5), "{clocks} clocks");
    }
}

/// Without a watchdog a handler may run for ever, and a stack that overflows may spoil other HPUs and the runtime itself.
#[test]
fn a_run_without_a_watchdog_ends() {
    for (body, why) in [
        (
            "for (;;) { }",
            "for more than 20000 clocks (--watchdog), and with --strict-pspin",
        ),
        (
            "volatile char large[3000]; for (int at = 2999; at >= 0; --at) large[at] = at;",
            "HPUs have stopped",
        ),
        (
            "for (volatile uint32_t *word = (uint32_t *)&args; ; --word) *word = 0x1b205001;",
            "packets are stuck in the cluster",
        ),
    ] {
        let folder = kit::handlers(
            "app",
            &format!("__handler__ void app_ph(handler_args_t *args) {{ {body} }}\n"),
        );
        let output = run(&folder, 40, &["--strict-pspin", "--watchdog", "20000"]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{body}: {said}");
        assert!(said.contains(why), "{body}: {said}");
    }
}
