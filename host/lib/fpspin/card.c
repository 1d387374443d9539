/*
 * NICs of libfpspin. A NIC that several contexts of this process use is opened once. Time on a simulated NIC passes only while
 * a program waits, so each has a thread that waits, in short turns: other calls come in between.
 */
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "internal.h"

#define DEVICE_VARIABLE "FPSPIN_DEVICE"
#define SIMULATED "unix:"
/* Time on a simulated NIC that passes in one turn, and how long the thread waits for other calls. */
#define TURN_NANOSECONDS 10000
#define PAUSE_NANOSECONDS 20000

static struct card *cards;

void fpspin_begin_turn(struct card *card) { atomic_fetch_add(&card->callers, 1); }

void fpspin_end_turn(struct card *card) { atomic_fetch_sub(&card->callers, 1); }

static void *pass_time(void *argument) {
    struct card *card = argument;
    const struct timespec pause = {.tv_nsec = PAUSE_NANOSECONDS};
    while (!atomic_load(&card->is_over)) {
        if (atomic_load(&card->callers) != 0) {
            nanosleep(&pause, NULL);
        } else if (!fpspin_succeeds("fpspin", spinneret_wait(card->nic, TURN_NANOSECONDS))) {
            break;
        }
    }
    return NULL;
}

/* Signals are for the threads of the program. */
static bool start_clock(struct card *card) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&card->clock, NULL, pass_time, card);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    card->has_clock = error == 0;
    if (error != 0) {
        fpspin_fail("fpspin_init", "there is no thread for the time of %s: %s", card->name, strerror(error));
    }
    return error == 0;
}

void fpspin_close_card(struct card *card) {
    if (card->contexts != 0) {
        return;
    }
    if (card->has_clock) {
        atomic_store(&card->is_over, true);
        pthread_join(card->clock, NULL);
    }
    for (struct card **place = &cards; *place != NULL; place = &(*place)->next) {
        if (*place == card) {
            *place = card->next;
            break;
        }
    }
    if (card->nic != NULL) {
        spinneret_close(card->nic);
    }
    free(card->name);
    free(card);
}

/* The name that spinneret_open knows; the caller frees it. */
static char *device_name(const char *dev) {
    const char *instead = getenv(DEVICE_VARIABLE);
    const char *name = instead != NULL && *instead != 0 ? instead : dev;
    struct stat status;
    bool is_socket = stat(name, &status) == 0 && S_ISSOCK(status.st_mode);
    size_t size = sizeof(SIMULATED) + strlen(name);
    char *full = malloc(size);
    if (full != NULL) {
        snprintf(full, size, "%s%s", is_socket ? SIMULATED : "", name);
    }
    return full;
}

struct card *fpspin_open_card(const char *call, const char *dev) {
    char *name = device_name(dev);
    for (struct card *card = cards; name != NULL && card != NULL; card = card->next) {
        if (strcmp(card->name, name) == 0) {
            free(name);
            return card;
        }
    }
    struct card *card = calloc(1, sizeof(*card));
    if (name == NULL || card == NULL) {
        fpspin_fail(call, "there is no memory for the name of the device");
        free(name);
        free(card);
        return NULL;
    }
    card->name = name;
    card->next = cards;
    cards = card;
    bool is_simulated = strncmp(name, SIMULATED, strlen(SIMULATED)) == 0;
    if (!fpspin_succeeds(call, spinneret_open(name, &card->nic)) || (is_simulated && !start_clock(card))) {
        fpspin_close_card(card);
        return NULL;
    }
    return card;
}
