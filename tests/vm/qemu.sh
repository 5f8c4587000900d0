# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The emulators. For x86 guests QEMU 10 of Debian 12's backports, unpacked into the cache
# with all that it is linked to and run by its own loader, so that neither the machine's
# QEMU nor its libraries matter. Debian 12's own 7.2 is no choice there: with two CPUs it
# kills guests whose kernel text is patched while it runs, by an int3 in an innocent
# function, which is what every tracepoint that is switched on does.

# qemu_x86: sets the array qemu, the command without its options; $deb_error otherwise
qemu_x86()
{
	local tree=$vm_dir/qemu10 lock lib

	if [ -n "${XSPROF_QEMU:-}" ]; then
		qemu=("$XSPROF_QEMU")
		return 0
	fi
	if qemu_recent qemu-system-x86_64; then
		qemu=(qemu-system-x86_64)
		return 0
	fi
	mkdir -p "$vm_dir" || { deb_error="cannot write $vm_dir"; return 1; }
	exec {lock}> "$vm_dir/lock-qemu"
	flock "$lock"
	if ! deb_tree backports "$tree" '(lib|zlib1g|qemu-system-|seabios|ipxe-qemu)[^=]*' \
			qemu-system-x86 qemu-system-common seabios ipxe-qemu; then
		deb_error="no QEMU 10: $deb_error; XSPROF_QEMU may name another"
		exec {lock}>&-
		return 1
	fi
	exec {lock}>&-
	lib=$tree/usr/lib/x86_64-linux-gnu
	# -L comes first: later -L options of a caller are searched first
	qemu=(env "QEMU_MODULE_DIR=$lib/qemu"
		"$(echo "$tree"/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2)"
		--library-path "$tree/lib/x86_64-linux-gnu:$lib"
		"$tree/usr/bin/qemu-system-x86_64"
		-L "$tree/usr/share/qemu" -L "$tree/usr/share/seabios"
		-L "$tree/usr/lib/ipxe/qemu")
}

# qemu_recent COMMAND: is it there, and of version 9 or later
qemu_recent()
{
	local version

	version=$("$1" --version 2> /dev/null |
		sed -n '1s/.* version \([0-9]*\.[0-9]*\).*/\1/p')
	[ -n "$version" ] && [ "$(printf '%s\n' 9 "$version" | sort -V | head -n 1)" = 9 ]
}
