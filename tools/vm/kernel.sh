#!/bin/sh
# tools/vm/kernel.sh RELEASE FOLDER: the kernel of a Debian RELEASE in FOLDER, unpacked and not installed:
# FOLDER/vmlinuz, and FOLDER/root/lib/modules. Asked of the archive that this machine has its own packages from.
set -eu
release=$1 folder=$2
[ ! -e "$folder/ready" ] || exit 0
PATH="$PATH:/usr/sbin:/sbin"

rm -rf "$folder"
mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial"
# $(REPO_URI) is apt's, not the shell's.
# shellcheck disable=SC2016
archive=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN)' 'Created-By: Packages' |
    sed -n 's/ Debian$//p' | grep -v -e security -e debug | sort -u | head -n 1)
keys=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$keys] ${archive:?no Debian archive is among the sources of apt} $release main" >"$folder/apt/sources"
cat >"$folder/apt/conf" <<END
Dir::Etc::sourcelist "$folder/apt/sources";
Dir::Etc::sourceparts "-";
Dir::State::lists "$folder/apt/lists";
Dir::State::status "/dev/null";
Dir::Cache "$folder/apt/cache";
END
export APT_CONFIG="$folder/apt/conf"
apt-get update -qq

# linux-image-amd64 names the kernel of the day; that one, its modules too where they are apart.
needed() { # package
    apt-cache show --no-all-versions "$1" | sed -n 's/^Depends: //p' | tr ',' '\n' |
        sed 's/^ *//;s/[ (|].*//' | grep -E '^linux-(image|modules|binary|base)-[0-9]' || true
}
image=$(needed linux-image-amd64 | grep '^linux-image')
# shellcheck disable=SC2046 # a list of words
(cd "$folder" && apt-get -o APT::Sandbox::User=root download -qq "$image" $(needed "$image"))
for package in "$folder"/*.deb; do dpkg-deb -x "$package" "$folder/root"; done
rm -r "$folder"/*.deb "$folder/apt"

[ -e "$folder/root/lib" ] || ln -s usr/lib "$folder/root/lib"
find "$folder/root/" -name 'vmlinuz*' -type f -exec cp {} "$folder/vmlinuz" \;
depmod -b "$folder/root" "$(ls "$folder/root/lib/modules")"
touch "$folder/ready"
