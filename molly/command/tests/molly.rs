//! The command, without a launcher and under each MPI.

#[path = "../../../mpi/sys/tests/support/launch.rs"]
mod launch;

use clap::Parser;
use launch::{Installed, Program, each_mpi};
use spinneret_nic::fabric::{FabricArguments, fabric};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_molly");

/// Steps of Game of Life over NICs, of 256x256 cells then: 100 in a soak.
const STEPS: &str = "MOLLY_NIC_STEPS";

/// The output of a command.
fn output(arguments: &[&str]) -> String {
    let ended = Program::new(arguments).run();
    assert_eq!(ended.code, Some(0), "{arguments:?}: {ended:?}");
    ended.output
}

/// The error message of a command that fails.
fn refusal(arguments: &[&str]) -> String {
    let ended = Program::new(arguments).run();
    assert_eq!(
        (ended.code, &ended.output[..]),
        (Some(2), ""),
        "{arguments:?}: {ended:?}"
    );
    ended.errors
}

#[test]
fn a_plan_is_a_table_of_80_columns() {
    let text = output(&[
        "plan",
        "life9",
        "--size",
        "1024",
        "--geometry",
        "8x8",
        "--steps",
        "3",
    ]);
    let row = text
        .lines()
        .find(|line| line.contains("each turn of loop 1"))
        .unwrap();
    let fields: Vec<&str> = row.split_whitespace().collect();
    // Chunks, messages and elements; on the torus there is a message to each of eight neighbours.
    assert_eq!(fields[7..9], ["512", "33024"], "{text}");
    for program in ["heat", "dslash", "lu", "product", "wave"] {
        let text = output(&["plan", program, "--size", "8", "--geometry", "2x2"]);
        let long = text.lines().find(|line| line.chars().count() > 80);
        assert_eq!(long, None, "{program}");
    }
}

#[test]
fn the_documented_plan_is_what_is_printed() {
    let book = include_str!("../../../docs/molly.md");
    let (_, documented) = book.split_once("$ molly plan five --geometry 2\n").unwrap();
    let (documented, _) = documented.split_once("```").unwrap();
    // Except for times, which differ from run to run, and the figures that follow from them.
    let known = |text: &str| -> Vec<Vec<String>> {
        let is_time = |word: &&str| word.parse::<f64>().is_ok_and(|_| word.contains('.'));
        let words = |line: &str| {
            let words = line.trim_matches('─').split_whitespace();
            let words = words.filter(|word| !is_time(word) && !["NIC", "host"].contains(word));
            words.map(str::to_owned).collect()
        };
        text.lines().map(words).collect()
    };
    assert_eq!(
        known(documented),
        known(&output(&["plan", "five", "--geometry", "2"]))
    );
}

#[test]
fn ranks_that_take_turns_send_less_often() {
    let arguments = [
        "gauss-seidel",
        "--size",
        "64",
        "--geometry",
        "2x2",
        "--steps",
        "3",
    ];
    let with = |first: &[&str], last: &[&str]| output(&[first, &arguments, last].concat());
    let turns = with(&["plan"], &["--pipeline", "1000"]);
    assert!(turns.contains("Ranks take turns over u (line "), "{turns}");
    let messages = |text: &str| {
        text.lines()
            .find(|line| line.starts_with("All chunks"))
            .map(str::to_owned)
    };
    assert_eq!(messages(&turns).unwrap(), "All chunks: 24 messages, 744 elements");
    assert_eq!(
        messages(&with(&["plan"], &["--pipeline", "off"])).unwrap(),
        "All chunks: 204 messages, 744 elements"
    );
    // The root of 32 rows times 2000 instances for a message by 32 instances of a row is more than all rows.
    let chosen = with(&["plan"], &["--pipeline", "auto"]);
    assert!(
        chosen.contains(": each waits for 32 rows of those before it\n"),
        "{chosen}"
    );
    assert_eq!(messages(&with(&["plan"], &[])), messages(&chosen));
    for rows in ["5", "auto"] {
        let checked = with(&["check"], &["--pipeline", rows]);
        assert!(checked.contains("the bits of the serial run"), "{checked}");
    }
}

