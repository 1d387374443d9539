/*
 * Calls to the host, one kind for each packet, for tests and measurements. The payload is a kind and two numbers; it
 * comes back with results in place of them, or not at all if the handler has ended before. The kind's upper half is the
 * message's number, by which the cluster is chosen.
 */
#include <handler.h>
#include <packets.h>
#include <spin_host.h>
#include <spin_rpc.h>
#include <spin_stdio.h>

struct request {
    uint32_t kind;
    uint32_t count;
    uint32_t number;
    uint32_t rest[13];
};

enum kind {
    NOOPS,
    INCREMENTS,
    ASYNCHRONOUS,
    INTERFACE,
    ECHO,
    PUTS,
    PRINTF,
    LONG_PRINTF,
    FILE_SESSION,
    UNKNOWN,
    FAULT,
    GARBAGE,
    OUTSIDE,
    ENDLESS,
    EXIT,
    NAMES,
    HOLD,
    PRINTFS,
    PUTS_MANY,
    ANY_CALL,
};

/* Calls that wait for nothing but their end, with a number or without: clocks of all of them. */
static void noops(struct request *request) {
    bool has_number = request->number != 0;
    uint32_t calls = request->count, done = 0, start = cycles();
    for (uint32_t call = 0; !has_number && call < calls; ++call) {
        done += spin_rpc_call_empty(SPIN_RPC_NOOP, NULL);
    }
    for (uint32_t call = 0; has_number && call < calls; ++call) {
        done += spin_rpc_call(SPIN_RPC_NOOP, &call, sizeof(call), NULL);
    }
    request->number = cycles() - start;
    request->rest[0] = done;
}

static void increments(struct request *request) {
    int64_t value = request->number;
    uint32_t calls = request->count, start = cycles();
    for (uint32_t call = 0; call < calls; ++call) {
        if (!spin_rpc_call(SPIN_RPC_TEST_INCREMENT, &value, sizeof(value), &value)) {
            value = -1;
        }
    }
    request->number = cycles() - start;
    memcpy(request->rest, &value, sizeof(value));
}

static void asynchronous(struct request *request) {
    bool has_number = request->number != 0;
    uint32_t calls = request->count, done = 0, start = cycles();
    for (uint32_t call = 0; !has_number && call < calls; ++call) {
        done += spin_rpc_post_empty(SPIN_RPC_NOOP);
    }
    for (uint32_t call = 0; has_number && call < calls; ++call) {
        done += spin_rpc_post(SPIN_RPC_NOOP, &call, sizeof(call));
    }
    request->number = cycles() - start;
    request->rest[0] = done;
}

/* LLVM's test of the interface: each side adds 1 to what it got. */
static void interface(struct request *request) {
    static const char steps[] = "><><>><<";
    uint64_t word = request->number;
    spin_rpc_port_t *port = spin_rpc_open(SPIN_RPC_TEST_INTERFACE);
    spin_rpc_send(port, &word, sizeof(word));
    word = 0;
    for (uint32_t step = 0; step < sizeof(steps); ++step) {
        bool is_send = steps[step] == '>' || (steps[step] == 0 && request->number != 0);
        if (is_send) {
            ++word;
            spin_rpc_send(port, &word, sizeof(word));
        } else {
            spin_rpc_recv(port, &word, sizeof(word));
        }
    }
    spin_rpc_close(port);
    request->number = (uint32_t)word;
}

/* A stream there and back: wrong bytes, and bytes behind the room that were written all the same. */
static void echo(struct request *request) {
    uint8_t out[300], in[300 + 8];
    for (uint32_t byte = 0; byte < sizeof(out); ++byte) {
        out[byte] = (uint8_t)(byte * 7 + request->count);
    }
    memset(in, 0xa5, sizeof(in));
    uint32_t room = request->number, bytes = 0, wrong = 0;
    spin_rpc_port_t *port = spin_rpc_open(SPIN_RPC_TEST_STREAM);
    bool is_done = spin_rpc_send_n(port, out, request->count) && spin_rpc_recv_n(port, in, room, &bytes);
    spin_rpc_close(port);
    for (uint32_t byte = 0; byte < sizeof(in); ++byte) {
        wrong += in[byte] != (byte < MIN(request->count, room) ? out[byte] : 0xa5);
    }
    request->number = is_done ? bytes : UINT32_MAX;
    request->rest[0] = wrong;
}

