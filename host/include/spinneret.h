/*
 * The library for applications that use a spinneret NIC. Generated from host/c; see docs/host/library.md.
 *
 * Calls that return an int return 0 on success unless documented otherwise, and one of the negative numbers below on failure;
 * spinneret_error_message() returns the reason. Strings are UTF-8 and zero-terminated.
 *
 * Close each handle once, with the call that has close in its name. A closed handle, a handle of another kind, or a null
 * pointer where none is allowed is an error. All calls are thread-safe.
 */

#ifndef SPINNERET_H
#define SPINNERET_H

#include <stddef.h>
#include <stdint.h>
#define SPINNERET_VERSION "0.1.0"
#define SPINNERET_VERSION_MAJOR 0
#define SPINNERET_VERSION_MINOR 1
#define SPINNERET_VERSION_PATCH 0

/*
 * Annotations of prototypes in a header: the command spinneret service generates stubs for handlers from it, and a file that
 * defines spinneret_offer_PREFIX (docs/host/services.md).
 */
#define SPIN_SERVICE(number, prefix) int spinneret_offer_##prefix(spinneret_context *context, void *state)
#define SPIN_CALL(...)
#define SPIN_IN(count)
#define SPIN_OUT(count)
#define SPIN_INOUT(count)
#define SPIN_CAP(bytes)
/* The status of a function that refuses a call with a number. */
#define SPIN_FAILED(number) (SPIN_SERVICE_FAILED | (uint32_t)(number) << 8)


/**
 * A call succeeded.
 */
#define SPINNERET_OK 0

/**
 * Invalid argument: a null pointer, a closed handle, an unknown name, an invalid range of memory.
 */
#define SPINNERET_ERROR_ARGUMENT -1

/**
 * There is no such NIC, or another program uses it.
 */
#define SPINNERET_ERROR_OPEN -2

/**
 * The file is not a program for the NIC, or does not have the handlers.
 */
#define SPINNERET_ERROR_PROGRAM -3

/**
 * No context or no memory is left, or other contexts run another program.
 */
#define SPINNERET_ERROR_NO_ROOM -4

/**
 * The NIC refused a request, or did not answer as expected.
 */
#define SPINNERET_ERROR_DEVICE -5

/**
 * The NIC, its driver or the process that simulates it has disappeared.
 */
#define SPINNERET_ERROR_GONE -6

/**
 * Timeout.
 */
#define SPINNERET_ERROR_TIMEOUT -7

/**
 * Internal error of the library.
 */
#define SPINNERET_ERROR_INTERNAL -8

/**
 * Maximum length of a name or path in bytes, without the terminating 0.
 */
#define SPINNERET_LONGEST_NAME 4095

/**
 * Maximum size of a handler's line in bytes, with the terminating 0. An invalid byte takes three.
 */
#define SPINNERET_LONGEST_LINE 12289

/**
 * Maximum size of a frame in bytes, without its check sequence.
 */
#define SPINNERET_LARGEST_FRAME 9216

/**
 * A packet matches if all rules match.
 */
#define SPINNERET_ALL 0

/**
 * A packet matches if at least one rule matches.
 */
#define SPINNERET_ANY 1

/**
 * Maximum number of rules, without the end-of-message rule.
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
 * A call of a handler: its function and its arguments. It ends with the function of the program that answers it.
 *
 * An argument that is not what the program asks for fails the call: the handler gets EMIS_FAILED, whatever the program returns.
 */
typedef struct spinneret_call spinneret_call;

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
 * A receiver of SLMP messages at a UDP port.
 */
typedef struct spinneret_receiver spinneret_receiver;

/**
 * A callback for counters: it receives the pointer user, and the name and value of a counter.
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
 * A rule: it matches if a word of the packet, masked, is from first to last. The word is at bytes 4 * word to
 * 4 * word + 3, in network order.
 */
