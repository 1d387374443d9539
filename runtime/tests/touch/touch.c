/*
 * Makes one access to an address that the packet names, and sends the read value back, to find out what answers where.
 * An access that is refused ends the task with its cause, and an access without an answer stalls the HPU for ever.
 *
 * Payload of the UDP packet, words in network order: +0 kind of access, +4 address, +8 value (written; then what was
 * read). The packet +12 on is left as it is.
 */
#include <handler.h>
#include <packets.h>

/* Kinds, by their numbers in packets. */
enum { LOAD_WORD, STORE_WORD, ADD, LOAD_RESERVED, STORE_CONDITIONAL, LOAD_BYTE, STORE_BYTE, CALL, READ_CYCLE, BREAK, ASK };

typedef struct {
    uint32_t kind, address, value;
} request_t;

__handler__ void touch_ph(handler_args_t *args) {
    task_t *task = args->task;
    pkt_hdr_t *packet = task->pkt_mem;
    request_t *request = (request_t *)(void *)(packet + 1);
    if (task->pkt_mem_size < sizeof(*packet) + sizeof(*request)) {
        return;
    }
    request_t asked;
    __builtin_memcpy(&asked, request, sizeof(asked));
    volatile uint32_t *word = (volatile uint32_t *)(uintptr_t)ntohl(asked.address);
    volatile uint8_t *byte = (volatile uint8_t *)word;
    uint32_t value = ntohl(asked.value);
    switch (ntohl(asked.kind)) {
    case LOAD_WORD: value = *word; break;
    case STORE_WORD: *word = value; break;
    case ADD: asm volatile("amoadd.w %0, %0, (%1)" : "+r"(value) : "r"(word) : "memory"); break;
    case LOAD_RESERVED: value = load_reserved(word); break;
    case STORE_CONDITIONAL:
        load_reserved(word);
        value = store_conditional(word, value);
        break;
    case LOAD_BYTE: value = *byte; break;
    case STORE_BYTE: *byte = (uint8_t)value; break;
    case CALL: ((void (*)(void))(uintptr_t)word)(); break;
    case READ_CYCLE: asm volatile("rdcycle %0" : "=r"(value)); break;
    case BREAK: asm volatile("ebreak"); break;
    case ASK: ecall_0(99, value); break;
    default: return;
    }
    asked.value = htonl(value);
    __builtin_memcpy(request, &asked, sizeof(asked));
    spin_send_packet(packet, task->pkt_mem_size, NULL);
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem) {
    *hh = NULL;
    *ph = touch_ph;
    *th = NULL;
    *handler_mem = NULL;
}
