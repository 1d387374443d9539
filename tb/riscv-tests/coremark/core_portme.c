/* Begin, end, time and output of CoreMark. */
#include "coremark.h"

/* Seeds of the performance run. */
volatile ee_s32 seed1_volatile = 0, seed2_volatile = 0, seed3_volatile = 0x66;
volatile ee_s32 seed4_volatile = ITERATIONS, seed5_volatile = 0;
ee_u32 default_num_contexts = 1;

volatile ee_u32 tohost;
char console[2048];
ee_u32 console_length;

__asm__(".section .text.init\n"
        ".global _start\n"
        "_start: lui sp, 0x10010\n"
        "    call main\n"
        "1:  j 1b\n"
        ".text\n");

static int put(char character, FILE *file)
{
    (void)file;
    if (console_length < sizeof console)
        console[console_length++] = character;
    return character;
}

static FILE console_file = FDEV_SETUP_STREAM(put, NULL, NULL, _FDEV_SETUP_WRITE);
FILE *const stdout = &console_file;

static ee_u32 started, stopped;

static ee_u32 clocks(void)
{
    ee_u32 value;
    __asm__ volatile(".option push\n.option arch, +zicsr\ncsrr %0, mcycle\n.option pop" : "=r"(value) : : "memory");
    return value;
}

void start_time(void) { started = clocks(); }

void stop_time(void) { stopped = clocks(); }

CORE_TICKS get_time(void) { return stopped - started; }

secs_ret time_in_secs(CORE_TICKS ticks) { return ticks / 1000000; }

void portable_init(core_portable *port, int *argc, char *argv[]) { (void)port, (void)argc, (void)argv; }

void portable_fini(core_portable *port)
{
    (void)port;
    tohost = 1;
}
