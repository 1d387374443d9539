// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * cycles NODE N: opens the node N times, maps memory of all contexts, looks that it is zero, writes, and closes, every other
 * time by an end without unmapping. cycles NODE hold: keeps memory mapped until the card goes, and looks what it sees then.
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
#include <unistd.h>

#define BYTES (64 << 10)

static void fail(const char *what)
{
    fprintf(stderr, "cycles: %s: %s\n", what, strerror(errno));
    _exit(1);
}

static void *map(int file, int context)
{
    void *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)context * BYTES);

    if (memory == MAP_FAILED)
        fail("mmap");
    return memory;
}

static void cycle(const char *node, int unmap)
{
    int file = open(node, O_RDWR);

    if (file < 0)
        fail("open");
    for (int context = 0; context < 4; context++) {
        uint64_t *memory = map(file, context);
        for (int i = 0; i < BYTES / 8; i++)
            if (memory[i])
                fail("memory of others is seen");
        memset(memory, 0xa5, BYTES);
        if (unmap && munmap(memory, BYTES))
            fail("munmap");
    }
    if (!unmap)
        _exit(0);
    if (close(file))
        fail("close");
}

static void hold(const char *node)
{
    int file = open(node, O_RDWR), status;
    struct pollfd waits = {.fd = file, .events = 0};
    uint32_t words[2] = {0xf000, 0};
    uint64_t *memory;

    if (file < 0)
        fail("open");
    memory = map(file, 1);
    memory[0] = 1;
    pid_t child = fork();
    poll(&waits, 1, 60000);
    if (!(waits.revents & POLLHUP))
        fail("poll does not tell that the card is gone");
    usleep(300000);
    if (memory[0] != 0)
        fail("memory of a card that is gone");
    memory[1] = 7;
    if (ioctl(file, 0xc008b502, words) != -1 || errno != ENODEV)
        fail("a register of a card that is gone");
    if (mmap(NULL, BYTES, PROT_READ, MAP_SHARED, file, 0) != MAP_FAILED || errno != ENODEV)
        fail("mmap of a card that is gone");
    if (child == 0)
        _exit(0);
    if (wait(&status) != child || status)
        fail("the child");
    printf("cycles: the card went, and its programs go on\n");
}

int main(int count, char **arguments)
{
    if (count != 3) {
        fprintf(stderr, "cycles: cycles NODE N|hold\n");
        return 2;
    }
    if (!strcmp(arguments[2], "hold")) {
        hold(arguments[1]);
        return 0;
    }
    for (int i = 0; i < atoi(arguments[2]); i++) {
        int status = 0;
        pid_t child = i % 2 ? fork() : 0;
        if (child > 0 && (wait(&status) != child || status))
            fail("a child");
        if (child == 0)
            cycle(arguments[1], i % 2 == 0);
    }
    return 0;
}
