#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# module.sh [--source DIR] KERNEL [OUTDIR] [MAKE-ARG...]
#
# Builds xsprof.ko for a kernel of kernels.sh from this source tree, with W=1 and no warning
# allowed, into OUTDIR (build/kmod/KERNEL); the last line of output is its path. Copies the sources
# there first, so that kernels do not overwrite each other's objects and the tree stays clean.
# --source: another folder with its own Kbuild, whose module goes into build/kmod/FOLDER-KERNEL.
# Reuses a module built from the same sources for the same kernel. Exits with 77, and the reason as
# TAP's SKIP, when this machine cannot build for that kernel.

set -u
. "$(dirname "$(readlink -f "$0")")/kernels.sh"
. "$vm_src/guest.sh"
. "$vm_src/toolchain.sh"

source=$vm_top
if [ "${1:-}" = --source ] && [ $# -gt 1 ]; then
	source=$(readlink -f "$2")
	shift 2
fi
kernel=${1:-}
[ -n "$kernel" ] || vm_die "usage: module.sh [--source DIR] KERNEL [OUTDIR] [MAKE-ARG...]"
kernel_setup "$kernel" || vm_die "$deb_error"
own=
[ "$source" = "$vm_top" ] || own=${source##*/}-
out=${2:-${BUILD:-$vm_top/build}/kmod/$own$kernel}
shift; [ $# -eq 0 ] || shift
[ -f "$source/Kbuild" ] || vm_die "$source/Kbuild: no such file, nothing to build"
mkdir -p "$out/src" && out=$(readlink -f "$out") || vm_die "cannot write $out"
for tool in rsync make pahole; do
	command -v "$tool" > /dev/null || vm_skip "$tool is not installed"
done
kernel_fetch "$kernel" || vm_skip "$deb_error"
if [ "$k_pool" = trixie ]; then
	toolchain_fetch || vm_skip "$deb_error"
	toolchain_run "$k_tree" "$out" true 2> "$out/log" ||
		vm_skip "no root and no namespaces, so no chroot: $(tail -n 1 "$out/log")"
fi

# One run at a time in a folder: tests in parallel build the same module.
exec {lock}> "$out/lock"
flock "$lock"

# all_of_it: prints a hash of the module's inputs: sources, kernel, arguments of make
all_of_it()
{
	{
		echo "$kernel $k_release $*"
		cat "$k_tree/.packages" 2> /dev/null
		cd "$out/src" && find . -name Kbuild -o -name '*.[ch]' ! -name '*.mod.c' |
			LC_ALL=C sort | xargs -d '\n' sha256sum
	} | sha256sum
}

# The module's files; of a test module all files beside its Kbuild
if [ "$source" = "$vm_top" ]; then
	rsync -rlt --delete --include='*.[ch]' --include='*/' --exclude='*' \
		"$source/kmod/" "$out/src/kmod/" && rsync -lt "$source/Kbuild" "$out/src/"
else
	rsync -rlt "$source/" "$out/src/"
fi || vm_die "cannot copy the sources to $out/src"

set -- W=1 "$@"
case $kernel in
arm64) set -- ARCH=arm64 CROSS_COMPILE="${CROSS_COMPILE:-aarch64-linux-gnu-}" "$@" ;;
esac
# Reuse a module built before from the same inputs, without a warning.
hash=$(all_of_it "$@")
if [ "$hash" = "$(cat "$out/built" 2> /dev/null)" ] && ls "$out"/src/*.ko 2> /dev/null; then
	exit 0
fi
rm -f "$out/built"
find "$out/src" \( -name '*.o' -o -name '*.ko' -o -name '.*.cmd' \) -delete
case $k_pool in
trixie) toolchain_run "$k_tree" "$out/src" \
	make -C "/k/usr/src/linux-headers-$k_release" M=/m "$@" modules ;;
*) make -C "$k_kdir" M="$out/src" "$@" modules ;;
esac > "$out/log" 2>&1 < /dev/null
status=$?
if [ $status -ne 0 ] || grep -qiE '(^|[ :])warning[: ]' "$out/log"; then
	cat "$out/log" >&2
	echo "module.sh: the module does not build without a warning for $kernel" >&2
	exit 1
fi
echo "$hash" > "$out/built"
ls "$out"/src/*.ko
