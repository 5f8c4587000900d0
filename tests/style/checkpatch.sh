#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The module's sources as the kernel's own checkpatch.pl --strict sees them, and its
# comments as kernel-doc does. TAP.
#
# What is not asked of us: what belongs to a patch in a mail or to a tree with MAINTAINERS; no
# look at the kernel's version, which an out-of-tree module needs (and its comparison reads as
# one with a constant); the name of a header in __has_include(), which is no comparison; and of
# uapi no static_assert(), which user space lacks, nor a line of
# kernel-doc for each constant of an enum or each reserved field.

set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 1
source=$(tests/vm/fetch.sh source) || { echo "$source"; exit 77; }
scripts=${source#source }/scripts
failed=0

# check N NAME: $said, what the tool said, is nothing
check()
{
	if [ -z "$said" ]; then
		echo "ok $1 $2"
		return
	fi
	echo "not ok $1 $2"
	sed 's/^/# /' <<< "$said"
	failed=1
}

mapfile -t files < <(git ls-files 'kmod/*.[ch]')
[ ${#files[@]} -gt 0 ] || { echo "1..0 # SKIP there is no module"; exit 77; }

said=$("$scripts/checkpatch.pl" --no-tree --strict --terse --show-types --no-summary \
	--max-line-length=100 --ignore FILE_PATH_CHANGES,LINUX_VERSION_CODE -f "${files[@]}" 2>&1 |
	grep -vE '(compat\.h:[0-9]+: WARNING:CONSTANT_COMPARISON|CAMELCASE: .*<_Static_assert>$)' |
	grep -vE "(uapi/xsprof/abi|compat)\.h:[0-9]+: [A-Z]+:SPACING: .* around that '[</>]'")
check 1 "checkpatch.pl --strict"
said=$("$scripts/kernel-doc" -none "${files[@]}" 2>&1 |
	grep -vE "uapi/.*: warning: (Enum value .*|.* member 'reserved[0-9]*') not described")
check 2 "kernel-doc"
echo "1..2"
exit $failed
