/* Thread-local variables share the HPU's area with its stack. */
#include <handler.h>
static __thread volatile uint8_t large[1000];
__handler__ void too_large_thread_ph(handler_args_t *args) { large[args->hpu_id] = 1; }
