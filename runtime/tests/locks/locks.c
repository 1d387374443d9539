/*
 * Locks and atomics under contention. For tests of the cluster: run it on any number of HPUs at once, then read the
 * counters by their symbols. With T tasks, `locked`, `swapped` and `habit` are 5 T, `left` equals `right`, `torn` is 0.
 */
#include <handler.h>

#define ROUNDS 5

static spin_lock_t lock;
static spin_rw_lock_t rw_lock;
static spin_rw_lock_t habit_lock = {.num_readers = 32};
static volatile uint32_t locked, swapped, habit, left, right, torn;

/* Additions that are not atomic: any mistake of the lock loses some. */
static void count_locked(void) {
    spin_lock_lock(&lock);
    locked = locked + 1;
    spin_lock_unlock(&lock);
}

static void write_both(void) {
    spin_rw_lock_w_lock(&rw_lock);
    left = left + 1;
    right = right + 1;
    spin_rw_lock_w_unlock(&rw_lock);
}

static void read_both(void) {
    spin_rw_lock_r_lock(&rw_lock);
    if (left != right) {
        torn = 1;
    }
    spin_rw_lock_r_unlock(&rw_lock);
}

/* Public handlers begin with a count of 32 readers that do not exist: writers must not wait for these to leave. */
static void count_habit(void) {
    spin_rw_lock_r_lock(&habit_lock);
    spin_rw_lock_r_unlock(&habit_lock);
    spin_rw_lock_w_lock(&habit_lock);
    habit = habit + 1;
    spin_rw_lock_w_unlock(&habit_lock);
}

static void count_swapped(void) {
    uint32_t seen;
    do {
        seen = swapped;
    } while (compare_and_swap(&swapped, seen, seen + 1) != 0);
}

__handler__ void locks_ph(handler_args_t *args) {
    for (uint32_t i = 0; i < ROUNDS; ++i) {
        count_locked();
        if ((i + args->hpu_gid) % 3 == 0) {
            write_both();
        } else {
            read_both();
        }
        count_habit();
        count_swapped();
    }
}
