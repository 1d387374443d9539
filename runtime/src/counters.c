/* The values of push_counter: the host finds them by this name. Linked only if handlers push. */
#include "pspin.h"

volatile struct spin_pushed __counter_queue[CORE_COUNT][SPIN_QUEUE_VALUES];
__thread uint32_t spin_pushed_values;
