#!/bin/sh
# Unpacks an archive of ./dev release and does what a new user would: try-release.sh NAME, in a root of its own.
#
# What is unpacked belongs to root, and a user who may not write there works with it.
set -eu

name=$1
mkdir -p /opt
rm -rf "/opt/$name"
tar -xzf "/trial/$name.tar.gz" -C /opt
chmod a+x /trial
rm -rf /tmp/home
mkdir /tmp/home
chown 65534:65534 /tmp/home

cat >/trial/user.sh <<'USER'
set -eu
cd "$HOME"
export PATH="$1/bin:/usr/bin:/bin" PKG_CONFIG_PATH="$1/lib/pkgconfig" LD_LIBRARY_PATH="$1/lib"
begin() { start=$(date +%s); what=$1; }
end() { echo "  $what: $(($(date +%s) - start)) s"; }

begin "a handler of one's own"
spinneret new hello >new.txt
make -C hello test >make.txt
spinneret run hello --generate udp,dport=9000,size=64..1500,count=1000 --json >hello.json 2>/dev/null
grep -q '"handler": "hello_ph"' hello.json
end

begin "an example that is root's, with a capture"
example=$(spinneret where)/examples/icmp_ping
spinneret run "$example" --pcap "$1/share/spinneret/captures/lan.pcap" --out replies.pcap >example.txt 2>/dev/null
[ -s replies.pcap ] && [ ! -e "$example/build" ]
end

begin "the matching engine as Verilog"
gen-verilog --module pspin_pkt_match --out match >verilog.txt
[ -s match/pspin_pkt_match.sv ]
if gen-verilog >bare.txt 2>&1; then exit 1; fi
grep -q "not inside a checkout of spinneret" bare.txt
end

begin "a program in C by pkg-config"
spinneret new count >new.txt
cat >count/count.c <<'C'
#include <handler.h>

volatile uint32_t total;

__handler__ void count_ph(handler_args_t *args) {
    amo_send_add((volatile int32_t *)&total, 1);
    push_counter(&__host_data.counters[2], args->task->pkt_mem_size);
}
C
make -C count >make.txt
cc -Wall -Werror -o counts "$1/share/spinneret/host/count.c" $(pkg-config --cflags --libs spinneret)
readelf -d counts | grep -q 'libspinneret.so.0'
spinneret serve nic.sock --generate udp,dport=9000,size=100,count=50 >serve.txt 2>&1 &
server=$!
for try in 1 2 3 4 5 6 7 8 9 10; do [ -S nic.sock ] || sleep 1; done
./counts unix:nic.sock count/build/count.elf count 9000 9000 50 >counts.txt
kill -INT $server
wait $server || true
grep -q 'handlers have counted 5000 in 50 calls' counts.txt
end
USER
setpriv --reuid=65534 --regid=65534 --clear-groups env -i HOME=/tmp/home sh /trial/user.sh "/opt/$name"
for command in cargo rustc verilator git; do
    if command -v "$command" >/dev/null; then echo "try-release: $command is here, so this proves nothing" >&2; exit 1; fi
done
rm -rf "/opt/$name" /tmp/home
echo "try-release: all of it works"
