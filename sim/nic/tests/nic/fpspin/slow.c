/*
 * Reads values of counters too late: slow PROGRAM. Handlers push 101 values for each packet, to two counters. With one more argument, waits until
 * its NIC has disappeared.
 */
#include <fpspin/fpspin.h>
#include <unistd.h>

enum { NUMBERS, ANSWERS, WORDS };
#define ROUNDS 20
#define PACKETS 3
/* In steps of a millisecond. */
#define PATIENCE 60000

static fpspin_ctx_t ctx;

/* Takes values of both counters, at most so many of each. */
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

/* Waits for packets: without pages for their HPUs, handlers ask nothing. Returns whether they came. */
static bool wait_for_values(uint32_t more) {
    uint32_t before = fpspin_get_counter(&ctx, NUMBERS).count;
    int step = 0;
    while (fpspin_get_counter(&ctx, NUMBERS).count - before < more && step++ < PATIENCE) {
        usleep(1000);
    }
    return step <= PATIENCE;
}

int main(int count, char **words) {
    fpspin_ruleset_t rules;
    fpspin_ruleset_udp(&rules);
    if (count < 2 || !fpspin_init(&ctx, "/dev/pspin0", words[1], 0, &rules, 1, 1)) {
        return 1;
    }
    if (count > 2) {
        printf("the context is open\n");
        fflush(stdout);
        /* Fails when the NIC has disappeared, after the library has found out. */
        uint32_t none = 0;
        for (int step = 0; step < PATIENCE && fpspin_pop_counter(&ctx, NUMBERS, &none) == 0; step++) {
            usleep(1000);
        }
        usleep(200000);
        return 0;
    }
    uint64_t taken = 0;
    for (int round = 0; round < ROUNDS; round++) {
        if (!wait_for_values(100 * PACKETS)) {
            return 2;
        }
        taken += take(40);
    }
    /* No more packets: all that was pushed is taken, or lost. */
    fpspin_ruleset_bypass(&rules);
    fpspin_set_me_ruleset(0, &rules);
    usleep(500000);
    taken += take(1 << 16);
    uint64_t lost = fpspin_lost_values(&ctx);
    uint64_t pushed = (uint64_t)fpspin_get_counter(&ctx, NUMBERS).count + fpspin_get_counter(&ctx, WORDS).count;
    fpspin_exit(&ctx);
    printf("%llu pushed, %llu taken, %llu lost: ", (unsigned long long)pushed, (unsigned long long)taken,
           (unsigned long long)lost);
    printf("%s\n", lost > 0 && taken > 0 && taken + lost == pushed ? "all read or counted as lost" : "some are missing");
    return 0;
}
