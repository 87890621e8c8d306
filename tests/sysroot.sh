#!/bin/sh
# The libraries of another architecture, for tests/foreign.sh: tests/sysroot.sh aarch64|riscv64
#
# They are packages of this system's release, unpacked in build/sysroot/ARCH by apt-get with state of its own: nothing is
# installed, no other architecture is added to the system, and nobody need be root. Prints nothing if they are there.
set -u
cd "$(dirname "$0")/.." || exit 1

fail()
{
    echo "gtmark: no libraries for $arch: $*" >&2
    exit 2
}

arch=$1
case $arch in
aarch64) debian=arm64 ;;
riscv64) debian=riscv64 ;;
*) echo "gtmark: sysroot.sh: '$arch' is neither aarch64 nor riscv64" >&2 && exit 2 ;;
esac
root=$PWD/build/sysroot/$arch
[ -e "$root/ready" ] && exit
command -v apt-get dpkg >/dev/null || fail 'they are unpacked with apt-get and dpkg, which are missing'
rm -rf "$root" && mkdir -p "$root/apt/lists/partial" "$root/apt/archives/partial" && : >"$root/apt/status" || fail "$root"

# apt COMMAND...: what apt-get prints, if it fails
apt()
{
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o APT::Architecture=$debian -o APT::Architectures=$debian -o Dir::State="$root/apt" \
        -o Dir::State::status="$root/apt/status" -o Dir::Cache="$root/apt" -o Debug::NoLocking=1 -o Acquire::Retries=5 \
        -o APT::Sandbox::User= -o APT::Keep-Downloaded-Packages=true "$@" >"$root/log" 2>&1 || fail "$(grep '^E:' "$root/log" | head -n 1)"
}

apt update
apt install --download-only --no-install-recommends libc6-dev libgomp1 libopenblas-dev libarpack2-dev libcjson-dev \
    zlib1g-dev libsqlite3-dev libcmocka-dev
for package in "$root"/apt/archives/*.deb; do
    dpkg -x "$package" "$root" || fail "$package"
done
# Links as they are where the root is /, and those that installing makes.
find "$root/usr" -lname '/*' | while read -r link; do
    ln -sf "$root$(readlink "$link")" "$link"
done
[ -e "$root/lib" ] || ln -s usr/lib "$root/lib"
ln -sf openblas-pthread/libopenblas.so openblas-pthread/libopenblas.so.0 openblas-pthread/libblas.so.3 \
    openblas-pthread/liblapack.so.3 "$root/usr/lib/$arch-linux-gnu"
rm -rf "$root/apt" && : >"$root/ready"
