/* What slmp.h says, checked by the compiler: for handlers together with packets.h, or ALONE for programs of the host. */
#include "slmp.h"
#include "slmp.h"
#ifndef ALONE
#include "packets.h"

static_assert(MKEOM == SLMP_FLAG_EOM && MKSYN == SLMP_FLAG_SYN && MKACK == SLMP_FLAG_ACK, "names of public handlers");
static_assert(MKEOM == 0x8000 && MKSYN == 0x4000 && MKACK == 0x2000, "flags");
static_assert(sizeof(slmp_hdr_t) == SLMP_HEADER_BYTES, "header");
#endif

static_assert(SLMP_PORT == 9330 && SLMP_HEADER_BYTES == 10 && SLMP_MAX_PAYLOAD == 1462, "wire");
static_assert(SLMP_MAGIC == 0x504d4c53 && SLMP_VERSION == 5 && SLMP_PLACES == 8, "memory");
static_assert(SLMP_COMPLETION_STRIDE == 64 && SLMP_COMPLETION_VALID == 0x80000000 && SLMP_REGIONS == 4096, "host");
static_assert(SLMP_FREE == 0 && SLMP_OPEN == 1 && SLMP_COMPLETE == 2 && SLMP_RELEASED == 3 && SLMP_CLOSED == 4, "states");
static_assert(SLMP_ACCEPTED == 0 && SLMP_DUPLICATE == 1 && SLMP_MALFORMED == 2 && SLMP_IP_CHECKSUM == 3, "causes");
static_assert(SLMP_UDP_CHECKSUM == 4 && SLMP_NOT_A_SEGMENT == 5 && SLMP_MISPLACED == 6 && SLMP_TOO_LONG == 7, "causes");
static_assert(SLMP_BEYOND_END == 8 && SLMP_NO_ROOM == 9 && SLMP_GIVEN_UP == 10, "causes");
static_assert(SLMP_ACKS_SENT == 11 && SLMP_COMPLETED == 12 && SLMP_COUNTERS == 16, "counters");
static_assert(SLMP_LOCAL_BYTES == 128 + 4 * SLMP_BITMAP_WORDS && SLMP_LOCAL_BYTES % 64 == 0, "bitmap");
static_assert(SLMP_BITMAP_WORDS * 32 == SLMP_MAX_SEGMENTS && SLMP_MAX_SEGMENTS == 32256, "bitmap");
static_assert(offsetof(struct slmp_memory, place) == 0x1100 && sizeof(struct slmp_memory) == 0x9100, "places");
static_assert(offsetof(struct slmp_memory, lock) == 0x10 && offsetof(struct slmp_memory, counters) == 0x100, "common");
