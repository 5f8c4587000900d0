#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# boot.sh [--kernel K] [options] [FILE...] -- COMMAND [ARG...]
#
# Boots the kernel K in QEMU (emulated, no KVM needed), with FILEs (or folders) in the
# guest's working directory /t, busybox, and nothing else. Runs COMMAND as root and passes
# on its two output streams and its exit status as they are. Own exit statuses:
#
#	77	not possible here: the reason is printed as TAP's SKIP
#	124	the guest ran past its limit
#	125	the guest ended without a verdict (panic, oops, power off)
#	126	COMMAND passed, and the kernel's log has a complaint: dmesg-gate.sh
#	2	wrong use
#
#  --kernel K	6.1 (default), 6.12, 6.12-rt, 7.2, new, debug, kcsan, arm64: see kernels.sh
#  --smp N	virtual CPUs (2)
#  --mem SIZE	memory (1G)
#  --limit S	seconds (120; debug 300; with --one-insn 600)
#  --clock C	tsc: the kernel trusts the TSC. hpet: a clock outside the CPU
#  --append W	more words on the kernel's command line
#  --module M	a module, loaded before COMMAND; may be given again
#  --with-libs	FILEs are linked dynamically: copies their libraries to /lib
#  --dmesg F	also writes the kernel's log to the file F
#  --no-gate	does not search the log for complaints
#  --one-insn	one instruction per translation block. TCG takes interrupts only
#		between blocks, so without this an rseq section within one block is
#		never preempted, and a broken one passes. About 5 times slower. arm64
#		has it from COMMAND on, and boots without
#  --one-thread	runs all virtual CPUs in one thread of the emulator, in turn. This avoids its
#		fault with text that the kernel patches (ghost.sh), but no two CPUs run at the
#		same instant.
#  --nodes	each virtual CPU has a memory node of its own. x86 only
#  --icount	the guest's clocks count its instructions, a nanosecond each, and jump to the next
#		timer while it sleeps. Its times do not depend on the load of the host. For one CPU
#		only: with more, a CPU's time passes while it waits for its turn. x86 only
#
# XSPROF_VM_BOOT_LIMIT: seconds until the guest's first program must run (240, three times as many
# for debug and --one-insn; at most three quarters of the guest's limit). After that boot.sh starts
# another guest, twice at most.
#
# XSPROF_VM_LOCKUP: seconds (30, three times as many for debug and --one-insn; 0: never) that a CPU
# of an emulated x86 guest may stay in the kernel while the guest writes nothing. Then lockup.sh
# checks whether it is locked up, and ends the guest if it is. It also ends a guest whose CPUs have
# all been halted for four times as long, without a timer.
#
# boot.sh replaces a guest, twice at most, that its emulator has killed (ghost.sh), locked up or
# left without timers (lockup.sh) or not woken from suspend, or whose emulator a signal ended, most
# often an assertion of its own. So it prints COMMAND's output only when the guest has ended.
# own, is replaced, twice at most; so what COMMAND prints comes when the guest has ended.
# XSPROF_VM_ACCEL=kvm: use KVM where there is one. XSPROF_VM_DIR: where downloads and what is built
# once are kept (~/.cache/xsprof/vm).

set -u
. "$(dirname "$(readlink -f "$0")")/kernels.sh"
. "$vm_src/qemu.sh"
. "$vm_src/guest.sh"

kernel=6.1 smp=2 mem=1G one_insn='' one_thread='' icount='' nodes=''
vm_limit='' clock='' append='' libs='' dmesg='' gate=y
vm_modules=()
while [ $# -gt 0 ]; do
	case $1 in
	--one-insn) one_insn=y ;;
	--one-thread) one_thread=y ;;
	--icount) icount=y ;;
	--nodes) nodes=y ;;
	--with-libs) libs=y ;;
	--no-gate) gate= ;;
	--kernel|--smp|--mem|--limit|--clock|--append|--module|--dmesg)
		[ $# -gt 1 ] || vm_die "$1 needs a value"
		case $1 in
		--kernel) kernel=$2 ;;
		--smp) smp=$2 ;;
		--mem) mem=$2 ;;
		--limit) vm_limit=$2 ;;
		--clock) clock=$2 ;;
		--append) append+=" $2" ;;
		--module) vm_modules+=("$2") ;;
		--dmesg) dmesg=$2 ;;
		esac
		shift ;;
	--help) sed -n '4,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
	--) break ;;
	-*) vm_die "unknown option $1 (--help lists them)" ;;
	*) break ;;
	esac
	shift
