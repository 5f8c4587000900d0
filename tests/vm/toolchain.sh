# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Debian 13's compiler for Debian 13's kernels, whose build programs do not run on an older libc:
# unpacks its packages into a folder and enters it by chroot. Installs and configures nothing there,
# and needs no root where the kernel lets users make namespaces.

# toolchain_fetch: sets $toolchain to the folder; sets $deb_error on failure
toolchain_fetch()
{
	local lock

	toolchain=$vm_dir/trees/trixie-tools
	[ -d "$toolchain" ] && return 0
	mkdir -p "$vm_dir/trees" || { deb_error="cannot write $vm_dir"; return 1; }
	exec {lock}> "$vm_dir/lock-toolchain"
	flock "$lock"
	if deb_tree trixie "$toolchain.part" '[^=]*' base-files bash dash coreutils sed grep \
			findutils mawk make gcc-14-x86-64-linux-gnu gcc-14 perl-base pahole \
			kmod diffutils; then
		mkdir -p "$toolchain.part"/{k,m,tmp,proc,dev} &&
		ln -sf mawk "$toolchain.part/usr/bin/awk" &&
		ln -sf gcc-14 "$toolchain.part/usr/bin/gcc" &&
		rm -rf "$toolchain.part/usr/share"/{doc,locale,man,info} &&
		mv "$toolchain.part" "$toolchain"
	fi
	exec {lock}>&-
	[ -d "$toolchain" ]
}

# toolchain_run KERNEL-TREE SOURCE COMMAND...: runs the command in the folder, with the two trees
# mounted at /k and /m. The mounts belong to this process's namespace and end with it.
toolchain_run()
{
	local map='' script

	[ "$(id -u)" = 0 ] || map=-r
	script='cd "$0" && mount --bind "$1" k && mount --bind "$2" m &&
		mount --rbind /dev dev && mount --rbind /proc proc && shift 2 &&
		exec chroot . /usr/bin/env -i PATH=/usr/sbin:/usr/bin LC_ALL=C "$@"'
	unshare $map -m --propagation private sh -c "$script" "$toolchain" "$@"
}
