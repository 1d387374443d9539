//! A PCI function that a process shares with others, as `spinneret share` does with a card.

use super::{Function, client};
use crate::kit::{Served, contexts, ok, open_small, port};
use crate::tenants::{FOR_TWO, kill_one};
use spinneret_host::device::socket::Server;
use spinneret_host::{Device as _, Nic, Share};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Serves a function at a socket while something is done with its NIC. Returns the lines that handlers printed meanwhile.
fn sharing(served: &Served, socket: &Path, act: impl FnOnce(&str)) -> Vec<String> {
    let mut function = Function::new(client(served));
    let bound = Share {
        slots: 64,
        ..Share::default()
    };
    let mut server = ok(Server::bind(socket)).with_shares([bound; 4]);
    let (is_over, printed) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let lines = || printed.lock().unwrap_or_else(PoisonError::into_inner);
    std::thread::scope(|scope| {
        let runs = scope.spawn(|| {
            let print = |line: &_| lines().push(format!("{line}"));
            server.run(&mut function, print, || is_over.load(Ordering::Relaxed))
        });
        // It ends whether this panics or not.
        let acted = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            act(&format!("unix:{}", socket.display()));
        }));
        is_over.store(true, Ordering::Relaxed);
        ok(runs.join().expect("it does not panic"));
        acted.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
    std::mem::take(&mut lines())
}

#[test]
fn processes_of_a_function_have_programs_and_memory_of_their_own() {
    const PATIENCE: Duration = Duration::from_millis(60);
    let packets = "udp,dport=7000..7002,size=106,rate=20Mbps,count=1e9";
    let served = Served::start(&["--pci"], &["--generate", packets]);
    let folder = ok(tempfile::tempdir());
    let printed = sharing(&served, &folder.path().join("shared.sock"), |name| {
        let [one, two, three] = [(); 3].map(|()| ok(Nic::open(name)));
        let copy = open_small(&one, &contexts(), "copy", &port(7000));
        let count = open_small(&two, &contexts(), "count", &port(7001));
        let stray = open_small(&three, &contexts(), "stray", &port(7002));
        let addresses = [&copy, &count, &stray].map(|context| ok(context.variable("total")).address());
        assert!(
            addresses[0] != addresses[1] && addresses[1] != addresses[2],
            "{addresses:x?}"
        );
        let seen = copy.host_memory();
        ok(one.wait_until("bytes of a packet", PATIENCE, || Ok(seen.load::<u64>(64)? != 0)));
        let counted = ok(count.variable("total"));
        ok(two.wait_until("packets", PATIENCE, || Ok(counted.load::<u32>(0)? > 5)));
        // No process reaches memory of others, by the server or by handlers, whose strays are refused.
        ok(ok(copy.variable("total")).store(0, 1_u32));
        let foreign = one.device().write_cluster(counted.address(), &[0; 4]);
        let error = foreign.expect_err("it is another's").to_string();
        assert!(error.contains("the NIC is shared"), "{error}");
        ok(three.wait_until("strays of handlers", PATIENCE, || {
            Ok(three
                .counters()?
                .get("host_write.outside")
                .is_some_and(|strays| strays > 0))
        }));
        assert_eq!(ok(two.stdout().lines()), [], "it does not tell programs apart");
        // Bounds are those of the process that shares the NIC.
        let more = count.set_share(Share {
            slots: 65,
            ..Share::default()
        });
        let error = more.expect_err("it is more").to_string();
        assert!(error.contains("this process may set 1 to 64"), "{error}");
        drop(stray);
        open_small(&three, &contexts(), "copy", &port(9));
    });
    assert!(printed.iter().any(|line| line.contains("packet ")), "{printed:?}");
}

#[test]
fn a_killed_process_of_a_function_frees_its_contexts() {
    // A simulated bus does not keep up with more.
    let packets = FOR_TWO.replace("100Mbps", "20Mbps");
    let served = Served::start(&["--pci"], &["--generate", &packets]);
    let folder = ok(tempfile::tempdir());
    sharing(&served, &folder.path().join("shared.sock"), kill_one);
}
