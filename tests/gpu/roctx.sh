#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Ranges and marks of programs linked with Debian 13's roctx, which needs no hardware: each is
# recorded once, as often as roctx's own callback for tools counts. Fetches the library, without
# installing it. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh
. tests/vm/kernels.sh
[ "$(uname -m)" = x86_64 ] || skip "the packages are for x86-64"
tree=$vm_dir/trees/roctx
mkdir -p "$vm_dir/trees" || exit 1
exec {lock}>"$vm_dir/lock-roctx"
flock "$lock"
deb_tree trixie "$tree" 'libroctx[^=]*' libroctx-dev || skip "$deb_error"
exec {lock}>&-
exec /usr/bin/python3 tests/gpu/roctx.py "$tree/usr"
