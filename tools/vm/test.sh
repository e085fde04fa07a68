#!/bin/sh
# tools/vm/test.sh [RELEASE...]: what depends on the kernel and on the drivers of network cards, under the kernels of
# these Debian releases (bullseye, bookworm and trixie, if none is named), in virtual machines with looped cards.
# How a machine is made, and what else may be said by the environment: tools/vm/run.sh.
set -eu
tools=$(cd "$(dirname "$0")" && pwd)
cd "$tools/../.."
# Built for a processor that QEMU can be everywhere: what `make test` builds is for this machine's own.
RUSTFLAGS="-C target-cpu=x86-64-v3"
export RUSTFLAGS
built=${CARGO_TARGET_DIR:-$PWD/target}/vm/build
programs=$(CARGO_TARGET_DIR=$built tools/cargo.sh test --locked --no-run -p netdyno-io 2>&1 |
    tee /dev/stderr | sed -n 's/.*Executable tests.*(\(.*\))/\1/p' | grep -E '/(af_packet|af_xdp|af_xdp_claims|memif)-[^/]*$')
CARGO_TARGET_DIR=$built tools/cargo.sh build --locked -p netdyno-py

# Copied where the virtual machine writes: its own memory.
commands="cp $built/debug/lib_engine.so python/netdyno/_engine.abi3.so
export PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1 NETDYNO_TEST_PAIRS=\"\$(cat /run/pairs)\"
failed=0
for program in $(echo "$programs" | tr '\n' ' '); do (cd crates/io && \$program --test-threads=1) || failed=1; done
.venv/bin/pytest -p no:cacheprovider tests/real/test_cabled.py tests/real/test_nic.py tests/real/test_ports.py tests/real/test_kernel_features.py tests/real/test_new_real.py || failed=1
exit \$failed"

# One of each way a driver can be: AF_XDP native and generic, and zero-copy where QEMU and the kernel have it.
cards="virtio-net-pci,iommu_platform=on e1000e vmxnet3"
! "${VM_QEMU:-qemu-system-x86_64}" -device help 2>/dev/null | grep -q '"igb"' || cards="$cards igb"
status=0
for release in ${*:-bullseye bookworm trixie}; do
    echo "== under the kernel of Debian $release"
    VM_NICS="${VM_NICS:-$cards}" VM_SECONDS="${VM_SECONDS:-3600}" "$tools/run.sh" "$release" "$commands" || {
        echo "== failed under the kernel of Debian $release"
        status=1
    }
done
exit $status
