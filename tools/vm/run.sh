#!/bin/sh
# tools/vm/run.sh RELEASE COMMAND...
#
# Runs COMMAND, words of a shell, in this folder under the kernel of another Debian RELEASE (bullseye has 5.10,
# bookworm 6.1, trixie 6.12; trixie-backports): in a virtual machine that has this machine's files, what it writes
# being in memory and gone afterwards, and no way to any network. The exit code is COMMAND's.
#
# VM_NICS     models of network cards as QEMU calls them; of each a pair of ports, cabled to each other and called
#             after it: `igb` gives igb-a and igb-b, `virtio-net-pci` virtio-a and virtio-b; /run/pairs has them all
# VM_CPUS     2
# VM_MEMORY   MiB, 3072: of the machine, and of what it writes
# VM_SECONDS  1800: then it is ended
# VM_ACCEL    kvm or tcg; without, kvm where that works
# VM_QEMU     qemu-system-x86_64; igb is in QEMU from 8.0 on
#
# Needs the Debian packages qemu-system-x86, busybox-static, kmod and xz-utils; and, once for each RELEASE, the way
# to Debian's archive. What was fetched is kept in target/vm.
set -eu
release=${1:?which Debian release} tools=$(cd "$(dirname "$0")" && pwd)
shift
qemu=${VM_QEMU:-qemu-system-x86_64}
PATH="$PATH:/usr/sbin:/sbin"
for program in "$qemu" busybox depmod xz; do
    command -v "$program" >/dev/null && continue
    echo "$program is missing: apt-get install qemu-system-x86 busybox-static kmod xz-utils" >&2
    exit 2
done

store=${CARGO_TARGET_DIR:-$PWD/target}/vm
mkdir -p "$store"
kernel=$store/$release
"$tools/kernel.sh" "$release" "$kernel"
version=$(ls "$kernel/root/lib/modules")

# What it takes until the kernel can read this machine's files.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
mkdir -p "$work/first/bin" "$work/first/modules" "$work/shared"
cp "$(command -v busybox)" "$work/first/bin/busybox"
cp "$tools/first.sh" "$work/first/init"
for module in virtio_pci 9pnet_virtio 9p overlay; do
    modprobe -d "$kernel/root" -S "$version" --show-depends "$module" | sed -n 's/^insmod \([^ ]*\).*/\1/p'
done | awk '!seen[$0]++' | while read -r file; do
    name=$(basename "$file")
    case $name in
    *.xz) xz -dc "$file" >"$work/first/modules/${name%.xz}" ;;
    *) cp "$file" "$work/first/modules/$name" ;;
    esac
    echo "${name%.xz}" >>"$work/first/modules/order"
done
(cd "$work/first" && find . | busybox cpio -o -H newc 2>/dev/null | gzip -1) >"$work/initrd"

# What the guest gets.
{
    printf 'folder=%s\nmodules=%s\n' "$PWD" "$kernel/root/lib/modules/$version"
    printf 'path=%s\n' "$PATH"
    printf 'log=%s\n' "${VM_LOG:-3}"
} >"$work/shared/told"
printf '%s\n' "$*" >"$work/shared/command"
cp "$tools/guest.sh" "$work/shared/guest.sh"

nics="" pair=0
for model in ${VM_NICS:-}; do
    pair=$((pair + 1))
    short=${model%%-*}
    echo "$pair $short" >>"$work/shared/nics"
    for end in 1 2; do
        # Each in a slot of PCI Express of its own, as igb wants it for its virtual functions.
        nics="$nics -device pcie-root-port,id=slot$pair$end,chassis=$pair$end"
        nics="$nics -netdev hubport,id=$short$end,hubid=$pair"
        nics="$nics -device $model,bus=slot$pair$end,netdev=$short$end,mac=52:54:00:00:0$pair:0$end"
    done
done

boot() { # accelerator, more of the kernel's command line
    case $1 in
    kvm) cpu=host ;;
    *) cpu=max,-la57 ;;
    esac
    # shellcheck disable=SC2086 # a list of words
    timeout "$3" "$qemu" -machine q35 -accel "$1" -cpu "$cpu" -smp "${VM_CPUS:-2}" -m "${VM_MEMORY:-3072}" \
        -nodefaults -no-user-config -display none -serial stdio -no-reboot \
        -virtfs local,path=/,mount_tag=files,security_model=none,readonly=on,multidevs=remap \
        -virtfs "local,path=$work/shared,mount_tag=shared,security_model=none,multidevs=remap" \
        $nics -kernel "$kernel/vmlinuz" -initrd "$work/initrd" \
        -append "console=ttyS0 quiet panic=-1 net.ifnames=0 mitigations=off rdinit=/init $2" </dev/null
}

# A machine may have a /dev/kvm on which a Debian kernel does not come up; so it is tried, once.
accel=${VM_ACCEL:-$(cat "$store/accel" 2>/dev/null || true)}
if [ -z "$accel" ]; then
    accel=tcg
    [ ! -w /dev/kvm ] || ! boot kvm only_try 30 2>/dev/null | grep -q 'the first program runs' || accel=kvm
    echo "$accel" >"$store/accel"
fi

status=0
boot "$accel" "" "${VM_SECONDS:-1800}" || status=$?
[ -e "$work/shared/exit" ] || {
    echo "the virtual machine did not come to an end of its own (QEMU: $status)" >&2
    exit 2
}
exit "$(cat "$work/shared/exit")"
