/*
 * Sums by port.
 *
 * Made of the trait `Tally` by spinneret_rpc::service: change that. A function gives SPIN_SERVICE_DONE,
 * or which check refused it (spin_service.h); what it gives besides counts only if it is done.
 */
#ifndef TALLY_H
#define TALLY_H

#include <spin_service.h>

/* Adds bytes to those of a port, and gives their sum. */
static inline spin_status_t tally_add(uint16_t port, uint32_t bytes, uint64_t *result) {
    SPIN_SERVICE_USES(0x73400001, 0x055009a650bc5c64, "tally_add");
    union {
        struct {
            uint32_t nobody;
            uint16_t port;
            uint32_t bytes;
        } in;
        struct {
            uint32_t status;
            uint32_t reserved;
            union { uint64_t word; uint64_t value; } result;
        } out;
        uint64_t words[SPIN_RPC_WORDS];
    } packet;
    SPIN_SERVICE_PLACE(packet, in.port, 4);
    SPIN_SERVICE_PLACE(packet, in.bytes, 8);
    struct spin_service call;
    spin_service_begin(&call, 0x73400001, &packet, 12, 16);
    packet.in.nobody = SPIN_SERVICE_NOBODY;
    packet.in.port = port;
    packet.in.bytes = bytes;
    spin_status_t status = spin_service_end(&call);
    if (status == SPIN_SERVICE_DONE) {
        *result = packet.out.result.value;
    }
    return status;
}

#endif
