// What the simulated design or Verilator's run time calls when it cannot go on.
//
// The stock versions of these functions end the process: vl_fatal by abort(), and a second $finish by
// exit(0), which would make a failing test look like a passing one. Ours throw; the border in
// spinneret_model.h turns that into an error.

#include <cstdio>
#include <stdexcept>
#include <string>

#include "verilated.h"

namespace {

[[noreturn]] void fail(const char* file, int line, const char* message) {
    std::string text{message};
    if (file && file[0]) text += " (" + std::string{file} + ":" + std::to_string(line) + ")";
    throw std::runtime_error{text};
}

}  // namespace

void vl_finish(const char* file, int line, const char*) { fail(file, line, "the design called $finish"); }

void vl_stop(const char* file, int line, const char*) { fail(file, line, "the design stopped on an error or $stop"); }

void vl_fatal(const char* file, int line, const char*, const char* message) { fail(file, line, message); }
