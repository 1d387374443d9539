// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * misuse NODE SECONDS: calls a node of the driver with random arguments, also from two children at once, with pointers that
 * fault and mappings that go away.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t state;
static unsigned long calls, failures;

static uint64_t any(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Small, near a boundary, or anything. */
static uint64_t number(void)
{
    static const uint64_t edges[] = {0, 1, 3, 4, 0x1c000000, 0x1c3ffffc, 0x1d000000, 0x1d3ffff8, 0x800000, 0x7ffffc, 0x5004,
                                     0x4020, 0x3000, 0xf000, 0xffffffff, 1ull << 32, 1ull << 63, ~0ull};
    switch (any() % 4) {
        case 0: return any() % 64;
        case 1: return edges[any() % (sizeof(edges) / sizeof(*edges))];
        case 2: return edges[any() % (sizeof(edges) / sizeof(*edges))] + any() % 9 - 4;
        default: return any();
    }
}

static void *pointer(uint8_t *buffer)
{
    switch (any() % 5) {
        case 0: return NULL;
        /* Far from what this program has itself, which it would spoil. */
        case 1: return (void *)(number() | 1ull << 46);
        case 2: return buffer + 4096 - any() % 32;
        default: return buffer;
    }
}

static void count(long result)
{
    calls++;
    if (result < 0)
        failures++;
}

/* Memory that was lent stays mapped while its owner frees it, and can be read. */
static void borrow(int file)
{
    static volatile char *kept;
    static size_t kept_bytes;
    size_t bytes = any() % 4 ? 4096 : (1 + any() % 64) * 4096;
    /* SPINNERET_LEND */
    int lent = ioctl(file, 0xb505, any() % 8 ? any() % 5 : number());
    void *mapped;

    count(lent);
    if (lent < 0)
        return;
    mapped = mmap(NULL, bytes, any() % 4 ? PROT_READ | PROT_WRITE : any() % 8,
                  any() % 8 ? MAP_SHARED : MAP_PRIVATE, lent, any() % 8 ? 0 : number() & ~4095ull);
    count(mapped == MAP_FAILED ? -1 : 0);
    close(lent);
    if (mapped == MAP_FAILED)
        return;
    if (kept)
        munmap((void *)kept, kept_bytes);
    kept = mapped;
    kept_bytes = bytes;
    kept[any() % bytes] = 1;
}

static void call(int file, uint8_t *buffer)
{
    static const unsigned int known[] = {0xc9591001, 0x49591002, 0x89591003, 0x8010b501, 0xc008b502, 0x4008b503, 0xc004b504};
    uint64_t *words = (uint64_t *)buffer;
    void *mapped;

    for (int i = 0; i < 3; i++)
        words[i] = number();
    switch (any() % 10) {
        case 0: count(lseek(file, number(), any() % 6)); break;
        case 1: count(read(file, pointer(buffer), number() % 20000)); break;
        case 2: count(write(file, pointer(buffer), number() % 20000)); break;
        case 3: {
            size_t bytes = any() % 8 ? (1 + any() % 64) * 4096 : number();
            mapped = mmap(NULL, bytes, any() % 8, any() % 4 ? MAP_SHARED : MAP_PRIVATE, file,
                          any() % 4 ? (any() % 5) * bytes : number() & ~4095ull);
            count(mapped == MAP_FAILED ? -1 : 0);
            if (mapped == MAP_FAILED)
                break;
            borrow(file);
            /* Behind a mapping of one page are others of this program. */
            if (bytes > 4096)
                count(munmap((char *)mapped + 4096, 4096));
            count(mprotect(mapped, 4096, any() % 8));
            count(madvise(mapped, bytes, any() % 26));
            if (any() % 16 == 0 && fork() == 0)
                _exit(0);
            count(munmap(mapped, bytes));
            break;
        }
        case 4: {
            struct pollfd poll_file = {.fd = file, .events = any()};
            count(poll(&poll_file, 1, any() % 4));
            break;
        }
        case 5: count(ioctl(file, number(), pointer(buffer))); borrow(file); break;
        default: count(ioctl(file, known[any() % 7], any() % 3 ? buffer : pointer(buffer))); break;
    }
}

static void misuse(const char *node, int seconds, uint64_t seed)
{
    int file = open(node, O_RDWR | O_NONBLOCK);
    uint8_t *buffer = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    time_t end = time(NULL) + seconds;

    if (file < 0 || buffer == MAP_FAILED) {
        perror(node);
        exit(1);
    }
    munmap(buffer + 4096, 4096);
    state = seed;
    pid_t child = fork();
    if (child == 0)
        state = ~seed;
    while (time(NULL) < end) {
        call(file, buffer);
        while (waitpid(-1, NULL, WNOHANG) > 0 && child)
            ;
    }
    printf("misuse: %lu calls, %lu refused\n", calls, failures);
    fflush(stdout);
    if (child == 0)
        _exit(0);
    while (wait(NULL) > 0)
        ;
}

int main(int count, char **arguments)
{
    if (count != 3) {
        fprintf(stderr, "misuse: misuse NODE SECONDS\n");
        return 2;
    }
    misuse(arguments[1], atoi(arguments[2]), 0x9e3779b97f4a7c15);
    return 0;
}