typedef struct spinneret_rule {
    /**
     * Index of the word.
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
 * Selects packets for handlers. All bytes 0: all packets, and each is a message.
 */
typedef struct spinneret_ruleset {
    /**
     * SPINNERET_ALL or SPINNERET_ANY.
     */
    uint32_t join;
    /**
     * Number of rules. Without rules, SPINNERET_ALL matches all packets, and SPINNERET_ANY none.
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
     * The rule for packets that end a message.
     */
    struct spinneret_rule end_of_message;
} spinneret_ruleset;

/**
 * Resources of a context.
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
     * Scratchpad in each cluster in bytes; 0 for a quarter of the available memory.
     */
    uint32_t scratchpad_bytes;
} spinneret_options;

/**
 * Share of a context in the NIC. Only spinneret's own clusters have weights, budgets and rates.
 */
typedef struct spinneret_share {
    /**
     * Weight in HPU time, copies to and from the host, and packets to send, relative to those of other contexts: 1 to 15.
     */
    uint32_t weight;
    /**
     * Clocks after which a handler is stopped; 0: never.
     */
    uint32_t budget;
    /**
     * Bound on slots of the packet buffer, beyond which packets are dropped and counted; 0: none.
     */
    uint32_t slots;
    /**
     * Limit of the bytes of packets that handlers send in a clock of the clusters, in units of 1/256; 0: none.
     */
    uint32_t egress_rate;
} spinneret_share;

/**
 * Use of the NIC by contexts of a number, since the clusters were reset.
 */
typedef struct spinneret_usage {
    /**
     * Clocks that handlers took.
     */
    uint64_t clocks;
    /**
     * Bytes that handlers copied to the host.
     */
    uint64_t host_written;
    /**
     * Bytes that handlers copied from the host.
     */
    uint64_t host_read;
    /**
     * Bytes of packets that handlers sent.
     */
    uint64_t sent;
    /**
     * Handlers that have ended, modulo 2^32.
     */
    uint32_t handlers;
    /**
     * Handlers that were stopped because they used up their budget.
     */
    uint32_t budget_ends;
    /**
     * Handlers that failed, those that used up their budget among them.
     */
    uint32_t failures;
    /**
     * Packets that were dropped because the context was at its bound on slots, since the NIC was reset.
     */
    uint32_t dropped_bound;
} spinneret_usage;

/**
 * The code of a handler in its program's file. Next to other programs it is at another address.
 */
typedef struct spinneret_code {
    /**
     * Address; 0 if there is no such handler.
     */
    uint32_t address;
    /**
     * Size in bytes.
     */
    uint32_t bytes;
} spinneret_code;

/**
 * How a message is sent.
 */
typedef struct spinneret_slmp_options {
    /**
     * Message id.
     */
    uint32_t id;
    /**
     * Maximum number of unacknowledged segments; 0: the first and the last segment are acknowledged.
     */
    uint16_t window;
    /**
     * Payload of a segment in bytes, 1 to 1462.
     */
    uint16_t segment_bytes;
    /**
     * Maximum rate in bits per second; 0 for no limit.
     */
    uint64_t bits_per_second;
} spinneret_slmp_options;

/**
 * A function of the program that answers calls. It returns the result for the handler. It must not wait for long, because all calls
 * of the context's handlers wait with it.
 */
typedef uint64_t (*spinneret_answer)(void *state, struct spinneret_call *call);

/**
 * The status of a call of a handler: SPIN_SERVICE_DONE, or the reason of a refusal in the lowest byte, with a number of the
 * function's own above it.
 */
typedef uint32_t spin_status_t;

/**
 * A function of the program with a prototype for handlers. The command spinneret service generates these from a header.
 */
typedef struct spinneret_function {
    /**
     * All that handlers and host have to agree on.
     */
    const char *text;
    /**
     * The version: a hash of the text.
     */
    uint64_t version;
    /**
     * Calls the function. Each argument is a pointer: to a value, to a string, to elements, and last to the result.
     */
    spin_status_t (*call)(void *state, void *const *arguments);
} spinneret_function;

/**
 * The function has done its work.
 */
#define SPIN_SERVICE_DONE 0

/**
 * The function refuses. SPIN_FAILED(NUMBER) has a number for the handler as well, of 24 bits.
 */
