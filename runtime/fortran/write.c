/*
 * WRITE (*, *) and PRINT * of handlers in Fortran: list-directed output as gfortran's own library writes it, to the NIC's standard
 * output. Other statements for input and output do not link, and a format ends the task.
 *
 * The calls and their arguments are those that gfortran 12 makes (`gfortran -S`). Widths are those of Fortran 2018, 13.10.4,
 * as gfortran chooses them: for reals 9 and 17 significant digits in fields of 16 and 25 characters.
 */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A statement. The compiler fills 152 bytes; the next 192 are the library's own (st_parameter_dt of libgfortran). */
typedef struct {
    uint32_t flags;
    int32_t unit;
    uint8_t other[144];
    /* Items so far, and whether the last was text: no blank is between two texts. */
    uint32_t items;
    bool was_text;
} statement_t;

enum { LIST_DIRECTED = 0x80, ERROR_UNIT = 0, OUTPUT_UNIT = 6 };

/* An array, as the compiler describes it. Strides count elements. */
typedef struct {
    uint8_t *base;
    size_t offset;
    size_t element_bytes;
    int version;
    signed char rank, type;
    int16_t attribute;
    ptrdiff_t span;
    struct {
        ptrdiff_t stride, lower, upper;
    } dimensions[15];
} array_t;

/* Types of elements. */
enum { INTEGER = 1, LOGICAL = 2, REAL = 3, COMPLEX = 4, CHARACTER = 6 };

void _gfortran_st_write(statement_t *statement) {
    if (!(statement->flags & LIST_DIRECTED) || (statement->unit != OUTPUT_UNIT && statement->unit != ERROR_UNIT)) {
        puts("Fortran: handlers have WRITE (*, *) and PRINT * alone, without formats and other units");
        abort();
    }
    statement->items = 0;
    statement->was_text = false;
}

void _gfortran_st_write_done(statement_t *statement) {
    (void)statement;
    putchar('\n');
}

/* A blank begins the line and separates items. */
static void begin(statement_t *statement, bool is_text) {
    if (statement->items++ == 0 || !is_text || !statement->was_text) {
        putchar(' ');
    }
    statement->was_text = is_text;
}

void _gfortran_transfer_character_write(statement_t *statement, const char *text, int length) {
    begin(statement, true);
    for (int i = 0; i < length; i++) {
        putchar(text[i]);
    }
}

void _gfortran_transfer_logical_write(statement_t *statement, const void *value, int kind) {
    bool is_true = kind == 1 ? *(const int8_t *)value : kind == 2 ? *(const int16_t *)value : *(const int32_t *)value;
    begin(statement, false);
    putchar(is_true ? 'T' : 'F');
}

void _gfortran_transfer_integer_write(statement_t *statement, const void *value, int kind) {
    begin(statement, false);
    switch (kind) {
    case 1:
        printf("%4d", *(const int8_t *)value);
        break;
    case 2:
        printf("%6d", *(const int16_t *)value);
        break;
    case 4:
        printf("%11ld", (long)*(const int32_t *)value);
        break;
    default:
        printf("%20lld", *(const long long *)value);
    }
}

/* A real with all its digits. Fixed notation from 0.1 on, as far as the digits reach. */
static void real_text(char *text, size_t bytes, const void *value, int kind) {
    double number = kind == 4 ? *(const float *)value : *(const double *)value;
    int digits = kind == 4 ? 9 : 17, exponent_digits = kind == 4 ? 2 : 3;
    if (isnan(number) || isinf(number)) {
        snprintf(text, bytes, "%s", isnan(number) ? "NaN" : number < 0 ? "-Infinity" : "Infinity");
        return;
    }
    /* Rounded first, because 0.0999999999 may become 0.1. */
    char rounded[32];
    snprintf(rounded, sizeof rounded, "%.*e", digits - 1, number);
    char *mark = strchr(rounded, 'e');
    int exponent = atoi(mark + 1);
    if (number == 0 || (exponent >= -1 && exponent < digits)) {
        int decimals = number == 0 ? digits - 1 : digits - 1 - exponent;
        snprintf(text, bytes, "%.*f%s", decimals, number, decimals == 0 ? "." : "");
    } else {
        *mark = '\0';
        snprintf(text, bytes, "%sE%c%0*d", rounded, exponent < 0 ? '-' : '+', exponent_digits, abs(exponent));
    }
}

static int real_width(int kind) { return kind == 4 ? 16 : 25; }

void _gfortran_transfer_real_write(statement_t *statement, const void *value, int kind) {
    char text[48];
    real_text(text, sizeof text, value, kind);
    /* Fixed notation leaves room for an exponent. */
    int room = strpbrk(text, "EIN") ? 0 : kind == 4 ? 4 : 5;
    begin(statement, false);
    printf("%*s%*s", real_width(kind) - room, text, room, "");
}

void _gfortran_transfer_complex_write(statement_t *statement, const void *value, int kind) {
    char real[48], imaginary[48], both[104];
    real_text(real, sizeof real, value, kind);
    real_text(imaginary, sizeof imaginary, (const uint8_t *)value + kind, kind);
    snprintf(both, sizeof both, "(%s,%s)", real, imaginary);
    begin(statement, false);
    printf("%*s", 2 * real_width(kind) + 3, both);
}

static void element_write(statement_t *statement, const array_t *array, const void *element, int kind, int length) {
    switch (array->type) {
    case INTEGER:
        _gfortran_transfer_integer_write(statement, element, kind);
        break;
    case LOGICAL:
        _gfortran_transfer_logical_write(statement, element, kind);
        break;
    case REAL:
        _gfortran_transfer_real_write(statement, element, kind);
        break;
    case COMPLEX:
        _gfortran_transfer_complex_write(statement, element, kind);
        break;
    case CHARACTER:
        _gfortran_transfer_character_write(statement, element, length);
        break;
    default:
        puts("Fortran: WRITE of an array of this type is missing");
        abort();
    }
}

/* The first index is the quickest. */
void _gfortran_transfer_array_write(statement_t *statement, const array_t *array, int kind, int length) {
    ptrdiff_t at[15] = {0};
    int step = 0;
    for (int dimension = 0; dimension < array->rank; dimension++) {
        if (array->dimensions[dimension].upper < array->dimensions[dimension].lower) {
            return;
        }
    }
    do {
        ptrdiff_t index = 0;
        for (int dimension = 0; dimension < array->rank; dimension++) {
            index += at[dimension] * array->dimensions[dimension].stride;
        }
        element_write(statement, array, array->base + index * array->span, kind, length);
        for (step = 0; step < array->rank; step++) {
            if (++at[step] <= array->dimensions[step].upper - array->dimensions[step].lower) {
                break;
            }
            at[step] = 0;
        }
    } while (step < array->rank);
}
