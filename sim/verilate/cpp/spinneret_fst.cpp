// Verilator's writer of waveforms (FST), made to notice that a disk is full.
//
// It looks at no result of fwrite and fflush, so that files become shorter than it believes, and then maps them into
// memory: reading behind the end of a file is a bus error, which ends the process.

#include <alloca.h>
#include <cctype>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "verilated.h"
#include "verilated_fst_c.h"

namespace {

// A waveform is written by the thread that simulates.
thread_local bool failed = false;

size_t noticed_fwrite(const void* data, size_t size, size_t count, FILE* file) {
    const size_t written = fwrite(data, size, count, file);
    failed |= written != count;
    return written;
}

int noticed_fflush(FILE* file) {
    const int result = fflush(file);
    failed |= result != 0;
    return result;
}

int noticed_fclose(FILE* file) {
    const int result = fclose(file);
    failed |= result != 0;
    return result;
}

// Maps a file when there is room for all of it, and else memory that holds nothing.
void* backed_mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
    if (posix_fallocate(file, offset, static_cast<off_t>(bytes)) == 0) {
        return mmap(address, bytes, protection, flags, file, offset);
    }
    failed = true;
    return mmap(address, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

}  // namespace

// Whether a waveform could not be written since the last call, in the thread that asks.
extern "C" bool spinneret_wave_failed() {
    const bool result = failed;
    failed = false;
    return result;
}

#define fwrite noticed_fwrite
#define fflush noticed_fflush
#define fclose noticed_fclose
#define mmap backed_mmap
#include "verilated_fst_c.cpp"
