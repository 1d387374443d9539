/* System calls of the C library: output and termination. */
#include <stdio.h>
#include <stdlib.h>

#include "pspin_rt.h"
#include "spin_conf.h"

static int put(char character, FILE *file) {
    (void)file;
    uintptr_t own = rt_cluster_id() << SPIN_STDOUT_CLUSTER_SHIFT | rt_core_id() << SPIN_STDOUT_HPU_SHIFT;
    *(volatile uint32_t *)(SPIN_STDOUT_ADDR + own) = (uint8_t)character;
    return 0;
}

static FILE output = FDEV_SETUP_STREAM(put, NULL, NULL, _FDEV_SETUP_WRITE);
FILE *const stdout = &output;
FILE *const stderr = &output;

/* exit, abort and failed assertions end the task like a breakpoint: the packet is freed, and counted as an error. */
_Noreturn void _exit(int status) {
    (void)status;
    for (;;) {
        asm volatile("ebreak");
    }
}

_Noreturn void abort(void) { _exit(1); }

_Noreturn void __assert_func(const char *file, int line, const char *function, const char *expression) {
    printf("%s:%d: %s: assertion failed: %s\n", file, line, function, expression);
    abort();
}
