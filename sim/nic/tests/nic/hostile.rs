//! Hostile neighbours: a tenant's handlers do each thing that they must not do, on the model of the clusters and on their hardware. Its
//! tasks end and are counted, and its neighbour loses no packet.

use crate::kit::{self, exchange, ok, open, port, shared};
use spinneret_cluster::{Ending, Event, WATCHDOG};
use spinneret_host::{Context, Nic, Share};
use spinneret_nic::Simulated;
use spinneret_nic::nic::Backend;
use spinneret_packets::udp;
use spinneret_regmap::message_id;
use spinneret_regmap::pspin::{HANDLER_BASE, RESIDENT_DATA};
use std::time::Duration;

/// The clusters of a NIC.
const BACKENDS: [Backend; 2] = [Backend::Model, Backend::Rtl];
/// Clocks that a handler may take.
const BUDGET: u32 = 20_000;

/// Byte 0 of the payload says what it does, word 1 names an address of the neighbour.
const HOSTILE: &str = "#include <handler.h>
    #include <packets.h>
    #include <spin_dma.h>
    #include <spin_host.h>
    volatile uint32_t reached;
    static spin_lock_t lock;
    static uint32_t __attribute__((noinline)) deep(volatile uint32_t *above, uint32_t count) {
        volatile uint32_t frame[100];
        frame[0] = *above + count;
        return count == 0 ? 0 : deep(frame, count - 1) + frame[0];
    }
    __handler__ void app_ph(handler_args_t *args) {
        uint32_t words[2];
        memcpy(words, (uint8_t *)args->task->pkt_mem + sizeof(pkt_hdr_t), sizeof(words));
        volatile uint32_t *target = (volatile uint32_t *)(uintptr_t)words[1];
        uint32_t value = 0x66666666;
        switch (words[0] & 0xff) {
        case 0: __builtin_trap();
        case 1: for (;;) asm volatile(\"\");
        case 2: for (;;) spin_dma_to_host(HOST_ADDR(args), (uint32_t)(uintptr_t)args->task->pkt_mem, 32, false, NULL);
        case 3: value = *target; break;
        case 4: *target = value; break;
        case 5: spin__memcpy(&value, (void *)target, 4); break;
        case 6: spin_send_packet((void *)target, 64, NULL); break;
        case 7: spin_lock_lock(&lock); break;
        case 8: value = deep(&value, 10000); break;
        }
        amo_send_add((volatile int32_t *)&reached, value != 0);
    }\n";

/// A packet for [`HOSTILE`].
fn bad(kind: u32, address: u32) -> Vec<u8> {
    udp(2, &[kind.to_le_bytes(), address.to_le_bytes()].concat())
}

/// A NIC with a neighbour that answers pings, and the hostile tenant.
struct Tenants {
    nic: Nic<Simulated>,
    simulated: Simulated,
    ping: Context<Simulated>,
    hostile: Context<Simulated>,
    backend: Backend,
}

impl Tenants {
    fn on(backend: Backend) -> Self {
        let (nic, simulated) = shared(backend, BUDGET);
        let ping = open(&nic, &kit::program("examples/udp_ping"), "udp_ping", &port(1));
        let hostile = open(&nic, &kit::compiled(HOSTILE), "app", &port(2));
        let tenants = Self {
            nic,
            simulated,
            ping,
            hostile,
            backend,
        };
        tenants.limit(&tenants.hostile);
        tenants
    }

    /// Sets the budget of a context, which the model has for all at once.
    fn limit(&self, context: &Context<Simulated>) {
        if self.backend == Backend::Rtl {
            ok(context.set_share(Share {
                budget: BUDGET,
                ..Share::default()
            }));
        }
    }

    /// Sends these packets, a ping after each, all of which are answered. Returns how many tasks of the hostile tenant returned,
    /// failed, and used up their budget.
    fn exchange(&self, packets: Vec<Vec<u8>>) -> [u32; 3] {
        let count = packets.len();
        let pings = |packet| [packet, udp(1, &[7; 100])];
        let [wire, host] = exchange(&self.simulated, packets.into_iter().flat_map(pings));
        assert_eq!(
            (wire.len(), host.len()),
            (count, 0),
            "{:?}: each ping is answered",
            self.backend
        );
        assert_eq!(ok(self.nic.packets_inside()), Some(0));
        let mut endings = [0; 3];
        for event in self.simulated.borrow_mut().take_events() {
            if let Event::Finished(run) = event
                && message_id::context(run.message) == self.hostile.number()
            {
                endings[match run.ending {
                    Ending::Done => 0,
                    Ending::Failed(WATCHDOG) => 2,
                    Ending::Failed(_) => 1,
                }] += 1;
            }
        }
        endings
    }

    /// An address in a variable of the neighbour, in its memory, at the start of shared data, and in the table of the runtime.
    fn addresses(&self) -> [u32; 4] {
        let variable = ok(self.ping.variable("__host_data"));
        [
            variable.address(),
            self.ping.handler_memory().address(),
            HANDLER_BASE,
            RESIDENT_DATA + 0x40,
        ]
    }
}

#[test]
fn tasks_that_misbehave_end_and_are_counted() {
    const TIMES: u32 = 3;
    for backend in BACKENDS {
        let tenants = Tenants::on(backend);
        let addresses = tenants.addresses();
        let mut sums = [0; 3];
        for (what, kind, wanted) in [
            ("traps", 0, [0, TIMES, 0]),
            ("loops", 1, [0, 0, TIMES]),
            ("floods commands", 2, [0, 0, TIMES]),
            ("leaves a lock", 7, [1, 0, TIMES - 1]),
            ("overruns its stack", 8, [0, TIMES, 0]),
        ] {
            let found = tenants.exchange((0..TIMES).map(|_| bad(kind, 0)).collect());
            assert_eq!(found, wanted, "{backend:?}: {what}");
            sums = [0, 1, 2].map(|ending| sums[ending] + found[ending]);
        }
        for (kind, address) in (3..7).flat_map(|kind| addresses.map(|address| (kind, address))) {
            let found = tenants.exchange(vec![bad(kind, address)]);
            assert_eq!(found, [0, 1, 0], "{backend:?}: {kind} at {address:#x}");
            sums[1] += 1;
        }
        // Its own memory is not refused, and the neighbour's is as before.
        let reached = ok(tenants.hostile.variable("reached"));
        assert_eq!(ok(reached.load::<u32>(0)), 1, "that of the first lock");
        assert_eq!(tenants.exchange(vec![bad(4, reached.address())]), [1, 0, 0]);
        assert_eq!(ok(reached.load::<u32>(0)), 0x6666_6667, "{backend:?}");
        sums[0] += 1;
        if backend == Backend::Rtl {
            let usage = ok(tenants.hostile.usage());
            let counted = [
                usage.handlers - usage.failures,
                usage.failures - usage.budget_ends,
                usage.budget_ends,
            ];
            assert_eq!(counted, sums, "the hardware has counted the same");
            assert!(usage.clocks >= u64::from(sums[2] * BUDGET), "{usage:?}");
        }
    }
}

#[test]
fn a_program_is_unloaded_while_its_packets_are_inside() {
    for backend in BACKENDS {
        let Tenants {
            nic,
            simulated,
            ping,
            hostile,
            ..
        } = Tenants::on(backend);
        // Packets that loop, while pings come.
        for number in 0..40 {
            let packet = if number % 2 == 0 {
                bad(1, 0)
            } else {
                udp(1, &[7; 100])
            };
            simulated.borrow_mut().receive(packet);
        }
        ok(nic.wait_until("packets inside", Duration::from_millis(1), || {
            Ok(nic.packets_inside()?.is_some_and(|inside| inside > 8))
        }));
        ok(hostile.close());
        let next = open(&nic, &kit::contexts(), "count", &port(3));
        let packets = (0..10).map(|number: u8| udp(1 + 2 * u16::from(number % 2), &[number; 60]));
        let [wire, host] = exchange(&simulated, packets);
        assert_eq!(
            (wire.len(), host.len()),
            (25, 0),
            "{backend:?}: all pings are answered"
        );
        let total = ok(next.variable("total"));
        assert_eq!(ok(total.load::<u32>(0)), 5, "{backend:?}");
        assert_eq!(ok(nic.packets_inside()), Some(0), "{backend:?}");
        drop(ping);
    }
}
