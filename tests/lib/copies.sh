#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Several copies of the library: the archive in two plug-ins, and the shared library in a third,
# loaded and unloaded by a program without the library, and by one with the shared library. Each
# record is in the capture once. TAP.
. "${0%/*}/../record/tap.sh"

lib=$BUILD/tests/lib
cp "$lib/plugin-static.so" one.so
cp "$lib/plugin-static.so" two.so
unset XSPROF_BACKEND
export XSPROF_BUFFER_SIZE=1M

# whole NAME FILE: the file has exactly the markers that the program executed.
whole()
{
	"$inspect" "$2" >seen
	is "$1: the file is sound" $? 0
	is "$1: each record" "$(field read seen)" "$(field events out)"
}

for host in "" "LD_PRELOAD=$BUILD/lib/libxsprof-user.so"; do
	for how in "" "global "; do
		for set in "one" "one two" "one two shared"; do
			name="${host:+linked with it, }$how$set"
			plugins=
			for it in $set; do
				[ "$it" = shared ] && plugins+=" $lib/plugin.so" ||
					plugins+=" $dir/$it.so"
			done
			# shellcheck disable=SC2086 # split into words on purpose
			run "$xsprof" record --backend tmpfs -o c.data -- \
				env $host "$lib/copies" $how$plugins
			is "$name: status" $rc 0
			whole "$name" c.data
			# shellcheck disable=SC2086 # split into words on purpose
			run env XSPROF_RECORD="$dir/c.data" $host "$lib/copies" $how$plugins
			is "$name, records itself: status" "$rc $(cat err)" "0 "
			whole "$name, records itself" c.data
		done
	done
done
ok "nothing stays behind" clean
finish
