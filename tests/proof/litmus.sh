#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the litmus files, what the ring needs of memory and what goes wrong without each
# of its barriers, under the Linux kernel's memory model. Each file states its verdict
# ("Result: Never" or "Sometimes"). TAP; exit status 0, 1, or 77 where herd7 or the
# model is not to be had: herd7 is not in Debian 12, the model is in linux-source-*.
#
# Environment: HERD7, the command (herd7); LKMM, a folder with linux-kernel.cfg.

set -u
here=$(dirname "$(readlink -f "$0")")
build=${BUILD:-build}
case $build in
/*) ;;
*) build=$(dirname "$(dirname "$here")")/$build ;;
esac
herd=${HERD7:-herd7}
. "$here/../common/tap.sh"

# Sets $model: given, in a kernel tree that lies unpacked, or out of Debian's archive
find_model()
{
	local tree archive cache=$build/proof/lkmm

	for tree in ${LKMM:+"$LKMM"} /usr/src/linux*/tools/memory-model "$cache"; do
		model=$tree
		[ -f "$model/linux-kernel.cfg" ] && return 0
	done
	[ -z "${LKMM:-}" ] || skip "LKMM=$LKMM: there is no linux-kernel.cfg"
	for archive in /usr/src/linux-source-*.tar.xz; do
		[ -f "$archive" ] || continue
		rm -rf "$cache.new" && mkdir -p "$cache.new" || continue
		# The whole archive is read for it, 10 to 20 s: once.
		tar -xJf "$archive" -C "$cache.new" --strip-components=3 \
			--wildcards '*/tools/memory-model/linux-kernel.*' &&
		mv "$cache.new" "$cache" && return 0
	done
	return 1
}

command -v "$herd" > /dev/null || skip "$herd is not installed (Debian 12 has no package of herd7)"
find_model || skip "no linux-kernel.cfg: install linux-source-6.1, or set LKMM"

for file in "$here"/*.litmus; do
	name=$(basename "$file" .litmus)
	wanted=$(sed -n 's/^ \* Result: \([A-Z][a-z]*\)$/\1/p' "$file")
	out=$(cd "$model" && timeout 60 "$herd" -conf linux-kernel.cfg "$file" 2>&1)
	got=$(sed -n "s/^Observation $name \([A-Z][a-z]*\) .*/\1/p" <<< "$out")
	[ -n "$wanted" ] && [ "$got" = "$wanted" ]
	tap_line $? "$name: $wanted" "wanted '$wanted', got '$got'"$'\n'"$out"
done
finish
