use crate::support::{Bench, Kind, ok};
use spinneret_rpc::Offer;
use spinneret_nic::services::{Pace, Paced};

#[test]
fn scratch_trace() {
    let bench = Bench::new();
    let offer = Offer { ports_per_hpu: std::env::var("PORTS").map_or(1, |p| p.parse().unwrap()), ..Offer::default() };
    let kind = match std::env::var("KIND").as_deref() { Ok("async") => Kind::Asynchronous, Ok("inc") => Kind::Increments, _ => Kind::Noops };
    let services = bench.services(&offer, None);
    let mut paced = Paced::new(vec![services], Pace::default());
    for round in 0..3 {
        bench.push(1, kind, 4, 0, &[]);
        if round == 2 { bench.simulated.borrow_mut().enable_trace(); bench.simulated.borrow_mut().enable_profile(); }
        let mut n = 0;
        while n == 0 {
            let now = bench.simulated.borrow().now_ps();
            let next = ok(paced.poll(now));
            ok(bench.simulated.borrow_mut().run_until(next));
            n = bench.answers().len();
        }
    }
    for t in bench.simulated.borrow_mut().take_trace() { if !matches!(t.what, spinneret_cluster::Passed::Written{offset: 0x90..=0xff, ..}) { println!("{} {:?}", t.clock, t.what) }; }
    
}
