#ifndef FORMS_H
#define FORMS_H

#include <spinneret.h>
#include <stdbool.h>

/* All forms of parameters. */
SPIN_SERVICE(70, forms);

/* Adds numbers. */
SPIN_CALL(1) uint64_t forms_add(uint16_t port, uint32_t bytes, int8_t sign);

/* Halves a number, and refuses negative ones. */
SPIN_CALL(2, ticket)
spin_status_t forms_half(void *state, int16_t number, const char *line, uint8_t *length, double *result);

/* Copies and negates. */
SPIN_CALL(3)
void forms_all(int8_t n, SPIN_IN(n * 2) const float *from, SPIN_OUT(n) void *back, SPIN_INOUT(n) int64_t *both, bool flag);

/* Counts calls. */
SPIN_CALL(4) spin_status_t forms_count(void *state);

/* Tells whether a name is long. */
SPIN_CALL(5) bool forms_is_long(bool flag, SPIN_CAP(9) const char *name);

#endif