done
kernel_setup "$kernel" || vm_die "$deb_error"
if [ -z "$vm_limit" ]; then
	case $kernel:$one_insn in
	*:y) vm_limit=600 ;;
	debug:|kcsan:) vm_limit=300 ;;
	*) vm_limit=120 ;;
	esac
fi
case $icount:$k_arch:$smp in
:*|y:x86_64:1) ;;
*) vm_die "--icount: for x86 kernels and with --smp 1 only" ;;
esac
[[ $smp =~ ^[1-9][0-9]*$ ]] || vm_die "--smp $smp: not a number of CPUs"
# How long a kernel may take to start its first program, on a busy machine.
vm_boot_limit=${XSPROF_VM_BOOT_LIMIT:-240}
vm_lockup=${XSPROF_VM_LOCKUP:-30}
[[ $vm_lockup =~ ^(0|[1-9][0-9]*)$ ]] ||
	vm_die "XSPROF_VM_LOCKUP=$vm_lockup: not a number of seconds"
if [ -z "$k_pool" ] || [ -n "$one_insn" ]; then
	vm_boot_limit=$((3 * vm_boot_limit))
	vm_lockup=$((3 * vm_lockup))
fi
[[ $vm_limit =~ ^[1-9][0-9]*$ ]] || vm_die "--limit $vm_limit: not a number of seconds"
# Before the whole guest's limit, or none would take the place of one that hangs.
if [ "$vm_boot_limit" -gt $((vm_limit * 3 / 4)) ] && [ "$vm_limit" -ge 60 ]; then
	vm_boot_limit=$((vm_limit * 3 / 4))
fi
case $kernel:$clock in
*:) ;;
arm64:*) vm_die "--clock $clock: arm64 has one clock" ;;
*:tsc) append+=' tsc=reliable' ;;
*:hpet) append+=' clocksource=hpet' ;;
*) vm_die "--clock $clock: it is tsc or hpet" ;;
esac

[ "$nodes:$k_arch" != y:aarch64 ] || vm_die "--nodes: for x86 kernels only"
vm_files=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	[ -r "$1" ] || vm_die "$1: cannot be read"
	vm_files+=("$1")
	shift
done
[ $# -ge 2 ] || vm_die "no command: boot.sh [options] FILE... -- COMMAND [ARG...]"
shift
vm_command=("$@")
for module in "${vm_modules[@]}"; do
	[ -r "$module" ] || vm_die "$module: cannot be read"
done

for tool in cpio gzip flock timeout xz; do
	command -v "$tool" > /dev/null || vm_skip "$tool is not installed"
done

# What depends on the architecture: the compiler, busybox and QEMU with its machine.
accel=${XSPROF_VM_ACCEL:-tcg}
cpu=max bus=virtio
case $k_arch in
aarch64)
	cc=${CROSS_COMPILE:-aarch64-linux-gnu-}gcc
	[ -z "$libs" ] || vm_die "--with-libs: for programs of this machine only"
	busybox=$vm_dir/trees/arm64-busybox/bin/busybox
	qemu=(qemu-system-aarch64) console=ttyAMA0
	# Without pauth-impdef pointer authentication is emulated as the architecture has
	# it, and system calls cost four times as much.
	[ "$accel" = kvm ] || cpu=max,pauth-impdef=on
	machine=(-M virt -semihosting-config "enable=on,userspace=on,target=native"
		-device virtio-serial-device)
	drivers=(virtio/virtio_ring virtio/virtio virtio/virtio_mmio char/virtio_console) ;;
