/*
 * Standard input and output on the host, with libc's calls of the RPC protocol: files in the folder that the host allows, and the
 * host's standard streams. The functions are those of C with the prefix `spin_`, and fail as in C if the host refuses. A call
 * waits for the host and takes at least 150 clocks (docs/host/rpc.md).
 *
 * printf and puts of <stdio.h> still write to the NIC's own standard output. Define SPIN_STDIO_NAMES before this header to use C's
 * names for the functions here.
 */
#ifndef SPIN_STDIO_H
#define SPIN_STDIO_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* A stream: its number on the host. */
typedef struct spin_file SPIN_FILE;

#define SPIN_STDIN ((SPIN_FILE *)1)
#define SPIN_STDOUT ((SPIN_FILE *)2)
#define SPIN_STDERR ((SPIN_FILE *)3)

/* One round trip for text of up to 56 bytes, and one for each further 64 bytes. */
int spin_puts(const char *text);
int spin_fputs(const char *text, SPIN_FILE *stream);

/*
 * One round trip if format, arguments and strings have at most 48 bytes together; numbers take 4 or 8 bytes, as in their
 * conversion. With more than SPIN_PRINTF_BYTES, two round trips and one for each string.
 */
#define SPIN_PRINTF_BYTES 248
int spin_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
int spin_fprintf(SPIN_FILE *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));
int spin_vfprintf(SPIN_FILE *stream, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));

/* Two round trips: open, read, write to a file. Others take one. */
SPIN_FILE *spin_fopen(const char *path, const char *mode);
int spin_fclose(SPIN_FILE *stream);
size_t spin_fread(void *data, size_t size, size_t count, SPIN_FILE *stream);
size_t spin_fwrite(const void *data, size_t size, size_t count, SPIN_FILE *stream);
char *spin_fgets(char *line, int size, SPIN_FILE *stream);
int spin_fseek(SPIN_FILE *stream, long offset, int whence);
long spin_ftell(SPIN_FILE *stream);
int spin_fflush(SPIN_FILE *stream);
int spin_feof(SPIN_FILE *stream);
int spin_ferror(SPIN_FILE *stream);
int spin_remove(const char *path);
int spin_rename(const char *from, const char *to);

/* Tell the host, which notes it if it allows that, and end the task: exit as a return from the handler, abort as a fault. */
_Noreturn void spin_exit(int status);
_Noreturn void spin_abort(void);

#ifdef SPIN_STDIO_NAMES
#undef stdin
#undef stdout
#undef stderr
#define FILE SPIN_FILE
#define stdin SPIN_STDIN
#define stdout SPIN_STDOUT
#define stderr SPIN_STDERR
#define puts spin_puts
#define fputs spin_fputs
#define printf spin_printf
#define fprintf spin_fprintf
#define vfprintf spin_vfprintf
#define fopen spin_fopen
#define fclose spin_fclose
#define fread spin_fread
#define fwrite spin_fwrite
#define fgets spin_fgets
#define fseek spin_fseek
#define ftell spin_ftell
#define fflush spin_fflush
#define feof spin_feof
#define ferror spin_ferror
#define remove spin_remove
#define rename spin_rename
#define exit spin_exit
#define abort spin_abort
#endif

#endif
