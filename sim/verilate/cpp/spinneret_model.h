// The C interface between a Verilated model and Rust.
//
// Every model exports one function that returns a SpinneretTable; the Rust side of the interface is
// `spinneret_sim::model::Table`, and both must change together (and SPINNERET_ABI with them).
// No C++ exception leaves a function of the table: each one returns what went wrong as text.

#ifndef SPINNERET_MODEL_H_
#define SPINNERET_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>

#include "verilated.h"
#if VM_TRACE
#include "verilated_fst_c.h"
#endif

#define SPINNERET_ABI 3

// Where the value of a port is stored, and how many bytes it takes.
struct SpinneretPort {
    void* data;
    size_t bytes;
    // Whether logic between inputs and registers or outputs may read the port: then a change of it is to be followed.
    bool followed;
};

// Functions of a model. Texts live until the next call with the same instance.
struct SpinneretTable {
    uint32_t abi;
    uint32_t port_count;
    // A new instance whose registers hold random values drawn from the seed; null if out of memory.
    void* (*create)(uint32_t seed);
    void (*destroy)(void* instance);
    // Fills port_count entries.
    void (*ports)(void* instance, SpinneretPort* out);
    // Settles the model; null, or why it cannot be simulated any further. With `follow` false, no port that is followed
    // has changed since the last call, so only what edges of clocks change is evaluated.
    const char* (*eval)(void* instance, bool follow);
    // Opens a waveform file (FST); null, or why it cannot.
    const char* (*trace)(void* instance, const char* path);
    // Sets the time in picoseconds and adds all changes to the waveform, if one is open; null, or why not.
    const char* (*advance)(void* instance, uint64_t time_ps);
    // Lets a clock, whose value is there, fall and rise that many times, while all inputs keep their values; null, or why not.
    const char* (*run)(void* instance, void* clock, bool follow, uint64_t cycles);
};

namespace spinneret {

// Verilator seeds its random numbers per process, not per context: two models that are made at the
// same time would disturb each other's initial values.
inline std::mutex creation;

// Whether the model that this thread evaluates follows its inputs: what Verilator wrote asks for it, see
// verilate/src/inputs.rs.
static thread_local bool follow_inputs = true;

template <class V>
struct Instance {
    VerilatedContext context;
    std::unique_ptr<V> model;
#if VM_TRACE
    std::unique_ptr<VerilatedFstC> wave;
#endif
    std::string failure;

    static Instance* of(void* instance) { return static_cast<Instance*>(instance); }

    static void* create(uint32_t seed) {
        const std::lock_guard<std::mutex> guard{creation};
        try {
            auto made = std::make_unique<Instance>();
            // Random registers show a missing reset; a seed of zero would take the time of day.
            // A model runs on the thread that evaluates it: with more, each context would keep a pool of threads.
            made->context.threads(1);
            made->context.randReset(2);
            made->context.randSeed(static_cast<int>(seed % 0x7fffffffu + 1u));
            // A waveform may be asked for at any time.
            made->context.traceEverOn(VM_TRACE);
            Verilated::threadContextp(&made->context);
            made->model = std::make_unique<V>(&made->context);
            return made.release();
        } catch (...) {
            return nullptr;
        }
    }

    static void destroy(void* instance) {
        Instance* self = of(instance);
        Verilated::threadContextp(&self->context);
#if VM_TRACE
        if (self->wave) self->wave->close();
        self->wave.reset();
#endif
        delete self;
    }

    static const char* eval(void* instance, bool follow) {
        follow_inputs = follow;
        return of(instance)->guarded([](Instance* self) { self->model->eval(); });
    }

    static const char* run(void* instance, void* clock, bool follow, uint64_t cycles) {
        follow_inputs = follow;
        return of(instance)->guarded([=](Instance* self) {
            CData& level = *static_cast<CData*>(clock);
            for (uint64_t cycle = 0; cycle < cycles; ++cycle) {
                level = 0;
                self->model->eval();
                level = 1;
                self->model->eval();
            }
        });
    }

    static const char* trace(void* instance, const char* path) {
#if VM_TRACE
        return of(instance)->guarded([path](Instance* self) {
            auto wave = std::make_unique<VerilatedFstC>();
            self->model->trace(wave.get(), 99);
            wave->open(path);
            self->wave = std::move(wave);
        });
#else
        (void)instance;
        (void)path;
        return "the model was built without waveforms";
#endif
    }

    static const char* advance(void* instance, uint64_t time_ps) {
        return of(instance)->guarded([time_ps](Instance* self) {
            self->context.time(time_ps);
#if VM_TRACE
            if (self->wave) self->wave->dump(time_ps);
#endif
        });
    }

  private:
    // A model that failed once is in no defined state: it keeps saying what happened.
    template <class F>
    const char* guarded(F action) {
        if (failure.empty()) {
            try {
                Verilated::threadContextp(&context);
                action(this);
            } catch (const std::exception& error) {
                failure = error.what();
            } catch (...) {
                failure = "unknown C++ exception";
            }
        }
        return failure.empty() ? nullptr : failure.c_str();
    }
};

}  // namespace spinneret

#endif
