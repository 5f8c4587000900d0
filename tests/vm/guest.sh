# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Runs one guest: packs its initramfs, runs QEMU, reads the verdict. Independent of the
# architecture: the front script (boot.sh) gives the QEMU command, the kernel and the modules. Never
# trusts QEMU's exit status alone: QEMU exits with 0 when a guest panics or powers off.
#
# The verdict has two halves that must agree: the guest writes "NONCE STATUS" to a port of its own,
# then leaves QEMU with the code that verdict_code gives for STATUS. A guest that crashes does
# neither, and an unexpected exit of QEMU does not write.

vm_die()	# the caller's mistake
{
	echo "${0##*/}: $*" >&2
	exit 2
}

vm_skip()	# this machine lacks something: prints TAP's SKIP, exits with kselftest's status
{
	echo "1..0 # SKIP ${0##*/}: $*"
	exit 77
}

# Prints the code to leave QEMU with: odd, and within 3..123. So it is never 0 (power off, reset,
# panic), 1 (QEMU's own errors), 124 to 127 (timeout, shell) or 128 and more (a signal).
verdict_code()
{
	echo $(($1 % 61 * 2 + 3))
}

# vm_base OUT PROGRAMS MODULE...: makes the part of the initramfs that all runs share. The folder
# PROGRAMS has busybox, leave (ends QEMU), klog (passes on the kernel's log) and, for x86, port. The
# guest loads the modules in this order.
vm_base()
{
	local out=$1 programs=$2 tree=$1.tree module

	shift 2
	rm -rf "$tree"
	mkdir -p "$tree"/{bin,dev,proc,sys,tmp,run,root,etc,mod,t} &&
	cp "$programs"/* "$tree/bin/" && cp "$vm_src/init" "$tree/init" &&
	chmod 755 "$tree/init" "$tree/bin"/* || return
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

quote()		# prints $1 quoted for a shell
{
	local q=\'\\\'\'

	printf " '%s'" "${1//\'/$q}"
}

# vm_pack RUN BASE NONCE LIBS: makes the initramfs of this run, from the arrays vm_files, vm_modules
# and vm_command. The uncompressed archive comes first: the kernel looks for the next one only at a
# multiple of four bytes.
vm_pack()
{
	local run=$1 base=$2 file word

	mkdir -p "$run/tree/t" && echo "$3" > "$run/tree/nonce" || return
	for file in "${vm_modules[@]}"; do
		mkdir -p "$run/tree/load" && cp -L "$file" "$run/tree/load/" || return
		echo "insmod /load/${file##*/} || exit" >> "$run/tree/command"
	done
	for word in "${vm_command[@]}"; do
		quote "$word"
	done >> "$run/tree/command"
	echo >> "$run/tree/command"
	for file in "${vm_files[@]}"; do
		[ -e "$run/tree/t/${file##*/}" ] && vm_die "$file: a second file of that name"
		cp -aL "$file" "$run/tree/t/" || return
	done
	[ -z "$4" ] || vm_libs "$run/tree" || return
	(cd "$run/tree" && find . | cpio --quiet -o -H newc -R 0:0) > "$run/initrd" &&
	cat "$base" >> "$run/initrd" && rm -rf "$run/tree"
}

# vm_libs TREE: copies the libraries of the programs in TREE/t, as this machine's loader finds them,
# to /lib, where every loader looks; and libgcc_s, which libc loads with dlopen() when a thread is
# cancelled.
vm_libs()
{
	local tree=$1 name path

	mkdir -p "$tree/lib"
	find "$tree/t" -type f \( -perm -100 -o -name '*.so*' \) -print0 |
		LD_LIBRARY_PATH=${LD_LIBRARY_PATH-} xargs -0 -r -n 1 ldd 2> /dev/null > "$tree.ldd"
	for path in $(awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\// { print $1 }' \
			"$tree.ldd" | sort -u) $(ldconfig -p | awk '$1 == "libgcc_s.so.1" \
			{ print $NF; exit }'); do
		name=$path
		[[ $path == /lib*/ld-* ]] || name=/lib/${path##*/}
		[ -e "$tree$name" ] && continue
		mkdir -p "$tree${name%/*}" && cp -L "$path" "$tree$name" || return
	done
	# A library beside the build, which the loader cannot find from the copy in /t
	name=$(awk '/not found/ { print $1; exit }' "$tree.ldd")
	rm -f "$tree.ldd"
	[ -z "$name" ] || vm_die "--with-libs: $name is not found: set LD_LIBRARY_PATH"
}

# vm_boot RUN BUS KERNEL CMDLINE LIMIT QEMU...: runs the guest with its output streams passed on,
# byte for byte. They leave it through ports of a virtio-serial bus, or, where BUS is isa, through
# the I/O ports that init names too. Sets $raw, QEMU's (or timeout's) exit status.
#
# About once in several hundred boots an emulated machine loses its timer's interrupts before the
# kernel has started its first program, and hangs for ever. None of our code has run in it: vm_boot
# starts another guest and prints that.
vm_boot()
{
	local run=$1 try

	for try in 1 2 3; do
		rm -f "$run/hung"
		vm_boot_once "$@"
		[ -e "$run/hung" ] || return
		echo "# ${0##*/}: a kernel hung before its first program (try $try of 3)" >&2
	done
}

# lockup.sh ends a guest that locks up later: it asks QEMU through the pipe RUN/mon and writes the
# reason to RUN/lockup.

# vm_watch RUN SECONDS: ends a guest whose first program has written nothing for SECONDS
vm_watch()
{
	local i

	for ((i = 0; i < $2; i++)); do
		[ -s "$1/kmsg" ] && return
		sleep 1
		[ -d "$1" ] || return
	done
	: > "$1/hung"
	kill "$vm_pid"
}

# vm_switch RUN LINE: when the guest's first program runs, sends the line to QEMU's human monitor,
# then lets the program go on (init); ends a guest whose monitor answers anything.
vm_switch()
{
	local run=$1 answer=

	until [ -s "$run/kmsg" ]; do
		sleep 0.2
		[ -d "$run" ] || return
	done
	exec 5<> "$run/mon.in" 6<> "$run/mon.out"
	printf '%s\n' '{"execute": "qmp_capabilities"}' "{\"execute\": \"human-monitor-command\",
		\"arguments\": {\"command-line\": \"$2\"}}" >&5
	while read -r -t 60 answer <&6; do
		case $answer in
		'{"return": ""}'*) echo go > "$run/go.in"; return ;;
		'{"return": "'*|'{"error"'*) break ;;
		esac
	done
	echo "${0##*/}: QEMU's monitor, to $2: ${answer:-no answer}" >&2
	kill "$vm_pid"
}

