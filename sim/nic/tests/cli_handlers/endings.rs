//! How runs end whose packets pause, or whose handlers never end.

use crate::{handlers, stderr};
use spinneret_nic::net::{NetError, Next, Sink, Source};
use spinneret_nic::run::{Embedded, HardwareArguments};
use spinneret_packets::udp;
use std::cell::Cell;
use std::process::Command;
use std::rc::Rc;
use std::vec::IntoIter;

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

/// A NIC whose handlers send packets back after so many clocks.
fn echo(clocks: u32) -> Embedded {
    let folder = handlers(&format!(
        "__handler__ void app_ph(handler_args_t *args) {{\n\
         \x20   rt_time_wait_cycles({clocks});\n\
         \x20   spin_send_packet(args->task->pkt_mem, args->task->pkt_mem_size, NULL);\n\
         }}\n"
    ));
    let hardware = HardwareArguments {
        clusters: 2,
        hpus: 8,
        cluster_ps: 25_000,
        core_ps: 4000,
        host_latency: 450,
        watchdog: 1_000_000,
        strict_pspin: false,
        no_skip: false,
    };
    Embedded::open(folder.path(), None, None, &hardware).unwrap_or_else(|error| panic!("{error:#}"))
}

/// Runs packets of 98 bytes: how many came back.
fn run(nic: &mut Embedded, times: Vec<Option<u64>>) -> anyhow::Result<u64> {
    let packets: Vec<_> = times.into_iter().map(|at| (at, udp(7, &[1; 56]))).collect();
    let (source, replies) = (Packets(packets.into_iter()), Count::default());
    let sinks = [replies.clone(), Count::default()].map(|count| Box::new(count) as _);
    nic.run(Box::new(source), sinks, || Ok(()))?;
    Ok(replies.0.get())
}

/// A look at the cluster may come when a burst has come and no HPU has a packet of it. How long nothing came before says
/// nothing about that burst.
#[test]
fn a_burst_after_a_pause_is_no_standstill() {
    let mut nic = echo(0);
    for count in 33..=64 {
        let burst = (0..count).map(|number| Some(1_200_000_000 + 8000 * number));
        let replies = run(&mut nic, [Some(0)].into_iter().chain(burst).collect());
        assert_eq!(
            replies.ok(),
            Some(1 + count),
            "1 packet, and {count} after 1.2 ms"
        );
    }
}

/// Packets without times lose nothing, however long handlers take; the same packets at once do.
#[test]
fn packets_without_times_come_at_the_nics_pace() {
    for clocks in [0, 2000] {
        let mut nic = echo(clocks);
        assert_eq!(run(&mut nic, vec![None; 400]).ok(), Some(400), "{clocks} clocks");
        let at_once = run(&mut nic, vec![Some(0); 400]).expect("it runs");
        assert!(at_once < 400, "{clocks} clocks: {at_once}");
        let both = [Some(0), None, None, Some(2_000_000_000), None];
        assert_eq!(run(&mut nic, both.to_vec()).ok(), Some(5), "{clocks} clocks");
    }
}

/// Without a watchdog a handler may run for ever, and a stack that overflows may spoil other HPUs and the runtime itself.
#[test]
fn without_a_watchdog_a_run_ends_all_the_same() {
    for (body, why) in [
        (
            "for (;;) { }",
            "for more than 20000 clocks (--watchdog), and with --strict-pspin",
        ),
        (
            "volatile char large[3000]; for (int at = 2999; at >= 0; --at) large[at] = at;",
            "stand still",
        ),
        (
            "for (volatile uint32_t *word = (uint32_t *)&args; ; --word) *word = 0x1b205000;",
            "packets are still in the cluster",
        ),
    ] {
        let folder = handlers(&format!(
            "__handler__ void app_ph(handler_args_t *args) {{ {body} }}\n"
        ));
        let output = Command::new(env!("CARGO_BIN_EXE_spinneret"))
            .arg("run")
            .arg(folder.path())
            .args(["--generate", "udp,size=98,rate=1Gbps,count=40"])
            .args(["--strict-pspin", "--watchdog", "20000"])
            .output()
            .expect("the command was built");
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{body}: {said}");
        assert!(said.contains(why), "{body}: {said}");
    }
}
