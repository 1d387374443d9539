/* The handler of spinneret's own HPUs. */
#ifndef OWN_H
#define OWN_H

#include <handler.h>

void receive_on_own(handler_args_t *args);

#endif
