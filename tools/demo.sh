#!/bin/sh
# The demo: 48 load tests of an emulated Cisco ASR9006 in virtual time, then real frames through this machine's kernel.
# What the build and the runs say while they go on is in logs; numbers go to the terminal, at most 60 lines of them.
set -eu
netdyno=.venv/bin/netdyno
log=.venv/build.log

mkdir -p .venv
begun=$(date +%s)
if ! "${MAKE:-make}" --no-print-directory .venv/.engine-release > "$log" 2>&1; then
    tail -20 "$log"
    echo "the build failed: the whole log is $log"
    exit 2
fi
echo "set up in $(($(date +%s) - begun)) s          (log: $log)"

log=.venv/demo.log
: > "$log"
: > "$log.begun"

# Exit codes as docs/reference.md has them: 3 cannot be measured on this machine, 4 the tester was the limit in every case.
ended() { # status: stops the demo unless a run may end in this way
    case $1 in
        0 | 3 | 4) ;;
        *) tail -20 "$log"; exit "$1" ;;
    esac
}

echo "1/4  48 load tests, a rehearsal in virtual time"
# A quarter of the times of the plan's own rehearsal: what the tests hold to the published figures.
status=0
"$netdyno" run examples/asr9006.yaml --scale 1/400 --report html 2>> "$log" || status=$?
ended "$status"
echo ""

# Real frames, of two sizes in one direction, so that calibrating the tester takes seconds. The plans leave the backend to
# `auto`, so what is calibrated is what the runs use.
echo "2/4  a real device: this machine's kernel"
# 1: a check of the tester failed, as on a busy machine; verdicts heed what was found all the same.
"$netdyno" calibrate examples/linux-filter.yaml --quick >> "$log" 2>&1 || true
status=0
"$netdyno" run examples/linux-filter.yaml --report html 2>> "$log" || status=$?
ended "$status"
echo ""

# A bridge of the same machine, by its one line; and a router whose limit is known, for it is shaped.
bridge=.venv/demo-linux-bridge.yaml
sed -e "s/^title: .*/title: A Linux bridge/" -e 's/linux\/router/linux\/bridge/' -e '/^  modifier: /d' examples/linux-filter.yaml > "$bridge"
number=3
for plan in "$bridge" examples/linux-shaped.yaml; do
    status=0
    "$netdyno" run "$plan" --report html >> "$log" 2>&1 || status=$?
    ended "$status"
    name=$(basename "$plan" .yaml)
    run=$(ls -d runs/*-"$name"-* 2> /dev/null | tail -1)
    if [ -n "$run" ]; then
        printf '%s/4  ' "$number"
        "$netdyno" report "$run" --as brief
    else
        echo "$number/4  $name: not measured on this machine (log: $log)"
    fi
    number=$((number + 1))
done
echo "     >= means: the tester was the limit, and the device can do at least this"
echo "     reports   $(find runs -name report.html -newer "$log.begun" | wc -l): netdyno list; log: $log; yours: README, \"Test your own router\""
