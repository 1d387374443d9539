// How long a call takes with LLVM's own headers: an increment by one, client and server in one thread or in two.
//
// bench PORTS BATCHES CALLS: prints nanoseconds a call, one line for each batch: "one NS" or "two NS".

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "shared/rpc.h"

namespace {

constexpr uint32_t INCREMENT = 0x63008000;
using Clock = std::chrono::steady_clock;

double nanoseconds(Clock::time_point start, long calls) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / double(calls);
}

// LLVM 22's ports are closed by a call, those of LLVM 23 when they are gone.
template <typename P> auto close(P &port, int) -> decltype(port.close()) { port.close(); }
template <typename P> void close(P &, long) {}

bool serve(rpc::Server &server) {
  auto port = server.try_open(1);
  if (!port)
    return false;
  switch (port->get_opcode()) {
  case INCREMENT:
    port->recv_and_send([](rpc::Buffer *buffer, uint32_t) { buffer->data[0] += 1; });
    break;
  default:
    break;
  }
  close(*port, 0);
  return true;
}

void check(uint64_t got, uint64_t wanted) {
  if (got != wanted) {
    std::fprintf(stderr, "got %lu, wanted %lu\n", (unsigned long)got, (unsigned long)wanted);
    std::exit(1);
  }
}

void in_one_thread(rpc::Client &client, rpc::Server &server, long calls) {
  for (long call = 0; call < calls; ++call) {
    uint64_t answer = 0;
    auto port = client.open<INCREMENT>();
    port.send([&](rpc::Buffer *buffer, uint32_t) { buffer->data[0] = uint64_t(call); });
    serve(server);
    port.recv([&](rpc::Buffer *buffer, uint32_t) { answer = buffer->data[0]; });
    close(port, 0);
    check(answer, uint64_t(call) + 1);
  }
}

void in_two_threads(rpc::Client &client, long calls) {
  for (long call = 0; call < calls; ++call) {
    uint64_t answer = 0;
    auto port = client.open<INCREMENT>();
    port.send_and_recv([&](rpc::Buffer *buffer, uint32_t) { buffer->data[0] = uint64_t(call); },
                       [&](rpc::Buffer *buffer, uint32_t) { answer = buffer->data[0]; });
    close(port, 0);
    check(answer, uint64_t(call) + 1);
  }
}

} // namespace

int main(int count, char **arguments) {
  if (count != 4)
    return 2;
  uint32_t ports = uint32_t(std::atoi(arguments[1]));
  long batches = std::atol(arguments[2]), calls = std::atol(arguments[3]);
  size_t bytes = (rpc::Server::allocation_size(1, ports) + 63) / 64 * 64;
  void *buffer = std::aligned_alloc(64, bytes);
  __builtin_memset(buffer, 0, bytes);
  static rpc::Client *client = new rpc::Client(ports, buffer);
  static rpc::Server *server = new rpc::Server(ports, buffer);

  for (long batch = 0; batch < batches; ++batch) {
    auto start = Clock::now();
    in_one_thread(*client, *server, calls);
    std::printf("one %.2f\n", nanoseconds(start, calls));
  }
  std::atomic<bool> stop{false};
  std::thread thread([&] {
    while (!stop.load(std::memory_order_relaxed))
      serve(*server);
  });
  for (long batch = 0; batch < batches; ++batch) {
    auto start = Clock::now();
    in_two_threads(*client, calls);
    std::printf("two %.2f\n", nanoseconds(start, calls));
  }
  stop.store(true);
  thread.join();
  return 0;
}
