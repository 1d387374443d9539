/* The functions of forms.h, and a library that keeps what is registered. */
#include "forms.h"

#include <string.h>

static const spinneret_function *registered;

int spinneret_services_offer_functions(spinneret_context *context, const spinneret_function *functions, size_t count,
                                       void *state) {
    (void)context;
    (void)state;
    registered = functions;
    return (int)count;
}

const spinneret_function *forms_registered(size_t *count) {
    *count = (size_t)spinneret_offer_forms(NULL, NULL);
    return registered;
}

uint64_t forms_add(uint16_t port, uint32_t bytes, int8_t sign) { return (uint64_t)port + bytes + (uint64_t)sign; }

spin_status_t forms_half(void *state, int16_t number, const char *line, uint8_t *length, double *result) {
    ++*(uint64_t *)state;
    if (number < 0)
        return SPIN_FAILED(-number);
    *length = (uint8_t)strlen(line);
    *result = number / 2.0;
    return SPIN_SERVICE_DONE;
}

void forms_all(int8_t n, const float *from, void *back, int64_t *both, bool flag) {
    memcpy(back, from, (size_t)n);
    for (int8_t one = 0; flag && one < n; one++)
        both[one] = (int64_t)-(uint64_t)both[one];
}

spin_status_t forms_count(void *state) {
    ++*(uint64_t *)state;
    return SPIN_SERVICE_DONE;
}

bool forms_is_long(bool flag, const char *name) { return flag && strlen(name) > 4; }
