#!/usr/bin/env bash
# ./dev nightly [--list | STEP...]: what takes too long for a merge. All steps run, whatever fails; the end says which did.
set -euo pipefail
cd "$(dirname "$0")/.."

# Other random choices each night; the first line has what brings them back.
export SPINNERET_SEED=${SPINNERET_SEED:-$((RANDOM * 32768 + RANDOM))}

tests() {
    PROPTEST_CASES=5000 MOLLY_CASES=500 MOLLY_NIC_STEPS=100 SPINNERET_FABRICS=100 SPINNERET_KERNELS=2000 \
        SPINNERET_MPI_CASES=20 SPINNERET_RPC_ROUNDS=2048 SPINNERET_RPC_HARM_MS=60000 SPINNERET_ALL_TESTS=1 \
        SPINNERET_NIGHTLY=1 ./dev test
}
proofs() { ./dev prove; }
soaks() {
    local name
    for name in match ingress egress hostdma regs app cluster; do ./dev soak "$name" || return 1; done
    ./dev soak hpu --count 100000000 --seed "$SPINNERET_SEED" || return 1
    ./dev soak verilog --seed "$SPINNERET_SEED"
}
calls() { ./dev soak rpc; }
fuzzing() { ./dev fuzz --seconds 600; }
busmodels() { tools/cocotb/check.sh; }
machines() { ./dev vm --all; }
archive() { ./dev release; }
boards() { ./dev board alchitry-cu-hpu && ./dev board colorlight-5a-75b --seeds 5; }

steps=(tests proofs soaks calls busmodels fuzzing machines archive boards)
if [[ ${1:-} == --list ]]; then
    printf '%s\n' "${steps[@]}"
    exit
fi
for name; do
    [[ " ${steps[*]} " == *" $name "* ]] || { echo "nightly: there is no step \`$name\`; there are ${steps[*]}" >&2; exit 2; }
done
[[ $# == 0 ]] || steps=("$@")

echo "==> nightly: ${steps[*]}; again with SPINNERET_SEED=$SPINNERET_SEED"
failed=()
for name in "${steps[@]}"; do
    start=$SECONDS
    echo "==> $name"
    if "$name"; then
        echo "==> $name: ok, $((SECONDS - start)) s"
    else
        echo "==> $name: FAILED after $((SECONDS - start)) s"
        failed+=("$name")
    fi
done
echo "==> nightly: $((${#steps[@]} - ${#failed[@]})) of ${#steps[@]} steps ok, $SECONDS s${failed[*]:+; FAILED: ${failed[*]}}"
echo "left out: interop and figures beside other projects' (./dev interop, ./dev vm public, which need your checkouts)"
[[ ${#failed[@]} == 0 ]]
