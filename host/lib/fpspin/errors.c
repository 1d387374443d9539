/* Error messages of libfpspin. */
#include <stdarg.h>

#include "internal.h"

void fpspin_fail(const char *call, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: %s\n", call, text);
}

bool fpspin_succeeds(const char *call, int result) {
    if (result < 0) {
        fpspin_fail(call, "%s", spinneret_error_message());
    }
    return result >= 0;
}

bool fpspin_is_below(const char *call, const char *what, int number, int count) {
    bool is_there = number >= 0 && number < count;
    if (!is_there) {
        fpspin_fail(call, "there is no %s %d: they are 0 to %d", what, number, count - 1);
    }
    return is_there;
}
