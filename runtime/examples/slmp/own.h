/* The handler of spinneret's own HPUs. */
#ifndef OWN_H
#define OWN_H

#include "position.h"

void receive_on_own(handler_args_t *args);

/* Receives a frame on any HPU, among as many clusters as there are. */
void receive_long_way(const task_t *task);

#endif
