# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The emulators. x86 guests run in QEMU 10 of Debian 12's backports, unpacked into the cache with
# all its libraries and run by its own loader, so that the machine's QEMU and libraries do not
# matter. Debian 12's own 7.2 does not work: with two CPUs it kills guests whose kernel patches its
# text at run time, by an int3 in an unrelated function. Every tracepoint that is switched on
# patches text.

# qemu_x86: sets the array qemu, the command without its options; sets $deb_error on failure
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
	# -L comes first: QEMU searches a caller's -L options before it
	qemu=(env "QEMU_MODULE_DIR=$lib/qemu"
		"$(echo "$tree"/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2)"
		--library-path "$tree/lib/x86_64-linux-gnu:$lib"
		"$tree/usr/bin/qemu-system-x86_64"
		-L "$tree/usr/share/qemu" -L "$tree/usr/share/seabios"
		-L "$tree/usr/lib/ipxe/qemu")
}

# qemu_recent COMMAND: true if it is installed, in version 9 or later
qemu_recent()
{
	local version

	version=$("$1" --version 2> /dev/null |
		sed -n '1s/.* version \([0-9]*\.[0-9]*\).*/\1/p')
	[ -n "$version" ] && [ "$(printf '%s\n' 9 "$version" | sort -V | head -n 1)" = 9 ]
}