/* The compiler knows what a null pointer is printed as, and warns of it. */
static const char *volatile nothing;

static int print(uint32_t which) {
    switch (which) {
    case 0: return spin_printf("packet %d of %s\n", -7, "eleven");
    case 1: return spin_printf("%d %u %ld %lu %lld %llx\n", -1, 4000000000u, -2l, 3000000000ul, -3ll, 0x123456789abcdefull);
    case 2: return spin_printf("%hhd %hu %c %% %5.3s|%-4s|\n", 300, 65537, 'x', "abcdef", "z");
    case 3: return spin_printf("%zd %td %jd %zu\n", (size_t)5, (ptrdiff_t)-6, (intmax_t)-7, sizeof(long));
    case 4: return spin_printf("%*d %-*d| %.*f %e\n", 5, 42, 4, 7, 2, 3.14159, 1e10);
    case 5: return spin_printf("%s, %s, %s\n", "one", nothing, "three");
    case 6: return spin_printf("%.3s\n", "no NUL is needed behind that");
    case 7: return spin_printf("nothing\n");
    case 8: return spin_printf("%p\n", (void *)NULL);
    default: return spin_fprintf(SPIN_STDERR, "%s\n", "to standard error");
    }
}

/* More than the short form takes. */
static int print_long(void) {
    static const char text[] = "the quick brown fox jumps over the lazy dog, the quick brown fox jumps over the lazy dog, "
                               "the quick brown fox jumps over the lazy dog, the quick brown fox jumps over the lazy dog";
    return spin_printf("%s %d %s %d %s %.5s\n", text, 1, "short", 2, text, "cut here");
}

/* Records the result of each step of a session with a file. */
static void file_session(struct request *request) {
    char line[32] = "";
    SPIN_FILE *file = spin_fopen("log.txt", "w+");
    int *result = (int *)request->rest;
    result[0] = file != NULL;
    result[1] = (int)spin_fwrite("one\ntwo\n", 1, 8, file);
    result[2] = spin_fprintf(file, "%d %s\n", 3, "three");
    result[3] = (int)spin_ftell(file);
    result[4] = spin_fseek(file, 4, SEEK_SET);
    result[5] = spin_fgets(line, sizeof(line), file) != NULL && strcmp(line, "two\n") == 0;
    result[6] = (int)spin_fread(line, 2, 16, file);
    result[7] = spin_feof(file) != 0;
    result[8] = spin_ferror(file);
    result[9] = spin_fputs("tail", file);
    result[10] = spin_fflush(file);
    result[11] = spin_fclose(file);
    result[12] = spin_fclose(file);
}

/* Begins a call that it does not end: two of the packets of a stream of 300 bytes. */
static void half_a_call(void) {
    static const uint8_t bytes[SPIN_RPC_PACKET_BYTES] = {44, 1};
    spin_rpc_port_t *port = spin_rpc_open(SPIN_RPC_TEST_STREAM);
    spin_rpc_send(port, bytes, sizeof(bytes));
    spin_rpc_send(port, bytes, sizeof(bytes));
}

/* Writes to the mailbox of this HPU what no client writes. */
static void garbage(handler_args_t *args, uint32_t value) {
    volatile struct spin_rpc_place *place = &__spin_rpc[0];
    static __thread uint32_t word;
    word = value;
    uint64_t mailbox = HOST_ADDR(args) + place->offset + SPIN_RPC_DOORBELL_BYTES + 4 * (place->ports + HPU_ID(args));
    spin_cmd_t written;
    spin_dma_to_host(mailbox, (uint32_t)(uintptr_t)&word, sizeof(word), true, &written);
    spin_cmd_wait(written);
}

