//! The page of a run with more packets than any simulation brings.

use crate::support::make_up_with;
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;
use spinneret_nic::nic::NicConfig;
use spinneret_nic::report::{End, Options, PageOptions, Recorder};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What the page has to keep up with in a second of the wall.
const PACKETS: u64 = 100_000;
/// Between two looks: more often than any browser, as the run is short.
const LOOK: Duration = Duration::from_millis(1);

/// Time that this thread has had, whatever else the machine does.
fn spent() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The state of the run.
fn state(address: &str) -> Value {
    let (host, path) = address
        .trim_start_matches("http://")
        .split_once('/')
        .expect("there is a path");
    let mut stream = TcpStream::connect(host).expect("somebody listens");
    write!(
        stream,
        "GET /{path}state HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    )
    .expect("it is read");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it is text");
    let (_, text) = answer.split_once("\r\n\r\n").expect("there is a head");
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Records the packets while somebody looks at the page, if there is one: the time that recording took, and looks.
fn record(watch: Option<u16>) -> (Duration, u64) {
    let mut options = Options::silent();
    options.page = PageOptions {
        watch,
        ..PageOptions::default()
    };
    let mut recorder = Recorder::new(options, None, &NicConfig::default()).expect("there is a port");
    let address = recorder.page_address().map(str::to_owned);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let looks = address.as_ref().map(|address| {
            scope.spawn(|| {
                let mut looks = 0;
                while !is_over.load(Ordering::Relaxed) {
                    state(address);
                    looks += 1;
                    std::thread::sleep(LOOK);
                }
                looks
            })
        });
        let before = spent();
        make_up_with(&mut recorder, PACKETS, |recorder| recorder.watch(End::default));
        let took = spent() - before;
        is_over.store(true, Ordering::Relaxed);
        let looks = looks.map_or(0, |looks| looks.join().expect("it looks"));
        // The last state has them all.
        let finished = recorder.finish(&End::default(), None);
        if let Some(address) = &address {
            let state = state(address);
            let came = state["timeline"]["wire_in"].as_array().expect("there are spans");
            let came: u64 = came.iter().filter_map(Value::as_u64).sum();
            assert_eq!(came, PACKETS);
        }
        drop(finished);
        (took, looks)
    })
}

#[test]
fn the_page_keeps_up_with_100_000_packets_a_second() {
    let (alone, _) = record(None);
    let (watched, looks) = record(Some(0));
    println!(
        "{PACKETS} packets take {alone:?} to record, and {watched:?} with a page that was looked at {looks} times"
    );
    assert!(looks > 1, "{looks}");
    assert!(
        watched < Duration::from_secs(1),
        "{watched:?}, and {alone:?} without"
    );
}