#[test]
fn a_plan_is_json_and_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.svg");
    let arguments = [
        "plan",
        "life5",
        "--geometry",
        "2x2",
        "--json",
        "--svg",
        file.to_str().unwrap(),
    ];
    let plan: serde_json::Value = serde_json::from_str(&output(&arguments)).unwrap();
    let channel = &plan["channels"][1];
    assert_eq!(
        (&channel["messages_per_chunk"], &channel["elements_per_chunk"]),
        (&8.into(), &4088.into())
    );
    let picture = std::fs::read_to_string(&file).unwrap();
    // Four ranks and the background; an arrow for each message of both channels.
    assert_eq!(picture.matches("<title>").count(), 16, "{picture}");
    // Rank 3 has a rank above and one to the left: it receives a row, which needs no copy in pieces, and a column.
    let runs = |halo: &serde_json::Value| (halo["from"][0].as_u64(), halo["run_bytes"].as_f64());
    let halos: Vec<_> = plan["halos"].as_array().unwrap().iter().map(runs).collect();
    let [column, row] = [(Some(2), Some(1.0)), (Some(1), Some(511.0))];
    assert_eq!(halos, [row, column, row, column], "{plan}");
    assert!(plan["halos"][0]["host_us"].as_f64() < plan["halos"][1]["host_us"].as_f64());
    let unwritten = Program::new(&["plan", "life5", "--svg", "/nowhere/plan.svg"]).run();
    assert_eq!(unwritten.code, Some(1), "{unwritten:?}");
    assert!(
        unwritten
            .errors
            .starts_with("molly: /nowhere/plan.svg cannot be written: "),
        "{unwritten:?}"
    );
}

#[test]
fn reports_invalid_arguments() {
    for (arguments, said) in [
        (
            &["plan", "nothing"][..],
            "molly: there is no program `nothing`; there are life5, ",
        ),
        (
            &["plan", "life5", "--size", "3x4x5"],
            "molly: --size 3x4x5: life5 has 2 dimensions; ",
        ),
        (
            &["run", "life5", "--geometry", "2x"],
            "molly: invalid grid `2x`: ",
        ),
        (
            &["plan", "life5", "--size", "0"],
            "molly: --size 0: `0` is no size; give a number from 1 to 1073741824",
        ),
        (
            &["run", "heat", "--size", "8x-1x8"],
            "molly: --size 8x-1x8: `-1` is no size; ",
        ),
        (
            &["check", "heat", "--size", "1073741825"],
            "molly: --size 1073741825: `1073741825` is no size; ",
        ),
        (
            &["plan", "dslash", "--size", "100000"],
            "molly: --size 100000: a field of 100000x100000x100000x100000 would have more than 17179869184 elements; ",
        ),
        (
            &["run", "heat", "--size", "100000x100000x100000"],
            "molly: --size 100000x100000x100000: a field of 100000x100000x100000 would have more than ",
        ),
        (
            &["check", "dslash", "--size", "1073741824"],
            "molly: --size 1073741824: a field of ",
        ),
        (
            &["check", "wave", "--size", "131072"],
            "molly: fields of 131072x131072 take 1920.0 GiB in each process, and this machine has ",
        ),
        (
            &["run", "life5", "--geometry", "1000x1000"],
            "molly: the grid 1000x1000 has 1000000 ranks, and at most 1024 run as threads of one process; ",
        ),
        (
            &["plan", "life5", "--geometry", "1000000"],
            "molly: the grid 1000000 has 1000000 ranks; plans are listed for at most 65536",
        ),
        (
            &["run", "life5", "--geometry", "25x41"],
            "molly: the grid 25x41 has 1025 ranks, and at most 1024 run as threads of one process; ",
        ),
        (
            &["check", "--geometry", "65536"],
            "molly: the grid 65536 has 65536 ranks, and at most 1024 run as threads of one process; ",
        ),
        (
            &["plan", "life5", "--geometry", "3000000000"],
            "molly: invalid grid `3000000000`: it has more than 2147483648 ranks",
        ),
        (
            &["plan", "life5", "--geometry", "2x0"],
            "molly: invalid grid `2x0`: each dimension needs at least 1 rank, as in 2x2",
        ),
    ] {
        let errors = refusal(arguments);
        assert!(
            errors.starts_with(said) && errors.lines().count() == 1,
            "{errors}"
        );
    }
}

