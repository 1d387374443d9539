/*
 * printf on the host. The HPU parses the conversions and packs the arguments to their widths on the host, which formats the text.
 *
 * Short calls use one stream: stream, length of the format, format, arguments, strings. Longer ones work as in LLVM's clients:
 * the format, the arguments, and each string on request. Letters are compared one by one, because tables would be in L2.
 */
#include "pspin.h"
#include "spin_rpc.h"
#include "spin_stdio.h"
#include "util.h"

/* Most bytes of arguments, and most strings. */
#define ARGUMENT_BYTES 128
#define STRINGS (ARGUMENT_BYTES / 8)

/* The short form, as it is put together: a stream as its packets have it, its length first. */
struct text {
    uint32_t length[2];
    uint32_t stream;
    uint32_t format_bytes;
    uint8_t bytes[SPIN_PRINTF_BYTES];
};

/* Arguments as the host wants them: one right behind the other. */
struct packed {
    uint8_t *bytes;
    uint32_t used;
    uint32_t room;
    /* Strings that are not null, and how many bytes of each may be read. */
    const char *string[STRINGS];
    uint32_t most[STRINGS];
    uint32_t strings;
};

/* A conversion without its width and precision. */
struct conversion {
    uint8_t letter;
    bool is_long; /* 8 bytes at the host */
    bool is_long_long; /* and here */
    bool is_long_double;
    uint32_t precision;
};

/* The arrays are not cleared, which would take longer than all the rest. */
static void begin(struct packed *packed, uint8_t *bytes, uint32_t room) {
    packed->bytes = bytes;
    packed->room = room;
    packed->used = packed->strings = 0;
}

static bool put(struct packed *packed, uint64_t value, uint32_t bytes) {
    if (packed->room - packed->used < bytes) {
        return false;
    }
    uint8_t *to = packed->bytes + packed->used;
    uint32_t half = (uint32_t)value;
    for (uint32_t byte = 0; byte < bytes; ++byte) {
        if (byte == sizeof(half)) {
            half = (uint32_t)(value >> 32);
        }
        to[byte] = (uint8_t)half;
        half >>= 8;
    }
    packed->used += bytes;
    return true;
}

static bool put_word(struct packed *packed, int value) { return put(packed, (uint32_t)value, sizeof(uint32_t)); }

static bool is_digit(uint8_t letter) { return letter >= '0' && letter <= '9'; }

/* A width or a precision; `value` stays if there is none. */
static bool take_number(const uint8_t **format, va_list *arguments, struct packed *packed, uint32_t *value) {
    if (**format == '*') {
        ++*format;
        int given = va_arg(*arguments, int);
        *value = given < 0 ? UINT32_MAX : (uint32_t)given;
        return put_word(packed, given);
    }
    if (is_digit(**format)) {
        for (*value = 0; is_digit(**format); ++*format) {
            *value = MIN(*value * 10 + (**format - '0'), 1u << 24);
        }
    }
    return true;
}

static void take_length(const uint8_t **format, struct conversion *conversion) {
    uint8_t letter = **format;
    bool is_known = letter == 'h' || letter == 'l' || letter == 'j' || letter == 'z' || letter == 't' || letter == 'q' ||
                    letter == 'L';
    if (!is_known) {
        return;
    }
    ++*format;
    bool is_twice = (letter == 'h' || letter == 'l') && **format == letter;
    *format += is_twice;
    conversion->is_long = letter != 'h';
    conversion->is_long_long = letter == 'j' || letter == 'q' || letter == 'L' || (letter == 'l' && is_twice);
    conversion->is_long_double = letter == 'L';
}

static bool put_string(struct packed *packed, const char *string, uint32_t most) {
    if (string != NULL) {
        if (packed->strings == STRINGS) {
            return false;
        }
        packed->string[packed->strings] = string;
        packed->most[packed->strings++] = most;
    }
    return put(packed, (uintptr_t)string, sizeof(uint64_t));
}

