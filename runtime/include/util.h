/* Arithmetic, debug output, assertions, and termination. */
#ifndef SPIN_UTIL_H
#define SPIN_UTIL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "pspin_rt.h"
#include "spin_conf.h"

#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

/* a / b, rounded up. */
#define DIV_CEIL(a, b) (((a) + (b) - 1) / (b))

/* a / 2^log2_b, and a modulo b for a b that is a power of two. */
#define FAST_DIV(a, log2_b) ((a) >> (log2_b))
#define FAST_MOD(a, b) ((a) & ((b) - 1))

#define AND(a, b) ((a) & (b))

/* Ends the simulation; on a NIC, stops this HPU for good. */
#define TERMINATE                                                  \
    {                                                              \
        *(volatile uint32_t *)(uintptr_t)SPIN_TERMINATE_ADDR = 1; \
    }

/* Checked only if CHECK_ASSERTS is defined. A failed assertion prints a message and terminates. */
#ifdef CHECK_ASSERTS
#define ASSERT(condition)                                                                  \
    if (!(condition)) {                                                                    \
        printf("Assertion failed: %s at %s:%d\n", #condition, __FILE__, __LINE__);         \
        while (true)                                                                       \
            TERMINATE                                                                      \
    }
#else
#define ASSERT(condition)
#endif

/* printf with the source location. */
#define SPIN_PRINTF(format, ...) printf("%s:%s:%d: " format, __FILE__, __func__, __LINE__, ##__VA_ARGS__)

/* SPIN_PRINTF if LOG is defined, nothing otherwise. */
#ifdef LOG
#define DEBUG_PRINT(format, ...) SPIN_PRINTF(format, ##__VA_ARGS__)
#else
#define DEBUG_PRINT(...)
#endif

#ifdef ENABLE_TRACING
#define TRACING_DUMMY_INSTR() asm volatile("nop")
#else
#define TRACING_DUMMY_INSTR()
#endif

#define STRINGIFY(x) #x
#define LABEL(name) asm volatile(#name ":" ::: "memory")

/* Registers by name. Handlers cannot access those of machine mode, and on the PULP cluster not the counters either. */
#define read_csr(name, value) asm volatile("csrr %0, " STRINGIFY(name) : "=r"(value))
#define write_csr(name, value) asm volatile("csrw " STRINGIFY(name) ", %0" : : "rK"(value) : "memory")
#define clear_csr(name, mask) asm volatile("csrc " STRINGIFY(name) ", %0" : : "rK"(mask) : "memory")
#define read_register(name, value) asm volatile("mv %0, " STRINGIFY(name) : "=r"(value))
#define write_register(name, value) asm volatile("mv " STRINGIFY(name) ", %0" : : "r"(value) : "memory")

static inline unsigned user_core_id(void) { return rt_core_id(); }
static inline unsigned user_cluster_id(void) { return rt_cluster_id(); }

#endif