#define SPIN_SERVICE_FAILED 11

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Returns the error message of the last failed call of this thread: one sentence in UTF-8, empty if no call has failed. It
 * is valid until the next call of this thread that fails.
 */
const char *spinneret_error_message(void);

/**
 * Returns the version of the loaded library, such as 0.1.0. SPINNERET_VERSION is that of the header.
 */
const char *spinneret_version(void);

/**
 * Opens a NIC by its name: unix:PATH for a simulated one in another process, the device file of a card, such as
 * /dev/spinneret0, or card for the one of this machine. Several
 * programs can use a simulated one. Of another, this stops what runs on it, and only one program can use it.
 * name is a string; the handle is written to nic.
 */
int spinneret_open(const char *name,
                   struct spinneret_nic **nic);

/**
 * Closes a NIC and all contexts on it: their handlers end, and their packets go to the host again. The handles are invalid
 * afterwards, even if the call fails.
 */
int spinneret_close(struct spinneret_nic *nic);

/**
 * Waits. A simulated NIC handles packets only while time passes.
 */
int spinneret_wait(struct spinneret_nic *nic, uint64_t nanoseconds);

/**
 * Returns the time since the NIC was opened; simulated time for a simulated NIC.
 * The time is written to nanoseconds.
 */
int spinneret_now(struct spinneret_nic *nic, uint64_t *nanoseconds);

/**
 * Reads a hardware counter by its name in the register table, such as ingress.hers. Cards with FPsPIN's driver do not have
 * them.
 * name is a string; the value is written to value.
 */
int spinneret_counter(struct spinneret_nic *nic,
                      const char *name,
                      uint32_t *value);

/**
 * Reads all hardware counters, and calls each for each of them, in the order of their registers. The name is valid only
 * during the call.
 * each is a function that returns, or null; user is whatever it takes.
 */
int spinneret_counters(struct spinneret_nic *nic,
                       spinneret_each_counter each,
                       void *user);

/**
 * Takes the next line that a handler has printed. Returns 1 if there is one, 0 if not. Fails, and keeps the line, if it does
 * not fit into size bytes; SPINNERET_LONGEST_LINE bytes are enough for every line.
 * The line is written to line, with a terminating 0 and at most size bytes; its cluster and HPU to cluster and hpu,
 * which may be null.
 */
int spinneret_line(struct spinneret_nic *nic,
                   char *line,
                   size_t size,
                   uint32_t *cluster,
                   uint32_t *hpu);

/**
 * Accounts for computation of the program. On a simulated NIC this time passes, and packets are handled meanwhile. On a card it
 * has passed already, so nothing happens.
 */
int spinneret_compute(struct spinneret_nic *nic,
                      uint64_t nanoseconds);

/**
 * Returns the addresses of a NIC of spinneret fabric. Returns 1 if it has addresses, else 0.
 * The addresses are written to address.
 */
int spinneret_address(struct spinneret_nic *nic, struct spinneret_addresses *address);

/**
 * Sends an Ethernet frame without its check sequence, as the host of a simulated NIC. Returns 1 if it is sent, 0 if the queue
 * is full; wait and retry. On a card, use a socket of the network interface instead.
 * size bytes can be read at frame.
 */
int spinneret_transmit(struct spinneret_nic *nic,
                       const void *frame,
                       size_t size);

/**
 * Takes the next Ethernet frame for the host of a simulated NIC, which no rule matched. Returns its length without the check
 * sequence, or 0 if there is none. capacity must be at least 9216, so that every frame fits.
 * capacity bytes can be written at frame.
 */
int spinneret_receive(struct spinneret_nic *nic,
                      void *frame,
                      size_t capacity);

/**
 * Reads a program: an ELF file with handlers.
 * path is a string; the handle is written to program.
 */
int spinneret_program_open(const char *path, struct spinneret_program **program);

/**
 * Closes a program. Contexts that run it continue.
 */
int spinneret_program_close(struct spinneret_program *program);

