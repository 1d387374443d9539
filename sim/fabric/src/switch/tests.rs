use super::*;
use crate::cable::Faults;
use crate::number::Way;

const RATE: u64 = 100_000_000_000;
const BYTE_PS: Ps = 80;
const LATENCY: Ps = 500_000;
const DELAY: Ps = 300_000;

fn switch(mode: Mode, table: Table, ports: u32, buffer: u64) -> Switch {
    let port = |cable| SwitchPort {
        cable: Cable::new(Way { cable, from: 1 }, RATE, LATENCY, Faults::default(), 1).with_buffer(buffer),
        floods: true,
    };
    let config = SwitchConfig {
        mode,
        buffer_bytes: buffer,
        delay_ps: DELAY,
        table,
    };
    Switch::new(config, (0..ports).map(port).collect(), HashMap::new(), 1)
}

fn frame(to: u8, from: u8, size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size];
    bytes[..12].copy_from_slice(&[2, 0, 0, 0, 0, to, 2, 0, 0, 0, 0, from]);
    bytes
}

fn delivery(first_ps: Ps, bytes: Vec<u8>) -> Delivery {
    Delivery {
        born_ps: first_ps,
        first_ps,
        last_ps: first_ps + (bytes.len() as u64 + OVERHEAD_BYTES) * BYTE_PS,
        number: first_ps,
        is_bad: false,
        way: Way { cable: 0, from: 0 },
        bytes,
    }
}

/// Cables and first bits of what comes out.
fn out(switch: &mut Switch) -> Vec<(u32, Ps)> {
    let deliveries = switch.run(Ps::MAX, |_, _, _, _| {});
    deliveries
        .iter()
        .map(|one| (one.way.cable, one.first_ps))
        .collect()
}

#[test]
fn a_frame_is_sent_on_when_it_is_there() {
    let mut switch = switch(Mode::StoreAndForward, Table::Learning, 2, 1 << 20);
    switch.arrive(0, delivery(0, frame(9, 1, 1000)));
    assert_eq!(out(&mut switch), [(1, 1024 * BYTE_PS + DELAY + LATENCY)]);
}

#[test]
fn a_cut_through_switch_waits_for_the_header_only() {
    let mut switch = switch(Mode::CutThrough, Table::Learning, 2, 1 << 20);
    switch.arrive(0, delivery(0, frame(9, 1, 1000)));
    assert_eq!(out(&mut switch), [(1, 72 * BYTE_PS + DELAY + LATENCY)]);
}

#[test]
fn a_cut_through_switch_does_not_run_out_of_a_slow_frame() {
    let mut switch = switch(Mode::CutThrough, Table::Learning, 2, 1 << 20);
    let mut slow = delivery(0, frame(9, 1, 1000));
    slow.last_ps *= 10;
    switch.arrive(0, slow);
    assert_eq!(
        out(&mut switch),
        [(1, 9 * 1024 * BYTE_PS + DELAY + LATENCY)],
        "its last bits are sent when they are there"
    );
}

#[test]
fn addresses_are_learned_and_others_are_flooded() {
    let mut switch = switch(Mode::StoreAndForward, Table::Learning, 3, 1 << 20);
    switch.arrive(0, delivery(0, frame(2, 1, 60)));
    switch.arrive(1, delivery(10_000_000, frame(1, 2, 60)));
    switch.arrive(0, delivery(20_000_000, frame(2, 1, 60)));
    let cables: Vec<u32> = out(&mut switch).iter().map(|(cable, _)| *cable).collect();
    assert_eq!(cables, [1, 2, 0, 1]);
    switch.arrive(2, delivery(30_000_000, frame(9, 5, 60)));
    switch.arrive(2, delivery(40_000_000, frame(5, 6, 60)));
    assert_eq!(out(&mut switch).len(), 2, "the second is for its own side");
    let counts = switch.counts();
    assert!(counts.adds_up());
    assert_eq!((counts.flooded, counts.forwarded, counts.filtered), (2, 2, 1));
}

#[test]
fn a_full_queue_drops_and_the_other_ports_do_not_care() {
    let mut switch = switch(Mode::StoreAndForward, Table::Learning, 3, 10_000);
    switch.arrive(2, delivery(0, frame(0xff, 3, 60)));
    switch.run(1 << 40, |_, _, _, _| {});
    // Two ports at full rate for a third one.
    for number in 0..100 {
        for port in [0, 1] {
            let mut one = delivery((1 << 40) + number * 1024 * BYTE_PS, frame(3, port + 7, 1000));
            one.number = number;
            switch.arrive(port.into(), one);
        }
    }
    let sent = switch.run(Ps::MAX, |_, _, _, _| {}).len() as u64;
    let counts = switch.ports()[2].cable.counts();
    assert_eq!(counts.queue_full + sent, 200);
    assert!((85..100).contains(&counts.queue_full), "{}", counts.queue_full);
    assert!(counts.most_queued_bytes <= 10_000);
}

#[test]
fn wrong_frames_end_where_they_are_seen_to_be_wrong() {
    for (mode, passes) in [(Mode::StoreAndForward, 0), (Mode::CutThrough, 1)] {
        let mut switch = switch(mode, Table::Learning, 2, 1 << 20);
        let mut bad = delivery(0, frame(9, 1, 100));
        bad.is_bad = true;
        switch.arrive(0, bad);
        assert_eq!(out(&mut switch).len(), passes);
        assert_eq!(switch.counts().bad as usize, 1 - passes);
        assert!(switch.table.is_empty(), "nothing is learned from it");
    }
}

#[test]
fn flows_are_spread_over_equal_ways_and_stay_together() {
    let mut switch = switch(Mode::StoreAndForward, Table::Static, 5, 1 << 30);
    switch.table.insert([2, 0, 0, 0, 0, 9], vec![1, 2, 3, 4]);
    let mut used = [0; 5];
    for flow in 0..200_u16 {
        let mut ways = Vec::new();
        for round in 0..3_u64 {
            let builder = etherparse::PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 9])
                .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
                .udp(1000 + flow, 9330);
            let mut bytes = Vec::new();
            assert!(builder.write(&mut bytes, &round.to_le_bytes()).is_ok());
            switch.arrive(0, delivery(u64::from(flow) * 1_000_000 + round, bytes));
            ways.extend(out(&mut switch).iter().map(|(cable, _)| *cable as usize));
        }
        assert!(
            ways.len() == 3 && ways.iter().all(|way| *way == ways[0]),
            "{ways:?}"
        );
        used[ways[0]] += 1;
    }
    assert!(used[1..].iter().all(|used| (30..70).contains(used)), "{used:?}");
}
