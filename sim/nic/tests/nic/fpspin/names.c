/* Uses each name of fpspin.h on a simulated NIC that gets UDP packets of 100 bytes: names PROGRAM */
#include <fpspin/fpspin.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { NUMBERS, ANSWERS, WORDS, BLOCKING, STARTED };
#define REQUESTS 16
#define PACKET_BYTES 100
#define WORD 0x12345678
/* In steps of a millisecond. */
#define PATIENCE 60000

#define CHECK(condition)                                                                  \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "names.c:%d: this is wrong: %s\n", __LINE__, #condition);     \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

static fpspin_ctx_t ctx;
static int patience = PATIENCE;

/* Answers requests, each with its number as the length. Returns how many there were until there was time for more. */
static int answer(int most, int first) {
    int answered = 0;
    for (int step = 0; answered < most && step < patience; step++) {
        int before = answered;
        for (int hpu = 0; hpu < NUM_HPUS && answered < most; hpu++) {
            fpspin_flag_t flag;
            volatile pkt_hdr_t *packet = fpspin_pop_req(&ctx, hpu, &flag);
            if (packet == NULL) {
                continue;
            }
            CHECK((uint8_t *)packet == (uint8_t *)ctx.cpu_addr + hpu * PAGE_SIZE + DMA_ALIGN);
            CHECK(flag.hpu_id == hpu && flag.dma_id == ctx.dma_idx[hpu] && flag.len == PACKET_BYTES);
            CHECK(packet->ip_hdr.version == 4 && packet->ip_hdr.ihl == 5 && packet->ip_hdr.protocol == 17);
            CHECK(ntohs(packet->ip_hdr.length) == PACKET_BYTES - sizeof(eth_hdr_t));
            CHECK(ntohs(packet->udp_hdr.length) == PACKET_BYTES - offsetof(pkt_hdr_t, udp_hdr));
            fpspin_push_resp(&ctx, hpu, (fpspin_flag_t){.len = (uint32_t)(first + answered++)});
        }
        if (answered == before) {
            usleep(1000);
        }
    }
    return answered;
}

/* Waits until handlers have pushed `count` values. */
static fpspin_counter_t pushed(int id, uint32_t count) {
    fpspin_counter_t counter = fpspin_get_counter(&ctx, id);
    for (int step = 0; counter.count < count && step < PATIENCE; step++) {
        usleep(1000);
        counter = fpspin_get_counter(&ctx, id);
    }
    /* The number comes before the sum. */
    usleep(50000);
    return fpspin_get_counter(&ctx, id);
}

/* Values that have come, before more of the same HPU overwrite them. */
static void take_answers(uint32_t *sum, uint32_t *count) {
    uint32_t value;
    while (fpspin_pop_counter(&ctx, ANSWERS, &value) == 1) {
        CHECK(value >= 1 && value <= REQUESTS);
        *sum += value;
        ++*count;
    }
}

static uint32_t least(int id) {
    uint32_t value, least = UINT32_MAX;
    while (fpspin_pop_counter(&ctx, id, &value) == 1) {
        least = value < least ? value : least;
    }
    return least;
}

static void opens(const char *program, const fpspin_ruleset_t *rules) {
    int mine = 7;
    ctx.app_data = &mine;
    CHECK(fpspin_init(&ctx, "/dev/pspin0", program, 2, (fpspin_ruleset_t[]){*rules, *rules, *rules}, 3,
                      FPSPIN_HOSTDMA_PAGES_DEFAULT + 1));
    CHECK(ctx.ctx_id == 2 && ctx.app_data == &mine && ctx.mmap_len == 17 * PAGE_SIZE);
    CHECK(ctx.hh.size == 0 && ctx.th.size == 0 && ctx.ph.size > 0 && ctx.ph.addr >> 24 == 0x1d);
    CHECK(ctx.handler_mem.size >= 1024 && ctx.handler_mem.addr + ctx.handler_mem.size <= L2_END);
    CHECK((ctx.host_data_ptr >> 20) == (L2_END - 1) >> 20 && &ctx.pspin_host_data->flag[1] - ctx.pspin_host_data->flag == 1);
}

