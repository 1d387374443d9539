/* One MiB of variables, which leaves no place for __host_data. */
#include <handler.h>
static volatile uint8_t data[1 << 20];
__handler__ void too_large_data_ph(handler_args_t *args) { data[args->hpu_id] = 1; }