*)
	cc=${CC:-gcc}
	busybox=$(command -v busybox) || vm_skip "busybox-static is not installed"
	qemu=()
	console=ttyS0
	machine=(-M q35 -device "isa-debug-exit,iobase=0xf4,iosize=0x04")
	case $kernel in
	debug|kcsan) bus=isa ;;	# they have no PCI: debug.config
	*) machine+=(-device virtio-serial-pci) ;;
	esac
	if [ -n "$nodes" ]; then
		each=$(($(numfmt --from=iec "$mem") / smp))
		for ((i = 0; i < smp; i++)); do
			machine+=(-object "memory-backend-ram,id=node$i,size=$each"
				-numa "node,nodeid=$i,cpus=$i,memdev=node$i")
		done
		# CPUs of one socket have one node: the kernel complains otherwise.
		smp+=,sockets=$smp
	fi
	drivers=(virtio/virtio_ring virtio/virtio virtio/virtio_pci_legacy_dev
		virtio/virtio_pci_modern_dev virtio/virtio_pci char/virtio_console) ;;
esac
for tool in "${cc%% *}" "${qemu[@]}"; do
	command -v "$tool" > /dev/null || vm_skip "$tool is not installed"
done
kernel_fetch "$kernel" || vm_skip "$deb_error"
case $k_arch in
aarch64) deb_tree arm64 "$vm_dir/trees/arm64-busybox" busybox-static busybox-static ;;
*) qemu_x86 ;;
esac || vm_skip "$deb_error"

# stale: the base initramfs is missing, or older than its inputs
stale()
{
	local part

	for part in "$vm_src"/{init,klog.c,port.c,leave-*.c,guest.sh,boot.sh} "$k_image"; do
		[ "$base" -nt "$part" ] || return 0
	done
	return 1
}

# Makes the base initramfs, once per kernel; runs in parallel wait for each other.
prepare()
{
	local driver name paths=() programs=$vm_dir/programs-$k_arch

	stale || return 0
	rm -rf "$programs"
	mkdir -p "$programs" && cp "$busybox" "$programs/busybox" || vm_die "cannot write $vm_dir"
	for name in leave-$k_arch klog port; do
		[ "$k_arch.$name" = aarch64.port ] && continue
		$cc -O2 -static -o "$programs/${name%-*}" "$vm_src/$name.c" \
			2> "$vm_dir/programs.log" && continue
		vm_skip "$cc links no static program: is its libc6-dev installed?" \
			"(see $vm_dir/programs.log)"
	done
	for driver in "${drivers[@]}"; do	# built-in drivers have no file
		driver=$k_modules/kernel/drivers/$driver.ko
		[ -f "$driver" ] && paths+=("$driver")
	done
	vm_base "$base" "$programs" "${paths[@]}" || vm_die "cannot make $base"
}

base=$vm_dir/base-$kernel.cpio.gz
exec 9> "$vm_dir/lock-base"
flock 9
prepare
exec 9>&-

vm_pid= vm_then=
runs=${BUILD:-$vm_top/build}/vm
mkdir -p "$runs" && runs=$(readlink -f "$runs") && run=$(mktemp -d "$runs/run.XXXXXX") ||
	vm_die "cannot write $runs"
trap 'rm -rf "$run"' EXIT
trap '[ -n "$vm_pid" ] && kill "$vm_pid"
	cat "$run/said" 2> /dev/null
	cat "$run/said.err" >&2 2> /dev/null
	exit 143' TERM INT HUP

nonce=$(od -An -N8 -tx8 /dev/urandom | tr -d ' ')
vm_pack "$run" "$base" "$nonce" "$libs" || vm_die "cannot make the initramfs in $run"

case $accel in
kvm) cpu=host ;;
tcg)
	accel=tcg,thread=multi
	[ -z "$one_thread$icount" ] || accel=tcg,thread=single
	[ -z "$icount" ] || machine+=(-icount "shift=0,sleep=off")
	# One instruction per block (QEMU before 8.0 has another name for it). A boot with it takes
	# 20 times as long, so arm64 boots without it. On x86 lockup.sh uses the monitor.
	if [ -n "$one_insn" ] && [ "$k_arch" = x86_64 ]; then
		accel+=,one-insn-per-tb=on
	elif [ -n "$one_insn" ]; then
		vm_then='singlestep on'
		! qemu_recent "${qemu[0]}" || vm_then='one-insn-per-tb on'
	fi ;;
