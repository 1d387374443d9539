/*
 * What applications use a spinneret NIC with. Made from host/c; docs/host/library.md explains it.
 *
 * Calls that give back an int succeed with 0, or what they say instead, and fail with one of the negative numbers below;
 * spinneret_error_message() says why. Strings are UTF-8, and end with a 0.
 *
 * Handles are closed once, by the call that has close in its name. A handle that is closed, or of another kind, is an error,
 * and so is a null pointer where none is allowed. Every call may be made by every thread.
 */

#ifndef SPINNERET_H
#define SPINNERET_H

#include <stddef.h>
#include <stdint.h>
#define SPINNERET_VERSION "0.1.0"
#define SPINNERET_VERSION_MAJOR 0
#define SPINNERET_VERSION_MINOR 1
#define SPINNERET_VERSION_PATCH 0


/**
 * A call succeeded.
 */
#define SPINNERET_OK 0

/**
 * An argument is wrong: a null pointer, a handle that is closed, a name that is not there, memory that is not there.
 */
#define SPINNERET_ERROR_ARGUMENT -1

/**
 * There is no such NIC, or somebody else has it.
 */
#define SPINNERET_ERROR_OPEN -2

/**
 * The file is no program for the NIC, or has no such handlers.
 */
#define SPINNERET_ERROR_PROGRAM -3

/**
 * There is no context or no memory left, or other contexts run another program.
 */
#define SPINNERET_ERROR_NO_ROOM -4

/**
 * The NIC refused something, or did not answer as it should.
 */
#define SPINNERET_ERROR_DEVICE -5

/**
 * The NIC, its driver or the process that simulates it is gone.
 */
#define SPINNERET_ERROR_GONE -6

/**
 * It did not happen in time.
 */
#define SPINNERET_ERROR_TIMEOUT -7

/**
 * A fault of the library.
 */
#define SPINNERET_ERROR_INTERNAL -8

/**
 * Most bytes of a name or a path, without the 0 at its end.
 */
#define SPINNERET_LONGEST_NAME 4095

/**
 * Most bytes of a line of a handler, with the 0 at its end. A byte that is no text takes three.
 */
#define SPINNERET_LONGEST_LINE 12289

/**
 * Most bytes of a frame, without its check sequence.
 */
#define SPINNERET_LARGEST_FRAME 9216

/**
 * A packet matches if all rules match.
 */
#define SPINNERET_ALL 0

/**
 * A packet matches if one rule matches or more.
 */
#define SPINNERET_ANY 1

/**
 * Most rules that decide.
 */
#define SPINNERET_RULES 3

/**
 * Wait until the word has the value.
 */
#define SPINNERET_EQUAL 0

/**
 * Wait until the word is the value or more.
 */
#define SPINNERET_AT_LEAST 1

/**
 * Handlers on a NIC.
 */
typedef struct spinneret_context spinneret_context;

/**
 * A NIC.
 */
typedef struct spinneret_nic spinneret_nic;

/**
 * A program for the NIC.
 */
typedef struct spinneret_program spinneret_program;

/**
 * Who receives messages of SLMP at a UDP port.
 */
typedef struct spinneret_receiver spinneret_receiver;

/**
 * Gets the name and the value of a counter, and the pointer that came with the question.
 */
typedef void (*spinneret_each_counter)(void *user, const char *name, uint32_t value);

/**
 * Addresses of a NIC.
 */
typedef struct spinneret_addresses {
    /**
     * Ethernet.
     */
    uint8_t mac[6];
    /**
     * IPv4, of its host.
     */
    uint8_t ip[4];
} spinneret_addresses;

/**
 * A rule: the word of the packet at bytes 4 * word to 4 * word + 3, first byte most significant, and with the mask, is at
 * least first and at most last.
 */
typedef struct spinneret_rule {
    /**
     * Which word.
     */
    uint32_t word;
    /**
     * Its bits that are compared.
     */
    uint32_t mask;
    /**
     * The smallest value that matches.
     */
    uint32_t first;
    /**
     * The largest value that matches.
     */
    uint32_t last;
    /**
     * 1: words are counted from the IP payload; 0: from the beginning of the packet.
     */
    uint32_t in_ip_payload;
} spinneret_rule;

/**
 * Which packets go to handlers. All bytes 0: all packets, and each is a message.
 */
