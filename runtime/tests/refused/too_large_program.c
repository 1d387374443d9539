/* 40,000 bytes of instructions. */
#include <handler.h>
__handler__ void too_large_program_ph(handler_args_t *args) {
    (void)args;
    asm volatile(".zero 40000");
}
