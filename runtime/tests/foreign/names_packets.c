/* Every name of packets.h. */
#include <handler.h>
#include <packets.h>

typedef struct {
    eth_hdr_t eth_hdr;
    ip_hdr_t ip_hdr;
    udp_hdr_t udp_hdr;
} __attribute__((__packed__)) my_hdr_t;

__handler__ void names_packets_ph(handler_args_t *args)
{
    my_hdr_t *mine = (my_hdr_t *)(args->task->pkt_mem);
    pkt_hdr_t *hdrs = (pkt_hdr_t *)mine;
    slmp_pkt_hdr_t *slmp = (slmp_pkt_hdr_t *)hdrs;

    mac_addr_t src = hdrs->eth_hdr.src;
    src.data[0] ^= 2;
    hdrs->eth_hdr.src = hdrs->eth_hdr.dest;
    hdrs->eth_hdr.dest = src;
    hdrs->eth_hdr.length = htons(0x0800);
    uint32_t id = hdrs->ip_hdr.source_id;
    hdrs->ip_hdr.source_id = hdrs->ip_hdr.dest_id;
    hdrs->ip_hdr.dest_id = htonl(ntohl(id) + 1);
    hdrs->ip_hdr.ttl = hdrs->ip_hdr.version + hdrs->ip_hdr.ihl + hdrs->ip_hdr.tos + hdrs->ip_hdr.protocol;
    hdrs->ip_hdr.identification = bswap_16(hdrs->ip_hdr.offset) + bswap_32(id);
    hdrs->ip_hdr.length = htons(sizeof(ip_hdr_t) + sizeof(udp_hdr_t) + sizeof(slmp_hdr_t));
    hdrs->ip_hdr.checksum = 0;
    hdrs->ip_hdr.checksum = ip_checksum((uint8_t *)&hdrs->ip_hdr, sizeof(ip_hdr_t));
    hdrs->udp_hdr.src_port = hdrs->udp_hdr.dst_port;
    hdrs->udp_hdr.length = htons(sizeof(udp_hdr_t));
    hdrs->udp_hdr.checksum = 0;

    uint16_t flags = ntohs(slmp->slmp_hdr.flags);
    if (SYN(flags) || EOM(flags) || ACK(flags))
        slmp->slmp_hdr.flags = htons(MKACK | MKEOM | MKSYN);
    slmp->slmp_hdr.pkt_off = htonl(SLMP_PAYLOAD_LEN(slmp));
    slmp->slmp_hdr.msg_id = htonl(1);
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem_ptr)
{
    volatile handler_fn handlers[] = {NULL, names_packets_ph, NULL};
    *hh = handlers[0];
    *ph = handlers[1];
    *th = handlers[2];
    (void)handler_mem_ptr;
}
