#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Checks the module's sources with the kernel's own checkpatch.pl --strict, and its comments with
# kernel-doc. TAP.
#
# Exceptions: rules for patches in mails and for trees with MAINTAINERS; checks of the kernel
# version, which an out-of-tree module needs (and whose comparison looks like one with a constant);
# the name of a header in __has_include(), which is no comparison; and in uapi static_assert(),
# which user space lacks, and kernel-doc for each constant of an enum and each reserved field.

set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 1
. tests/common/tap.sh
source=$(tests/vm/fetch.sh source) || { echo "$source"; exit 77; }
scripts=${source#source }/scripts

mapfile -t files < <(git ls-files 'kmod/*.[ch]')
[ ${#files[@]} -gt 0 ] || skip "there is no module"

said=$("$scripts/checkpatch.pl" --no-tree --strict --terse --show-types --no-summary \
	--max-line-length=100 --ignore FILE_PATH_CHANGES,LINUX_VERSION_CODE -f "${files[@]}" 2>&1 |
	grep -vE '(compat\.h:[0-9]+: WARNING:CONSTANT_COMPARISON|CAMELCASE: .*<_Static_assert>$)' |
	grep -vE "(uapi/xsprof/abi|compat)\.h:[0-9]+: [A-Z]+:SPACING: .* around that '[</>]'")
correct "checkpatch.pl --strict" "$said"
said=$("$scripts/kernel-doc" -none "${files[@]}" 2>&1 |
	grep -vE "uapi/.*: warning: (Enum value .*|.* member 'reserved[0-9]*') not described")
correct "kernel-doc" "$said"
finish
