#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# arm64.sh [options] FILE... -- COMMAND [ARG...]
#
# Boots Debian's arm64 kernel in QEMU (emulated, no KVM needed), with FILEs (or
# folders) in the guest's working directory /t, busybox, and nothing else: the
# programs must be linked statically. Runs COMMAND as root and passes on its two
# output streams and its exit status as they are. Own exit statuses:
#
#	77	not possible here: the reason is printed as TAP's SKIP
#	124	the guest ran past its limit
#	125	the guest ended without a verdict (panic, oops, power off)
#	2	wrong use
#
#  --one-insn	one instruction per translation block. TCG takes interrupts only
#		between blocks, so without this an rseq section within one block is
#		never preempted, and a broken one passes. About 5 times slower.
#  --smp N	virtual CPUs (2)
#  --mem SIZE	memory (1G)
#  --limit S	seconds (120, with --one-insn 600)
#  --append W	more words on the kernel's command line
#
# What it downloads (two packages, 22 MB) stays in build/vm.

set -u
vm_src=$(dirname "$(readlink -f "$0")")
vm_dir=${XSPROF_VM_DIR:-$(dirname "$(dirname "$vm_src")")/build/vm}
. "$vm_src/packages.sh"
. "$vm_src/guest.sh"

kernel_package=linux-image-cloud-arm64	# the small one: 21 MB, no drivers but virtio
modules=(virtio/virtio_ring virtio/virtio virtio/virtio_mmio char/virtio_console)

one_insn='' smp=2 mem=1G vm_limit='' append=''
while [ $# -gt 0 ]; do
	case $1 in
	--one-insn) one_insn=y ;;
	--smp|--mem|--limit|--append)
		[ $# -gt 1 ] || vm_die "$1 needs a value"
		case $1 in
		--smp) smp=$2 ;;
		--mem) mem=$2 ;;
		--limit) vm_limit=$2 ;;
		--append) append=$2 ;;
		esac
		shift ;;
	--help) sed -n '4,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
	--) break ;;
	-*) vm_die "unknown option $1 (--help lists them)" ;;
	*) break ;;
	esac
	shift
done
: "${vm_limit:=${one_insn:+600}}"
: "${vm_limit:=120}"
[[ $smp =~ ^[1-9][0-9]*$ ]] || vm_die "--smp $smp: not a number of CPUs"
[[ $vm_limit =~ ^[1-9][0-9]*$ ]] || vm_die "--limit $vm_limit: not a number of seconds"

vm_files=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	[ -r "$1" ] || vm_die "$1: cannot be read"
	vm_files+=("$1")
	shift
done
[ $# -ge 2 ] || vm_die "no command: arm64.sh [options] FILE... -- COMMAND [ARG...]"
shift
vm_command=("$@")

cross=${CROSS_COMPILE:-aarch64-linux-gnu-}
for tool in qemu-system-aarch64 "${cross}gcc" cpio gzip flock timeout; do
	command -v "$tool" > /dev/null || vm_skip "$tool is not installed"
done

# stale: the base initramfs is not there, or older than what goes into it
stale()
{
	local part

	for part in init leave-arm64.c guest.sh arm64.sh; do
		[ "$base" -nt "$vm_src/$part" ] || return 0
	done
	return 1
}

# The kernel and the base initramfs: made once, by one run at a time
prepare()
{
	local drivers module paths=()

	deb_tree arm64 "$tree" "$kernel_package" busybox-static || vm_skip "$deb_error"
	stale || return 0
	if ! "${cross}gcc" -O2 -static -o "$vm_dir/leave-arm64" "$vm_src/leave-arm64.c" \
			2> "$vm_dir/leave-arm64.log"; then
		vm_skip "${cross}gcc links no static program: is libc6-dev-arm64-cross" \
			"installed? (see $vm_dir/leave-arm64.log)"
	fi
	drivers=$(echo "$tree"/lib/modules/*/kernel/drivers)
	for module in "${modules[@]}"; do
		paths+=("$drivers/$module.ko")
	done
	vm_base "$base" "$tree/bin/busybox" "$vm_dir/leave-arm64" "${paths[@]}" ||
		vm_die "cannot make $base"
}

# The words that make this QEMU translate instruction by instruction: an option
# of its own until 8.0, a property of the accelerator from 8.1 on.
one_insn_words()
{
	local version

	version=$(qemu-system-aarch64 --version | sed -n '1s/.* version \([0-9]*\.[0-9]*\).*/\1/p')
	if [ "$(printf '%s\n' 8.1 "$version" | sort -V | head -n 1)" = 8.1 ]; then
		accel+=,one-insn-per-tb=on
	else
		qemu+=(-singlestep)
	fi
}

tree=$vm_dir/arm64
base=$vm_dir/arm64-base.cpio.gz
mkdir -p "$vm_dir" || vm_die "cannot make $vm_dir"
exec 9> "$vm_dir/lock"
flock 9
prepare
exec 9>&-

vm_pid=
run=$(mktemp -d "$vm_dir/run.XXXXXX") || vm_die "cannot write $vm_dir"
trap 'rm -rf "$run"' EXIT
trap '[ -n "$vm_pid" ] && kill "$vm_pid"; exit 143' TERM INT HUP

nonce=$(od -An -N8 -tx8 /dev/urandom | tr -d ' ')
vm_pack "$run" "$base" "$nonce" || vm_die "cannot make the initramfs in $run"

# pauth-impdef: without it pointer authentication is emulated as the architecture
# has it, and system calls cost four times as much.
accel=tcg,thread=multi
qemu=(qemu-system-aarch64 -M virt -cpu "max,pauth-impdef=on" -smp "$smp" -m "$mem"
	-semihosting-config "enable=on,userspace=on,target=native"
	-device virtio-serial-device)
[ -n "$one_insn" ] && one_insn_words
# An oops is a panic and a panic is a reset: no test passes over a broken kernel.
vm_boot "$run" "$(echo "$tree"/boot/vmlinuz-*)" \
	"console=ttyAMA0 quiet oops=panic panic=-1 $append" "$vm_limit" \
	"${qemu[@]}" -accel "$accel"
vm_verdict "$run" "$nonce"
