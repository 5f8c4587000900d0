#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only
#
# The Python package as files to install or to publish, in $BUILD/dist: a wheel for every x86-64
# Linux with glibc 2.28 or newer, or the sources.
# Usage: tools/python/wheel.sh wheel|sdist
#
# The compiler, zig, and setuptools come out of Python's registry, once, into the cache that the
# tests use as well. XSPROF_WHEEL=native builds the wheel with this machine's compiler for this
# machine. Exit status 77: zig cannot be had.
set -eu
cd "$(dirname "$0")/../.."
case ${1:-} in
wheel|sdist) what=$1 ;;
*) sed -n 's/^# Usage: /usage: /p' "$0" >&2; exit 2 ;;
esac
export BUILD=${BUILD:-build} XSPROF_WHEEL=${XSPROF_WHEEL:-portable}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. tests/viewers/packages.sh

python_packages wheel setuptools==80.9.0 ziglang==0.17.1 || {
	echo "make $what: $why" >&2
	echo "make $what: without zig: pip install . builds for this machine" >&2
	exit 77
}
# What zig makes of its C library is the same for all builds.
export ZIG_GLOBAL_CACHE_DIR=${XDG_CACHE_HOME:-$HOME/.cache}/xsprof/zig
mkdir -p "$BUILD/dist" "$BUILD/wheel"
# One at a time: tests want the same file.
exec 7>"$BUILD/wheel/lock" && flock 7
log=$BUILD/wheel/log
echo "building the $what; log: $log" >&2
"$venv/bin/python" - "$what" "$BUILD/dist" "$dir/name" >"$log" 2>&1 <<'END' || {
import sys
sys.path.insert(0, "tools/python")
import backend
what, out, name = sys.argv[1:]
with open(name, "w") as f:
    print((backend.build_wheel if what == "wheel" else backend.build_sdist)(out), file=f)
END
	grep -E 'error|^xsprof: |\*\*\*' "$log" | head -n 20 >&2
	echo "make $what: failed: see $log" >&2
	exit 1
}
echo "$BUILD/dist/$(cat "$dir/name")"
