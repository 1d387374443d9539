/* Standard input and output at the host, documented in spin_stdio.h. Packets of each call: docs/host/rpc.md. */
#include "spin_stdio.h"

#include "pspin_rt.h"
#include "spin_rpc.h"
#include "util.h"

/* An answer of one word: `failed` if there is none. */
static int64_t answer(spin_rpc_port_t *port, bool is_sent, int64_t failed) {
    int64_t word = failed;
    if (is_sent && !spin_rpc_recv_word(port, &word)) {
        word = failed;
    }
    spin_rpc_close(port);
    return word;
}

/* The host's number of a stream. */
static uint64_t number(SPIN_FILE *stream) { return (uintptr_t)stream; }

/* A call of up to three words, answered by one. */
__attribute__((noinline)) static int64_t ask(uint32_t opcode, uint64_t first, int64_t second, uint64_t third) {
    uint64_t words[] = {first, (uint64_t)second, third};
    int64_t word;
    return spin_rpc_call(opcode, words, sizeof(words), &word) ? word : -1;
}

/* A call of a string, answered by one word. */
static int64_t ask_string(uint32_t opcode, const char *text, bool with_nul) {
    spin_rpc_port_t *port = spin_rpc_open(opcode);
    return port == NULL ? -1 : answer(port, spin_rpc_send_string(port, text, with_nul), -1);
}

int spin_puts(const char *text) {
    int64_t written = ask_string(SPIN_RPC_WRITE_TO_STDOUT_NEWLINE, text, false);
    return written > 0 ? (int)written : EOF;
}

/* Standard streams have calls of their own, others are named first. */
static int64_t write(const void *data, uint32_t bytes, SPIN_FILE *stream) {
    bool is_output = stream == SPIN_STDOUT, is_errors = stream == SPIN_STDERR;
    uint32_t opcode = is_output   ? SPIN_RPC_WRITE_TO_STDOUT
                      : is_errors ? SPIN_RPC_WRITE_TO_STDERR
                                  : SPIN_RPC_WRITE_TO_STREAM;
    spin_rpc_port_t *port = spin_rpc_open(opcode);
    if (port == NULL) {
        return 0;
    }
    uint64_t name = number(stream);
    bool is_sent = is_output || is_errors || spin_rpc_send(port, &name, sizeof(name));
    return answer(port, is_sent && spin_rpc_send_n(port, data, bytes), 0);
}

int spin_fputs(const char *text, SPIN_FILE *stream) {
    uint32_t length = spin_rpc_length(text, UINT32_MAX);
    return write(text, length, stream) == length ? (int)length : EOF;
}

/* The product of two sizes, if there is such a size. */
static bool product(size_t size, size_t count, uint32_t *bytes) {
    return size != 0 && count != 0 && !__builtin_mul_overflow(size, count, bytes);
}

size_t spin_fwrite(const void *data, size_t size, size_t count, SPIN_FILE *stream) {
    uint32_t bytes;
    return product(size, count, &bytes) ? (size_t)write(data, bytes, stream) / size : 0;
}

size_t spin_fread(void *data, size_t size, size_t count, SPIN_FILE *stream) {
    uint32_t bytes, had;
    spin_rpc_port_t *port;
    if (!product(size, count, &bytes) || (port = spin_rpc_open(SPIN_RPC_READ_FROM_STREAM)) == NULL) {
        return 0;
    }
    uint64_t words[] = {bytes, number(stream)};
    bool has_come = spin_rpc_send(port, words, sizeof(words)) && spin_rpc_recv_n(port, data, bytes, &had);
    int64_t read = answer(port, has_come, 0);
    /* Bytes that did not arrive do not count as read, whatever number the host returns. */
    return (size_t)MIN((uint64_t)read, bytes) / size;
}

char *spin_fgets(char *line, int size, SPIN_FILE *stream) {
    uint32_t had = 0;
    spin_rpc_port_t *port;
    if (size <= 0 || (port = spin_rpc_open(SPIN_RPC_READ_FGETS)) == NULL) {
        return NULL;
    }
    uint64_t words[] = {(uint32_t)size, number(stream)};
    bool has_come = spin_rpc_send(port, words, sizeof(words)) && spin_rpc_recv_n(port, line, (uint32_t)size, &had);
    spin_rpc_close(port);
    if (!has_come || had == 0 || had > (uint32_t)size) {
        return NULL;
    }
    line[had - 1] = 0;
    return line;
}

SPIN_FILE *spin_fopen(const char *path, const char *mode) {
    char text[8] = "";
    uint32_t letters = spin_rpc_length(mode, UINT32_MAX);
    spin_rpc_port_t *port;
    if (letters >= sizeof(text) || (port = spin_rpc_open(SPIN_RPC_OPEN_FILE)) == NULL) {
        return NULL;
    }
    spin_rpc_copy(text, mode, letters);
    bool is_sent = spin_rpc_send_string(port, path, true) && spin_rpc_send(port, text, sizeof(text));
    return (SPIN_FILE *)(uintptr_t)answer(port, is_sent, 0);
}

int spin_fclose(SPIN_FILE *stream) { return (int)ask(SPIN_RPC_CLOSE_FILE, number(stream), 0, 0); }

int spin_fseek(SPIN_FILE *stream, long offset, int whence) {
    return (int)ask(SPIN_RPC_FSEEK, number(stream), offset, (uint64_t)whence);
}

long spin_ftell(SPIN_FILE *stream) {
    int64_t place = ask(SPIN_RPC_FTELL, number(stream), 0, 0);
    return place == (long)place ? (long)place : -1;
}

int spin_fflush(SPIN_FILE *stream) { return (int)ask(SPIN_RPC_FFLUSH, number(stream), 0, 0); }
int spin_feof(SPIN_FILE *stream) { return (int)ask(SPIN_RPC_FEOF, number(stream), 0, 0); }
int spin_ferror(SPIN_FILE *stream) { return (int)ask(SPIN_RPC_FERROR, number(stream), 0, 0); }
int spin_remove(const char *path) { return (int)ask_string(SPIN_RPC_REMOVE, path, true); }

int spin_rename(const char *from, const char *to) {
    spin_rpc_port_t *port = spin_rpc_open(SPIN_RPC_RENAME);
    if (port == NULL) {
        return -1;
    }
    return (int)answer(port, spin_rpc_send_string(port, from, true) && spin_rpc_send_string(port, to, true), -1);
}

/* The host answers before it receives the status, so it has everything that was written before. */
static void end(uint32_t opcode, int status) {
    spin_rpc_port_t *port = spin_rpc_open(opcode);
    if (port != NULL) {
        uint64_t word = (uint32_t)status;
        int64_t ready;
        if (spin_rpc_send(port, &word, sizeof(word)) && spin_rpc_recv_word(port, &ready)) {
            spin_rpc_send(port, &word, sizeof(word));
        }
        spin_rpc_close(port);
    }
}

_Noreturn void spin_exit(int status) {
    end(SPIN_RPC_EXIT, status);
    for (;;) {
        uint32_t ignored;
        ecall_0(ECALL_PSPIN_HANDLER_EXIT, ignored);
        (void)ignored;
    }
}

_Noreturn void spin_abort(void) {
    end(SPIN_RPC_ABORT, 0);
    abort();
}
