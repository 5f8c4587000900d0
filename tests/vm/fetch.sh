#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# fetch.sh KERNEL...|source|all: fills the cache and prints NAME and its folder for each word. For a
# KERNEL of kernels.sh the folder is where modules are built (KDIR); for "source" it has the files
# taken from Debian's kernel source: scripts/, tools/testing/selftests/. Optional: each script
# fetches what it uses. Exit status 77 when something is not available.

set -u
. "$(dirname "$(readlink -f "$0")")/kernels.sh"
. "$vm_src/guest.sh"

[ $# -gt 0 ] || vm_die "usage: fetch.sh KERNEL...|source|all"
[ "$1" != all ] || set -- source $kernel_names
for word; do
	if [ "$word" = source ]; then
		source_fetch || vm_skip "$deb_error"
		echo "source $k_source/lent"
	else
		kernel_fetch "$word" || vm_skip "$deb_error"
		echo "$word $k_kdir"
	fi
done