*) vm_die "XSPROF_VM_ACCEL=$accel: it is tcg or kvm" ;;
esac

# The host may stop a guest for a minute, which the guest's watchdogs would report.
patience='rcupdate.rcu_cpu_stall_timeout=300 workqueue.watchdog_thresh=300'
patience+=' sysctl.kernel.watchdog_thresh=60'
# KASAN reports more than once; freed pages are filled with 0xaa.
case $kernel in
debug) append+=' kasan_multi_shot page_poison=1' ;;
# KCSAN samples one access of so many on each CPU; without early_enable it does not start.
kcsan) append+=' kcsan.early_enable=1 kcsan.skip_watch=500' ;;
esac
# An NMI, which only lockup.sh sends, is a panic that shows what each CPU does.
nmi='unknown_nmi_panic panic_print=0x40'
[ "$k_arch:${accel%%,*}" = x86_64:tcg ] || nmi='' vm_lockup=0
# An oops panics and a panic resets, so that no test passes on a broken kernel.
run_guest()
{
	vm_boot "$run" "$bus" "$k_image" \
		"console=$console quiet oops=panic panic=-1 ports=$bus $patience $nmi$append" \
		"$vm_limit" "${qemu[@]}" "${machine[@]}" -cpu "$cpu" -smp "$smp" -m "$mem" \
		-accel "$accel"
	vm_verdict "$run" "$nonce"
	status=$?
	vm_log "$run" "$nonce" > "$run/dmesg"
	complete=$?
}

# emulators_fault: prints why the emulator, not the guest, is to blame, or nothing.
emulators_fault()
{
	local last

	[ $status -eq 125 ] && [ "${accel%%,*}" = tcg ] || return
	case $raw in
	132|134|135|136|139)
		last=$(tail -n 1 "$run/qemu" 2> /dev/null)
		echo "the emulator was ended by signal $((raw - 128))${last:+ ($last)}" ;;
	*)
		if [[ $(cat "$run/lockup" 2> /dev/null) == ghost:* ]]; then
			echo "the emulator runs a breakpoint that is no longer there (lockup.sh)"
			return
		fi
		if [[ $(cat "$run/lockup" 2> /dev/null) == asleep:* ]]; then
			echo "the emulated machine has lost its timers (lockup.sh:" \
				"$(cut -d ' ' -f 2- "$run/lockup"))"
			return
		fi
		if grep -qF "IO-APIC + timer doesn't work" "$run/console"; then
			echo "the emulated machine booted without a timer"
			return
		fi
		if [[ $(grep -o 'PM: suspend e[a-z]*' "$run/dmesg" | tail -n 1) == *entry ]] &&
			! sed -n '/PM: suspend entry/,$p' "$run/dmesg" |
				grep -qE 'BUG|Oops|panic|WARNING'; then
			echo "the emulated machine did not come back from a suspend"
			return
		fi
		"$vm_src/ghost.sh" "$run/dmesg" &&
			echo "the emulator ran a breakpoint that was no longer there (ghost.sh)," \
				"and the guest's kernel died of it" ;;
	esac
}

# Print a guest's output when it has ended: that of a guest killed by its emulator is dropped.
for again in 1 2 ''; do
	run_guest > "$run/said" 2> "$run/said.err"
	why=$(emulators_fault)
	[ -n "$again" ] && [ -n "$why" ] || break
	echo "boot.sh: $why: another guest" >&2
done
cat "$run/said"
cat "$run/said.err" >&2
[ -z "$dmesg" ] || cp "$run/dmesg" "$dmesg" || vm_die "cannot write $dmesg"
# A guest without a verdict has printed the reason above.
[ -n "$gate" ] && [ $status -ne 125 ] || exit $status
if ! "$vm_src/dmesg-gate.sh" "$run/dmesg" >&2; then
	[ $status -ne 0 ] || status=126
elif [ $status -eq 0 ] && [ $complete -ne 0 ]; then
	echo "boot.sh: the kernel's log did not come to its end: no verdict" >&2
	status=125
fi
exit $status
