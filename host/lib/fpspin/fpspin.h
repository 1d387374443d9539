/*
 * The interface of the FPsPIN paper for programs on the host, over spinneret's library; docs/host/fpspin.md has a table of names.
 *
 * The device of fpspin_init is a card's node (/dev/pspin0, /dev/spinneret0), the socket of a simulated NIC (its path, or
 * unix:PATH), or another name of spinneret_open. If the environment variable FPSPIN_DEVICE is set, it replaces the device of
 * all calls. Time on a simulated NIC passes while the program has an open context.
 *
 * A call that fails writes one sentence to standard error, and returns false, NULL, 0 or -1, unless documented otherwise. A
 * context is open from a successful fpspin_init to fpspin_exit; calls on others fail. All calls are thread-safe, but not
 * for the same context while it is opened or closed.
 */
#ifndef FPSPIN_H
#define FPSPIN_H

#include <arpa/inet.h>
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Headers of packets, in network order ---- */

typedef struct mac_addr {
    uint8_t data[6];
} __attribute__((packed)) mac_addr_t;

typedef struct eth_hdr {
    mac_addr_t dest;
    mac_addr_t src;
    uint16_t length; /* or the type of the payload */
} __attribute__((packed)) eth_hdr_t;

typedef struct ip_hdr {
    uint8_t ihl : 4; /* words of 4 bytes */
    uint8_t version : 4;
    uint8_t tos;
    uint16_t length;
    uint16_t identification;
    uint16_t offset;
    uint8_t ttl;
    uint8_t protocol;
    uint16_t checksum;
    uint32_t source_id;
    uint32_t dest_id;
} __attribute__((packed)) ip_hdr_t;

typedef struct udp_hdr {
    uint16_t src_port;
    uint16_t dst_port;
    uint16_t length;
    uint16_t checksum;
} __attribute__((packed)) udp_hdr_t;

/* A UDP packet without options of IP. */
typedef struct pkt_hdr {
    eth_hdr_t eth_hdr;
    ip_hdr_t ip_hdr;
    udp_hdr_t udp_hdr;
} __attribute__((packed)) pkt_hdr_t;

/* ---- SLMP: messages in UDP packets ---- */

typedef struct slmp_hdr {
    uint16_t flags;
    uint32_t msg_id;
    uint32_t pkt_off; /* of the payload in the message, in bytes */
} __attribute__((packed)) slmp_hdr_t;

typedef struct slmp_pkt_hdr {
    eth_hdr_t eth_hdr;
    ip_hdr_t ip_hdr;
    udp_hdr_t udp_hdr;
    slmp_hdr_t slmp_hdr;
} __attribute__((packed)) slmp_pkt_hdr_t;

/* Flags in the byte order of the host: end of the message, asks for an acknowledgement, is one. */
#define MKEOM 0x8000
#define MKSYN 0x4000
#define MKACK 0x2000
#define EOM(flags) ((flags) & MKEOM)
#define SYN(flags) ((flags) & MKSYN)
#define ACK(flags) ((flags) & MKACK)

#define SLMP_PAYLOAD_SIZE 1462 /* bytes of a full packet */
#define SLMP_PORT 9330

/* How messages are sent. */
typedef struct {
    bool parallel;   /* not used */
    int wnd_sz;      /* unacknowledged packets; 0: only the first and the last are acknowledged */
    int align;       /* packets carry a multiple of this many bytes */
    int fc_us;       /* gap between packets in microseconds */
    int num_threads; /* one thread sends, with the windows of all */
} slmp_sock_t;

/* Sets a socket up. Returns 0, or -1 with errno EINVAL if a number cannot be. */
int slmp_socket(slmp_sock_t *sock, int wnd_sz, int align, int fc_us, int num_threads);
/* Sends a message to an address in network order. Returns 0 when it has arrived, else -1. Lost packets are sent again. */
int slmp_sendmsg(slmp_sock_t *sock, in_addr_t server, int msgid, void *buf, size_t sz);
/* Returns 0. */
int slmp_close(slmp_sock_t *sock);

