//! The tasks in each cluster, and the cluster for the next one.

use super::SchedulerShape;
use spinneret_verilog::prelude::*;

/// Chooses the cluster of a task: its home if that has room, else the one with the fewest tasks.
#[module(shape: SchedulerShape, load: usize = bit_width(shape.tasks))]
pub struct ClusterLoads {
    /// A cluster has room, as of two clocks ago.
    pub has_room: Wire<Out, bool>,
    /// Home cluster of the next task.
    pub home: Wire<In, { shape.cluster() }>,
    /// Its cluster, as of two clocks ago with two clusters, and four with eight.
    pub cluster: Wire<Out, { shape.cluster() }>,
    /// The task begins there.
    pub begins: Wire<In, bool>,
    /// A task has ended; not in a clock with `begins`. Tasks begin and end four clocks apart.
    pub ends: Wire<In, { shape.clusters }>,
    tasks: [Reg<{ load }, Reset>; shape.clusters],
    rooms: Reg<{ shape.clusters }, Reset>,
}

#[kernel(ClusterLoads, suffix = shape.suffix())]
fn update() {
    /// The one with the fewest tasks, by a comparison of two in each clock.
    let numbers = (0..shape.clusters).map(|number| constant(lit(number as u64, shape.cluster())));
    let mut round: Vec<(Sig, Sig)> = tasks.iter().copied().zip(numbers).collect();
    while round.len() > 1 {
        let is_last = round.len() == 2;
        let less = round.chunks_exact(2).map(|pair| {
            let ((count, number), (other, its_number)) = (pair[0], pair[1]);
            let is_less = other < count;
            let fewest = if is_less { other } else { count };
            let winner = reg(if is_less { its_number } else { number });
            (if is_last { fewest } else { reg(fewest) }, winner)
        });
        round = less.collect();
    }
    let emptiest = round[0].1;
    rooms = word_of(tasks.iter().map(|tasks| *tasks != shape.tasks as u64));
    has_room = rooms.any();
    cluster = if rooms[home] { home } else { emptiest };
    for (number, tasks) in tasks.iter().enumerate() {
        if begins && cluster == number as u64 {
            assert!(*tasks != shape.tasks as u64, "a task begins where there is room");
            *tasks = *tasks + 1;
        } else if ends[number] {
            assume!(tasks.any(), "a task ends once");
            *tasks = *tasks - 1;
        }
    }
}
