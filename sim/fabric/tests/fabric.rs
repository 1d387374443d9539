//! Whole fabrics of NICs that are no hardware.

mod support;

use spinneret_fabric::topology::{NicConfig, Simple, Topology};
use spinneret_fabric::{Alone, ExternalWait, FabricError, NodeExit, NodeTask, Observer, Settings, run};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;
use support::{Threads, chatter, random_topology, simulate};

#[test]
fn every_frame_is_accounted_for_with_any_number_of_threads() {
    for seed in 0..40 {
        let topology = random_topology(seed);
        let one = simulate(&topology, 1, &mut Alone);
        one.adds_up()
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert!(one.nics.iter().any(|nic| nic.received > 0), "seed {seed}");
        assert!(one.cables.iter().all(|cable| cable.on_way == 0), "seed {seed}");
        for threads in [2, 8] {
            assert!(
                simulate(&topology, threads, &mut Alone) == one,
                "seed {seed}, {threads} threads"
            );
        }
    }
}

#[test]
fn results_do_not_depend_on_ranks() {
    for seed in 0..20 {
        let topology = random_topology(seed);
        let one = simulate(&topology, 2, &mut Alone);
        for size in [2, 3] {
            let reports: Vec<_> = std::thread::scope(|scope| {
                let ranks: Vec<_> = Threads::new(size)
                    .into_iter()
                    .map(|mut rank| {
                        let topology = &topology;
                        scope.spawn(move || simulate(topology, 2, &mut rank))
                    })
                    .collect();
                ranks
                    .into_iter()
                    .map(|rank| rank.join().expect("no rank fails"))
                    .collect()
            });
            assert!(reports[0] == one, "seed {seed}, {size} ranks");
        }
    }
}

fn pair() -> Topology {
    Simple::default().topology().expect("two NICs are a topology")
}

#[test]
fn a_failing_nic_ends_the_run_with_a_message() {
    let member = |name: &str, _: &NicConfig| -> NodeTask<'_> {
        let fails = name == "nic1";
        Box::new(move |mut port| {
            loop {
                if fails {
                    return Err(NodeExit::Failed("it is broken".to_owned()));
                }
                if port.exchange(u64::MAX).is_err() {
                    return Ok(());
                }
            }
        })
    };
    let failed = run(&pair(), Settings::default(), &mut Alone, &mut (), member);
    assert_eq!(
        failed.map_err(|error| error.to_string()),
        Err("nic1: it is broken".to_owned())
    );
}

#[test]
fn a_failing_rank_ends_all() {
    let topology = pair();
    let ended: Vec<_> = std::thread::scope(|scope| {
        let ranks: Vec<_> = Threads::new(2)
            .into_iter()
            .map(|mut rank| {
                let topology = &topology;
                scope.spawn(move || {
                    let member = |name: &str, _: &NicConfig| -> NodeTask<'_> {
                        let fails = name == "nic1";
                        Box::new(move |mut port| {
                            for step in 1.. {
                                if fails && step == 5 {
                                    return Err(NodeExit::Failed("it is broken".to_owned()));
                                }
                                if port.exchange(step * 1_000_000).is_err() {
                                    break;
                                }
                            }
                            Ok(())
                        })
                    };
                    run(topology, Settings::default(), &mut rank, &mut (), member)
                })
            })
            .collect();
        ranks
            .into_iter()
            .map(|rank| rank.join().expect("no panic"))
            .collect()
    });
    assert!(matches!(&ended[0], Err(FabricError::Elsewhere)), "{:?}", ended[0]);
    assert!(
        matches!(&ended[1], Err(FabricError::Nic { .. })),
        "{:?}",
        ended[1]
    );
}

/// Notes who held the others, and lets them go then.
struct Noted(Vec<(String, ExternalWait)>, mpsc::Sender<()>);

impl Observer for Noted {
    fn held(&mut self, by: &[(&str, ExternalWait)]) {
        self.0
            .extend(by.iter().map(|(name, why)| ((*name).to_owned(), *why)));
        let _ = self.1.send(());
    }
}