/* ---- Contexts ---- */

#ifndef __VERILATOR__
#define NUM_CLUSTERS 2
#endif
#define NUM_HPUS 16 /* that ask the host */
#define DMA_BUS_WIDTH 512 /* bits */
#define DMA_ALIGN (DMA_BUS_WIDTH / 8)
#define L2_END 0x1c100000UL
#ifndef PAGE_SIZE
#define PAGE_SIZE 4096
#endif

/* An address on the NIC. */
typedef uint32_t fpspin_addr_t;

struct mem_area {
    fpspin_addr_t addr;
    uint32_t size; /* bytes */
};

#define MAX_COUNTERS 16
/* The sum of the values that handlers have pushed, and their number. */
typedef struct perf_counter {
    uint32_t sum;
    uint32_t count;
} fpspin_counter_t;
static_assert(sizeof(fpspin_counter_t) == sizeof(uint64_t), "a counter is one word of 64 bits");

/* The variable __host_data of the handlers' program. */
struct host_data {
    uint64_t flag[NUM_HPUS];
    struct perf_counter counters[MAX_COUNTERS];
};

/* Programs may read this, and use app_data. */
typedef struct {
    int ctx_id;
    int fd;           /* identifies the open context; not a file descriptor */
    void *cpu_addr;   /* host memory: a page for each HPU, and more if more was asked for */
    size_t mmap_len;  /* its bytes */
    uint8_t dma_idx[NUM_HPUS]; /* last request of each HPU */
    union {
        struct host_data *pspin_host_data; /* an address on the NIC */
        uint64_t host_data_ptr;
    };
    struct mem_area hh, ph, th;  /* handlers in the program's file; size 0: there is none */
    struct mem_area handler_mem; /* the context's memory on the NIC */
    void *app_data;              /* the program's own */
} fpspin_ctx_t;

/* A request of an HPU, or the answer: one word of 64 bits. */
typedef struct {
    union {
        struct {
            uint8_t dma_id;  /* number of the request */
            uint32_t len;    /* bytes, or as handler and program agree */
            uint16_t hpu_id;
        } __attribute__((packed));
        uint64_t data;
    };
} fpspin_flag_t;
static_assert(sizeof(fpspin_flag_t) == sizeof(uint64_t), "a flag is one word of 64 bits");

/* ---- Rules: which packets go to the handlers of a context ---- */

#define NUM_RULES_PER_RULESET 4
#define NUM_RULESETS 4 /* and contexts: ruleset n is that of context n */

/* Matches if word idx of the packet (bytes 4 * idx to 4 * idx + 3, in network order), masked, is from start to end. */
typedef struct {
    struct fpspin_rule {
        int idx;
        uint32_t mask;
        uint32_t start;
        uint32_t end;
    } r[NUM_RULES_PER_RULESET]; /* three that decide the match, and one that ends messages */
    enum {
        FPSPIN_MODE_AND, /* packets that match all three */
        FPSPIN_MODE_OR,  /* packets that match one */
    } mode;
} fpspin_ruleset_t;

/* No packet; every packet. */
#define FPSPIN_RULE_FALSE ((struct fpspin_rule){0, 0, 1, 0})
#define FPSPIN_RULE_EMPTY ((struct fpspin_rule){0, 0, 0, 0})
/* IPv4, and its protocol number; the ports of UDP after an IPv4 header of 20 bytes. */
#define FPSPIN_RULE_IP ((struct fpspin_rule){3, 0xffff0000, 0x08000000, 0x08000000})
#define FPSPIN_RULE_IP_PROTO(num) ((struct fpspin_rule){5, 0xff, (num), (num)})
#define FPSPIN_RULE_UDP_SPORT(num) ((struct fpspin_rule){8, 0xffff, (num), (num)})
#define FPSPIN_RULE_UDP_DPORT(num) ((struct fpspin_rule){9, 0xffff0000, (uint32_t)(num) << 16, (uint32_t)(num) << 16})