/**
 * Opens a context: the handlers NAME_hh, NAME_ph and NAME_th of the program, where NAME is handlers, handle packets
 * that match rules. All contexts of a process share one program.
 * handlers is a string, or null if the program has handlers of one name; rules and options can be read, and options may be null for 1 MiB of host memory and a quarter
 * of the other resources; the handle is written to context.
 */
int spinneret_open_context(struct spinneret_nic *nic,
                           struct spinneret_program *program,
                           const char *handlers,
                           const struct spinneret_ruleset *rules,
                           const struct spinneret_options *options,
                           struct spinneret_context **context);

/**
 * Closes a context: its handlers end, its memory is freed, and its packets go to the host again. The handle is invalid
 * afterwards, even if the call fails.
 */
int spinneret_close_context(struct spinneret_context *context);

/**
 * Changes the rules that select the packets of a context.
 * rules can be read.
 */
int spinneret_set_rules(struct spinneret_context *context, const struct spinneret_ruleset *rules);

/**
 * Sets the share of a context. One that is opened has weight 1, a million clocks, and no other limit, or the share that the
 * options of spinneret serve name.
 * share can be read, or is null for the first one of a context.
 */
int spinneret_set_share(struct spinneret_context *context,
                        const struct spinneret_share *share);

/**
 * Reads how a context has used the NIC, which only spinneret's own clusters count.
 * The result is written to usage.
 */
int spinneret_get_usage(struct spinneret_context *context, struct spinneret_usage *usage);

/**
 * Reads a counter that handlers update with push_counter(&__host_data.counters[index], value): the sum of the values,
 * modulo 2^32, and their number.
 * The results are written to sum and count.
 */
int spinneret_handler_counter(struct spinneret_context *context,
                              uint32_t index,
                              uint32_t *sum,
                              uint32_t *count);

/**
 * Reads one ruleset of a rule file (docs/rules.md); its number counts from 0. Returns the number of rulesets in the file.
 * path is a string; the rules are written to rules.
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
 * UDP (or TCP) destination port from first to last, behind any IP header. FPsPIN cannot do it.
 */
struct spinneret_rule spinneret_rule_ip_payload_destination_port(uint16_t first, uint16_t last);

/**
 * UDP (or TCP) source port from first to last, behind any IP header. FPsPIN cannot do it.
 */
struct spinneret_rule spinneret_rule_ip_payload_source_port(uint16_t first, uint16_t last);

/**
 * Returns the address of a context's host memory on the NIC, and its size.
 * The results are written to address and bytes, which may be null.
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
 * Reads 4 bytes of host memory atomically, at a multiple of 4.
 * The value is written to value.
 */
int spinneret_host_load32(struct spinneret_context *context, uint32_t offset, uint32_t *value);

/**
 * Reads 8 bytes of host memory atomically, at a multiple of 8.
 * The value is written to value.
 */
int spinneret_host_load64(struct spinneret_context *context, uint32_t offset, uint64_t *value);

/**
 * Writes 4 bytes of host memory atomically, at a multiple of 4.
 */
int spinneret_host_store32(struct spinneret_context *context, uint32_t offset, uint32_t value);

/**
 * Writes 8 bytes of host memory atomically, at a multiple of 8.
 */
int spinneret_host_store64(struct spinneret_context *context, uint32_t offset, uint64_t value);

/**
 * Reads handler memory of a context, in atomic accesses of 4 bytes.
 * There is room for count bytes at bytes.
 */
int spinneret_handler_read(struct spinneret_context *context, uint32_t offset, void *bytes, size_t count);

/**
 * Writes handler memory of a context, in atomic accesses of 4 bytes.
 * count bytes can be read at bytes.
 */
int spinneret_handler_write(struct spinneret_context *context,
                            uint32_t offset,
                            const void *bytes,
                            size_t count);

/**
 * Reads a global variable of the program, in atomic accesses of 4 bytes; it is little-endian. All contexts share it.
 * name is a string; there is room for count bytes at bytes.
 */
int spinneret_variable_read(struct spinneret_context *context,
                            const char *name,
                            uint32_t offset,
                            void *bytes,
                            size_t count);

