/* Copies of the few bytes that calls have. */
#include "handler.h"
#include "spin_dma.h"
#include "spin_rpc.h"

__attribute__((noinline)) void spin_rpc_copy(void *to, const void *from, uint32_t bytes) {
    if (spin_is_in_l2(from) && bytes > 4) {
        spin__memcpy((void *)(uintptr_t)from, to, bytes);
        return;
    }
    uint32_t byte = 0;
    if ((((uintptr_t)to | (uintptr_t)from) & 3) == 0) {
        for (; byte + 4 <= bytes; byte += 4) {
            *(uint32_t *)((uint8_t *)to + byte) = *(const uint32_t *)((const uint8_t *)from + byte);
        }
    }
    for (; byte < bytes; ++byte) {
        ((uint8_t *)to)[byte] = ((const uint8_t *)from)[byte];
    }
}
