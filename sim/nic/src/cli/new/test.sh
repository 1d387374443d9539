#!/bin/sh
# Twenty packets to port 9000 are answered, and what goes to another port reaches no handler.
set -eu
cd "$(dirname "$0")"

# after PORT: what twenty packets to a port become, as JSON. A run in which a handler fails ends the test.
after() {
    spinneret run . --generate "udp,dport=$1,size=100,count=20" --json 2>build/messages ||
        { cat build/messages >&2; exit 1; }
}

# expect STAGE PACKETS: so many packets passed there.
expect() {
    found=$(printf '%s\n' "$result" | sed -n "/\"stage\": \"$1\"/{n;s/[^0-9]//gp;}")
    [ "$found" = "$2" ] || { echo "test: $found packets \"$1\", and not $2" >&2; exit 1; }
}

mkdir -p build
result=$(after 9000)
expect "to handlers" 20
expect "sent by handlers" 20
result=$(after 9001)
expect "to handlers" 0
expect "to host" 20
echo "test: all as expected"
