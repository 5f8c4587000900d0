#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The public headers and the shared libraries tell the same: each function and object that a
# header declares is exported, nothing else is, and a man page names each. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1

BUILD=${BUILD:-build}
dir=$(mktemp -d "${TMPDIR:-/tmp}/xsprof-symbols.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
. tests/common/tap.sh

# Names declared extern by a header: compiled alone, everything it declares is taken the address
# of, and what stays undefined is what the library has to give. Inline functions drop out.
declared() # $1 header
{
	{
		echo "#include <$1>"
		echo 'const void *const xsp_all[] = {'
		gcc -std=gnu11 -E -P -Ikmod/uapi -Ilib/include "lib/include/$1" |
			grep -oE '\bxsprof_[a-z0-9_]+ *[(;]' | grep -oE 'xsprof_[a-z0-9_]+' |
			sort -u |
			while read -r name; do
				echo "#ifndef $name"
				echo "XSP_ADDR($name)"
				echo "#endif"
			done
		echo '};'
	} >"$dir/all.c"
	# A word that is a type, a field or a parameter has no address: leave out, one by one,
	# what the compiler says no to, until it says nothing.
	while :; do
		if gcc -std=gnu11 -O0 -w -fmax-errors=0 -D'XSP_ADDR(x)=(const void *)&x,' \
				-Ikmod/uapi -Ilib/include -c -o "$dir/all.o" "$dir/all.c" \
				2>"$dir/err"; then
			break
		fi
		sed -n 's/^[^:]*all\.c:\([0-9]*\):.*error:.*/\1d/p' "$dir/err" | sort -u >"$dir/del"
		[ -s "$dir/del" ] || { cat "$dir/err" >&2; return 1; }
		sed -i -f "$dir/del" "$dir/all.c"
	done
	nm -u "$dir/all.o" | awk '{ print $2 }' | grep '^xsprof_' | sort -u
}

exported() # $1 shared library
{
	nm -D --defined-only "$1" | awk '$2 ~ /[TDBRVWi]/ { sub(/@.*/, "", $3); print $3 }' |
		grep -v '^XSPROF_[0-9]' | sort -u
}

compare() # $1 library, the rest headers
{
	local lib=$1 h

	shift
	if [ ! -e "$BUILD/lib/$lib.so" ]; then
		correct "$lib: built" "$BUILD/lib/$lib.so: not there"
		correct "$lib: exports" "nothing to compare"
		return
	fi
	for h in "$@"; do
		declared "$h" || { echo "Bail out! $h does not compile alone"; exit 1; }
	done | sort -u >"$dir/$lib.all"
	[ -e "$dir/others" ] || : >"$dir/others"
	comm -23 "$dir/$lib.all" "$dir/others" >"$dir/$lib.want"
	cp "$dir/$lib.want" "$dir/others"
	exported "$BUILD/lib/$lib.so" >"$dir/$lib.have"
	correct "$lib exports all that its headers declare ($(wc -l <"$dir/$lib.want"))" \
		"$(comm -23 "$dir/$lib.want" "$dir/$lib.have")"
	correct "$lib exports nothing else" "$(comm -13 "$dir/$lib.want" "$dir/$lib.have")"
}

# Which header belongs to which library: trace*.h, pairer.h, capture.h and result.h to the decoder,
# torch.h to PyTorch's collector, the rest to the producer's; what a header of one includes of the
# other is the other's.
trace_headers=()
user_headers=()
for h in lib/include/xsprof/*.h; do
	case ${h##*/} in
	trace.h|trace-facts.h|trace-kernel.h|pairer.h|capture.h|result.h)
		trace_headers+=("${h#lib/include/}") ;;
	torch.h) ;;
	*) user_headers+=("${h#lib/include/}") ;;
	esac
done

echo "1..6"
compare libxsprof-user "${user_headers[@]}"
compare libxsprof-trace "${trace_headers[@]}"
# It exports names of PyTorch's as well.
if [ -e "$BUILD/lib/libxsprof-torch.so" ]; then
	declared xsprof/torch.h >"$dir/libxsprof-torch.want"
	exported "$BUILD/lib/libxsprof-torch.so" | grep '^xsprof_' >"$dir/libxsprof-torch.have"
	correct "libxsprof-torch exports what its header declares" \
		"$(diff "$dir/libxsprof-torch.want" "$dir/libxsprof-torch.have")"
else
	skipped "libxsprof-torch exports what its header declares" "it is not for this machine"
fi
# xsprof_emit_*() and the control page are what the inline halves of markers use.
undocumented=$(cat "$dir"/*.want 2>/dev/null | sort -u | grep -vE '^xsprof_(emit|ctl_page$)' |
	while read -r name; do
		grep -qw -e "$name" Documentation/man/*.3 2>/dev/null || echo "$name"
	done)
correct "man pages name every public function" "$undocumented"
exit "$tap_failed"
