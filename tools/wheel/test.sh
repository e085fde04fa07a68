#!/bin/sh
# tools/wheel/test.sh [RELEASE...]: the wheel in a fresh tree of these Debian releases (bookworm and trixie, if none
# is named), installed by pipx as a user does, and there under QEMU as older processors.
# Wants root, Debian's archive, mmdebstrap; PIP_* say where Python packages come from.
set -eu
tools=$(cd "$(dirname "$0")" && pwd)
wheel=$(ls "${CARGO_TARGET_DIR:-$tools/../../target}"/wheel/netdyno-*.whl)
work=$(mktemp -d)
# What is mounted goes before what it stands on.
trap 'for on in "$work"/*/dev "$work"/*/proc; do umount -R "$on" 2>/dev/null || true; done; rm -rf --one-file-system "$work"' EXIT
for release in ${*:-bookworm trixie}; do
    tree=$work/$release
    mmdebstrap --quiet --variant=minbase --include=python3,python3-venv,pipx,ca-certificates,qemu-user "$release" "$tree" \
        "${DEBIAN:-http://deb.debian.org/debian}"
    cp /etc/resolv.conf "$tree/etc/"
    cp /etc/ssl/certs/ca-certificates.crt "$tree/etc/ssl/certs/"
    mount -t proc proc "$tree/proc"
    mount --rbind /dev "$tree/dev"
    cp "$wheel" "$tools/inside.sh" "$tree/srv/"
    echo "== Debian $release, $(du -m "$wheel" | cut -f1) MB of wheel"
    HOME=/srv chroot "$tree" /bin/bash /srv/inside.sh
    umount -R "$tree/dev" "$tree/proc"
done
