// A client made of LLVM's own header, against the server of spinneret.
//
// client FILE PORTS: maps the buffer in FILE, makes calls, and says what was wrong, if anything was.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <vector>

#include "shared/rpc.h"

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                 \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (false)

namespace {

constexpr uint32_t libc(uint32_t number) { return 0x63000000 | number; }
constexpr uint32_t NOOP = libc(0), WRITE_STREAM = libc(4), PUTS = libc(5), READ = libc(6), GETS = libc(7), OPEN = libc(8),
                   CLOSE = libc(9), SEEK = libc(17), TELL = libc(18), PRINT = libc(21), PRINT_PACKED = libc(24),
                   REMOVE = libc(27), RENAME = libc(28), INCREMENT = libc(0x8000), INTERFACE = libc(0x8001),
                   STREAM = libc(0x8002), UNKNOWN = 0x75000000;

rpc::Client *client;

// LLVM 22's ports are closed by a call, those of LLVM 23 when they are gone: so each has a scope of its own.
template <typename P> auto close(P &port, int) -> decltype(port.close()) { port.close(); }
template <typename P> void close(P &, long) {}

template <typename P> void send(P &port, std::vector<uint64_t> words) {
  port.send([&](rpc::Buffer *buffer, uint32_t) { std::memcpy(buffer->data, words.data(), 8 * words.size()); });
}

template <typename P> std::vector<uint64_t> receive(P &port) {
  std::vector<uint64_t> words;
  port.recv([&](rpc::Buffer *buffer, uint32_t) { words.assign(buffer->data, buffer->data + 8); });
  return words;
}

template <typename P> std::string receive_stream(P &port) {
  void *bytes = nullptr;
  uint64_t size = 0;
  port.recv_n(&bytes, &size, [](uint64_t size) { return std::malloc(size + 1); });
  std::string text(static_cast<char *>(bytes), size);
  std::free(bytes);
  return text;
}

template <uint32_t OPCODE> uint64_t call(std::vector<uint64_t> words) {
  auto port = client->open<OPCODE>();
  send(port, words);
  uint64_t answer = receive(port)[0];
  close(port, 0);
  return answer;
}

template <uint32_t OPCODE> uint64_t call_with(const std::string &bytes) {
  auto port = client->open<OPCODE>();
  port.send_n(bytes.data(), bytes.size());
  uint64_t answer = receive(port)[0];
  close(port, 0);
  return answer;
}

std::string terminated(const char *text) { return std::string(text, std::strlen(text) + 1); }

void interface(bool ends_with_send) {
  auto port = client->open<INTERFACE>();
  uint64_t count = 0;
  auto out = [&] { send(port, {++count}); };
  auto in = [&] { count = receive(port)[0]; };
  send(port, {ends_with_send});
  out(), in(), out(), in(), out(), out(), in(), in();
  ends_with_send ? out() : in();
  CHECK(count == 9);
  close(port, 0);
}

std::string echo(const std::string &bytes) {
  auto port = client->open<STREAM>();
  port.send_n(bytes.data(), bytes.size());
  std::string back = receive_stream(port);
  close(port, 0);
  return back;
}

template <uint32_t OPCODE> int print(const char *format, const void *arguments, uint64_t bytes) {
  auto port = client->open<OPCODE>();
  port.send_n(format, std::strlen(format) + 1);
  CHECK(receive(port)[0] == bytes);
  port.send_n(arguments, bytes);
  for (;;) {
    auto answer = receive(port);
    auto *string = reinterpret_cast<const char *>(answer[1]);
    if (!string) {
      close(port, 0);
      return int(answer[0]);
    }
    port.send_n(string, std::strlen(string) + 1);
  }
}

void printing() {
  struct {
    int first;
    const char *null, *string;
    double number;
    long last;
  } aligned{7, nullptr, "text", 0.5, -1};
  CHECK(print<PRINT>("%d %s %s %.2f %ld\n", &aligned, sizeof(aligned)) == 22);
  struct __attribute__((packed)) {
    int first;
    const char *one, *two;
  } packed{9, "one", "two"};
  CHECK(print<PRINT_PACKED>("%03d%s%s\n", &packed, sizeof(packed)) == 10);
  CHECK(print<PRINT>("plain\n", nullptr, 0) == 6);
}

void files() {
  auto open = [](const char *path, const char *mode) {
    auto port = client->open<OPEN>();
    port.send_n(path, std::strlen(path) + 1);
    port.send([&](rpc::Buffer *buffer, uint32_t) { std::strcpy(reinterpret_cast<char *>(buffer->data), mode); });
    uint64_t file = receive(port)[0];
    close(port, 0);
    return file;
  };
  auto write = [](uint64_t file, const std::string &bytes) {
    auto port = client->open<WRITE_STREAM>();
    send(port, {file});
    port.send_n(bytes.data(), bytes.size());
    uint64_t written = receive(port)[0];
    close(port, 0);
    return written;
  };
  CHECK(open("missing", "r") == 0 && open("/etc/passwd", "r") == 0);
  uint64_t file = open("by-llvm", "w");
  std::string bytes = "first\n" + std::string(1000, 'x');
  CHECK(file != 0 && write(file, bytes) == 1006 && call<CLOSE>({file}) == 0);
  CHECK(write(file, "closed") == 0 && call<CLOSE>({file}) == UINT64_MAX);
  file = open("by-llvm", "r");
  {
    auto port = client->open<GETS>();
    send(port, {100, file});
    CHECK(receive_stream(port) == terminated("first\n"));
    close(port, 0);
  }
  CHECK(call<TELL>({file}) == 6 && call<SEEK>({file, 4, 0}) == 0);
  {
    auto port = client->open<READ>();
    send(port, {2000, file});
    CHECK(receive_stream(port) == bytes.substr(4) && receive(port)[0] == 1002);
    close(port, 0);
  }
  CHECK(call<CLOSE>({file}) == 0);
  {
    auto port = client->open<RENAME>();
    port.send_n("by-llvm", 8);
    port.send_n("renamed", 8);
    CHECK(receive(port)[0] == 0);
    close(port, 0);
  }
  CHECK(call_with<REMOVE>(terminated("by-llvm")) == UINT64_MAX);
}

void from_thread(uint64_t thread) {
  for (uint64_t round = 0; round < 20; ++round) {
    CHECK(call<INCREMENT>({thread * 1000 + round}) == thread * 1000 + round + 1);
    {
      auto port = client->open<NOOP>();
      send(port, {round});
      close(port, 0);
    }
    std::string bytes((thread * 37 + round) % 256, char('a' + thread));
    CHECK(echo(bytes) == bytes);
    interface(round % 2);
  }
}

} // namespace

int main(int count, char **arguments) {
  CHECK(count == 3);
  int file = open(arguments[1], O_RDWR);
  struct stat status;
  CHECK(file >= 0 && fstat(file, &status) == 0);
  void *buffer = mmap(nullptr, size_t(status.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CHECK(buffer != MAP_FAILED);
  uint32_t ports = uint32_t(std::atoi(arguments[2]));
  CHECK(rpc::Server::allocation_size(1, ports) == uint64_t(status.st_size));
  client = new rpc::Client(ports, buffer);

  from_thread(0);
  CHECK(call<UNKNOWN>({77}) == 77);
  CHECK(echo(std::string(5000, 'e')) == std::string(5000, 'e') && echo("").empty());
  CHECK(call_with<PUTS>("by puts") == 8);
  printing();
  files();
  std::vector<std::thread> threads;
  for (uint64_t thread = 1; thread <= 3; ++thread)
    threads.emplace_back(from_thread, thread);
  for (auto &thread : threads)
    thread.join();
  std::puts("ok");
  return 0;
}
