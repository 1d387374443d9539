/* How an HPU comes to its ports, and what they know of the host's session. */
#include "rpc_client.h"

/* The host finds it by this name. It is there only if a handler calls. */
__attribute__((section(".l2_rpc"))) volatile struct spin_rpc_place __spin_rpc[SPIN_RPC_CONTEXTS];

__thread spin_rpc_client_t spin_rpc_client;
__thread spin_rpc_packet_t spin_rpc_packet;

__attribute__((cold, noinline)) bool spin_rpc_wait_at_host(spin_rpc_port_t *port) {
    for (uint32_t looks = 1;; ++looks) {
        read_host(port->inbox_at, &port->seen, SPIN_RPC_MAILBOX_BYTES);
        if (port->seen == port->out) {
            port->seen = 0;
            port->state |= SPIN_RPC_OWNS;
            return true;
        }
        if (looks % LOOKS == 0 && !is_same_session()) {
            return false;
        }
    }
}

/* A port as the host's memory has it, wherever a handler or another session has left it. */
__attribute__((cold, noinline)) static bool attach_port(spin_rpc_port_t *port) {
    read_host(port->outbox_at, &port->out, SPIN_RPC_MAILBOX_BYTES);
    read_host(port->header_at, port->header, SPIN_RPC_HEADER_BYTES);
    if (port->out > 1) {
        /* A writer other than this client has changed the mailbox. The server skips such a port, so it is ours. */
        spin_cmd_t command;
        read_host(port->inbox_at, &port->out, SPIN_RPC_MAILBOX_BYTES);
        write_host(port->outbox_at, &port->out, SPIN_RPC_MAILBOX_BYTES, &command);
        spin_cmd_wait(command);
    }
    port->told |= port->out != 0 ? port->bit : 0;
    port->header[0] = 1;
    port->header[1] = 0;
    ++port->header[GENERATION];
    port->state = SPIN_RPC_NEW_HEADER;
    return spin_rpc_wait(port);
}

/* Sets where a port's answers arrive, and in which form. */
static void attach_inbox(spin_rpc_port_t *port, uint32_t index) {
    volatile struct spin_rpc_place *place = spin_rpc_client.place;
    uint32_t copies = place->copies, hpus = place->hpus, hpu = index % hpus;
    port->value = 0;
    if (copies == SPIN_RPC_BITS_COPIED) {
        port->inbox = &place->inbox[hpu / SPIN_RPC_BITS_HPUS];
        port->bit = 1u << (hpu % SPIN_RPC_BITS_HPUS + index / hpus * SPIN_RPC_BITS_HPUS);
        port->session = -(1u << SPIN_RPC_BITS_SHIFT);
        port->told = spin_rpc_client.session << SPIN_RPC_BITS_SHIFT;
        return;
    }
    bool has_word = copies == SPIN_RPC_WORDS_COPIED && index < SPIN_RPC_PORTS;
    port->inbox = has_word ? &place->inbox[index] : NULL;
    port->value = has_word ? SPIN_RPC_COPY_HAS_VALUE : 0;
    port->bit = SPIN_RPC_COPY_INBOX;
    port->session = ~SPIN_RPC_COPY_INBOX;
    port->told = spin_rpc_client.session << SPIN_RPC_COPY_SHIFT;
}

/* The services of a context by its host memory, if the host offers any. */
static volatile struct spin_rpc_place *find(uint32_t low, uint32_t high) {
    for (uint32_t context = 0; context < SPIN_RPC_CONTEXTS; ++context) {
        volatile struct spin_rpc_place *place = &__spin_rpc[context];
        if (place->session != 0 && place->host_low == low && place->host_high == high) {
            return place;
        }
    }
    return NULL;
}

__attribute__((cold, noinline)) bool spin_rpc_attach(void) {
    uint32_t low = MMIO_READ(HWSCHED_HOST_MEM_ADDR_LOW), high = MMIO_READ(HWSCHED_HOST_MEM_ADDR_HIGH);
    spin_rpc_client.not_low = spin_rpc_client.not_high = 0;
    volatile struct spin_rpc_place *place = find(low, high);
    if (place == NULL) {
        return false;
    }
    uint32_t session = place->session, version = place->version, ports = place->ports, hpus = place->hpus;
    uint32_t first = rt_cluster_id() * NB_CORES + rt_core_id();
    bool is_known = version == SPIN_RPC_VERSION_22 || version == SPIN_RPC_VERSION_23;
    if (session == 0 || !is_known || place->lanes != 1 || first >= hpus || first >= ports) {
        return false;
    }
    spin_rpc_client.place = place;
    spin_rpc_client.session = session;
    spin_rpc_client.bulk_bytes = 0;
    uint64_t primary = ((uint64_t)high << 32 | low) + place->offset;
    primary += version == SPIN_RPC_VERSION_22 ? 0 : SPIN_RPC_DOORBELL_BYTES;
    uint64_t secondary = primary + SPIN_RPC_MAILBOX_BYTES * ports;
    /* All begins at a multiple of 64. */
    uint64_t headers = (secondary + SPIN_RPC_MAILBOX_BYTES * ports + 7) & ~(uint64_t)7;
    uint64_t packets = headers + SPIN_RPC_HEADER_BYTES * ports;
    spin_rpc_port_t *port = spin_rpc_client.port, *last = port;
    for (uint32_t index = first; index < ports && port < spin_rpc_client.port + SPIN_RPC_PORTS_PER_HPU; index += hpus, ++port) {
        port->inbox_at = primary + SPIN_RPC_MAILBOX_BYTES * index;
        port->outbox_at = secondary + SPIN_RPC_MAILBOX_BYTES * index;
        port->header_at = headers + SPIN_RPC_HEADER_BYTES * index;
        port->packet_at = packets + SPIN_RPC_PACKET_BYTES * index;
        attach_inbox(port, index);
        last->next = port;
        last = port;
        if (!attach_port(port)) {
            return false;
        }
    }
    last->next = spin_rpc_client.next = spin_rpc_client.port;
    spin_rpc_client.not_low = ~low;
    spin_rpc_client.not_high = ~high;
    return true;
}

/* Loads from L2 take their time, so an HPU asks once in a session. */
uint64_t spin_rpc_bulk(const spin_rpc_port_t *port, uint32_t *bytes) {
    if (spin_rpc_client.bulk_bytes == 0) {
        volatile struct spin_rpc_place *place = spin_rpc_client.place;
        uint32_t first = rt_cluster_id() * NB_CORES + rt_core_id();
        spin_rpc_client.bulk_bytes = place->bulk_bytes;
        spin_rpc_client.bulk_step = spin_rpc_client.bulk_bytes * place->hpus;
        spin_rpc_client.bulk_at = ((uint64_t)place->host_high << 32 | place->host_low) + place->bulk + spin_rpc_client.bulk_bytes * first;
    }
    *bytes = spin_rpc_client.bulk_bytes;
    return spin_rpc_client.bulk_at + (port != spin_rpc_client.port ? spin_rpc_client.bulk_step : 0);
}
