#!/bin/sh
# The two demos: a rehearsal in virtual time, then real frames through this machine's own kernel.
set -eu
netdyno=.venv/bin/netdyno

here() { # plan: real frames, if this machine allows; 3: it cannot; 4: the tester was the limit in every case
    status=0
    "$netdyno" run "$1" --report html || status=$?
    case $status in 0 | 3 | 4) ;; *) exit "$status" ;; esac
}

echo "== 1. 48 load tests of an emulated Cisco ASR9006, in virtual time"
# A quarter of the times of the plan's own rehearsal: what the tests hold to the published figures.
"$netdyno" run examples/asr9006.yaml --scale 1/400 --report html

echo ""
echo "== 2. Real frames through a Linux router, bridge and cross connect"
for device in router bridge xconnect; do
    here "examples/linux-$device.yaml"
done

echo ""
echo "== The reports"
"$netdyno" list
find runs -name '*.html' -newer .venv/.engine | sort | sed 's/^/  /'
