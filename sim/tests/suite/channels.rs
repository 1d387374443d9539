//! Channels, on the valid, ready and payload ports of the stream fixtures.

use crate::support::{limited, panic_message};
use spinneret_fixtures::{FixtureChangesPayload, FixtureDropsValid, FixtureFork, FixtureSlice};
use spinneret_sim::prelude::*;

const FIELDS: &[&str] = &["data", "id"];

fn channels<M: Model>() -> (Simulation<M>, ChannelSource, ChannelSink) {
    let mut sim = limited::<M>(10_000);
    let source = sim.channel_source("s_axis_t", FIELDS, Pause::Random { percent: 20 });
    let sink = sim.channel_sink("m_axis_t", FIELDS, Pause::Bursty { busy: 8, idle: 8 });
    sim.reset();
    (sim, source, sink)
}

#[test]
fn items_pass_in_order_with_their_cycle() {
    let (mut sim, source, sink) = channels::<FixtureSlice>();
    let items: Vec<[u64; 2]> = (0..500)
        .map(|number| [number * 0x0010_0001, number % 4])
        .collect();
    items.iter().for_each(|item| source.send(item));
    sim.run_until(|_| sink.total() == 500);
    let received = sink.receive_all();
    assert!(received.windows(2).all(|pair| pair[0].cycle < pair[1].cycle));
    assert!(
        received
            .iter()
            .map(|item| &item.values[..])
            .eq(items.iter().map(|item| &item[..]))
    );
    assert!(source.is_idle());
    assert!(sink.counts().stalls > 0 && source.counts().beats == 500);
    sim.finish();
}

#[test]
fn broken_rules_are_found() {
    let (mut sim, source, _sink) = channels::<FixtureDropsValid>();
    (0..100).for_each(|number| source.send(&[number, 0]));
    let message = panic_message(|| sim.run(1000));
    assert!(
        message.contains("m_axis_t: valid went low before ready was high"),
        "{message}"
    );

    let (mut sim, source, _sink) = channels::<FixtureChangesPayload>();
    (0..100).for_each(|number| source.send(&[number, 0]));
    let message = panic_message(|| sim.run(1000));
    assert!(
        message.contains("m_axis_t: m_axis_tdata changed while valid was high"),
        "{message}"
    );
}

#[test]
fn items_that_are_left_are_found() {
    let (mut sim, source, _sink) = channels::<FixtureSlice>();
    source.send(&[1, 1]);
    sim.run(20);
    let message = panic_message(|| sim.finish());
    assert!(
        message.contains("m_axis_t: sink has received 1 items, 1 were not looked at"),
        "{message}"
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let (mut sim, source, _) = channels::<FixtureSlice>();
    assert_eq!(
        panic_message(|| source.send(&[0, 4])),
        "s_axis_t: 0x4 does not fit a field of 2 bits"
    );
    assert!(panic_message(|| source.send(&[0])).contains("s_axis_t: an item has 1 values for 2 fields"));
    assert_eq!(
        ChannelSource::attach(&mut sim, "s_axis_t", &["user"], Pause::Never)
            .expect_err("97 bits")
            .to_string(),
        "port `s_axis_tuser` of fixture_slice is 97 bits wide; a field of a channel needs at most 64 bits"
    );
    let mut sim = limited::<FixtureFork>(1);
    let error =
        ChannelSink::attach(&mut sim, "a_axis_t", &["size"], Pause::Never).expect_err("no such field");
    assert!(
        error
            .to_string()
            .starts_with("fixture_fork has no port `a_axis_t_size`"),
        "{error}"
    );
}
