#!/bin/sh
# The two demos: a rehearsal in virtual time, then real frames through this machine's own kernel.
set -eu
netdyno=.venv/bin/netdyno

run() { # plan options...
    status=0
    "$netdyno" run "$@" --report html || status=$?
    # 1: a goal was missed, which is a result. 3: this machine cannot, and netdyno has said why.
    case $status in
    0 | 1 | 3) ;;
    *) exit "$status" ;;
    esac
}

echo "== 1. 48 load tests of an emulated Cisco ASR9006, in virtual time"
# Half the times of the plan's own rehearsal; the numbers stay within a few tenths of a per cent.
run examples/asr9006.yaml --scale 1/200

echo ""
echo "== 2. Real frames through a Linux router, bridge and cross connect"
for device in router bridge xconnect; do
    run "examples/linux-$device.yaml"
done

echo ""
echo "== The reports"
"$netdyno" list
find runs -name '*.html' -newer .venv/.engine | sort | sed 's/^/  /'