#[test]
fn turns_of_no_rows_are_refused() {
    for rows in ["0", "-1", "many"] {
        let errors = refusal(&["plan", "gauss-seidel", &format!("--pipeline={rows}")]);
        let words = "give a number of rows from 1 to 4294967295, `auto`, or `off` for a message whenever a value is needed";
        assert!(errors.contains(words), "{errors}");
    }
}

#[test]
fn the_grid_can_be_a_variable() {
    let ended = Program::new(&["run", "five", "--size", "32"])
        .with("MOLLY_GEOMETRY", "3x1")
        .run();
    assert!(
        ended.output.starts_with("five, 32x32 on 3x1 (threads): "),
        "{ended:?}"
    );
    let ended = Program::new(&["plan", "five"])
        .with("MOLLY_GEOMETRY", "none")
        .run();
    assert_eq!(ended.code, Some(2), "{ended:?}");
}

#[test]
fn all_programs_match_the_serial_run_bit_by_bit() {
    let text = output(&["check", "--steps", "3", "--geometry", "3x2"]);
    assert_eq!(text.lines().count(), 12, "{text}");
    assert!(
        text.lines()
            .all(|line| line.contains("the bits of the serial run")),
        "{text}"
    );
}

#[test]
fn random_programs_under_mpi_match_the_serial_run() {
    each_mpi("random_programs_under_mpi_match_the_serial_run", |mpi| {
        for (ranks, seed, columns) in [
            (2, "0", "packed"),
            (2, "300", "vector"),
            (4, "100", "vector"),
            (6, "200", "vector"),
        ] {
            let more = ["--random", "4", "--seed", seed, "--columns", columns];
            let ended = mpi.run(ranks, &[&["check"], &more[..]].concat());
            assert_eq!(ended.code, Some(0), "{mpi:?}, {ranks} ranks: {ended:?}");
            let said =
                format!("4 random programs from seed {seed} on: all ranks read what a serial run reads");
            assert!(ended.output.starts_with(&said), "{ended:?}");
        }
    });
}

#[test]
fn programs_under_mpi_match_the_serial_run_bit_by_bit() {
    each_mpi("programs_under_mpi_match_the_serial_run_bit_by_bit", |mpi| {
        for (program, ranks, steps) in [
            ("life5", 2, "100"),
            ("life9", 4, "100"),
            ("heat", 2, "4"),
            ("gauss-seidel", 4, "4"),
            ("lu", 2, "4"),
            ("relax", 4, "4"),
        ] {
            let ended = mpi.run(ranks, &["check", program, "--steps", steps]);
            assert_eq!(ended.code, Some(0), "{mpi:?}, {program}: {ended:?}");
            assert!(ended.output.contains("the bits of the serial run"), "{ended:?}");
        }
    });
}