static bool put_integer(struct packed *packed, const struct conversion *conversion, va_list *arguments) {
    if (!conversion->is_long) {
        return put_word(packed, va_arg(*arguments, int));
    }
    if (conversion->is_long_long) {
        return put(packed, va_arg(*arguments, uint64_t), sizeof(uint64_t));
    }
    long value = va_arg(*arguments, long);
    bool is_signed = conversion->letter == 'd' || conversion->letter == 'i';
    return put(packed, is_signed ? (uint64_t)(int64_t)value : (unsigned long)value, sizeof(uint64_t));
}

/* The argument of a conversion; false if there is no room for it, or no such argument. */
static bool put_value(struct packed *packed, const struct conversion *conversion, va_list *arguments) {
    uint8_t letter = conversion->letter, lower = letter | 0x20;
    if (letter == 's') {
        const char *string = va_arg(*arguments, const char *);
        return put_string(packed, string, conversion->precision);
    }
    if (letter == 'p' || letter == 'n') {
        return put(packed, (uintptr_t)va_arg(*arguments, void *), sizeof(uint64_t));
    }
    if (letter == 'c') {
        return put_word(packed, va_arg(*arguments, int));
    }
    if (letter == 'd' || letter == 'i' || letter == 'u' || letter == 'o' || lower == 'x' || lower == 'b') {
        return put_integer(packed, conversion, arguments);
    }
    if (lower == 'f' || lower == 'e' || lower == 'g' || lower == 'a') {
        /* A long double has 16 bytes here, and to make it shorter takes a kilobyte of program. */
        double value = conversion->is_long_double ? 0 : va_arg(*arguments, double);
        uint64_t bits;
        __builtin_memcpy(&bits, &value, sizeof(bits));
        return !conversion->is_long_double && put(packed, bits, sizeof(bits));
    }
    /* Everything else is printed unchanged. */
    return true;
}

/* Packs the arguments of a format: false if they do not fit. */
__attribute__((noinline)) static bool pack(struct packed *packed, const uint8_t *format, va_list *arguments) {
    while (*format != 0) {
        if (*format++ != '%') {
            continue;
        }
        struct conversion conversion = {.precision = UINT32_MAX};
        uint32_t width = 0;
        while (*format == '-' || *format == '+' || *format == ' ' || *format == '#' || *format == '0') {
            ++format;
        }
        if (!take_number(&format, arguments, packed, &width)) {
            return false;
        }
        if (*format == '.') {
            ++format;
            conversion.precision = 0;
            if (!take_number(&format, arguments, packed, &conversion.precision)) {
                return false;
            }
        }
        take_length(&format, &conversion);
        conversion.letter = *format;
        if (conversion.letter == 0) {
            return true;
        }
        ++format;
        if (!put_value(packed, &conversion, arguments)) {
            return false;
        }
    }
    return true;
}

/* Everything in one stream: its bytes with its length, or 0 if it is too long for that. */
static uint32_t make_short(struct text *text, const char *format, uint32_t format_bytes, va_list *arguments) {
    if (format_bytes > sizeof(text->bytes)) {
        return 0;
    }
    spin_rpc_copy(text->bytes, format, format_bytes);
    struct packed packed;
    begin(&packed, text->bytes + format_bytes, sizeof(text->bytes) - format_bytes);
    if (!pack(&packed, text->bytes, arguments)) {
        return 0;
    }
    uint32_t used = format_bytes + packed.used;
    for (uint32_t string = 0; string < packed.strings; ++string) {
        uint32_t length = spin_rpc_length(packed.string[string], packed.most[string]);
        if (length >= sizeof(text->bytes) - used) {
            return 0;
        }
        spin_rpc_copy(text->bytes + used, packed.string[string], length);
        text->bytes[used + length] = 0;
        used += length + 1;
    }
    return offsetof(struct text, bytes) + used;
}

