//! Compares the model with recordings of the PULP cluster.

use spinneret_interop::examples::{SIZES, run_example};
use spinneret_interop::probes::{self, ACCESSES, AccessKind, OPERATIONS};
use spinneret_interop::workloads::EXAMPLES;
use spinneret_interop::{compare, contexts, recorded, traces};
use spinneret_nic::Simulated;
use spinneret_nic::nic::NicConfig;
use spinneret_nic::run::Hpus;

fn nic(watchdog: u64) -> Simulated {
    let mut config = NicConfig::default();
    config.cluster.watchdog = watchdog;
    with(config)
}

/// With the public cluster's defects.
fn strict() -> Simulated {
    let mut config = NicConfig::default();
    config.cluster.watchdog = 1_000_000;
    config.cluster.is_strict = true;
    with(config)
}

fn with(config: NicConfig) -> Simulated {
    Simulated::new(config).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn operation_costs_match() {
    let real = recorded::read_costs().unwrap_or_else(|error| panic!("{error:#}"));
    let model =
        probes::measure_costs(strict(), Hpus::Pspin, |_| ()).unwrap_or_else(|error| panic!("{error:#}"));
    assert_eq!(real.len(), model.len());
    let wrong: Vec<_> = real
        .iter()
        .zip(&model)
        .filter(|(real, model)| !compare::cost_fits(real, model, compare::BANKS))
        .collect();
    let told = wrong.iter().map(|(real, model)| {
        format!(
            "{}: {:?}, in the model {:?}",
            OPERATIONS[real.operation], real.hundredths, model.hundredths
        )
    });
    assert!(wrong.is_empty(), "{}", told.collect::<Vec<_>>().join("\n"));
}

#[test]
fn accesses_match_or_are_rejected() {
    let real = recorded::read_answers().unwrap_or_else(|error| panic!("{error:#}"));
    let model = probes::probe_accesses(nic(2000), |_, _| ()).unwrap_or_else(|error| panic!("{error:#}"));
    assert_eq!(real.len(), ACCESSES.len());
    let pairs = ACCESSES.iter().zip(real.iter().zip(&model));
    let wrong = pairs.filter(|(_, (real, model))| !compare::answers_fit(**real, **model));
    let told: Vec<_> = wrong
        .map(|((what, kind, _), (real, model))| format!("{what}, {kind:?}: {real}, in the model {model}"))
        .collect();
    assert!(told.is_empty(), "{}", told.join("\n"));
}

#[test]
fn accesses_of_a_strict_model_match() {
    let real = recorded::read_answers().unwrap_or_else(|error| panic!("{error:#}"));
    let model = probes::probe_accesses(strict(), |_, _| ()).unwrap_or_else(|error| panic!("{error:#}"));
    let pairs = ACCESSES.iter().zip(real.iter().zip(&model));
    let told: Vec<_> = pairs
        .filter(|(_, (real, model))| real != model)
        // The halves of a misaligned atomic operation are two operations there; this is not modelled.
        .filter(|((_, kind, address), _)| *kind != AccessKind::Add || address % 4 == 0)
        .map(|((what, kind, _), (real, model))| format!("{what}, {kind:?}: {real}, in the model {model}"))
        .collect();
    assert!(told.is_empty(), "{}", told.join("\n"));
}

/// Compares events at HPUs and ports, their order and time, and packet times.
#[test]
fn packet_traces_and_times_match() {
    let mut told = Vec::new();
    for name in EXAMPLES {
        let Ok(real) = recorded::read_example(name) else {
            continue;
        };
        let model = run_example(nic(1_000_000), name, Hpus::Pspin, [0, 0], &mut |_| ());
        let model = model.unwrap_or_else(|error| panic!("{name}: {error:#}"));
        for (row, (size, (real, model))) in SIZES.iter().zip(real.iter().zip(&model.figures)).enumerate() {
            told.extend(compare::figures_differ(
                name,
                *size,
                row == 0,
                [real, model],
                compare::CROWD_PERCENT,
            ));
        }
        // How often it asks the host is a matter of time.
        if !name.ends_with("host_ping") {
            let real = recorded::read_trace(name).unwrap_or_else(|error| panic!("{name}: {error:#}"));
            let fits_the_cache = !name.ends_with("/slmp");
            let differ = traces::differences(&real, &model.trace, fits_the_cache);
            told.extend(differ.into_iter().map(|text| format!("{name}, {text}")));
        }
    }
    assert!(told.is_empty(), "cluster and model differ:\n{}", told.join("\n"));
}

/// Each context counts, copies or fetches for itself. One writes to another's memory, which must have no effect
/// unless the cluster does not report contexts, as the PULP cluster: then 5 bytes change there.
#[test]
fn four_contexts_are_isolated() {
    for (nic, copied) in [(nic(1_000_000), 18), (strict(), 23)] {
        let told = contexts::four_contexts(&nic).unwrap_or_else(|error| panic!("{error:#}"));
        let count = |start: &str| told.iter().filter(|line| line.starts_with(start)).count();
        assert_eq!(count("printed packet "), 8, "{told:#?}");
        assert_eq!(count("reply "), 8, "{told:#?}");
        for line in [
            "printed packet 7",
            "count: counted 8, 0 bytes in host memory",
            &format!("copy: counted 0, {copied} bytes in host memory"),
            "fetch: counted 0, 1 bytes in host memory",
            "stray: counted 8, 0 bytes in host memory",
            "ingress.matched 32",
        ] {
            assert!(
                told.iter().any(|told| told == line),
                "{line} is missing in {told:#?}"
            );
        }
    }
}

/// The defects of the PULP cluster do not show: packets are spaced so that some do not matter, and the runtime avoids
/// the others.
#[test]
fn examples_work_with_the_public_defects() {
    for name in EXAMPLES {
        let [one, other] = [nic(1_000_000), strict()].map(|nic| {
            run_example(nic, name, Hpus::Pspin, [20, 100], &mut |_| ())
                .unwrap_or_else(|error| panic!("{name}: {error:#}"))
        });
        assert_eq!(compare::differences(name, &one, &other), [""; 0], "{name}");
        // All SLMP segments are acknowledged, and all messages arrive except the one that the last packets start.
        if name.ends_with("/slmp") {
            assert_eq!((one.outcome.replies.len(), one.outcome.messages.len()), (120, 7));
        }
    }
}

#[test]
fn locks_and_atomic_operations_count_correctly() {
    for (what, found, wanted) in
        contexts::locks(&nic(1_000_000), contexts::PATIENCE).unwrap_or_else(|error| panic!("{error:#}"))
    {
        assert_eq!(found, wanted, "{what}");
    }
}
