/*
 * Receives messages into host memory: every packet goes to where its offset says, in any order, and when all have
 * arrived a flag tells the host. Packets that ask for it (SYN) are acknowledged, so a sender of SLMP files can use it.
 */
#include <handler.h>
#include <packets.h>
#include <spin_host.h>
#include <spin_reply.h>

/* Host memory: a page with the flag, then the message. */
#define MESSAGE_OFFSET PAGE_SIZE

/* Bytes of the message in this packet: no more than there are, whatever the UDP header says. */
static uint32_t payload_bytes(const task_t *task, const slmp_pkt_hdr_t *packet) {
    uint32_t there = task->pkt_mem_size > sizeof(*packet) ? task->pkt_mem_size - sizeof(*packet) : 0;
    uint32_t said = ntohs(packet->udp_hdr.length);
    said = said > sizeof(udp_hdr_t) + sizeof(slmp_hdr_t) ? SLMP_PAYLOAD_LEN(packet) : 0;
    return MIN(there, said);
}

__handler__ void copy_to_host_ph(handler_args_t *args) {
    task_t *task = args->task;
    slmp_pkt_hdr_t *packet = task->pkt_mem;
    uint32_t offset = ntohl(packet->slmp_hdr.pkt_off);
    uint32_t bytes = payload_bytes(task, packet);

    /* The offset comes from the network: it must not lead out of our memory, nor around its end. */
    uint32_t room = task->host_mem_size > MESSAGE_OFFSET ? task->host_mem_size - MESSAGE_OFFSET : 0;
    if (offset > room || bytes > room - offset) {
        printf("copy_to_host: %u bytes at offset %u do not fit into %u\n", (unsigned)bytes, (unsigned)offset,
               (unsigned)room);
        return;
    }
    if (bytes != 0) {
        spin_dma_to_host(HOST_ADDR(args) + MESSAGE_OFFSET + offset, (uint32_t)(uintptr_t)(packet + 1), bytes, false,
                         NULL);
    }

    /* The acknowledgement overwrites the headers, which are no longer needed; the copy reads the payload only. */
    if (SYN(ntohs(packet->slmp_hdr.flags))) {
        spin_slmp_reply(packet, MKACK, 0);
        spin_send_packet(packet, sizeof(*packet), NULL);
    }
}

/*
 * A payload handler has finished when its copies have, so all bytes are in host memory when this runs. The flag is the
 * end of the message in its upper half, so that it is never 0, and the message id in the lower half.
 */
__handler__ void copy_to_host_th(handler_args_t *args) {
    task_t *task = args->task;
    if (task->host_mem_size < MESSAGE_OFFSET) {
        return;
    }
    slmp_pkt_hdr_t *packet = task->pkt_mem;
    uint64_t end = ntohl(packet->slmp_hdr.pkt_off) + payload_bytes(task, packet);
    spin_write_to_host_nonblk(HOST_ADDR(args), end << 32 | ntohl(packet->slmp_hdr.msg_id), NULL);
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem) {
    *hh = NULL;
    *ph = copy_to_host_ph;
    *th = copy_to_host_th;
    *handler_mem = NULL;
}
