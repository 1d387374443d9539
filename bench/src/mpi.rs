//! `./dev bench mpi`: messages of MPI datatypes between two simulated NICs, compared with bars.

use crate::experiments::{MESSAGES, Point, Spec, TIMES, in_parallel, points};
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};
use spinneret_fabric::Faults;
use spinneret_nic::mpi::{Exchange, HostLatencies, Multiplication, PaperType, blocks, exchange};
use spinneret_nic::nic::NicConfig;
use spinneret_table::bench::Bars;
use spinneret_table::{figures, say};

/// A bad cable.
const FAULTS: Faults = Faults {
    loss: 0.05,
    duplication: 0.01,
    reordering: 0.01,
    corruption: 0.0,
};
/// Elements of a message of the paper's shortest, and their bytes.
const SHORTEST: u64 = 2;
const SHORTEST_BYTES: i64 = 221_184;
/// Windows: the paper's, one that is always full, and one for a single message.
const NARROW: u16 = 1;
const WIDE: u16 = 16;
const ALONE: u16 = 64;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Message sizes in elements of 110592 B; the paper's are 2, 4, ... 20, which take an hour
    #[arg(long, value_name = "COUNT", value_delimiter = ',', default_values_t = [2, 4])]
    elements: Vec<u64>,
}

/// Something that holds if a figure is not below a bar.
#[derive(Clone, Debug, Serialize)]
struct Promise {
    what: String,
    unit: &'static str,
    bar: f64,
    /// The lowest figure and its case.
    found: f64,
    place: String,
}

impl Promise {
    fn is_kept(&self) -> bool {
        self.found >= self.bar
    }

    /// Returns the lowest of some figures, if any.
    fn of(
        what: String,
        unit: &'static str,
        bar: f64,
        figures: impl IntoIterator<Item = (String, f64)>,
    ) -> Option<Self> {
        let lowest = figures
            .into_iter()
            .min_by(|left, right| left.1.total_cmp(&right.1));
        let (place, found) = lowest?;
        Some(Self {
            what,
            unit,
            bar,
            found,
            place,
        })
    }
}

pub(crate) fn run(arguments: &Arguments, bars: &mut Bars) -> Result<Value> {
    let (nic, host) = (NicConfig::default(), Multiplication::paper());
    let points = points(&nic, &host, &promised(&arguments.elements), |point| {
        eprintln!("{point}")
    })?;
    let mut promises = of_points(&points);
    promises.extend(of_blocks()?);
    promises.extend(of_bad_cables()?);
    let mut table = figures(["simulated", "bar", "lowest", "", "at", ""], &[0, 3, 4, 5]);
    for promise in &promises {
        let digits = if promise.unit.is_empty() { 3 } else { 2 };
        let cells = [
            promise.what.clone(),
            promise.bar.to_string(),
            format!("{:.digits$}", promise.found),
            promise.unit.to_owned(),
            promise.place.clone(),
        ];
        table.add_row(bars.row(cells, promise.is_kept()));
    }
    println!("{table}");
    say(format_args!(
        "All of it is simulated: NICs at 250 MHz, clusters at 40 MHz. A look of the host takes {:?}, a word that it \
         writes {:?}, one that it reads {:?}; prices times {}: so much more. The host that sends takes no time.",
        HostLatencies::STATED.look,
        HostLatencies::STATED.written,
        HostLatencies::STATED.read,
        TIMES[1]
    ));
    let kept: Vec<bool> = promises.iter().map(Promise::is_kept).collect();
    Ok(json!({ "promises": promises, "kept": kept, "points": points }))
}

/// Points that bars are about: messages of some lengths with both windows, and a short one alone.
fn promised(elements: &[u64]) -> Vec<Spec> {
    let sixteen = elements.iter().flat_map(|&elements| {
        PaperType::ALL.into_iter().flat_map(move |kind| {
            [NARROW, WIDE].map(|window| Spec {
                kind,
                window,
                messages: MESSAGES,
                elements,
            })
        })
    });
    let alone = PaperType::ALL.map(|kind| Spec {
        kind,
        window: ALONE,
        messages: 1,
        elements: SHORTEST,
    });
    alone.into_iter().chain(sixteen).collect()
}

fn of_points(points: &[Point]) -> Vec<Promise> {
    let mut promises = Vec::new();
    for (window, bars) in [(NARROW, [10.0, 8.0]), (WIDE, [14.0, 11.0])] {
        for (kind, bar) in PaperType::ALL.into_iter().zip(bars) {
            let found = sixteen(points, kind, window);
            let found = found.map(|point| (place(point), point.done.alone.gbps()));
            let what = format!("{}, 16 messages, window {window}", kind.name());
            promises.extend(Promise::of(what, "Gb/s", bar, found));
        }
    }
    for (number, times) in TIMES.into_iter().enumerate() {
        let ratio = |point: &Point| Some((place(point), point.done.trials.get(number)?.ratio()));
        let dear = match times {
            1 => String::new(),
            times => format!(", prices times {times}"),
        };
        for kind in PaperType::ALL {
            for window in [NARROW, WIDE] {
                let what = format!("R of {}, 16 messages, window {window}{dear}", kind.name());
                let found = sixteen(points, kind, window).filter_map(ratio);
                promises.extend(Promise::of(what, "", 0.99, found));
            }
            let alone = points.iter().filter(|point| {
                point.spec.kind == kind && point.spec.messages == 1 && point.spec.elements == SHORTEST
            });
            let what = format!("R of {}, one message{dear}", kind.name());
            promises.extend(Promise::of(what, "", 0.98, alone.filter_map(ratio)));
        }
    }
    promises
}

fn sixteen(points: &[Point], kind: PaperType, window: u16) -> impl Iterator<Item = &Point> {
    points.iter().filter(move |point| {
        point.spec.kind == kind && point.spec.window == window && point.spec.messages == MESSAGES
    })
}

fn place(point: &Point) -> String {
    format!("{} B", point.spec.bytes())
}

/// Strided blocks, with gaps as long.
fn of_blocks() -> Result<Option<Promise>> {
    let rates = in_parallel(&[1024, 512, 256, 128], |block| {
        let layout = blocks(*block, SHORTEST_BYTES)?;
        let done = exchange(&warm(Exchange::sixteen(layout, WIDE)))?;
        Ok((format!("blocks of {block} B"), done.gbps()))
    })?;
    let what = format!("blocks of 128 B and more, 16 messages, window {WIDE}");
    Ok(Promise::of(what, "Gb/s", 9.0, rates))
}

/// Throughput of the complex type on a lossy cable, relative to a good one.
fn of_bad_cables() -> Result<Option<Promise>> {
    let layout = PaperType::Complex.layout(SHORTEST)?;
    let rates = in_parallel(&[Faults::default(), FAULTS], |faults| {
        let how = warm(Exchange::sixteen(layout.clone(), WIDE));
        let faults = *faults;
        Ok(exchange(&Exchange { faults, ..how })?.gbps())
    })?;
    let what = "complex with 5 % loss, 1 % doubled, 1 % reordered, of the rate without".to_owned();
    let place = format!("{:.2} of {:.2} Gb/s, window {WIDE}", rates[1], rates[0]);
    Ok(Promise::of(what, "", 0.9, [(place, rates[1] / rates[0])]))
}

/// Measured the second time.
fn warm(how: Exchange) -> Exchange {
    Exchange {
        rounds: 2,
        threads: 1,
        ..how
    }
}
