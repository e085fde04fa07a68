#!/bin/sh
# What becomes of the virtual machine once it has its files: a machine, and then the command.
. /run/shared/told
export PATH="$path" HOME=/root LANG=C.UTF-8
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs shm /dev/shm
mount -t bpf bpf /sys/fs/bpf
mount -t cgroup2 cgroup /sys/fs/cgroup
ln -s /proc/self/fd /dev/fd
dmesg -n "$log"

version=$(uname -r)
mkdir -p "/lib/modules/$version"
mount --bind "$modules" "/lib/modules/$version"
# The drivers of the devices there are, as udev would load them.
find /sys/devices -name modalias -exec cat {} + | sort -u | xargs modprobe -qab
hostname vm
ip link set lo up

# Both ends of a pair are called after their model; their addresses say which they are.
[ ! -e /run/shared/nics ] || while read -r pair model; do
    for end in 1:a 2:b; do
        was=$(ip -o link | sed -n "s/^[0-9]*: \([^:]*\):.*52:54:00:00:0$pair:0${end%:*}.*/\1/p")
        if [ -n "$was" ]; then
            ip link set "$was" name "$model-${end#*:}"
            ip link set "$model-${end#*:}" up
        else
            echo "this kernel has no driver for $model"
        fi
    done
done </run/shared/nics
pairs=$(ip -o link | sed -n 's/^[0-9]*: \([^:]*\)-a: .*/\1/p' | while read -r model; do printf '%s ' "$model-a:$model-b"; done)
echo "$pairs" >/run/pairs

cd "$folder" || exit
status=0
setsid -w sh /run/shared/command </dev/null || status=$?
echo "$status" >/run/shared/exit
sync
echo o >/proc/sysrq-trigger
sleep 60
