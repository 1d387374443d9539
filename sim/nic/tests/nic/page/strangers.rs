//! Users of the machine who do not know the page's address: whatever they send, they cost a run next to nothing.

use super::Watched;
use crate::run::ICMP;
use std::collections::VecDeque;
use std::io::Write as _;
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Connections, and the garbage that each of them sends, in bytes. `./dev soak page` makes more.
const CONNECTIONS: usize = 400;
const GARBAGE: usize = 50_000;
/// Connections of one round of these.
const AT_A_TIME: usize = 2000;
/// Connections that strangers hold open at once.
const HELD: usize = 200;
/// Most memory that they may cost the run, in KiB.
const MEMORY_KIB: u64 = 32 << 10;
/// More packets than any test waits for.
const ENDLESS: [&str; 3] = [ICMP, "--generate", "icmp,size=98,rate=1Gbps,count=1e9"];

/// A field of `/proc/PID/status`, in KiB.
fn memory_kib(watched: &Watched, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", watched.run.id())).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let value = line.map(|line| line.trim().trim_end_matches(" kB"));
    value
        .and_then(|value| value.parse().ok())
        .expect("it is a number")
}

/// Processor time of a thread of a run.
fn spent(watched: &Watched, thread: &str) -> Duration {
    let tasks = PathBuf::from(format!("/proc/{}/task", watched.run.id()));
    let tasks = std::fs::read_dir(tasks)
        .expect("it runs")
        .flatten()
        .map(|task| task.path());
    let mut found = tasks.filter(|task| {
        let name = std::fs::read_to_string(task.join("comm")).unwrap_or_default();
        name.trim_end() == thread
    });
    let task = found.next().expect("there is such a thread");
    let times = std::fs::read_to_string(task.join("schedstat")).expect("Linux tells");
    let nanoseconds = times.split(' ').next().and_then(|time| time.parse().ok());
    Duration::from_nanos(nanoseconds.expect("it is a number"))
}

/// Packets that the simulation of a run handles in a second of its processor time, while something else goes on.
fn packets_per_second<T>(watched: &Watched, meanwhile: impl FnOnce() -> T) -> (f64, T) {
    let look = || {
        let before = watched.state()["summary"]["time"].clone();
        loop {
            // The first state is older than the question.
            let summary = &watched.state()["summary"];
            if summary["time"] != before {
                let packets = summary["handlers"][0]["packets"].as_f64();
                return (packets.unwrap_or(0.0), spent(watched, "spinneret"));
            }
        }
    };
    let (packets, time) = look();
    let done = meanwhile();
    let (more, later) = look();
    ((more - packets) / (later - time).as_secs_f64(), done)
}

/// Connects and sends garbage, as far as it is taken.
fn stranger(port: u16, number: usize) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("somebody listens");
    stream
        .set_write_timeout(Some(Duration::from_millis(100)))
        .expect("it is a time");
    let garbage = match number % 3 {
        0 => [b"GET / HTTP/1.1\r\n", &b"X: y\r\n".repeat(GARBAGE / 6)[..]].concat(),
        1 => [b"GET /", &vec![b'a'; GARBAGE][..]].concat(),
        _ => vec![number as u8; GARBAGE],
    };
    // It may have been dropped.
    let _ = stream.write_all(&garbage);
    stream
}

/// All strangers, some of whom stay.
fn strangers(port: u16, count: usize) -> VecDeque<TcpStream> {
    let mut held = VecDeque::new();
    for number in 0..count {
        held.push_back(stranger(port, number));
        if held.len() > HELD {
            held.pop_front();
        }
    }
    held
}

/// The time that strangers took, and that of the page's thread.
fn attack(watched: &Watched, count: usize) -> (Duration, Duration) {
    let (begun, before) = (Instant::now(), spent(watched, "page"));
    let held = strangers(watched.port, count);
    // They are still there, and who knows the address is answered.
    assert_eq!(watched.ask("GET", &watched.root).0, 200);
    drop(held);
    (begun.elapsed(), spent(watched, "page") - before)
}

#[test]
fn unknown_clients_cost_a_run_little() {
    let soak = std::env::var("SPINNERET_STRANGERS").ok();
    let soak: Option<usize> = soak.map(|count| count.parse().expect("it is a number"));
    let watched = Watched::start(&ENDLESS);
    assert_eq!(watched.ask("GET", &watched.root).0, 200);
    let memory = memory_kib(&watched, "VmRSS:");
    let (took, page) = match soak {
        None => attack(&watched, CONNECTIONS),
        Some(count) => beside_strangers(&watched, count.div_ceil(AT_A_TIME)),
    };
    let grown = memory_kib(&watched, "VmHWM:").saturating_sub(memory);
    println!("strangers for {took:.2?}: {grown} KiB, {page:.2?} of a processor");
    assert!(grown < MEMORY_KIB, "{grown} KiB");
    // A twentieth of the time, and as much as one look at the connections may take.
    assert!(
        page < took / 20 + Duration::from_millis(20),
        "{page:?} of {took:?}"
    );
    watched.interrupt();
}

/// Compares the speed of a run with unknown clients to that before and after them. Other load of the machine makes single
/// figures differ by more than the effect, so the median of many is used.
fn beside_strangers(watched: &Watched, rounds: usize) -> (Duration, Duration) {
    let (mut took, mut page, mut ratios) = (Duration::ZERO, Duration::ZERO, Vec::new());
    let alone = |time| packets_per_second(watched, || std::thread::sleep(time)).0;
    let mut before = alone(Duration::from_secs(2));
    for _ in 0..rounds {
        let (beside, times) = packets_per_second(watched, || attack(watched, AT_A_TIME));
        let after = alone(times.0);
        ratios.push(2.0 * beside / (before + after));
        (took, page, before) = (took + times.0, page + times.1, after);
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios[rounds / 2];
    println!("speed of {rounds} runs beside strangers, alone it is 1: {ratios:.3?}, median {median:.3}");
    assert!(median > 0.95);
    (took, page)
}

#[test]
fn a_run_and_its_page_survive_running_out_of_descriptors() {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let watched = Watched::start(&ENDLESS);
    let folder = format!("/proc/{}/fd", watched.run.id());
    let open = std::fs::read_dir(folder).expect("it runs").count() as u64;
    let run = Pid::from_raw(watched.run.id() as i32);
    for more in [4, 0] {
        let limit = Rlimit {
            current: Some(open + more),
            maximum: Some(open + 4),
        };
        prlimit(run, Resource::Nofile, limit).expect("it may be lowered");
        let idle: Vec<TcpStream> = (0..40)
            .map(|_| TcpStream::connect(("127.0.0.1", watched.port)).expect("somebody listens"))
            .collect();
        if more > 0 {
            // Connections of strangers make room.
            assert_eq!(watched.state()["is_over"], false);
        } else {
            // No connection is accepted, for longer than the page waits before it tries again.
            std::thread::sleep(Duration::from_millis(150));
        }
        drop(idle);
    }
    let limit = Rlimit {
        current: Some(open + 4),
        maximum: Some(open + 4),
    };
    prlimit(run, Resource::Nofile, limit).expect("it may be raised to its maximum");
    assert_eq!(watched.state()["is_over"], false);
    watched.interrupt();
}