/// Columns, rows, faces and corners straight out of fields and into them: all programs, some of which stay packed, and
/// messages that are too long to be sent before the receiver takes them.
#[test]
fn zero_copy_messages_match_the_serial_run_bit_by_bit() {
    each_mpi("zero_copy_messages_match_the_serial_run_bit_by_bit", |mpi| {
        for (ranks, given, programs) in [
            (2, &["--geometry", "1x2"][..], 12),
            (2, &["five", "--size", "1500", "--geometry", "2x1"], 1),
            (4, &["five", "--size", "1500", "--geometry", "2x2"], 1),
            (4, &["life9", "--geometry", "4x1"], 1),
            (6, &["heat", "--geometry", "2x3"], 1),
        ] {
            let way = ["--columns", "vector", "--steps", "4"];
            let ended = mpi.run(ranks, &[&["check"], given, &way].concat());
            assert_eq!(ended.code, Some(0), "{mpi:?}, {given:?}: {ended:?}");
            let same = ended
                .output
                .lines()
                .filter(|line| line.contains("the bits of the serial run"));
            assert_eq!(same.count(), programs, "{mpi:?}, {given:?}: {ended:?}");
        }
        // The message at the beginning and those of each step.
        for (columns, copied) in [("vector", 0), ("packed", 4 * 22 * 4)] {
            let given = [
                "run",
                "five",
                "--geometry",
                "1x2",
                "--size",
                "24",
                "--steps",
                "4",
                "--json",
            ];
            let ended = mpi.run(2, &[&given[..], &["--columns", columns]].concat());
            let said: serde_json::Value = serde_json::from_str(&ended.output).unwrap();
            let found = (&said["packed"], &said["unpacked"]);
            assert_eq!(
                found,
                (&copied.into(), &copied.into()),
                "{mpi:?}, {columns}: {ended:?}"
            );
        }
    });
}

#[test]
fn a_plan_says_which_messages_are_packed() {
    let way = |program: &str, grid: &str, columns: &str| {
        let given = [
            "plan",
            program,
            "--size",
            "64",
            "--geometry",
            grid,
            "--columns",
            columns,
        ];
        let text = output(&given);
        let words = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>());
        let mut sent = words.filter(|words| words.starts_with(&["now", "each"]) && words.contains(&"to"));
        let line = sent.next().unwrap_or_else(|| panic!("{text}"));
        line[6..].join(" ")
    };
    // A row and a column of two fields that exchange what is stored, and a row of one that is copied to.
    assert_eq!(way("five", "2x1", "auto"), "to 0 1 straight one piece");
    assert_eq!(way("five", "2x1", "packed"), "to 0 1 packed asked for");
    assert_eq!(way("five", "1x2", "auto"), "to 0 62 packed apart in memory");
    assert_eq!(way("five", "1x2", "vector"), "to 0 62 straight asked for");
    let copied = output(&[
        "plan",
        "five",
        "--size",
        "64",
        "--geometry",
        "2x1",
        "--no-exchange",
    ]);
    assert!(copied.contains("soon written again"), "{copied}");
}

/// `spinneret fabric`.
#[derive(Debug, Parser)]
struct Simulation {
    #[command(flatten)]
    fabric: FabricArguments,
}

/// A fabric whose NICs wait for ranks in a folder.
fn nics(folder: &Path, nics: usize) -> thread::JoinHandle<()> {
    let (number, folder_text) = (nics.to_string(), folder.to_str().unwrap());
    let bad = ["--loss", "1 %", "--duplication", "1 %", "--reordering", "1 %"];
    let words = ["fabric", "--nics", &number, "--sockets", folder_text].into_iter();
    let arguments = Simulation::parse_from(words.chain(bad));
    let served = thread::spawn(move || {
        fabric(&arguments.fabric).unwrap_or_else(|failure| panic!("{failure}"));
    });
    let begun = Instant::now();
    while (0..nics).any(|nic| !folder.join(format!("nic{nic}")).exists()) {
        assert!(begun.elapsed() < Duration::from_secs(100), "there is no fabric");
        thread::sleep(Duration::from_millis(5));
    }
    served
}

