//! How long packets take, alone and in a crowd: on the real cluster and in the model.

use crate::bench::Bench;
use crate::loads::{Host, Load};
use crate::observe::Observe;
use crate::traces::{self, Line};
use anyhow::{Result, ensure};

/// Sizes of frames in bytes.
pub const SIZES: [usize; 5] = [60, 98, 342, 722, 1442];
/// Packets one by one, of which the first is cold; and packets together.
const ALONE: usize = 4;
const TOGETHER: usize = 48;

/// Clocks of the cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// From a packet's HER to its feedback, the first time: its program is not in the cache.
    pub cold: u64,
    /// The same, later.
    pub warm: u64,
    /// Of each of many packets that come at once, in tenths: from the first HER to the last feedback, by their number.
    pub crowd_tenths: u64,
}

/// Packets that come alone of which a trace is kept: the cold one and the next.
const TRACED: usize = 2;

/// Measures an example at one size; it is cold only at the first one. The first packets' trace comes with it.
///
/// # Errors
/// If packets stay on their way.
pub(crate) fn measure<B: Observe + 'static>(
    bench: &mut Bench<B>,
    host: &mut Host<B>,
    handlers: &'static str,
    size: usize,
) -> Result<(Figures, Vec<Line>)> {
    let (mut times, mut trace) = (Vec::new(), Vec::new());
    for (number, frame) in Load::frames(handlers, ALONE, size).into_iter().enumerate() {
        B::begin(&mut bench.nic.borrow_mut());
        bench.send([frame]);
        host.settle(bench)?;
        let happened = B::happened(&mut bench.nic.borrow_mut());
        let (came, freed) = (happened.came(), happened.freed().last().copied());
        if number < TRACED {
            trace.extend(traces::lines(number, &happened.passed));
        }
        let (Some(came), Some(freed)) = (came, freed) else {
            anyhow::bail!("a packet of {size} bytes did not reach the handlers of {handlers}");
        };
        times.push(freed - came);
    }
    host.take(&mut Vec::new())?;
    B::begin(&mut bench.nic.borrow_mut());
    bench.send(Load::frames(handlers, TOGETHER, size));
    host.settle(bench)?;
    host.take(&mut Vec::new())?;
    bench.wire();
    let happened = B::happened(&mut bench.nic.borrow_mut());
    let all = happened.freed();
    ensure!(
        all.len() == TOGETHER,
        "{} of {TOGETHER} packets came back from the cluster",
        all.len()
    );
    // It does not matter how header and completion handlers share the packets' time out.
    let all_of_it = happened.came().zip(all.last()).map(|(first, last)| last - first);
    let figures = Figures {
        cold: times[0],
        warm: times[1..].iter().sum::<u64>() / (times.len() - 1) as u64,
        crowd_tenths: all_of_it.unwrap_or_default() * 10 / TOGETHER as u64,
    };
    Ok((figures, trace))
}