typedef struct spinneret_ruleset {
    /**
     * SPINNERET_ALL or SPINNERET_ANY.
     */
    uint32_t join;
    /**
     * How many of the rules there are. With none, all packets match SPINNERET_ALL, and none SPINNERET_ANY.
     */
    uint32_t count;
    /**
     * The rules.
     */
    struct spinneret_rule rules[SPINNERET_RULES];
    /**
     * 1: packets that match the next rule end a message; 0: every packet is a message.
     */
    uint32_t has_messages;
    /**
     * Which packets end a message.
     */
    struct spinneret_rule end_of_message;
} spinneret_ruleset;

/**
 * What a context gets.
 */
typedef struct spinneret_options {
    /**
     * Host memory in bytes; 0 for none.
     */
    uint32_t host_bytes;
    /**
     * Handler memory in bytes; 0 for a quarter of what the program leaves.
     */
    uint32_t handler_bytes;
    /**
     * Scratchpad in each cluster in bytes; 0 for a quarter of what there is.
     */
    uint32_t scratchpad_bytes;
} spinneret_options;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Why the last call of this thread that failed did so: one sentence in UTF-8. It is there until the next call of this
 * thread that fails; it is empty if none has.
 */
const char *spinneret_error_message(void);

/**
 * Opens a NIC by its name: unix:PATH for a simulated one in another process, the device file of a card, such as
 * /dev/spinneret0, or card for the one of this machine. Whatever was on it is stopped. One program has it at a time.
 * name is a string; the handle is left at nic.
 */
int spinneret_open(const char *name,
                   struct spinneret_nic **nic);

/**
 * Closes a NIC and all contexts on it: their handlers end, and their packets go to the host again. The handles are used up,
 * even if something fails.
 */
int spinneret_close(struct spinneret_nic *nic);

/**
 * Lets time pass. On a simulated NIC packets are handled only while time passes.
 */
int spinneret_wait(struct spinneret_nic *nic, uint64_t nanoseconds);

/**
 * Time since the NIC was opened: simulated for a simulated one.
 * The time is left at nanoseconds.
 */
int spinneret_now(struct spinneret_nic *nic, uint64_t *nanoseconds);

/**
 * Reads a counter of the hardware by its name in the register table, such as ingress.hers. Cards behind the public driver
 * have none.
 * name is a string; the value is left at value.
 */
int spinneret_counter(struct spinneret_nic *nic,
                      const char *name,
                      uint32_t *value);

/**
 * Reads all counters of the hardware, and calls each for every one, in the order of their registers. The name is there
 * during the call only.
 * each is a function that returns, or null; user is whatever it takes.
 */
int spinneret_counters(struct spinneret_nic *nic,
                       spinneret_each_counter each,
                       void *user);

/**
 * Takes the next line that a handler has printed: 1 if there is one, 0 if not. If it does not fit into size bytes, which
 * is an error, it stays. SPINNERET_LONGEST_LINE bytes are enough for every line.
 * The line, with a 0 at its end, is left at line, where there is room for size bytes, its cluster and its HPU at
 * cluster and hpu, which may be null.
 */
int spinneret_line(struct spinneret_nic *nic,
                   char *line,
                   size_t size,
                   uint32_t *cluster,
                   uint32_t *hpu);

/**
 * Says that the program has computed for so long. On a simulated NIC that much time passes, and packets are handled meanwhile;
 * on a card it has passed already, and nothing is done.
 */
int spinneret_compute(struct spinneret_nic *nic,
                      uint64_t nanoseconds);

/**
 * Tells the addresses of a NIC of spinneret fabric: 1 if it has some, 0 if it has none.
 * The addresses are left at address.
 */
int spinneret_address(struct spinneret_nic *nic, struct spinneret_addresses *address);

/**
 * Sends an Ethernet frame without its check sequence from a simulated NIC, as the host: 1 if it is on its way, 0 if there is
 * no room for it before time passes. On a card this is what a socket of the network interface does.
 * size bytes can be read at frame.
 */
int spinneret_transmit(struct spinneret_nic *nic,
                       const void *frame,
                       size_t size);

/**
 * Takes the next Ethernet frame that came to the host of a simulated NIC because no rule matched it: its bytes, without its
 * check sequence, or 0 if there is none. capacity is 9216 or more, so that every frame fits.
 * capacity bytes can be written at frame.
 */
