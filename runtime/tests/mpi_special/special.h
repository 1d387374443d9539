/*
 * The handlers of examples/mpi_types with code for one type: what the host says of the type elsewhere, in SPECIAL_WORDS, is
 * known to the compiler here. A test measures what that gains.
 */
#include "../../examples/slmp/segment.h"

#define place place_any
#include "../../examples/mpi_types/place.h"
#undef place

static const struct mpi_types_request special = {SPECIAL_WORDS};

static inline __attribute__((always_inline)) uint32_t place(const struct mpi_types_request *request,
                                                            payload_t payload, uint32_t offset,
                                                            const uint8_t *memory) {
    (void)memory;
    struct mpi_types_request own = special;
    own.base = request->base;
    begin_copies();
    if (SPECIAL_LEVELS == 0) {
        return copy_run(payload, own.base + offset, payload.left);
    }
    return place_strided(&own, payload, offset, SPECIAL_LEVELS);
}

#include "../../examples/mpi_types/mpi_types.c"
