/* There is no heap. */
#include <handler.h>
__handler__ void heap_ph(handler_args_t *args) { *(void *volatile *)args->task->pkt_mem = malloc(args->hpu_id); }
