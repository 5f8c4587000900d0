#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs sparse on the module (address spaces, locks, endianness) with the headers of 6.1 and 6.12:
# there must be no warning. Debian 12's sparse cannot read the headers of later kernels. TAP.

set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 1
[ -f Kbuild ] || { echo "1..0 # SKIP there is no module"; exit 77; }
command -v sparse > /dev/null || { echo "1..0 # SKIP sparse is not installed"; exit 77; }
out=${BUILD:-build}/kmod/sparse
number=0 failed=0

# check STATUS NAME SAID
check()
{
	number=$((number + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $number $2"
		return
	fi
	echo "not ok $number $2"
	sed 's/^/# /' <<< "$3"
	failed=1
}

# module.sh keeps a build without warnings, for the same sources and the same sparse.
for kernel in 6.1 6.12; do
	said=$(tests/vm/module.sh "$kernel" "$out-$kernel" C=2 CF=-Wcontext \
		SPARSE_IS="$(sparse --version)" 2>&1)
	status=$?
	[ $status -ne 77 ] || { echo "$said"; exit 77; }
	check $status "$kernel: no warning of sparse" "$said"
done

# The same check must find an error: a dereferenced user pointer.
mkdir -p "$out-planted" || exit 1
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
said=$(tests/vm/module.sh --source "$out-planted" 6.1 "$out-planted-out" C=2 2>&1)
[ $? -eq 1 ] && grep -q 'dereference of noderef expression' <<< "$said"
check $? "a planted mistake is found" "$said"
echo "1..$number"
exit $failed