/* No packet; all packets, each a message; UDP, messages without end; SLMP. */
void fpspin_ruleset_bypass(fpspin_ruleset_t *rs);
void fpspin_ruleset_match(fpspin_ruleset_t *rs);
void fpspin_ruleset_udp(fpspin_ruleset_t *rs);
void fpspin_ruleset_slmp(fpspin_ruleset_t *rs);

/* Changes the ruleset of an open context of this process. */
void fpspin_set_me_ruleset(int ctx_id, const fpspin_ruleset_t *rs);
/* Sets rulesets 0 to num_rs - 1 of the open contexts of this process. The others match nothing. */
void fpspin_prog_me(const fpspin_ruleset_t *rs, int num_rs);

/* ---- Opening and closing ---- */

#define FPSPIN_HOSTDMA_PAGES_DEFAULT 16

/*
 * Opens context dest_ctx (0 to 3) of a device: loads the handlers of the program img, or img.elf, and sets the rulesets as
 * fpspin_prog_me does. hostdma_pages is the number of pages of host memory, 1 or more, all 0. The program has handlers of
 * one name. Numbers of contexts are those of this process: other processes can use the NIC if it is shared.
 */
bool fpspin_init(fpspin_ctx_t *ctx, const char *dev, const char *img, int dest_ctx, const fpspin_ruleset_t *rs,
                 int num_rs, int hostdma_pages);
/* Ends the handlers of a context, and frees its memory. After a failed fpspin_init it does nothing. */
void fpspin_exit(fpspin_ctx_t *ctx);

/*
 * Replaces the handlers of a context, and its host memory by hostmem_size bytes, all 0, at another cpu_addr. The library
 * chooses the address: hostmem_ptr is 0, or that of the present memory on the NIC.
 */
void fpspin_load(fpspin_ctx_t *ctx, const char *elf, uint64_t hostmem_ptr, uint32_t hostmem_size);
/* Ends the handlers of a context and frees its host memory; fpspin_load or fpspin_exit come next. */
void fpspin_unload(fpspin_ctx_t *ctx);

/* A folder of registers. The library finds them itself: this is only kept, and must stay valid. */
void fpspin_set_regs_base(const char *rbase);
const char *fpspin_get_regs_base(void);

/* ---- Requests of handlers (fpspin_host_req) ---- */

/* Returns the payload of a new request of an HPU, DMA_ALIGN bytes after the start of its page, or NULL if there is none. */
volatile void *fpspin_pop_req(fpspin_ctx_t *ctx, int hpu_id, fpspin_flag_t *f);
/* Answers the last request of an HPU; the library fills in dma_id and hpu_id. */
void fpspin_push_resp(fpspin_ctx_t *ctx, int hpu_id, fpspin_flag_t flag);

/* ---- Counters of handlers (push_counter) ---- */

fpspin_counter_t fpspin_get_counter(fpspin_ctx_t *ctx, int id);
/* Sets it to 0, and discards its values. */
void fpspin_clear_counter(fpspin_ctx_t *ctx, int id);
/* Returns the mean of the values; 0 if there are none. */
double fpspin_get_cycles(fpspin_ctx_t *ctx, int id);
/* Returns the mean of counter 0, rounded down. */
uint32_t fpspin_get_avg_cycles(fpspin_ctx_t *ctx);
/*
 * Takes the oldest value of a counter, in the order of each HPU. Returns 1 if there is one, 0 if not, -1 on failure. Handlers
 * do not wait for the host: an HPU overwrites its oldest value when the host has not read the last 31.
 */
int fpspin_pop_counter(fpspin_ctx_t *ctx, int id, uint32_t *value);
/* Returns the number of values, of all counters, that were overwritten since fpspin_init. */
uint64_t fpspin_lost_values(fpspin_ctx_t *ctx);

/* ---- Memory ---- */

/* Writes handler memory of a context, at an address on the NIC. */
void fpspin_write_memory(fpspin_ctx_t *ctx, fpspin_addr_t pspin_addr, void *host_addr, size_t len);
/* Prints bytes to standard output, 16 on a line, as numbers and as text. */
void hexdump(const volatile void *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif
