#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Ranges and marks of programs that are linked with roctx as Debian 13 ships it, which runs without
# any hardware: each is there once, as often as roctx's own callback for tools is called. The
# library is fetched when needed, and never installed. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/vm/kernels.sh

skip() { echo "1..0 # SKIP $*"; exit 77; }
[ "$(uname -m)" = x86_64 ] || skip "the packages are for x86-64"
tree=$vm_dir/trees/roctx
mkdir -p "$vm_dir/trees" || exit 1
exec {lock}>"$vm_dir/lock-roctx"
flock "$lock"
deb_tree trixie "$tree" 'libroctx[^=]*' libroctx-dev || skip "$deb_error"
exec {lock}>&-
exec /usr/bin/python3 tests/gpu/roctx.py "$tree/usr"
