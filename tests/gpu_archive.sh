#!/bin/sh
# gpu_archive.sh FOLDER LIBRARY: packs the programs in FOLDER with the CUDA library and the others that they need, but for
# those that each machine with a GPU has, of C, C++ and NVIDIA, as build/gpu.tar.gz.
set -eu
carried=$1 cuda=$2
rm -rf "${carried:?}/lib"
mkdir "$carried/lib"
strip -o "$carried/lib/libgtmark_cuda.so" "$cuda"
ldd "$carried"/bench_* "$carried"/tests/* "$cuda" | sed -n 's/^\t\([^ ]*\) => \(\/[^ ]*\) .*/\1 \2/p' | sort -u |
    while read -r name path; do
        case $name in
        libc.* | libm.* | libdl.* | librt.* | libpthread.* | libstdc++.* | libgcc_s.* | libcu* | libnv* | libgtmark*) ;;
        *) cp "$path" "$carried/lib/$name" ;;
        esac
    done
tar -C "$(dirname "$carried")" -czf build/gpu.tar.gz "$(basename "$carried")"
echo "build/gpu.tar.gz, $(($(wc -c <build/gpu.tar.gz) >> 20)) MiB"
