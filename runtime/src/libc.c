/* What the C library asks of the machine: an output, and an end for programs that give up. */
#include <stdio.h>
#include <stdlib.h>

#include "spin_conf.h"

static int put(char character, FILE *file) {
    (void)file;
    *(volatile uint8_t *)(uintptr_t)SPIN_STDOUT_ADDR = (uint8_t)character;
    return 0;
}

static FILE output = FDEV_SETUP_STREAM(put, NULL, NULL, _FDEV_SETUP_WRITE);
FILE *const stdout = &output;
FILE *const stderr = &output;

/* exit, abort and failed assertions end the task as a breakpoint does: the packet is freed, and counted as an error. */
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
