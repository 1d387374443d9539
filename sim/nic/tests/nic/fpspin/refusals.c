/*
 * Calls of fpspin.h that must fail, each with one sentence on standard error: refusals PROGRAM SILENT-PROGRAM. Prints those that
 * behave otherwise.
 */
#include <errno.h>
#include <fpspin/fpspin.h>
#include <string.h>

static const char *program, *silent;
static fpspin_ctx_t open_one, exited, fresh;
static fpspin_ruleset_t rules;
static slmp_sock_t sock;

static bool opens(fpspin_ctx_t *ctx, const char *device, const char *image, int id, int rulesets, int pages) {
    return fpspin_init(ctx, device, image, id, &rules, rulesets, pages);
}

/* Each returns whether the call has failed as its header promises. */
static bool no_device(void) {
    char *device = strdup(getenv("FPSPIN_DEVICE"));
    setenv("FPSPIN_DEVICE", "", 1);
    bool is_open = opens(&fresh, "/nowhere/pspin0", program, 0, 1, 16);
    setenv("FPSPIN_DEVICE", device, 1);
    free(device);
    return !is_open && fresh.cpu_addr == NULL;
}
static bool no_context(void) { return !opens(NULL, "nic", program, 0, 1, 16); }
static bool no_name(void) { return !opens(&fresh, NULL, program, 0, 1, 16); }
static bool no_image(void) { return !opens(&fresh, "nic", NULL, 0, 1, 16); }
static bool missing_image(void) { return !opens(&fresh, "nic", "/nowhere/pingpong", 0, 1, 16); }
static bool wrong_image(void) { return !opens(&fresh, "nic", "/etc/passwd", 0, 1, 16); }
static bool wrong_context(void) { return !opens(&fresh, "nic", program, 4, 1, 16); }
static bool used_context(void) { return !opens(&fresh, "nic", program, 2, 1, 16); }
static bool open_context(void) { return !opens(&open_one, "nic", program, 2, 1, 16); }
static bool zero_pages(void) { return !opens(&fresh, "nic", program, 0, 1, 0); }
static bool fewer_pages(void) { return !opens(&fresh, "nic", program, 0, 1, -1); }
static bool many_rulesets(void) { return !opens(&fresh, "nic", program, 0, 5, 16); }
static bool no_rulesets(void) { return !fpspin_init(&fresh, "nic", program, 0, NULL, 1, 16); }
static bool wrong_word(void) {
    rules.r[0].idx = 99;
    bool is_open = opens(&fresh, "nic", program, 0, 1, 16);
    fpspin_ruleset_udp(&rules);
    return !is_open;
}
static bool negative_word(void) {
    rules.r[0].idx = -1;
    bool is_open = opens(&fresh, "nic", program, 0, 1, 16);
    fpspin_ruleset_udp(&rules);
    return !is_open;
}
static bool empty_rule(void) {
    rules.r[1] = (struct fpspin_rule){5, 0xff, 6, 5};
    bool is_open = opens(&fresh, "nic", program, 0, 1, 16);
    fpspin_ruleset_udp(&rules);
    return !is_open;
}
static bool wrong_mode(void) {
    int mode = 7;
    memcpy(&rules.mode, &mode, sizeof(mode));
    bool is_open = opens(&fresh, "nic", program, 0, 1, 16);
    fpspin_ruleset_udp(&rules);
    return !is_open;
}
static bool pops_exited(void) {
    fpspin_flag_t flag;
    return fpspin_pop_req(&exited, 0, &flag) == NULL;
}
static bool answers_exited(void) { return fpspin_push_resp(&exited, 0, (fpspin_flag_t){.len = 1}), true; }
static bool counts_exited(void) { return fpspin_get_counter(&exited, 0).count == 0; }
static bool means_exited(void) { return fpspin_get_cycles(&exited, 0) == 0 && true; }
static bool clears_exited(void) { return fpspin_clear_counter(&exited, 0), true; }
static bool values_exited(void) {
    uint32_t value;
    return fpspin_pop_counter(&exited, 0, &value) == -1;
}
static bool writes_exited(void) { return fpspin_write_memory(&exited, 0x1c000000, &rules, 4), true; }
static bool loads_exited(void) { return fpspin_load(&exited, program, 0, 65536), exited.cpu_addr == NULL; }
static bool exits_exited(void) { return fpspin_exit(&exited), true; }
static bool rules_of_none(void) { return fpspin_set_me_ruleset(3, &rules), true; }
static bool too_many_rulesets(void) { return fpspin_prog_me(&rules, -1), true; }
static bool pops_hpu(void) {
    fpspin_flag_t flag;
    return fpspin_pop_req(&open_one, NUM_HPUS, &flag) == NULL;
}
static bool pops_no_page(void) {
    fpspin_flag_t flag;
    return fpspin_pop_req(&open_one, 1, &flag) == NULL && fpspin_pop_req(&open_one, 2, &flag) == NULL;
}
static bool answers_hpu(void) { return fpspin_push_resp(&open_one, -1, (fpspin_flag_t){.len = 1}), true; }
static bool counts_none(void) { return fpspin_get_counter(&open_one, MAX_COUNTERS).sum == 0; }
static bool no_values(void) {
    uint32_t value;
    return fpspin_pop_counter(&open_one, 0, &value) == -1;
}
static bool no_place(void) { return fpspin_pop_counter(&open_one, 0, NULL) == -1; }
static bool writes_before(void) { return fpspin_write_memory(&open_one, open_one.handler_mem.addr - 4, &rules, 4), true; }
static bool writes_behind(void) {
    fpspin_addr_t end = open_one.handler_mem.addr + open_one.handler_mem.size;
    return fpspin_write_memory(&open_one, end - 4, &rules, 8), true;
}
static bool loads_elsewhere(void) { return fpspin_load(&open_one, program, 4096, 65536), open_one.cpu_addr != NULL; }
static bool loads_nothing(void) { return fpspin_load(&open_one, NULL, 0, 65536), open_one.cpu_addr != NULL; }
static bool loads_no_memory(void) { return fpspin_load(&open_one, program, 0, 0), open_one.cpu_addr != NULL; }
static bool no_window(void) { return slmp_socket(&sock, -1, 1, 0, 1) == -1 && errno == EINVAL; }
static bool no_alignment(void) { return slmp_socket(&sock, 1, 0, 0, 1) == -1 && errno == EINVAL; }
static bool no_thread(void) { return slmp_socket(&sock, 1, 1, 0, 0) == -1 && errno == EINVAL; }
static bool no_gap(void) { return slmp_socket(&sock, 1, 1, -1, 1) == -1 && errno == EINVAL; }
static bool no_socket(void) { return slmp_sendmsg(&(slmp_sock_t){0}, htonl(0x7f000001), 1, &rules, 4) == -1; }
static bool pops_unloaded(void) {
    fpspin_unload(&open_one);
    fpspin_flag_t flag;
    return fpspin_pop_req(&open_one, 0, &flag) == NULL;
}