static void requests(void) {
    uint32_t word = WORD;
    fpspin_clear_counter(&ctx, WORDS);
    fpspin_write_memory(&ctx, ctx.handler_mem.addr, &word, sizeof(word));
    uint32_t sum = 0, count = 0;
    for (int request = 1; request <= REQUESTS; request++) {
        CHECK(answer(1, request) == 1);
        take_answers(&sum, &count);
    }
    fpspin_counter_t answers = pushed(ANSWERS, REQUESTS);
    take_answers(&sum, &count);
    CHECK(answers.count == REQUESTS && answers.sum == REQUESTS * (REQUESTS + 1) / 2);
    CHECK(fpspin_get_cycles(&ctx, ANSWERS) == (REQUESTS + 1) / 2.0);
    CHECK(sum == answers.sum && count == answers.count && fpspin_lost_values(&ctx) == 0);
    /* A write that is waited for takes longer than one that is started, when neither waits for instructions. */
    uint32_t blocking = least(BLOCKING), started = least(STARTED);
    CHECK(started > 0 && blocking != UINT32_MAX && blocking > started);
}

/* Packets that came before the word was written have another one. */
static void memory(void) {
    uint32_t value, last = 0;
    while (fpspin_pop_counter(&ctx, WORDS, &value) == 1) {
        last = value;
    }
    CHECK(last == WORD);
}

static void rules(const fpspin_ruleset_t *all) {
    fpspin_ruleset_t nothing;
    fpspin_ruleset_bypass(&nothing);
    fpspin_set_me_ruleset(2, &nothing);
    fpspin_prog_me(all, 1);
    /* Packets of before; then there are no more for 100 ms. */
    patience = 100;
    while (answer(1, 1) == 1) {
    }
    patience = PATIENCE;
    fpspin_ruleset_t rulesets[NUM_RULESETS] = {nothing, nothing, *all, nothing};
    fpspin_prog_me(rulesets, NUM_RULESETS);
    CHECK(answer(3, 1) == 3);
}

static void kinds_of_rules(void) {
    fpspin_ruleset_t rules;
    fpspin_ruleset_match(&rules);
    CHECK(rules.mode == FPSPIN_MODE_AND && rules.r[0].mask == 0 && rules.r[3].end == 0);
    fpspin_ruleset_slmp(&rules);
    CHECK(rules.r[2].start == SLMP_PORT << 16 && rules.r[3].idx == 10 && rules.r[NUM_RULES_PER_RULESET - 1].mask == MKEOM);
    fpspin_set_me_ruleset(2, &rules);
    rules = (fpspin_ruleset_t){.r = {FPSPIN_RULE_UDP_DPORT(7000), FPSPIN_RULE_UDP_SPORT(1), FPSPIN_RULE_FALSE, FPSPIN_RULE_FALSE},
                               .mode = FPSPIN_MODE_OR};
    fpspin_set_me_ruleset(2, &rules);
    CHECK(answer(3, 1) == 3);
    fpspin_ruleset_udp(&rules);
    CHECK(memcmp(&rules.r[0], &FPSPIN_RULE_IP, sizeof(rules.r[0])) == 0 && rules.r[2].mask == FPSPIN_RULE_EMPTY.mask);
    fpspin_set_me_ruleset(2, &rules);
}

static void loads(const char *program) {
    fpspin_unload(&ctx);
    CHECK(ctx.cpu_addr == NULL && ctx.mmap_len == 0);
    fpspin_load(&ctx, program, 0, NUM_HPUS * PAGE_SIZE);
    CHECK(ctx.mmap_len == NUM_HPUS * PAGE_SIZE && ctx.cpu_addr != NULL);
    CHECK(answer(3, 1) == 3);
    fpspin_set_regs_base("/sys/somewhere");
    CHECK(strcmp(fpspin_get_regs_base(), "/sys/somewhere") == 0);
    CHECK(fpspin_get_avg_cycles(&ctx) == (uint32_t)fpspin_get_cycles(&ctx, 0) && NUM_CLUSTERS == 2);
}

static void messages(void) {
    slmp_sock_t sock;
    CHECK(slmp_socket(&sock, 4, 64, 10, 2) == 0 && sock.wnd_sz == 4 && sock.align == 64 && sock.fc_us == 10);
    CHECK(slmp_close(&sock) == 0 && sizeof(slmp_pkt_hdr_t) + SLMP_PAYLOAD_SIZE == 1514);
    CHECK(EOM(MKEOM) && SYN(MKSYN) && ACK(MKACK) && !ACK(MKSYN) && sizeof(mac_addr_t) == 6 && sizeof(slmp_hdr_t) == 10);
}

int main(int count, char **words) {
    CHECK(count == 2);
    fpspin_ruleset_t all;
    fpspin_ruleset_udp(&all);
    opens(words[1], &all);
    requests();
    memory();
    rules(&all);
    kinds_of_rules();
    loads(words[1]);
    messages();
    fpspin_exit(&ctx);
    CHECK(ctx.cpu_addr == NULL && ctx.mmap_len == 0);
    hexdump("fpspin: \n", 9);
    hexdump("0123456789abcdef!", 17);
    return 0;
}
