/* Keeps a log of packets at the host, and answers how long it is. */
#include <handler.h>
#include <packets.h>
#include <spin_reply.h>
#include <spin_stdio.h>

/* A line about a packet. Each HPU opens the file for itself, and the bytes of one append stay together. */
static long append(const pkt_hdr_t *packet, uint32_t bytes) {
    SPIN_FILE *log = spin_fopen("packets.log", "a");
    if (log == NULL) {
        return -1;
    }
    long written = spin_fprintf(log, "%u bytes to port %u\n", (unsigned)bytes, (unsigned)ntohs(packet->udp_hdr.dst_port));
    long size = spin_fseek(log, 0, SEEK_END) == 0 ? spin_ftell(log) : -1;
    return spin_fclose(log) == 0 && written > 0 ? size : -1;
}

__handler__ void host_log_ph(handler_args_t *args) {
    task_t *task = args->task;
    pkt_hdr_t *packet = (pkt_hdr_t *)task->pkt_mem;
    uint32_t bytes = task->pkt_mem_size;
    if (bytes < sizeof(*packet)) {
        return;
    }
    long size = append(packet, bytes);
    if (size < 0) {
        printf("host_log: the host keeps no log\n");
        return;
    }
    char *payload = (char *)(packet + 1);
    if (bytes < sizeof(*packet) + sizeof(uint32_t) || payload[0] != '?') {
        return;
    }
    uint32_t answer = htonl((uint32_t)size);
    memcpy(payload, &answer, sizeof(answer));
    spin_swap_ends(packet);
    spin_set_udp_payload(packet, sizeof(answer));
    spin_send_packet(packet, sizeof(*packet) + sizeof(answer), NULL);
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem) {
    *hh = NULL;
    *ph = host_log_ph;
    *th = NULL;
    *handler_mem = NULL;
}