static void outside(struct request *request) {
    int *result = (int *)request->rest;
    result[0] = spin_fopen("../outside", "w") != NULL;
    result[1] = spin_fopen("/etc/passwd", "r") != NULL;
    result[2] = spin_fopen("log.txt", "no such mode") != NULL;
    result[3] = spin_remove("log.txt");
    result[4] = spin_fclose(SPIN_STDOUT);
    result[5] = spin_fputs("x", (SPIN_FILE *)0x1234560);
    result[6] = (int)spin_fread(result + 8, 1, 4, (SPIN_FILE *)0x1234560);
    result[7] = spin_rename("a", "b");
}

static uint64_t ask_unknown(void) {
    uint64_t word = 77;
    spin_rpc_port_t *port = spin_rpc_open(0x7a000001);
    spin_rpc_send(port, &word, sizeof(word));
    word = 0;
    spin_rpc_recv(port, &word, sizeof(word));
    spin_rpc_close(port);
    return word;
}

/*
 * Any call: `count` is the opcode. The low bytes of `number` are the steps, from the lowest bit on, 1 a send and 0 a
 * receive, the highest byte is how many. Sends carry the last received data, or the packet's data before the first
 * receive.
 */
static void any_call(struct request *request) {
    spin_rpc_port_t *port = spin_rpc_open(request->count);
    if (port == NULL) {
        return;
    }
    for (uint32_t step = 0; step < request->number >> 24; ++step) {
        if ((request->number >> step & 1) != 0) {
            spin_rpc_send(port, request->rest, sizeof(request->rest));
        } else {
            spin_rpc_recv(port, request->rest, sizeof(request->rest));
        }
    }
    spin_rpc_close(port);
}

__handler__ void rpc_ph(handler_args_t *args) {
    task_t *task = args->task;
    uint8_t *payload = (uint8_t *)task->pkt_mem + sizeof(pkt_hdr_t);
    struct request request;
    memcpy(&request, payload, sizeof(request));
    switch ((enum kind)(request.kind & 0xffff)) {
    case NOOPS: noops(&request); break;
    case INCREMENTS: increments(&request); break;
    case ASYNCHRONOUS: asynchronous(&request); break;
    case INTERFACE: interface(&request); break;
    case ECHO: echo(&request); break;
    case PUTS: request.number = (uint32_t)spin_puts((const char *)request.rest); break;
    case PRINTF: request.number = (uint32_t)print(request.count); break;
    case LONG_PRINTF: request.number = (uint32_t)print_long(); break;
    case FILE_SESSION: file_session(&request); break;
    case UNKNOWN: request.number = (uint32_t)ask_unknown(); break;
    case FAULT: half_a_call(); asm volatile("ebreak"); break;
    case GARBAGE: garbage(args, request.count); break;
    case OUTSIDE: outside(&request); break;
    case ENDLESS: half_a_call(); for (;;) asm volatile(""); break;
    case EXIT: spin_exit((int)request.count); break;
    case NAMES: printf("the NIC's own output goes on\n"); break;
    case HOLD: request.number = (uint32_t)(spin_fgets((char *)request.rest, 32, SPIN_STDIN) != NULL); break;
    case ANY_CALL: any_call(&request); break;
    case PRINTFS: {
        uint32_t start = cycles();
        for (uint32_t call = 0; call < request.count; ++call) {
            request.rest[0] += (uint32_t)spin_printf("packet %d of %s\n", (int)call, "eleven");
        }
        request.number = cycles() - start;
        break;
    }
    case PUTS_MANY: {
        uint32_t start = cycles();
        for (uint32_t call = 0; call < request.count; ++call) {
            request.rest[0] += (uint32_t)spin_puts("twenty bytes of text");
        }
        request.number = cycles() - start;
        break;
    }
    }
    request.kind = HPU_ID(args);
    memcpy(payload, &request, sizeof(request));
    spin_send_packet(task->pkt_mem, task->pkt_mem_size, NULL);
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem) {
    *hh = NULL;
    *ph = rpc_ph;
    *th = NULL;
    *handler_mem = NULL;
}
