//! The shares of contexts: the HPU time that each has used, and the queue whose step is next.

use super::super::context_registers::initial;
use super::super::{ContextSettingIn, ContextTotalsIn, TASK_CLOCKS, TotalFields, WEIGHT, WEIGHTS};
use super::SchedulerShape;
use spinneret_regmap::shares;
use spinneret_verilog::prelude::*;

/// Bits of the price of a clock: 2^16 / weight.
pub(in super::super) const PRICE: usize = 16;
/// Clocks in which an HPU has no task between two of them: a task ends, ranges are set. They are charged too, as tasks would be the
/// cheaper the shorter they are.
pub const BETWEEN_TASKS: u64 = 26;
/// Bits of the clocks that are charged.
const CHARGED: usize = TASK_CLOCKS + 1;
/// Bits of the product of clocks and price.
const PRODUCT: usize = CHARGED + PRICE;
/// The lowest bits of a product, which are left out of the charge.
const FRACTION: usize = 10;
/// Bits of a charge.
const CHARGE: usize = PRODUCT - FRACTION;
/// Bits of a guess: a charge without its lowest bits.
const GUESS: usize = 25;
/// Clocks of a task with weight 1 whose charge is the guess after reset.
const FIRST_GUESS: u64 = 4096;
/// Bits of the charges of all tasks that can be under way in a context.
const PENDING: usize = CHARGE + 7;
/// Bits of virtual time. It wraps; times of contexts that have something to do differ by less than half of it.
const TIME: usize = PENDING + 2;

/// Chooses the queue whose step is next: one of the context that has used the least HPU time for its weight.
///
/// The virtual time of a context grows with the clocks of each task that ends and [`BETWEEN_TASKS`] more, divided by the weight. Until they end, tasks under way count as much as
/// those before on average, of which the last one is a quarter (after reset: as 4096 clocks with weight 1). A context without anything to do is never behind
/// the one that was chosen last. Queues of a context take turns.
///
/// All contexts are visited in a circle, one a clock: a visit adds what is to be paid, and compares.
#[module(shape: SchedulerShape, own: usize = shape.own_queue(), each: usize = 1 << shape.own_queue())]
pub struct ContextShares {
    /// Queue of the event. It stays until the clock after its last one.
    pub queue: Wire<In, { shape.queue() }>,
    /// The event is in its last clock.
    pub writes: Wire<In, bool>,
    /// From now on its queue has something to do.
    pub works: Wire<In, bool>,
    /// It was a step of `next`.
    pub steps: Wire<In, bool>,
    /// A task begins.
    pub begins: Wire<In, bool>,
    /// A task has ended; not while `busy`.
    pub ends: Wire<In, bool>,
    /// Its clocks. They stay until the clock after the event.
    pub clocks: Wire<In, { TASK_CLOCKS }>,
    /// Its budget was used up; as `clocks`.
    pub is_over: Wire<In, bool>,
    /// It failed; as `clocks`.
    pub failed: Wire<In, bool>,
    /// The clocks of a task are still to be added.
    pub busy: Wire<Out, bool>,
    /// A queue has the next step; until `steps`.
    pub valid: Wire<Out, bool>,
    /// It.
    pub next: Wire<Out, { shape.queue() }>,
    /// After reset: a context starts again.
    pub clears: Wire<In, bool>,
    /// It.
    pub cleared: Wire<In, { shape.context() }>,
    /// Weights, not 0.
    pub weight: ContextSettingIn<{ shape.context() }, { WEIGHT }>,
    /// Counters.
    pub totals: ContextTotalsIn<{ shape.context() }>,
    #[new(Ram::new(RamStyle::Distributed, shape.contexts, WEIGHT).holding("weights", vec![initial(&shares::WEIGHT).into(); shape.contexts]))]
    weights: Ram,
    /// Virtual times, guesses of the next task's charge, and tasks under way.
    times: Ram<{ RamStyle::Distributed }, { shape.contexts }, { TIME }>,
    #[new(Ram::new(RamStyle::Distributed, shape.contexts, GUESS).with_reads(2))]
    guesses: Ram,
    #[new(Ram::new(RamStyle::Distributed, shape.contexts, shape.running()).with_reads(2))]
    running: Ram,
    #[new(Ram::new(RamStyle::Distributed, shape.contexts, TotalFields::new().width).with_reads(2))]
    counts: Ram,
    /// The queue of each context that had the last step.
    #[new(Ram::new(RamStyle::Distributed, shape.contexts, own).holding("zero", Vec::new()))]
    lasts: Ram,
    /// Queues that have something to do.
    working: Reg<{ shape.queues }, Reset>,
    /// A task has begun or ended in the clock before, and which.
    began: Reg<bool, Reset>,
    ended: Reg<bool, Reset>,
    /// A charge that the next visit of its context adds.
    pays: Reg<bool, Reset>,
    payer: Reg<{ shape.context() }>,
    charge: Reg<{ CHARGE }>,
    visit: Reg<{ shape.context() }, Reset>,
    /// Contexts that are still to be visited before the next step is known.
    left: Reg<{ shape.context() + 1 }, Reset>,
    is_open: Reg<bool, Reset>,
    /// The best one so far: with the tasks under way, without, and its queue.
    has_best: Reg<bool, Reset>,
    best: Reg<{ TIME }>,
    best_time: Reg<{ TIME }>,
    best_queue: Reg<{ shape.queue() }>,
    is_known: Reg<bool, Reset>,
    /// Virtual time of the context that had the last step.
    now: Reg<{ TIME }, Reset>,
}