/**
 * Writes a global variable of the program, in atomic accesses of 4 bytes.
 * name is a string; count bytes can be read at bytes.
 */
int spinneret_variable_write(struct spinneret_context *context,
                             const char *name,
                             uint32_t offset,
                             const void *bytes,
                             size_t count);

/**
 * Waits until a 4-byte word of host memory, at a multiple of 4, fulfils a condition: SPINNERET_EQUAL or
 * SPINNERET_AT_LEAST.
 */
int spinneret_wait_host(struct spinneret_context *context,
                        uint32_t offset,
                        uint32_t condition,
                        uint32_t value,
                        uint64_t timeout_nanoseconds);

/**
 * Waits until a 4-byte word of a global variable of the program fulfils a condition: SPINNERET_EQUAL or
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
 * Returns the code of the handlers NAME_hh, NAME_ph and NAME_th, where NAME is handlers, in this order.
 * handlers is a string, or null if the program has handlers of one name; codes has room for three.
 */
int spinneret_handlers(struct spinneret_program *program, const char *handlers, struct spinneret_code *codes);

/**
 * Returns a pointer to the host memory of a context, which is valid until the context is closed. Handlers write there at any
 * time.
 * The pointer is written to memory.
 */
int spinneret_host_pointer(struct spinneret_context *context,
                           void **memory);

/**
 * Returns the address of a context's handler memory on the NIC, and its size.
 * The results are written to address and bytes, which may be null.
 */
int spinneret_handler_memory(struct spinneret_context *context, uint32_t *address, uint32_t *bytes);

/**
 * Returns the address of a global variable of the program on the NIC, and its size.
 * name is a string; the results are written to address and bytes, which may be null.
 */
int spinneret_variable(struct spinneret_context *context, const char *name, uint32_t *address, uint32_t *bytes);

/**
 * Takes the oldest value that handlers have pushed with push_counter(&__host_data.counters[index], value). Values come in the
 * order of each HPU. Returns 1 if there is one, 0 if not. Handlers do not wait: an HPU overwrites its oldest value when the last
 * 31 were not read.
 * The value is written to value.
 */
int spinneret_pop_counter(struct spinneret_context *context,
                          uint32_t index,
                          uint32_t *value);

/**
 * Returns the number of values, of all counters, that were overwritten since the first call of this or of spinneret_pop_counter.
 * The number is written to lost.
 */
int spinneret_lost_values(struct spinneret_context *context,
                          uint64_t *lost);

/**
 * Sets a counter of handlers to 0, and discards its values.
 */
int spinneret_clear_counter(struct spinneret_context *context, uint32_t index);

/**
 * Sends a message over this machine's network, and returns when it has arrived. At most window segments are
 * unacknowledged; 64 is a good value.
 * to is a string, address and port such as 10.0.0.1:9330; size bytes can be read at message.
 */
int spinneret_slmp_send(const char *to, const void *message, size_t size, uint16_t window);

/**
 * As spinneret_slmp_send, with options.
 * As for spinneret_slmp_send; options can be read.
 */
int spinneret_slmp_send_with(const char *to,
                             const void *message,
                             size_t size,
                             const struct spinneret_slmp_options *options);

/**
 * Receives messages at an address and port of this machine, such as 0.0.0.0:9330. Port 0 selects a free one, which is
 * returned in port.
 * at is a string; the handle is written to receiver, the port to port, which may be null.
 */
int spinneret_slmp_listen(const char *at,
                          struct spinneret_receiver **receiver,
                          uint16_t *port);

/**
 * Waits for the next message, up to a timeout in wall-clock time. Returns 1 if there is one, else 0. Fails, and keeps the
 * message, if it has more than capacity bytes; size is its length. Lost acknowledgements are repeated only in this call.
 * The message is written to message, which has room for capacity bytes, and its length to size.
 */
int spinneret_slmp_receive(struct spinneret_receiver *receiver,
                           void *message,
                           size_t capacity,
                           size_t *size,
                           uint64_t timeout_nanoseconds);

/**
 * Closes a receiver. The handle is invalid afterwards, even if the call fails.
 */
int spinneret_slmp_close(struct spinneret_receiver *receiver);

