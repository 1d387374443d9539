/* Their environment "p", for many harts: each runs the test. */
#include_next "riscv_test.h"

#undef RISCV_MULTICORE_DISABLE
#define RISCV_MULTICORE_DISABLE
