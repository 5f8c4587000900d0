#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs sparse on the module (address spaces, locks, endianness) with the headers of 6.1 and 6.12:
# there must be no warning. Debian 12's sparse cannot read the headers of later kernels. TAP.

set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 1
. tests/common/tap.sh
[ -f Kbuild ] || skip "there is no module"
command -v sparse > /dev/null || skip "sparse is not installed"
out=${BUILD:-build}/kmod/sparse
tap_log=$out.log
mkdir -p "$out-planted" || exit 1

# module.sh keeps a build without warnings, for the same sources and the same sparse.
for kernel in 6.1 6.12; do
	tests/vm/module.sh "$kernel" "$out-$kernel" C=2 CF=-Wcontext \
		SPARSE_IS="$(sparse --version)" > "$tap_log" 2>&1
	status=$?
	[ $status -ne 77 ] || { cat "$tap_log"; exit 77; }
	result "$kernel: no warning of sparse" $status
done

# The same check must find an error: a dereferenced user pointer.
echo 'obj-m := planted.o' > "$out-planted/Kbuild"
cat > "$out-planted/planted.c" << 'END'
#include <linux/module.h>
int planted(const int __user *word);
int planted(const int __user *word)
{
	return *word;
}
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("planted");
END
tests/vm/module.sh --source "$out-planted" 6.1 "$out-planted-out" C=2 > "$tap_log" 2>&1
[ $? -eq 1 ] && grep -q 'dereference of noderef expression' "$tap_log"
result "a planted mistake is found" $?
finish
