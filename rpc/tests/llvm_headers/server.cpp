// A server made of LLVM's own headers, for the client of spinneret.
//
// server FILE PORTS: maps the buffer in FILE and answers until standard input ends. With LIBC_CALLS also the calls of libc,
// by LLVM's own handler, which LLVM 23 has in its headers.

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>

#include "shared/rpc.h"
#ifdef LIBC_CALLS
#include "shared/rpc_server.h"
#endif

namespace {

template <typename P> auto close(P &port, int) -> decltype(port.close()) { port.close(); }
template <typename P> void close(P &, long) {}

void interface(rpc::Server::Port &port) {
  uint64_t count = 0;
  bool ends_with_receive = false;
  auto in = [&] { port.recv([&](rpc::Buffer *buffer, uint32_t) { count = buffer->data[0]; }); };
  auto out = [&] { port.send([&](rpc::Buffer *buffer, uint32_t) { buffer->data[0] = ++count; }); };
  port.recv([&](rpc::Buffer *buffer, uint32_t) { ends_with_receive = buffer->data[0]; });
  in(), out(), in(), out(), in(), in(), out(), out();
  ends_with_receive ? in() : out();
}

void stream(rpc::Server::Port &port) {
  void *bytes = nullptr;
  uint64_t size = 0;
  port.recv_n(&bytes, &size, [](uint64_t size) { return std::malloc(size + 1); });
  port.send_n(bytes, size);
  std::free(bytes);
}

void serve(rpc::Server &server) {
  auto port = server.try_open(1);
  if (!port)
    return;
  switch (port->get_opcode()) {
  case 0x63008000:
    port->recv_and_send([](rpc::Buffer *buffer, uint32_t) { buffer->data[0] += 1; });
    break;
  case 0x63008001:
    interface(*port);
    break;
  case 0x63008002:
    stream(*port);
    break;
  default:
#ifdef LIBC_CALLS
    rpc::handle_libc_opcodes(*port, 1);
#else
    if (port->get_opcode() == 0x63000000)
      port->recv([](rpc::Buffer *, uint32_t) {});
#endif
    break;
  }
  close(*port, 0);
}

} // namespace

int main(int count, char **arguments) {
  if (count != 3)
    return 2;
  int file = open(arguments[1], O_RDWR);
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0)
    return 1;
  void *buffer = mmap(nullptr, size_t(status.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (buffer == MAP_FAILED)
    return 1;
  auto *server = new rpc::Server(uint32_t(std::atoi(arguments[2])), buffer);
  std::atomic<bool> stop{false};
  std::thread input([&] {
    while (std::getchar() != EOF) {
    }
    stop.store(true);
  });
  while (!stop.load())
    serve(*server);
  input.join();
  std::fflush(stdout);
  return 0;
}
