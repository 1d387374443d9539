/*
 * Reads values of counters too late: slow PROGRAM PACKETS. Handlers push 101 values for each packet, to two counters. With 0
 * packets, waits until the NIC has disappeared.
 */
#include <fpspin/fpspin.h>
#include <unistd.h>

enum { NUMBERS, ANSWERS, WORDS };
/* In steps of a millisecond. */
#define PATIENCE 60000
/* After this number of steps without a value all packets are handled. */
#define QUIET 500

static fpspin_ctx_t ctx;

/* Takes values of both counters, at most `most` of each. */
static uint64_t take(int most) {
    uint64_t taken = 0;
    uint32_t value;
    for (int some = 0; some < most && fpspin_pop_counter(&ctx, NUMBERS, &value) == 1 && value < 100; some++) {
        taken++;
    }
    for (int some = 0; some < most && fpspin_pop_counter(&ctx, WORDS, &value) == 1; some++) {
        taken++;
    }
    return taken;
}

static uint64_t pushed(void) {
    return (uint64_t)fpspin_get_counter(&ctx, NUMBERS).count + fpspin_get_counter(&ctx, WORDS).count;
}

/* Waits until calls fail because the NIC has disappeared, and the library has found out as well. */
static void wait_for_the_end(void) {
    uint32_t value;
    for (int step = 0; step < PATIENCE && fpspin_pop_counter(&ctx, NUMBERS, &value) == 0; step++) {
        usleep(1000);
    }
    usleep(200000);
}

int main(int count, char **words) {
    fpspin_ruleset_t rules;
    fpspin_ruleset_udp(&rules);
    if (count != 3 || !fpspin_init(&ctx, "/dev/pspin0", words[1], 0, &rules, 1, 1)) {
        return 1;
    }
    printf("the context is open\n");
    fflush(stdout);
    if (strtoul(words[2], NULL, 10) == 0) {
        wait_for_the_end();
        return 0;
    }
    uint64_t taken = 0, all = 0;
    for (int step = 0, quiet = 0; quiet < QUIET && step < PATIENCE; step++) {
        usleep(1000);
        uint64_t before = all;
        all = pushed();
        quiet = all > 0 && all == before ? quiet + 1 : 0;
        /* Some values in the middle, and then the host is late again. */
        taken += taken == 0 && all > 100 ? take(40) : 0;
    }
    taken += take(1 << 16);
    uint64_t lost = fpspin_lost_values(&ctx);
    fpspin_exit(&ctx);
    printf("%llu pushed, %llu taken, %llu lost: ", (unsigned long long)all, (unsigned long long)taken, (unsigned long long)lost);
    printf("%s\n", all % 101 == 0 && lost > 0 && taken > 0 && taken + lost == all ? "all read or counted as lost" : "wrong");
    return 0;
}