int spinneret_receive(struct spinneret_nic *nic,
                      void *frame,
                      size_t capacity);

/**
 * Reads the rules of one ruleset of a rule file, as docs/rules.md describes them; its number counts from 0. Gives back how
 * many rulesets the file has.
 * path is a string; the rules are left at rules.
 */
int spinneret_read_rules(const char *path,
                         uint32_t number,
                         struct spinneret_ruleset *rules);

/**
 * IPv4, in a packet without VLAN tags.
 */
struct spinneret_rule spinneret_rule_ipv4(void);

/**
 * IPv4 protocol number from first to last; 17 is UDP.
 */
struct spinneret_rule spinneret_rule_ip_protocol(uint8_t first, uint8_t last);

/**
 * UDP (or TCP) destination port from first to last, after an IPv4 header of 20 bytes.
 */
struct spinneret_rule spinneret_rule_udp_destination_port(uint16_t first, uint16_t last);

/**
 * UDP (or TCP) source port from first to last, after an IPv4 header of 20 bytes.
 */
struct spinneret_rule spinneret_rule_udp_source_port(uint16_t first, uint16_t last);

/**
 * UDP (or TCP) destination port from first to last, behind any IP header. The public design cannot do it.
 */
struct spinneret_rule spinneret_rule_ip_payload_destination_port(uint16_t first, uint16_t last);

/**
 * UDP (or TCP) source port from first to last, behind any IP header. The public design cannot do it.
 */
struct spinneret_rule spinneret_rule_ip_payload_source_port(uint16_t first, uint16_t last);

/**
 * Answers the calls of a context's handlers from now on, as spinneret run --services does, on a thread of the library: what
 * they print by spin_stdio.h goes to standard error, in lines that begin with the HPU and have no characters that a terminal obeys,
 * and the files that they open are those of a folder, which they
 * cannot leave. Without a folder they open none. It needs host memory behind the pages of spin_host.h: a MiB is enough for 16 HPUs.
 * folder is a string or null.
 */
int spinneret_services_open(struct spinneret_context *context,
                            const char *folder);

/**
 * Answers what handlers have called, and nothing from then on; closing the context does the same. calls may be null, or
 * gets how many were answered.
 * A number can be written at calls, if it is not null.
 */
int spinneret_services_close(struct spinneret_context *context,
                             uint64_t *calls);

/**
 * Reads a program: an ELF file with handlers.
 * path is a string; the handle is left at program.
 */
int spinneret_program_open(const char *path, struct spinneret_program **program);

/**
 * Closes a program. Contexts that run it go on.
 */
int spinneret_program_close(struct spinneret_program *program);

/**
 * Opens a context: packets that match rules are handled by the handlers NAME_hh, NAME_ph and NAME_th of the program,
 * where NAME is handlers. All contexts of a NIC share one program.
 * handlers is a string; rules and options can be read, and options may be null for 1 MiB of host memory and a quarter
 * of everything; the handle is left at context.
 */
int spinneret_open_context(struct spinneret_nic *nic,
                           struct spinneret_program *program,
                           const char *handlers,
                           const struct spinneret_ruleset *rules,
                           const struct spinneret_options *options,
                           struct spinneret_context **context);

/**
 * Closes a context: its handlers end, its memory is freed, and its packets go to the host again. The handle is used up, even
 * if something fails.
 */
int spinneret_close_context(struct spinneret_context *context);

/**
 * Changes which packets go to a context.
 * rules can be read.
 */
int spinneret_set_rules(struct spinneret_context *context, const struct spinneret_ruleset *rules);

/**
 * Reads what handlers have counted with push_counter(&__host_data.counters[index], value): the sum of the values, modulo
 * 2^32, and how many there were.
 * The results are left at sum and count.
 */
int spinneret_handler_counter(struct spinneret_context *context,
                              uint32_t index,
                              uint32_t *sum,
                              uint32_t *count);

/**
 * Where the host memory of a context is for its handlers, and how large it is.
 * The results are left at address and bytes, which may be null.
 */
int spinneret_host_memory(struct spinneret_context *context, uint64_t *address, uint32_t *bytes);

/**
 * Reads host memory of a context.
 * There is room for count bytes at bytes.
 */
int spinneret_host_read(struct spinneret_context *context, uint32_t offset, void *bytes, size_t count);

