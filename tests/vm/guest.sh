# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# One guest: its initramfs, its run under QEMU, its verdict. Knows nothing of an
# architecture: the front script (arm64.sh) gives the QEMU command, the kernel
# and the modules. Never trusts QEMU's exit status alone, because a guest that
# panics or powers off makes QEMU leave with 0.
#
# The verdict has two halves that must agree: the guest writes "NONCE STATUS" to
# a port of its own, and then leaves QEMU with the code that verdict_code gives
# for STATUS. A crash can do neither, a stray exit of QEMU cannot do the first.

vm_die()	# a mistake of the caller
{
	echo "${0##*/}: $*" >&2
	exit 2
}

vm_skip()	# something this machine lacks: TAP's way of saying so, and kselftest's status
{
	echo "1..0 # SKIP ${0##*/}: $*"
	exit 77
}

# The code to leave QEMU with: odd, and within 3..123. So it is never 0 (power
# off, reset, panic), 1 (QEMU's own errors), 124 to 127 (timeout, shell) or 128
# and more (a signal).
verdict_code()
{
	echo $(($1 % 61 * 2 + 3))
}

# vm_base OUT BUSYBOX LEAVE MODULE...: the part of the initramfs that all runs
# share. LEAVE is the program that ends QEMU; modules are loaded in this order.
vm_base()
{
	local out=$1 busybox=$2 leave=$3 tree=$1.tree module

	shift 3
	rm -rf "$tree"
	mkdir -p "$tree"/{bin,dev,proc,sys,tmp,run,root,etc,mod,t} &&
	cp "$busybox" "$tree/bin/busybox" &&
	cp "$leave" "$tree/bin/leave" &&
	cp "$vm_src/init" "$tree/init" &&
	chmod 755 "$tree/init" "$tree/bin/busybox" "$tree/bin/leave" || return
	echo 'root:x:0:0:root:/root:/bin/sh' > "$tree/etc/passwd"
	echo 'root:x:0:' > "$tree/etc/group"
	: > "$tree/mod/order"
	for module; do
		cp "$module" "$tree/mod/" || return
		echo "${module##*/}" >> "$tree/mod/order"
	done
	(set -o pipefail; cd "$tree" &&
	 find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0 | gzip -1) > "$out.new" &&
	mv "$out.new" "$out" && rm -rf "$tree"
}

quote()		# one word for a shell
{
	local q=\'\\\'\'

	printf " '%s'" "${1//\'/$q}"
}

# vm_pack RUN BASE NONCE: the initramfs of this run, from the arrays vm_files
# and vm_command. The archive without compression comes first: the kernel looks
# for the next one only at a multiple of four bytes.
vm_pack()
{
	local run=$1 base=$2 file word

	mkdir -p "$run/tree/t" && echo "$3" > "$run/tree/nonce" || return
	for word in "${vm_command[@]}"; do
		quote "$word"
	done > "$run/tree/command"
	echo >> "$run/tree/command"
	for file in "${vm_files[@]}"; do
		[ -e "$run/tree/t/${file##*/}" ] && vm_die "$file: a second file of that name"
		cp -aL "$file" "$run/tree/t/" || return
	done
	(cd "$run/tree" && find . | cpio --quiet -o -H newc -R 0:0) > "$run/initrd" &&
	cat "$base" >> "$run/initrd" && rm -rf "$run/tree"
}

# vm_boot RUN KERNEL CMDLINE LIMIT QEMU...: the guest's streams become ours, byte
# for byte, while it runs. Sets $raw, QEMU's (or timeout's) exit status.
vm_boot()
{
	local run=$1 kernel=$2 cmdline=$3 limit=$4 out err

	shift 4
	# Through a cat each: QEMU reopens what it is given, which would truncate a
	# file, and is not possible for a socket.
	exec 3> >(exec cat); out=$!
	exec 4> >(exec cat >&2); err=$!
	timeout --foreground -k 5 "$limit" "$@" \
		-kernel "$kernel" -initrd "$run/initrd" -append "$cmdline" \
		-nographic -nodefaults -no-reboot -serial "file:$run/console" \
		-chardev file,id=stdout,path=/dev/fd/3 \
		-device virtserialport,chardev=stdout,name=stdout \
		-chardev file,id=stderr,path=/dev/fd/4 \
		-device virtserialport,chardev=stderr,name=stderr \
		-chardev "file,id=verdict,path=$run/verdict" \
		-device virtserialport,chardev=verdict,name=verdict \
		< /dev/null > "$run/qemu" 2>&1 &
	vm_pid=$!
	exec 3>&- 4>&-
	wait "$vm_pid"
	raw=$?
	vm_pid=
	wait "$out" "$err"
}

# vm_verdict RUN NONCE: the command's exit status, 124 for a guest that ran past
# its limit, 125 for one that ended without a verdict
vm_verdict()
{
	local run=$1 nonce status rest

	nonce='' status='' rest=''
	[ -f "$run/verdict" ] && read -r nonce status rest < "$run/verdict"
	if [[ $nonce == "$2" && $status =~ ^[0-9]{1,3}$ && -z $rest ]] &&
	   [ "$status" -le 255 ] && [ "$raw" -eq "$(verdict_code "$status")" ]; then
		return "$status"
	fi
	if [ "$raw" -eq 124 ] || [ "$raw" -eq 137 ]; then
		echo "${0##*/}: no end within $vm_limit s; last of the guest's console:" >&2
		tail -n 5 "$run/console" >&2 2> /dev/null
		return 124
	fi
	echo "${0##*/}: no verdict from the guest (QEMU left with $raw," \
	     "verdict '$nonce $status'); QEMU said, and last of the guest's console:" >&2
	tail -n 5 "$run/qemu" >&2 2> /dev/null
	tail -n 40 "$run/console" >&2 2> /dev/null
	return 125
}