#[test]
fn nics_of_ranks_put_messages_in_place() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/examples/mpi_types");
    let handlers = spinneret_nic::run::program(&source, 2).unwrap_or_else(|error| panic!("{error}"));
    let handlers = handlers.to_str().unwrap();
    each_mpi("nics_of_ranks_put_messages_in_place", |mpi| {
        let program = match mpi {
            Installed::OpenMpi => "life5",
            Installed::Mpich => "gauss-seidel",
        };
        let folder = tempfile::tempdir().unwrap();
        let sockets = folder.path().join("nics");
        let served = nics(&sockets, 2);
        let more = ["--nic", sockets.to_str().unwrap(), "--handlers", handlers];
        let arguments = [
            &["check", program, "--steps", "3", "--geometry", "1x2"][..],
            &more,
        ]
        .concat();
        let ended = mpi.run(2, &arguments);
        assert_eq!(ended.code, Some(0), "{mpi:?}, {program}: {ended:?}");
        // In each step rank 0 gets one column from the right.
        let said = "; 3 put in place by the NIC of rank 0\n";
        assert!(ended.output.ends_with(said), "{ended:?}");
        served.join().unwrap();
    });
}

/// Ranks that are processes, each with its NIC, whose cables lose, double and reorder frames.
#[test]
fn life_over_nics_matches_the_serial_run_bit_by_bit() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/examples/mpi_types");
    let handlers = spinneret_nic::run::program(&source, 2).unwrap_or_else(|error| panic!("{error}"));
    let handlers = handlers.to_str().unwrap();
    let told = std::env::var(STEPS).ok();
    let steps = told.as_deref().unwrap_or("2");
    let size = if told.is_some() { "256" } else { "32" };
    let count: usize = steps.parse().expect("MOLLY_NIC_STEPS is a number");
    each_mpi("life_over_nics_matches_the_serial_run_bit_by_bit", |mpi| {
        // Program, ranks, grid, and messages that rank 0 gets in a step.
        let cases = [("life5", 2, "1x2", 1), ("life9", 4, "2x2", 3)];
        let short = usize::from(mpi == Installed::OpenMpi);
        for (number, (program, ranks, grid, messages)) in cases.into_iter().enumerate() {
            if told.is_none() && number != short {
                continue;
            }
            let folder = tempfile::tempdir().unwrap();
            let sockets = folder.path().join("nics");
            let served = nics(&sockets, ranks);
            let ended = mpi.run(
                ranks,
                &[
                    "check",
                    program,
                    "--size",
                    size,
                    "--steps",
                    steps,
                    "--geometry",
                    grid,
                    "--nic",
                    sockets.to_str().unwrap(),
                    "--handlers",
                    handlers,
                ],
            );
            assert_eq!(ended.code, Some(0), "{mpi:?}, {program}: {ended:?}");
            let said = format!("; {} put in place by the NIC of rank 0\n", messages * count);
            assert!(ended.output.ends_with(&said), "{mpi:?}, {program}: {ended:?}");
            served.join().unwrap();
        }
    });
}

#[test]
fn nics_require_mpi() {
    let errors = refusal(&["check", "life5", "--nic", "/nowhere", "--handlers", PROGRAM]);
    assert_eq!(
        errors,
        "molly: --nic /nowhere: each rank with a NIC is a process; start them by mpirun -n RANKS\n"
    );
}

#[test]
fn grid_that_does_not_match_the_ranks_is_refused_once() {
    each_mpi("grid_that_does_not_match_the_ranks_is_refused_once", |mpi| {
        let ended = mpi.run(2, &["run", "life5", "--geometry", "3"]);
        assert_eq!(ended.code, Some(2), "{mpi:?}: {ended:?}");
        let said: Vec<&str> = ended
            .errors
            .lines()
            .filter(|line| line.starts_with("molly: "))
            .collect();
        let expected = "molly: the grid 3 has 3 ranks, and 2 were started; start 3, or name another grid";
        assert_eq!(said, [expected], "{mpi:?}: {ended:?}");
    });
}
