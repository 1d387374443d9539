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
    /// Its cluster, as of two clocks ago.
    pub cluster: Wire<Out, { shape.cluster() }>,
    /// The task begins there.
    pub begins: Wire<In, bool>,
    /// A task has ended; not in a clock with `begins`.
    pub ends: Wire<In, { shape.clusters }>,
    tasks: [Reg<{ load }, Reset>; shape.clusters],
    rooms: Reg<{ shape.clusters }, Reset>,
    emptiest: Reg<{ shape.cluster() }>,
}

#[kernel(ClusterLoads, suffix = shape.suffix())]
fn update() {
    let (mut least, mut least_at) = (tasks[0], constant(lit(0, shape.cluster())));
    for (number, tasks) in tasks.iter().enumerate().skip(1) {
        let is_less = *tasks < least;
        least_at = if is_less {
            lit(number as u64, shape.cluster())
        } else {
            least_at
        };
        least = if is_less { *tasks } else { least };
    }
    emptiest = least_at;
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