/**
 * Offers functions of the program to the handlers of a context, which call them by the number of an API, 1 to 63, in the
 * encoding of Emissary APIs (emissary.h): answer is called with state for each call, on the thread of the library, once the
 * services of the context are open. EMIS_ID_RESERVE of emissary.h and larger numbers are free.
 * answer and state can be used on another thread until the services or the context are closed.
 */
int spinneret_services_offer(struct spinneret_context *context,
                             uint16_t api,
                             spinneret_answer answer,
                             void *state);

/**
 * Offers functions with prototypes to the handlers of a context, which call them by stubs. The command spinneret
 * service generates the stubs and the call of this function from a header (docs/host/services.md). The functions are called with state on the thread of the
 * library, once the services of the context are open. If a handler has a stub of another version, the services do not open.
 * There are count functions with strings as texts. They and state can be used on another thread until the services or the context
 * are closed.
 */
int spinneret_services_offer_functions(struct spinneret_context *context,
                                       const struct spinneret_function *functions,
                                       size_t count,
                                       void *state);

/**
 * Starts a thread that answers the calls of a context's handlers, as spinneret run --services does. Their output with
 * spin_stdio.h goes to standard error, in lines that begin with the HPU and have no control characters. They can open files
 * in a folder, and nowhere else; without a folder, none. The calls need host memory after the pages of spin_host.h: 1 MiB is
 * enough for 16 HPUs.
 * folder is a string or null.
 */
int spinneret_services_open(struct spinneret_context *context,
                            const char *folder);

/**
 * Answers pending calls, and ends the thread; closing the context does the same. The number of answered calls is written to
 * calls, which may be null.
 * A number can be written at calls, if it is not null.
 */
int spinneret_services_close(struct spinneret_context *context,
                             uint64_t *calls);

/**
 * Returns the number of the function that is called, or 0 if the call is a null pointer.
 * The call is that of the function that runs.
 */
uint16_t spinneret_call_function(const struct spinneret_call *call);

/**
 * Returns how many arguments the call has, without those of its areas.
 * As for spinneret_call_function.
 */
size_t spinneret_call_arguments(const struct spinneret_call *call);

/**
 * Fails the call, because there is no such function.
 * As for spinneret_call_function.
 */
int spinneret_call_refuse(struct spinneret_call *call);

/**
 * Reads an integer; arguments count from 0. Its sign is that of its type in the handler: of 32 bits it is extended.
 * As for spinneret_call_function; the number is written to value.
 */
int spinneret_call_integer(struct spinneret_call *call,
                           size_t argument,
                           int64_t *value);

/**
 * Reads a number of floating point.
 * As for spinneret_call_integer.
 */
int spinneret_call_double(struct spinneret_call *call, size_t argument, double *value);

/**
 * Gives a string, with a 0 at its end, or NULL if the handler has passed that. It is there until the function returns.
 * As for spinneret_call_integer.
 */
int spinneret_call_string(struct spinneret_call *call,
                          size_t argument,
                          const char **text);

/**
 * Gives the bytes at a pointer that came with the call, to the end of their area, or NULL and 0 if the handler has passed that.
 * They are there until the function returns.
 * As for spinneret_call_integer.
 */
int spinneret_call_input(struct spinneret_call *call,
                         size_t argument,
                         const void **bytes,
                         size_t *size);

/**
 * Gives the bytes at a pointer that go back to the handler, to the end of their area, or NULL and 0 if the handler has passed that.
 * Before the function writes them, they are those that came, or 0.
 * As for spinneret_call_integer.
 */
int spinneret_call_output(struct spinneret_call *call,
                          size_t argument,
                          void **bytes,
                          size_t *size);

/**
 * Limits the bytes that go back to a pointer: the handler's memory after them keeps what it holds.
 * As for spinneret_call_function.
 */
int spinneret_call_filled(struct spinneret_call *call, size_t argument, size_t size);

/**
 * Returns the result of a function that gives a number of floating point: its bits.
 */
uint64_t spinneret_call_result(double value);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SPINNERET_H */