/* The strings that the host asks for, by their addresses. Others than those of the call it does not get. */
static bool send_strings(spin_rpc_port_t *port, const struct packed *packed, int64_t *result) {
    for (;;) {
        uint64_t words[2];
        if (!spin_rpc_recv(port, words, sizeof(words))) {
            return false;
        }
        if (words[1] == 0) {
            *result = (int64_t)words[0];
            return true;
        }
        const char *asked = "";
        uint32_t most = 0;
        for (uint32_t string = 0; string < packed->strings; ++string) {
            if ((uintptr_t)packed->string[string] == words[1] && packed->most[string] >= most) {
                asked = packed->string[string];
                most = packed->most[string];
            }
        }
        /* With a precision the string may have no NUL; the host reads no further than the precision. */
        if (!spin_rpc_send_n(port, asked, spin_rpc_length(asked, most))) {
            return false;
        }
    }
}

/* As LLVM's clients do it. That is rare, so the compiler makes it small. */
__attribute__((cold, noinline)) static int print_long(SPIN_FILE *stream, const char *format, uint32_t format_bytes,
                                                      va_list *arguments) {
    uint8_t bytes[ARGUMENT_BYTES];
    struct packed packed;
    begin(&packed, bytes, sizeof(bytes));
    if (!pack(&packed, (const uint8_t *)format, arguments)) {
        return -1;
    }
    spin_rpc_port_t *port = spin_rpc_open(SPIN_RPC_PRINTF_TO_STREAM_PACKED);
    if (port == NULL) {
        return -1;
    }
    uint64_t name = (uintptr_t)stream;
    int64_t wanted, result = -1;
    bool is_done = spin_rpc_send(port, &name, sizeof(name)) && spin_rpc_send_n(port, format, format_bytes) &&
                   spin_rpc_recv_word(port, &wanted) && spin_rpc_send_n(port, bytes, packed.used) &&
                   send_strings(port, &packed, &result);
    spin_rpc_close(port);
    return is_done ? (int)result : -1;
}

/* False if it does not fit. */
__attribute__((noinline)) static bool print_short(SPIN_FILE *stream, const char *format, uint32_t format_bytes,
                                                  va_list *arguments, int *result) {
    struct text text;
    uint32_t bytes = make_short(&text, format, format_bytes, arguments);
    if (bytes == 0) {
        return false;
    }
    text.length[0] = bytes - sizeof(text.length);
    text.length[1] = 0;
    text.stream = (uintptr_t)stream;
    text.format_bytes = format_bytes;
    *result = -1;
    int64_t word;
    if (bytes <= SPIN_RPC_PACKET_BYTES) {
        *result = spin_rpc_call(SPIN_RPC_PRINT, &text, bytes, &word) ? (int)word : -1;
        return true;
    }
    spin_rpc_port_t *port = spin_rpc_open(SPIN_RPC_PRINT);
    if (port != NULL) {
        bool is_sent = true;
        for (uint32_t at = 0; is_sent && at < bytes; at += SPIN_RPC_PACKET_BYTES) {
            is_sent = spin_rpc_send(port, (uint8_t *)&text + at, MIN(bytes - at, SPIN_RPC_PACKET_BYTES));
        }
        if (is_sent && spin_rpc_recv_word(port, &word)) {
            *result = (int)word;
        }
        spin_rpc_close(port);
    }
    return true;
}

int spin_vfprintf(SPIN_FILE *stream, const char *format, va_list arguments) {
    uint32_t format_bytes = spin_rpc_length(format, UINT32_MAX) + 1;
    va_list first, again;
    va_copy(first, arguments);
    va_copy(again, arguments);
    int result;
    if (!print_short(stream, format, format_bytes, &first, &result)) {
        result = print_long(stream, format, format_bytes, &again);
    }
    va_end(first);
    va_end(again);
    return result;
}

int spin_printf(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int result = spin_vfprintf(SPIN_STDOUT, format, arguments);
    va_end(arguments);
    return result;
}

int spin_fprintf(SPIN_FILE *stream, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int result = spin_vfprintf(stream, format, arguments);
    va_end(arguments);
    return result;
}