static const struct {
    const char *name;
    bool (*fails)(void);
    const char *sentence; /* a part of it */
} rows[] = {
    {"no device", no_device, "/nowhere/pspin0"},
    {"no context", no_context, "fpspin_init: the context is a null pointer"},
    {"no name of a device", no_name, "fpspin_init: the device is a null pointer"},
    {"no name of a program", no_image, "fpspin_init: the program is a null pointer"},
    {"a program that is missing", missing_image, "/nowhere/pingpong.elf cannot be read"},
    {"a program that is none", wrong_image, "/etc/passwd is no ELF file"},
    {"context 4", wrong_context, "there is no context 4: they are 0 to 3"},
    {"a context in use", used_context, "context 2 is in use"},
    {"a context that is open", open_context, "fpspin_init: the context is open"},
    {"zero pages", zero_pages, "0 pages of host memory cannot be: there must be 1 to "},
    {"fewer pages", fewer_pages, "-1 pages of host memory cannot be"},
    {"many rulesets", many_rulesets, "there must be 0 to 4 rulesets, not 5"},
    {"no rulesets", no_rulesets, "at a null pointer"},
    {"a word that is not looked at", wrong_word, "looks at word 99 of the packet: it must be 0 to 31"},
    {"a negative word", negative_word, "looks at word -1 of the packet"},
    {"a rule that matches nothing", empty_rule, "rule 2 matches nothing"},
    {"a mode that is none", wrong_mode, "mode 7 of ruleset 0 must be FPSPIN_MODE_AND or FPSPIN_MODE_OR"},
    {"fpspin_pop_req after exit", pops_exited, "fpspin_pop_req: the context is not open"},
    {"fpspin_push_resp after exit", answers_exited, "fpspin_push_resp: the context is not open"},
    {"fpspin_get_counter after exit", counts_exited, "fpspin_get_counter: the context is not open"},
    {"fpspin_get_cycles after exit", means_exited, "fpspin_get_counter: the context is not open"},
    {"fpspin_clear_counter after exit", clears_exited, "fpspin_clear_counter: the context is not open"},
    {"fpspin_pop_counter after exit", values_exited, "fpspin_pop_counter: the context is not open"},
    {"fpspin_write_memory after exit", writes_exited, "fpspin_write_memory: the context is not open"},
    {"fpspin_load after exit", loads_exited, "fpspin_load: the context is not open"},
    {"fpspin_exit after exit", exits_exited, "fpspin_exit: the context is not open"},
    {"rules of a context that is not open", rules_of_none, "context 3 is not open in this process"},
    {"-1 rulesets", too_many_rulesets, "there must be 0 to 4 rulesets, not -1"},
    {"a request of HPU 16", pops_hpu, "there is no HPU 16: they are 0 to 15"},
    {"requests without pages, told once", pops_no_page, "HPU 1 has no page in 4096 bytes of host memory: ask for 16 pages"},
    {"an answer to HPU -1", answers_hpu, "there is no HPU -1"},
    {"counter 16", counts_none, "there is no counter 16: they are 0 to 15"},
    {"values of handlers that push none", no_values, "`__counter_queue`"},
    {"no place for a value", no_place, "null pointer"},
    {"a write before handler memory", writes_before, "are not within the handler memory of context 2"},
    {"a write that ends after handler memory", writes_behind, "8 bytes at "},
    {"host memory at an address", loads_elsewhere, "host memory cannot be at 0x1000"},
    {"no program to load", loads_nothing, "fpspin_load: the program is a null pointer"},
    {"no host memory", loads_no_memory, "there must be 1 byte of host memory or more"},
    {"a window of -1", no_window, "slmp_socket: the window must be 0 to 65535 packets"},
    {"an alignment of 0", no_alignment, "the alignment must be 1 to 1462 bytes"},
    {"no thread", no_thread, "there must be 1 thread or more"},
    {"a gap of -1", no_gap, "the gap must be 0 microseconds or more"},
    {"a socket that is not set up", no_socket, "slmp_sendmsg: the socket is not set up"},
    {"use of a context without handlers", pops_unloaded, "context 2 has no handlers: call fpspin_load"},
};

