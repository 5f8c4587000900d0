#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A file is one noun: no source file has more than 450 lines, except headers that are an interface
# as a whole. A planted longer file must be found. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh
most=450
whole=(kmod/uapi/xsprof/abi.h gpu/cupti/cupti-abi.h)

git rev-parse --is-inside-work-tree >/dev/null 2>&1 || skip "not a git work tree: no list of files"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# Prints FILE: N lines, for each that is too long
too_long() # FILE...
{
	awk -v most=$most -v whole=" ${whole[*]} " '
		function said() {
			if (n > most && !index(whole, " " file " "))
				print file ": " n " lines"
		}
		FNR == 1 { said(); file = FILENAME }
		{ n = FNR }
		END { said() }' "$@"
}

mapfile -t files < <(git ls-files -- '*.[ch]' '*.cc' '*.cxx' '*.hpp' '*.cu' '*.sh' '*.py')
present=()
for f in "${files[@]}"; do [ -f "$f" ] && present+=("$f"); done
correct "none of ${#present[@]} source files has more than $most lines" \
	"$(too_long "${present[@]}")"

mkdir -p "$dir/kmod/uapi/xsprof" && cd "$dir" || exit 1
seq $most >most.c
seq $((most + 1)) | tee longer.sh >kmod/uapi/xsprof/abi.h
seen=$(too_long most.c longer.sh kmod/uapi/xsprof/abi.h)
[ "$seen" = "longer.sh: $((most + 1)) lines" ]
result "a longer one is seen" $?
finish
