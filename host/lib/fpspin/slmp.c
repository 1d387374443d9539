/* SLMP messages of fpspin.h: options for the sender of spinneret's library, which sends lost packets again. */
#include "fpspin.h"

#include <errno.h>
#include <spinneret.h>

#define MAX_WINDOW 65535
#define ETHERNET_TO_SLMP_BITS (8 * sizeof(slmp_pkt_hdr_t))

int slmp_socket(slmp_sock_t *sock, int wnd_sz, int align, int fc_us, int num_threads) {
    const char *wrong = NULL;
    if (sock == NULL) {
        wrong = "the socket is a null pointer";
    } else if (wnd_sz < 0 || wnd_sz > MAX_WINDOW) {
        wrong = "the window must be 0 to 65535 packets";
    } else if (align < 1 || align > SLMP_PAYLOAD_SIZE) {
        wrong = "the alignment must be 1 to 1462 bytes";
    } else if (fc_us < 0) {
        wrong = "the gap must be 0 microseconds or more";
    } else if (num_threads < 1) {
        wrong = "there must be 1 thread or more";
    }
    if (wrong != NULL) {
        fprintf(stderr, "slmp_socket: %s\n", wrong);
        errno = EINVAL;
        return -1;
    }
    *sock = (slmp_sock_t){.wnd_sz = wnd_sz, .align = align, .fc_us = fc_us, .num_threads = num_threads};
    return 0;
}

int slmp_sendmsg(slmp_sock_t *sock, in_addr_t server, int msgid, void *buf, size_t sz) {
    if (sock == NULL || sock->align < 1 || sock->num_threads < 1) {
        fprintf(stderr, "slmp_sendmsg: the socket is not set up: call slmp_socket\n");
        return -1;
    }
    int payload = SLMP_PAYLOAD_SIZE / sock->align * sock->align;
    spinneret_slmp_options options = {
        .id = (uint32_t)msgid,
        .window = (uint16_t)sock->wnd_sz,
        .segment_bytes = (uint16_t)payload,
    };
    if (sock->fc_us > 0) {
        options.bits_per_second = (ETHERNET_TO_SLMP_BITS + 8 * (uint64_t)payload) * 1000000 / (uint64_t)sock->fc_us;
    }
    char address[INET_ADDRSTRLEN], to[INET_ADDRSTRLEN + sizeof(":65535")];
    inet_ntop(AF_INET, &server, address, sizeof(address));
    snprintf(to, sizeof(to), "%s:%d", address, SLMP_PORT);
    if (spinneret_slmp_send_with(to, buf, sz, &options) != SPINNERET_OK) {
        fprintf(stderr, "slmp_sendmsg: %s\n", spinneret_error_message());
        return -1;
    }
    return 0;
}

int slmp_close(slmp_sock_t *sock) {
    (void)sock;
    return 0;
}
