#include <pspin.h>
#include <handler.h>
#include <packets.h>
#include <spin_dma.h>

__handler__ void ping_ph(handler_args_t *args) {
    task_t *task = args->task;
    pkt_hdr_t *hdrs = (pkt_hdr_t *)(task->pkt_mem);
    uint16_t pkt_len = args->task->pkt_mem_size;

    // swap ETH src and dst MAC address
    mac_addr_t src_mac = hdrs->eth_hdr.src;
    hdrs->eth_hdr.src = hdrs->eth_hdr.dest;
    hdrs->eth_hdr.dest = src_mac;

    // swap src and dst address in IP header
    uint32_t src_id = hdrs->ip_hdr.source_id;
    hdrs->ip_hdr.source_id = hdrs->ip_hdr.dest_id;
    hdrs->ip_hdr.dest_id = src_id;

    // swap src and dst port in UDP header
    uint16_t src_port = hdrs->udp_hdr.src_port;
    hdrs->udp_hdr.src_port = hdrs->udp_hdr.dst_port;
    hdrs->udp_hdr.dst_port = src_port;

    spin_cmd_t put; //sPIN commands are non-blocking
    spin_send_packet(task->pkt_mem, pkt_len, &put);
    spin_cmd_wait(put); // wait for send to complete
}