/* Whether there was one sentence with this part. */
static bool is_sentence(const char *said, const char *part) {
    const char *end = strchr(said, '\n');
    return strstr(said, part) != NULL && end != NULL && end[1] == 0;
}

int main(int count, char **words) {
    if (count != 3) {
        return 2;
    }
    program = words[1];
    silent = words[2];
    fpspin_ruleset_udp(&rules);
    if (!opens(&open_one, "nic", silent, 2, 1, 1) || !opens(&exited, "nic", silent, 1, 1, 1)) {
        return 2;
    }
    fpspin_exit(&exited);
    FILE *terminal = stderr;
    int wrong = 0;
    for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
        char *said = NULL;
        size_t size = 0;
        stderr = open_memstream(&said, &size);
        bool failed = rows[row].fails();
        fclose(stderr);
        stderr = terminal;
        if (!failed || !is_sentence(said, rows[row].sentence)) {
            printf("%s: %s, and says: %s\n", rows[row].name, failed ? "fails" : "does not fail", said);
            wrong++;
        }
        free(said);
    }
    /* All that has failed can be closed, and nothing was left. */
    fpspin_exit(&fresh);
    fpspin_exit(&open_one);
    printf("%zu refusals, %d wrong\n", sizeof(rows) / sizeof(rows[0]), wrong);
    return wrong != 0;
}