#[test]
fn a_blocking_node_is_named_and_uses_no_processor() {
    let (free, held) = mpsc::channel();
    let held = std::sync::Mutex::new(held);
    let member = |name: &str, _: &NicConfig| -> NodeTask<'_> {
        let (holds, held) = (name == "nic0", &held);
        Box::new(move |mut port| {
            if holds {
                let wait = || held.lock().map(|held| held.recv_timeout(Duration::from_secs(60)));
                let heard = port.outside(ExternalWait::ApplicationToAct, wait);
                return heard
                    .map_err(drop)
                    .and_then(|heard| heard.map_err(drop))
                    .map_err(|()| NodeExit::Failed("nobody".to_owned()));
            }
            while port.horizon_ps() < 10_000_000 {
                if port.exchange(10_000_000).is_err() {
                    break;
                }
            }
            Ok(())
        })
    };
    let mut watch = Noted(Vec::new(), free);
    let report = run(&pair(), Settings::default(), &mut Alone, &mut watch, member);
    assert!(report.is_ok(), "{report:?}");
    assert_eq!(watch.0, [("nic0".to_owned(), ExternalWait::ApplicationToAct)]);
}

#[test]
fn frames_for_a_terminated_nic_are_counted() {
    let member = |name: &str, config: &NicConfig| -> NodeTask<'_> {
        let (sends, number) = (name == "nic0", config.number);
        Box::new(move |port| match sends {
            true => chatter(port, number, 2, 20, 1),
            false => Ok(()),
        })
    };
    let report = run(&pair(), Settings::default(), &mut Alone, &mut (), member).expect("nothing fails");
    assert_eq!((report.nics[1].off, report.nics[1].received), (20, 0));
    assert_eq!(report.adds_up(), Ok(()));
}

#[test]
fn captures_contain_all_frames_in_time_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "[[nic]]\nname = 'a'\n[[nic]]\nname = 'b'\n[[nic]]\nname = 'c'\n[[switch]]\nname = 's'\n\
                [[cable]]\nbetween = ['a', 's']\n[[cable]]\nbetween = ['b', 's']\n[[cable]]\nbetween = ['s', 'c']\n\
                [[capture]]\nat = 'a'\nfile = 'a.pcap'\n[[capture]]\nat = 's'\ncable-to = 'a'\nfile = 's.pcap'\nframes = 'in'\n";
    let topology = Topology::parse("t", text, folder.path()).unwrap_or_else(|error| panic!("{error}"));
    let report = simulate(&topology, 2, &mut Alone);
    let read = |name: &str| -> Vec<Duration> {
        let reader =
            spinneret_packets::capture::CaptureReader::open(&folder.path().join(name)).expect("a capture");
        reader.map(|packet| packet.expect("whole").timestamp).collect()
    };
    let [a, s] = ["a.pcap", "s.pcap"].map(read);
    let passed = report.cables[0].counts.delivered + report.cables[1].counts.delivered;
    assert_eq!(a.len() as u64, passed);
    assert_eq!(s.len() as u64, report.cables[0].counts.delivered);
    assert!(a.is_sorted() && s.is_sorted());
}

#[test]
fn messages_name_the_line_and_the_problem_of_a_topology() {
    let two = "[[nic]]\nname = 'a'\n[[nic]]\nname = 'b'\n";
    let ring = "[[nic]]\nname = 'a'\n[[switch]]\nname = 's'\n[[switch]]\nname = 't'\n[[cable]]\nbetween = ['a', 's']\n\
                [[cable]]\nbetween = ['s', 't']\n";
    let wrong = [
        String::new(),
        two.to_owned(),
        format!("{two}[[nic]]\nname = 'a'\n"),
        format!("{two}[[cable]]\nbetween = ['a', 'x']\n"),
        format!("{two}[[cable]]\nbetween = ['a', 'a']\n"),
        format!("{two}[[cable]]\nbetween = ['a', 'b']\nrate = '5 Tbps'\n"),
        format!("{two}[[cable]]\nbetween = ['a', 'b']\nrate = '2000 Gbps'\n"),
        format!("{two}[[cable]]\nbetween = ['a', 'b']\nlatency = '5 ns'\n"),
        format!("{ring}[[cable]]\nbetween = ['t', 's']\n"),
        format!("{ring}[[cable]]\nbetween = ['t', 's']\nflood = false\nlos = 1\n"),
        "[[nic]]\nname = 'a'\n[[switch]]\nname = 's'\n[[cable]]\nbetween = ['a', 's']\nflood = false\n"
            .to_owned(),
        format!("{two}[[nic]]\nname = '../x'\n"),
        "[[nic]\n".to_owned(),
    ];
    let messages = wrong
        .iter()
        .map(|text| match Topology::parse("t", text, Path::new("")) {
            Ok(_) => panic!("accepted: {text}"),
            Err(error) => error.to_string(),
        });
    insta::assert_snapshot!(messages.collect::<Vec<_>>().join("\n"));
    let right = format!("{ring}[[cable]]\nbetween = ['t', 's']\nflood = false\n");
    assert!(Topology::parse("t", &right, Path::new("")).is_ok());
}
