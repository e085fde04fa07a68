#!/bin/sh
# Makes sure the Debian packages are there that `make demo` (or `make test`: "$1") wants.
# As root it installs what is missing; as anyone else it prints the line to run, and stops.
set -eu

missing=""
want() { # program package...
    program=$1
    shift
    PATH="$PATH:/usr/sbin:/sbin" command -v "$program" >/dev/null 2>&1 || missing="$missing $*"
}

want gcc gcc libc6-dev
want git git
want ip iproute2
want tc iproute2
want nft nftables
want conntrack conntrack
want setpriv util-linux
[ -e /etc/ssl/certs/ca-certificates.crt ] || missing="$missing ca-certificates"
# The folder of a venv needs ensurepip, which Debian packs apart.
python3 -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    missing="$missing python3 python3-venv"
# Debian's plain rustc is too old on Debian 12; rustc-web is kept young for the browsers' sake.
"$(dirname "$0")/cargo.sh" --version >/dev/null 2>&1 || missing="$missing rustc-web cargo-web"
if [ "${1:-demo}" = test ]; then
    want chromium chromium
    want tshark tshark
    want bird bird2
    want ovs-vswitchd openvswitch-switch
    [ -x /usr/lib/frr/zebra ] || missing="$missing frr"
    want snmpd snmpd
    want softflowd softflowd
    want sshd openssh-server
    want iperf3 iperf3
    want ethtool ethtool
    want pdftotext poppler-utils
fi

missing=$(printf '%s\n' $missing | sort -u | tr '\n' ' ')
[ -z "${missing% }" ] && exit 0

if [ "$(id -u)" != 0 ]; then
    echo "Some Debian packages are missing. Install them, then run make again:" >&2
    echo "" >&2
    echo "  sudo apt-get update && sudo apt-get install --no-install-recommends $missing" >&2
    exit 1
fi
echo "installing: $missing"
export DEBIAN_FRONTEND=noninteractive
# None of their services starts now: tests run what they need in namespaces.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
fi
apt-get update -qq
# shellcheck disable=SC2086 # a list of words
apt-get install -y -qq --no-install-recommends $missing >/dev/null
"$(dirname "$0")/cargo.sh" --version >/dev/null || {
    echo "The packages rustc-web and cargo-web of this Debian are older than Rust 1.88." >&2
    echo "Add its security archive to the apt sources (Debian 12 keeps the newer ones there), or use rustup." >&2
    exit 1
}