/// The price of a clock: 2^16 / weight.
#[kernel]
pub(in super::super) fn price_of(weight: Sig) -> Sig {
    let most = (1_u64 << PRICE) - 1;
    let prices = (1..=WEIGHTS).map(|number| {
        let price = ((1_u64 << PRICE) / number).min(most);
        (weight == number, constant(lit(price, PRICE)))
    });
    first(&prices.collect::<Vec<_>>(), constant(lit(most, PRICE)))
}

/// `a` is before `b`; both are virtual times.
#[kernel]
pub(in super::super) fn is_before(a: Sig, b: Sig) -> Sig<bool> {
    let difference = a - b;
    difference[difference.width() - 1]
}

#[kernel(ContextShares, suffix = shape.suffix())]
fn update() {
    let (own_queue, context) = queue.split_at(own);
    for number in 0..shape.queues {
        if writes && queue == number as u64 {
            working[number] = works;
        }
    }

    /// The charge of a task that ends, in the clock after its event.
    weights.write(weight.write, weight.context, weight.value);
    let price = reg(price_of(weights.read(0, context)));
    let charged = reg(clocks.resize(CHARGED) + BETWEEN_TASKS);
    let cost = reg((charged.resize(PRODUCT) * price.resize(PRODUCT)).slice(FRACTION, CHARGE));
    began = writes && begins;
    ended = writes && ends;
    let running_now = running.read(0, context);
    let running_next = if ended { running_now - 1 } else { running_now + 1 };
    running.write(
        began || ended || clears,
        if clears { cleared } else { context },
        if clears {
            lit(0, shape.running())
        } else {
            running_next
        },
    );
    let guess_before = guesses.read(1, context);
    let quarters =
        [guess_before, cost.slice(CHARGE - GUESS, GUESS)].map(|of| of.slice(2, GUESS - 2).resize(GUESS));
    guesses.write(
        ended || clears,
        if clears { cleared } else { context },
        if clears {
            constant(lit(FIRST_GUESS << PRICE >> FRACTION >> (CHARGE - GUESS), GUESS))
        } else {
            guess_before - quarters[0] + quarters[1]
        },
    );
    let fields = TotalFields::new();
    let old = fields.of(counts.read(0, context));
    let new = pack!(fields {
        tasks: old.tasks + 1,
        clocks: old.clocks + clocks.resize(fields.clocks.width),
        budget_ends: old.budget_ends + is_over.word().resize(fields.budget_ends.width),
        failures: old.failures + failed.word().resize(fields.failures.width),
    });
    counts.write(
        ended || clears,
        if clears { cleared } else { context },
        if clears { lit(0, fields.width) } else { new },
    );
    totals.words = counts.read(1, totals.context);

    /// A visit, first clock: what is known of the context.
    visit = visit + 1;
    let visited = reg(visit);
    let time = reg(times.read(0, visit));
    /// A circle begins in the clock in which the task of the last step is counted.
    let changes = (began || ended) && context == visit;
    let running_there = running.read(1, visit);
    let tasks = reg(if changes { running_next } else { running_there });
    let guess = reg(guesses.read(0, visit));
    let here = reg(working.at(cat!(visit, lit(0, own)), each));
    let last = reg(lasts.read(0, visit));

    /// Second clock: its time, the charge of its tasks under way, and its queue.
    let is_payer = pays && payer == visited;
    let is_late = !here.any() && is_before(time, now);
    let paid = first(&[(is_payer, time + charge.resize(TIME)), (is_late, now)], time);
    times.write(
        true,
        if clears { cleared } else { visited },
        if clears { lit(0, TIME) } else { paid },
    );
    let later = word_of((1..each).map(|number| here[number] && last < number as u64));
    let after = cat!(later, lit(0, 1));
    let among = if after.any() { after } else { here };
    let places: Vec<_> = (0..each)
        .map(|number| (among[number], constant(lit(number as u64, own))))
        .collect();
    let its_queue = reg(cat!(visited, first(&places, constant(lit(0, own)))));
    let its_time = reg(paid);
    let pending = reg(tasks.resize(PENDING) * guess.resize(PENDING));
    let works_2 = reg(here.any());

    /// Third clock: their sum. Fourth clock: the comparison.
    let sum = reg(its_time + cat!(pending, lit(0, CHARGE - GUESS)).resize(TIME));
    let time_3 = reg(its_time);
    let queue_3 = reg(its_queue);
    let works_3 = reg(works_2);
    let counted = is_open && left.any();
    let counts_3 = reg_reset(reg_reset(reg_reset(counted, false), false), false);
    let is_last = reg(reg(reg(left == 1)));
    if counted {
        left = left - 1;
    }
    let is_better = works_3 && (!has_best || is_before(sum, best));
    if counts_3 {
        if is_better {
            has_best = true;
            (best, best_time, best_queue) = (sum, time_3, queue_3);
        }
        if is_last {
            is_known = has_best || works_3;
            is_open = false;
        }
    }
    if !is_open && !is_known {
        is_open = true;
        left = shape.contexts as u64;
    }
    valid = is_known;
    next = best_queue;
    if writes && steps {
        is_known = false;
        has_best = false;
        now = best_time;
        is_open = true;
        left = shape.contexts as u64;
    }
    lasts.write(writes && steps, context, own_queue);

    if is_payer {
        pays = false;
    }
    if ended {
        pays = true;
        (payer, charge) = (context, cost);
    }
    busy = ended || pays;
    assume!(
        !(writes && ends && busy),
        "a task ends when the one before is paid"
    );
    assert!(
        !is_known || working[best_queue],
        "the next queue has something to do"
    );
}