/**
 * Writes host memory of a context.
 * count bytes can be read at bytes.
 */
int spinneret_host_write(struct spinneret_context *context, uint32_t offset, const void *bytes, size_t count);

/**
 * Reads 4 bytes of host memory at once, at a multiple of 4.
 * The value is left at value.
 */
int spinneret_host_load32(struct spinneret_context *context, uint32_t offset, uint32_t *value);

/**
 * Reads 8 bytes of host memory at once, at a multiple of 8.
 * The value is left at value.
 */
int spinneret_host_load64(struct spinneret_context *context, uint32_t offset, uint64_t *value);

/**
 * Writes 4 bytes of host memory at once, at a multiple of 4.
 */
int spinneret_host_store32(struct spinneret_context *context, uint32_t offset, uint32_t value);

/**
 * Writes 8 bytes of host memory at once, at a multiple of 8.
 */
int spinneret_host_store64(struct spinneret_context *context, uint32_t offset, uint64_t value);

/**
 * Reads handler memory of a context, 4 bytes at once.
 * There is room for count bytes at bytes.
 */
int spinneret_handler_read(struct spinneret_context *context, uint32_t offset, void *bytes, size_t count);

/**
 * Writes handler memory of a context, 4 bytes at once.
 * count bytes can be read at bytes.
 */
int spinneret_handler_write(struct spinneret_context *context,
                            uint32_t offset,
                            const void *bytes,
                            size_t count);

/**
 * Reads a global variable of the program, 4 bytes at once; its bytes are little-endian. All contexts share it.
 * name is a string; there is room for count bytes at bytes.
 */
int spinneret_variable_read(struct spinneret_context *context,
                            const char *name,
                            uint32_t offset,
                            void *bytes,
                            size_t count);

/**
 * Writes a global variable of the program, 4 bytes at once.
 * name is a string; count bytes can be read at bytes.
 */
int spinneret_variable_write(struct spinneret_context *context,
                             const char *name,
                             uint32_t offset,
                             const void *bytes,
                             size_t count);

/**
 * Lets time pass until the 4 bytes at a multiple of 4 in host memory are as condition says: SPINNERET_EQUAL or
 * SPINNERET_AT_LEAST.
 */
int spinneret_wait_host(struct spinneret_context *context,
                        uint32_t offset,
                        uint32_t condition,
                        uint32_t value,
                        uint64_t timeout_nanoseconds);

/**
 * Lets time pass until 4 bytes of a global variable of the program are as condition says: SPINNERET_EQUAL or
 * SPINNERET_AT_LEAST.
 * name is a string.
 */
int spinneret_wait_variable(struct spinneret_context *context,
                            const char *name,
                            uint32_t offset,
                            uint32_t condition,
                            uint32_t value,
                            uint64_t timeout_nanoseconds);

/**
 * Sends a message over this machine's network, and returns when it has arrived. At most window segments are on their way
 * without an acknowledgement; 64 are a good number.
 * to is a string, address and port such as 10.0.0.1:9330; size bytes can be read at message.
 */
int spinneret_slmp_send(const char *to,
                        const void *message,
                        size_t size,
                        uint16_t window);

/**
 * Receives messages at an address and port of this machine, such as 0.0.0.0:9330; port 0 is one that is free, which
 * port tells.
 * at is a string; the handle is left at receiver, the port at port, which may be null.
 */
int spinneret_slmp_listen(const char *at,
                          struct spinneret_receiver **receiver,
                          uint16_t *port);

/**
 * Waits for the next message: 1 if one has come, 0 if none has in that time of the clock on the wall. If it has more than
 * capacity bytes, which is an error, size tells how many, and it stays. Senders whose acknowledgement was lost are
 * answered in here only.
 * The message is left at message, where there is room for capacity bytes, and its length at size.
 */
int spinneret_slmp_receive(struct spinneret_receiver *receiver,
                           void *message,
                           size_t capacity,
                           size_t *size,
                           uint64_t timeout_nanoseconds);

/**
 * Closes a receiver. The handle is used up, even if something fails.
 */
int spinneret_slmp_close(struct spinneret_receiver *receiver);

/**
 * The version of the library that runs, such as 0.1.0. SPINNERET_VERSION is that of the header.
 */
const char *spinneret_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SPINNERET_H */
