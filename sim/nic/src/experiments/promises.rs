//! What is promised of messages of MPI's datatypes, and what was measured.

use super::ExperimentError;
use super::figure10::{MESSAGES, Point, Spec, TIMES, points};
use super::parallel::in_parallel;
use crate::mpi::{Exchange, PaperType, blocks, exchange};
use spinneret_fabric::Faults;

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
/// Windows: the paper's, one that is always full, and one for a message alone.
const NARROW: u16 = 1;
const WIDE: u16 = 16;
const ALONE: u16 = 64;

/// Something that holds if a figure is not below a bar.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Promise {
    /// Of what.
    pub what: String,
    /// Its unit, if it has one.
    pub unit: &'static str,
    /// The bar.
    pub bar: f64,
    /// The lowest figure.
    pub found: f64,
    /// Where that was.
    pub place: String,
}

impl Promise {
    /// Whether it holds.
    pub fn is_kept(&self) -> bool {
        self.found >= self.bar
    }

    /// The lowest of some figures, if there are some.
    fn of(
        what: String,
        unit: &'static str,
        bar: f64,
        figures: impl Iterator<Item = (String, f64)>,
    ) -> Option<Self> {
        let (place, found) = figures.min_by(|left, right| left.1.total_cmp(&right.1))?;
        Some(Self {
            what,
            unit,
            bar,
            found,
            place,
        })
    }
}

/// Points that promises are about: messages of some lengths with both windows, and a short one alone.
pub fn promised(elements: &[u64]) -> Vec<Spec> {
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

/// Measures all that is promised, with messages of so many elements.
///
/// # Errors
/// If a message does not arrive as it was sent.
pub fn promises(
    elements: &[u64],
    done: impl Fn(&Point) + Sync,
) -> Result<(Vec<Point>, Vec<Promise>), ExperimentError> {
    let points = points(&promised(elements), done)?;
    let mut promises = of_points(&points);
    promises.extend(of_blocks()?);
    promises.extend(of_bad_cables()?);
    Ok((points, promises))
}

/// What points say.
pub fn of_points(points: &[Point]) -> Vec<Promise> {
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
fn of_blocks() -> Result<Option<Promise>, ExperimentError> {
    let rates = in_parallel(&[1024, 512, 256, 128], |block| {
        let layout = blocks(*block, SHORTEST_BYTES)?;
        let done = exchange(&warm(Exchange::sixteen(layout, WIDE)))?;
        Ok::<_, ExperimentError>((format!("blocks of {block} B"), done.gbps()))
    })?;
    let what = format!("blocks of 128 B and more, 16 messages, window {WIDE}");
    Ok(Promise::of(what, "Gb/s", 9.0, rates.into_iter()))
}

/// The complex type on a bad cable, as a share of what a good one carries.
fn of_bad_cables() -> Result<Option<Promise>, ExperimentError> {
    let layout = PaperType::Complex.layout(SHORTEST)?;
    let rates = in_parallel(&[Faults::default(), FAULTS], |faults| {
        let how = warm(Exchange::sixteen(layout.clone(), WIDE));
        Ok::<_, ExperimentError>(
            exchange(&Exchange {
                faults: *faults,
                ..how
            })?
            .gbps(),
        )
    })?;
    let what = "complex with 5 % loss, 1 % doubled, 1 % reordered, of the rate without".to_owned();
    let place = format!("{:.2} of {:.2} Gb/s, window {WIDE}", rates[1], rates[0]);
    Ok(Promise::of(
        what,
        "",
        0.9,
        [(place, rates[1] / rates[0])].into_iter(),
    ))
}

/// Measured the second time.
fn warm(how: Exchange) -> Exchange {
    Exchange {
        rounds: 2,
        threads: 1,
        ..how
    }
}