vm_boot_once()
{
	local run=$1 bus=$2 kernel=$3 cmdline=$4 limit=$5 out err name path number=0x500 watch
	local -a ports=() watches=()

	shift 5
	rm -f "$run"/{console,kmsg,verdict,lockup,mon.in,mon.out,go.in,go.out}
	mkfifo "$run/mon.in" "$run/mon.out"
	# Through a cat each: QEMU reopens the files it is given, which would truncate a regular
	# file and is not possible for a socket.
	exec 3> >(exec cat); out=$!
	exec 4> >(exec cat >&2); err=$!
	for name in stdout=/dev/fd/3 stderr=/dev/fd/4 "kmsg=$run/kmsg" "verdict=$run/verdict"; do
		path=${name#*=} name=${name%%=*}
		ports+=(-chardev "file,id=$name,path=$path" -device)
		case $bus in
		isa) ports+=("isa-debugcon,iobase=$((number++)),chardev=$name") ;;
		*) ports+=("virtserialport,chardev=$name,name=$name") ;;
		esac
	done
	if [ -n "$vm_then" ]; then
		mkfifo "$run/go.in" "$run/go.out"
		ports+=(-chardev "pipe,id=go,path=$run/go"
			-device virtserialport,chardev=go,name=go)
		cmdline+=' go=y'
	fi
	timeout --foreground -k 5 "$limit" "$@" \
		-kernel "$kernel" -initrd "$run/initrd" -append "$cmdline" \
		-nographic -nodefaults -no-reboot -serial "file:$run/console" \
		-qmp "pipe:$run/mon" \
		"${ports[@]}" < /dev/null > "$run/qemu" 2>&1 &
	vm_pid=$!
	exec 3>&- 4>&-
	vm_watch "$run" "$vm_boot_limit" &
	watches=($!)
	if [ -n "$vm_then" ]; then
		vm_switch "$run" "$vm_then" &
		watches+=($!)
	fi
	if [ "$vm_lockup" -gt 0 ]; then
		"$vm_src/lockup.sh" "$run" "$vm_lockup" > /dev/null 2> "$run/lockup.err" &
		watches+=($!)
	fi
	wait "$vm_pid"
	raw=$?
	vm_pid=
	for watch in "${watches[@]}"; do
		kill "$watch" 2> /dev/null
		wait "$watch" 2> /dev/null
	done
	wait "$out" "$err"
	[ ! -s "$run/lockup" ] || echo "${0##*/}: $(< "$run/lockup") (lockup.sh)" >&2
}

# vm_verdict RUN NONCE: returns the command's exit status, 124 for a guest that ran past its limit,
# 125 for one that ended without a verdict
vm_verdict()
{
	local run=$1 nonce status rest most=60

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
	# From the first complaint on, or the last lines; after a lockup, also what each CPU did
	[ ! -s "$run/lockup" ] || most=300
	awk -v most="$most" '/Kernel panic|BUG:|Oops:|Internal error:/ { seen = 1 }
	     { last[NR % 40] = $0 }
	     seen && shown++ < most
	     END { if (!seen) for (i = NR + 1; i <= NR + 40; i++)
			if (i % 40 in last) print last[i % 40] }' \
		"$run/console" >&2 2> /dev/null
	return 125
}

# vm_log RUN NONCE: prints the kernel's log, as dmesg does, and after it what a dying kernel printed
# on its console. Returns false when the log does not reach the end of the run.
vm_log()
{
	local run=$1

	[ -f "$run/kmsg" ] && awk -F '[,;]' '
		/^[0-9]+,[0-9]+,[0-9]+,/ {
			text = $0
			sub(/^[^;]*;/, "", text)
			printf "[%5d.%06d] %s\n", int($3 / 1000000), $3 % 1000000, text
		}' "$run/kmsg"
	grep -q "xsprof-vm: end $2\$" "$run/kmsg" 2> /dev/null && return 0
	cat "$run/console" 2> /dev/null
	return 1
}
