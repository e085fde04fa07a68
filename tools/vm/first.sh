#!/bin/busybox sh
# The first program of the virtual machine: finds the files of the machine it runs on, lays memory over them for
# what is written, and hands over to guest.sh.
export PATH=/bin
/bin/busybox --install -s /bin
mkdir -p /proc /files /memory /whole
mount -t proc proc /proc
echo "the first program runs"
case $(cat /proc/cmdline) in *only_try*) poweroff -f ;; esac

while read -r module; do
    insmod "/modules/$module" || echo "insmod $module failed"
done </modules/order
options=trans=virtio,version=9p2000.L,msize=262144
mount -t 9p -o "ro,cache=loose,$options" files /files || poweroff -f
mount -t tmpfs -o size=90% memory /memory
mkdir /memory/upper /memory/work
mount -t overlay -o lowerdir=/files,upperdir=/memory/upper,workdir=/memory/work overlay /whole || poweroff -f
umount /proc
for folder in proc sys dev run; do mount -t tmpfs none "/whole/$folder"; done
mkdir /whole/run/shared
mount -t 9p -o "$options" shared /whole/run/shared || poweroff -f
exec switch_root /whole /bin/sh /run/shared/guest.sh
