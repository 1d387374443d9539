use crate::support::{Bench, Kind, ok};
use spinneret_nic::services::{Pace, Paced};
use spinneret_rpc::Offer;

#[test]
fn scratch_trace() {
    let bench = Bench::new();
    let offer = Offer {
        ports_per_hpu: std::env::var("PORTS").map_or(1, |p| p.parse().unwrap()),
        ..Offer::default()
    };
    let kind = match std::env::var("KIND").as_deref() {
        Ok("async") => Kind::Asynchronous,
        Ok("inc") => Kind::Increments,
        _ => Kind::Noops,
    };
    let services = bench.services(&offer, None);
    let mut paced = Paced::new(vec![services], Pace::default());
    let program = crate::support::program("tests/rpc");
    let mut last = (None, Vec::new());
    for round in 0..3 {
        bench.push(1, kind, std::env::var("N").map_or(40, |n| n.parse().unwrap()), 0, &[]);
        if round == 2 {
            bench.simulated.borrow_mut().enable_trace();
            bench.simulated.borrow_mut().enable_profile();
        }
        let mut n = 0; let t0 = std::time::Instant::now();
        while n == 0 && t0.elapsed().as_secs() < 10 {
            let now = bench.simulated.borrow().now_ps();
            let next = ok(paced.poll(now));
            if round == 2 {
                let address = program.variables["__spin_rpc"].address + 64;
                let host = spinneret_nic::device::HOST_BASE + 65536 + 64 + 64;
                loop {
                    let mut nic = bench.simulated.borrow_mut();
                    let now = nic.now_ps();
                    if now >= next {
                        break;
                    }
                    ok(nic.run_until((now + 4_000).min(next)));
                    let word = nic.cluster().memory().read(address, 4).map(|b| b.to_vec());
                    let mail = nic.host_memory().read(host, 4);
                    let clock = nic.cluster().now();
                    if last != (word.clone(), mail.clone()) {
                        println!("{clock} L2 {word:?} mailbox {mail:?}");
                        last = (word, mail);
                    }
                }
                println!("{} poll", bench.simulated.borrow().cluster().now());
            }
            ok(bench.simulated.borrow_mut().run_until(next));
            n = bench.answers().len();
        }
    }
    for (a, s) in bench.simulated.borrow().cluster().profile().unwrap().spent() {
        println!("P {a:x} {} {} {}", s.times, s.clocks, s.waited);
    }
    for t in bench.simulated.borrow_mut().take_trace() {
        if !matches!(
            t.what,
            spinneret_cluster::Passed::Written {
                offset: 0x90..=0xff,
                ..
            }
        ) {
            println!("{} {:?}", t.clock, t.what)
        };
    }
}
