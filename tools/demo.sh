#!/bin/sh
# The two demos: a rehearsal in virtual time, then real frames through this machine's own kernel.
set -eu
netdyno=.venv/bin/netdyno

run() { # plan
    status=0
    "$netdyno" run "$1" --report html || status=$?
    # 1: a goal was missed, which is a result. 3: this machine cannot, and netdyno has said why.
    case $status in
    0 | 1 | 3) ;;
    *) exit "$status" ;;
    esac
}

echo "== 1. 48 load tests of an emulated Cisco ASR9006, in virtual time"
run examples/asr9006.yaml

echo ""
echo "== 2. Real frames through a Linux router, bridge and cross connect"
for device in router bridge xconnect; do
    run "examples/linux-$device.yaml"
done

echo ""
echo "== The reports"
"$netdyno" list
find runs -name '*.html' -newer .venv/.engine | sort | sed 's/^/  /'
