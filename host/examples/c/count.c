/* Has packets to a range of UDP ports counted by handlers on a NIC, until there are enough. */
#include <errno.h>
#include <inttypes.h>
#include <spinneret.h>
#include <stdio.h>
#include <stdlib.h>

/* Between two looks at what handlers have printed: they wait for somebody who reads it. */
#define LOOK_NANOSECONDS 1000000
#define LOOKS 10000

/* Whether a call succeeded; says so if not. */
static int ok(const char *what, int result) {
    if (result < 0)
        fprintf(stderr, "count: %s: %s\n", what, spinneret_error_message());
    return result >= 0;
}

static int print_lines(spinneret_nic *nic) {
    char line[SPINNERET_LONGEST_LINE];
    int found;
    while ((found = spinneret_line(nic, line, sizeof(line), NULL, NULL)) == 1)
        printf("a handler prints: %s\n", line);
    return ok("lines", found);
}

/* Waits until the handlers' variable `total` has come to a number. */
static int wait_for(spinneret_nic *nic, spinneret_context *context, uint32_t packets) {
    for (int look = 0; look < LOOKS; look++) {
        int result = spinneret_wait_variable(context, "total", 0, SPINNERET_AT_LEAST, packets, LOOK_NANOSECONDS);
        if (!print_lines(nic))
            return 0;
        if (result != SPINNERET_ERROR_TIMEOUT)
            return ok("packets", result);
    }
    return ok("packets", SPINNERET_ERROR_TIMEOUT);
}

static int print_counters(spinneret_nic *nic, spinneret_context *context) {
    static const char *const names[] = {"ingress.matched", "ingress.hers", "ingress.dropped_overload"};
    uint32_t sum, count, value;
    if (!ok("handler counter", spinneret_handler_counter(context, 2, &sum, &count)))
        return 0;
    printf("handlers have counted %" PRIu32 " in %" PRIu32 " calls\n", sum, count);
    for (size_t name = 0; name < sizeof(names) / sizeof(names[0]); name++) {
        /* Cards behind the public driver have no such counters. */
        if (spinneret_counter(nic, names[name], &value) == SPINNERET_OK)
            printf("%s %" PRIu32 "\n", names[name], value);
    }
    return 1;
}

/* Everything that is opened here is closed with the NIC. */
static int count(spinneret_nic *nic, const char *elf, const char *handlers, uint16_t first, uint16_t last,
                 uint32_t packets) {
    spinneret_ruleset rules = {
        .join = SPINNERET_ALL,
        .count = 3,
        .rules = {spinneret_rule_ipv4(), spinneret_rule_ip_protocol(17, 17),
                  spinneret_rule_udp_destination_port(first, last)},
    };
    spinneret_program *program;
    spinneret_context *context;
    if (!ok("program", spinneret_program_open(elf, &program)))
        return 0;
    int opened = spinneret_open_context(nic, program, handlers, &rules, NULL, &context);
    spinneret_program_close(program);
    if (!ok("context", opened) || !wait_for(nic, context, packets))
        return 0;
    /* The last handlers may not have printed yet. */
    return ok("wait", spinneret_wait(nic, LOOK_NANOSECONDS)) && print_lines(nic) && print_counters(nic, context);
}

/* A number from 0 to the largest one; ends the program if it is none. */
static uint32_t number(const char *text, uint32_t largest) {
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno != 0 || *text < '0' || *text > '9' || *end != 0 || value > largest) {
        fprintf(stderr, "count: `%s` is no number from 0 to %" PRIu32 "\n", text, largest);
        exit(2);
    }
    return (uint32_t)value;
}

int main(int count_of_arguments, char **arguments) {
    if (count_of_arguments != 7) {
        fprintf(stderr, "usage: count NIC ELF HANDLERS FIRST-PORT LAST-PORT PACKETS\n");
        return 2;
    }
    uint16_t first = (uint16_t)number(arguments[4], UINT16_MAX), last = (uint16_t)number(arguments[5], UINT16_MAX);
    uint32_t packets = number(arguments[6], UINT32_MAX);
    spinneret_nic *nic;
    if (!ok("NIC", spinneret_open(arguments[1], &nic)))
        return 1;
    int counted = count(nic, arguments[2], arguments[3], first, last, packets);
    int closed = ok("close", spinneret_close(nic));
    return counted && closed ? 0 : 1;
}
