/*
 * Receives SLMP messages into host memory: several at once, each on many HPUs, segments in any order and any number of
 * times. The host finds a message where slmp.h says, after all of it has arrived.
 *
 * One handler takes all packets. It keeps its data about a message in handler memory (place.h). A segment's life:
 *
 *   read, check -> find or open its message -> claim its bit -> copy to the host, acknowledge meanwhile -> count it
 *
 * Of several HPUs with the same segment, one gets its bit and copies, and the others have a duplicate (local.h, claims.h). The
 * HPU counts the segment after its copy. Each HPU that sees then that all are there tries to complete the message, and
 * one does. If a sender contradicts itself in two segments at the same time, both may be accepted. Its message is
 * complete only if all of it has been written, and no other message is touched.
 *
 * On the PULP cluster, atomic operations with a result take long in L2, so there are some when a message begins and ends, and
 * none in between. HPUs of spinneret's own claim a segment by one.
 */
#include "local.h"
#include "own.h"
#include "receive.h"

/* The compiler must not cut it in two, which a function that is not inlined prevents. */
__attribute__((noinline)) void slmp_ph(handler_args_t *args);

__handler__ void slmp_ph(handler_args_t *args) {
    if (spin_is_own_hpu()) {
        receive_on_own(args);
        return;
    }
    receive_frame(args->task);
}

void init_handlers(handler_fn *hh, handler_fn *ph, handler_fn *th, void **handler_mem) {
    *hh = NULL;
    *ph = slmp_ph;
    *th = NULL;
    *handler_mem = NULL;
}
