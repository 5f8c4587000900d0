# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# One guest: its initramfs, its run under QEMU, its verdict. Knows nothing of an
# architecture: the front script (boot.sh) gives the QEMU command, the kernel
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

# vm_base OUT PROGRAMS MODULE...: the part of the initramfs that all runs share. The
# folder PROGRAMS has busybox, leave (which ends QEMU), klog (which passes on the
# kernel's log) and, for x86, port; modules are loaded in this order.
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

quote()		# one word for a shell
{
	local q=\'\\\'\'

	printf " '%s'" "${1//\'/$q}"
}

# vm_pack RUN BASE NONCE LIBS: the initramfs of this run, from the arrays vm_files,
# vm_modules and vm_command. The archive without compression comes first: the
# kernel looks for the next one only at a multiple of four bytes.
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

# vm_libs TREE: the libraries of the programs in TREE/t, as this machine's loader finds
# them, all in /lib, where every loader looks; libgcc_s as well, which libc loads by
# itself when a thread is cancelled.
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
	# A library that lies beside the build, which the copy in /t cannot find again
	name=$(awk '/not found/ { print $1; exit }' "$tree.ldd")
	rm -f "$tree.ldd"
	[ -z "$name" ] || vm_die "--with-libs: $name is not found: set LD_LIBRARY_PATH"
}

# vm_boot RUN BUS KERNEL CMDLINE LIMIT QEMU...: the guest's streams become ours, byte
# for byte, while it runs. They leave it through ports of a virtio-serial bus, or, where
# BUS is isa, through I/O ports of the numbers that init has too. Sets $raw, QEMU's (or
# timeout's) exit status.
#
# Once in some hundreds an emulated machine loses its timer's interrupts before the kernel
# has come to its first program, and hangs for ever. Nothing of ours has run in it: another
# is started in its place, and it is said.
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

# A guest that is locked up later is ended by lockup.sh, which asks QEMU through the pipe RUN/mon
# and says in RUN/lockup what it saw.

# vm_watch RUN SECONDS: ends a guest whose first program has written nothing for so long
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

# vm_switch RUN LINE: when the guest's first program runs, QEMU's human monitor gets the line, and
# then the program goes on (init); a guest whose monitor has something to say to it is ended.
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
	# Through a cat each: QEMU reopens what it is given, which would truncate a
	# file, and is not possible for a socket.
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

# vm_verdict RUN NONCE: the command's exit status, 124 for a guest that ran past
# its limit, 125 for one that ended without a verdict
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
	# From where the kernel began to say so, or the last it said; of a lockup, what each CPU did
	[ ! -s "$run/lockup" ] || most=300
	awk -v most="$most" '/Kernel panic|BUG:|Oops:|Internal error:/ { seen = 1 }
	     { last[NR % 40] = $0 }
	     seen && shown++ < most
	     END { if (!seen) for (i = NR + 1; i <= NR + 40; i++)
			if (i % 40 in last) print last[i % 40] }' \
		"$run/console" >&2 2> /dev/null
	return 125
}

# vm_log RUN NONCE: the kernel's log on standard output, as dmesg has it, and after it
# what a dying kernel printed on its console. False when it does not reach the end of
# the run.
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
