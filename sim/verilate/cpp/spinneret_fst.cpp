// Verilator's writer of waveforms (FST), made to notice that a disk is full, and to write a part of the design only.
//
// It looks at no result of fwrite and fflush, so that files become shorter than it believes, and then maps them into
// memory: reading behind the end of a file is a bus error, which ends the process.
//
// Which signals are written is asked for by dumpvars(), which models cannot reach: they only get the name of a file. It is
// called in place of the first use of a member in VerilatedFst::open, before that asks the model for its signals.

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

// What is written of the next waveform that this thread opens: a module or a signal; null for all of it.
thread_local const char* scope = nullptr;

// Deeper than any hierarchy.
constexpr int all_levels = 1000;

void limit(VerilatedFst* wave) {
    if (scope) wave->dumpvars(all_levels, scope);
    scope = nullptr;
}

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

// Sets what is written of the next waveform that this thread opens, such as "TOP.spinneret_app.u_ingress"; null for all of it.
// The text has to live until then.
extern "C" void spinneret_wave_scope(const char* name) {
    scope = name;
}

#define m_curScope (limit(this), m_curScope)
#define fwrite noticed_fwrite
#define fflush noticed_fflush
#define fclose noticed_fclose
#define mmap backed_mmap
#include "verilated_fst_c.cpp"
