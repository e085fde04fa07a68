# What is tried in a fresh tree: from the wheel to the first number, then each engine as an older processor has it.
set -eu -o pipefail
cd "$HOME"
export PATH=$PATH:$HOME/.local/bin
TIMEFORMAT="   %R s"
echo "pipx install"
time pipx install ./netdyno-*.whl > install.log 2>&1 || { cat install.log; exit 1; }
venv=$(dirname "$(dirname "$(readlink -f $HOME/.local/bin/netdyno)")")
echo "   $(du -sm "$venv" | cut -f1) MB"
echo "first number"
send="send --emulated router --setting capacity=1Mpps --rate 90% -t 1"
time netdyno $send --json > first.json

# The engine that each processor takes, and that all measure the same.
measured() { "$venv/bin/python" -c 'import json, sys; found = json.load(sys.stdin); print({name: found[name] for name in ("sent", "received", "lost")})'; }
run() { # command...: the program, and before it what emulates a processor
    PYTHONPATH=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))') "$@" 2> >(grep -v "warning: TCG" >&2)
}
python=$(readlink -f "$venv/bin/python")
expected=$(measured < first.json)
for processor in Nehalem:x86-64-v2 Haswell:x86-64-v3; do
    level=$(run qemu-x86_64 -cpu "${processor%:*}" "$python" -m netdyno version | sed -n 's/^level //p')
    found=$(run qemu-x86_64 -cpu "${processor%:*}" "$python" -m netdyno $send --json | measured)
    echo "as ${processor%:*}: $level $found"
    [ "$level" = "${processor#*:}" ] || exit 1
    [ "$found" = "$expected" ] || exit 1
done
echo "as Conroe, which is older:"
status=0
run qemu-x86_64 -cpu Conroe "$python" -m netdyno version 2>&1 | head -2 || status=$?
[ "$status" = 3 ]
