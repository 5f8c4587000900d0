# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The kernels that guests run: where each comes from, and its parts in the cache. Image, headers and
# the few modules that bring up virtio are one unpacked tree per kernel, so they are always of the
# same version. Knows packages, but not QEMU (boot.sh) or how modules are built (module.sh).
#
#	6.1	Debian 12				6.12	its backports
#	6.12-rt	the same with PREEMPT_RT		arm64	6.12 for arm64, cloud flavour
#	7.2	Debian 13's backports, that series	new	and the newest there is
#	debug	Debian 12's source, debug.config	kcsan	the same, kcsan.config

vm_src=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
vm_top=$(dirname "$(dirname "$vm_src")")
vm_dir=${XSPROF_VM_DIR:-${XDG_CACHE_HOME:-${HOME:-$vm_top/build}/.cache}/xsprof/vm}
. "$vm_src/packages.sh"
. "$vm_src/debug-kernel.sh"

kernel_names='6.1 6.12 6.12-rt 7.2 new debug kcsan arm64'
kernel_filter='linux-(image|headers|kbuild|binary|modules|base-[0-9])[^=]*'

# kernel_setup K: sets $k_pool, $k_packages, $k_arch and $k_tree of the kernel K
kernel_setup()
{
	k_arch=x86_64 k_tree=$vm_dir/trees/$1
	case $1 in
	6.1) k_pool=bookworm k_packages='linux-image-amd64 linux-headers-amd64' ;;
	6.12) k_pool=backports k_packages='linux-image-amd64 linux-headers-amd64' ;;
	6.12-rt) k_pool=backports k_packages='linux-image-rt-amd64 linux-headers-rt-amd64' ;;
	7.2) k_pool=trixie k_packages='linux-image-7.2 linux-headers-7.2' ;;
	new) k_pool=trixie k_packages='linux-image-amd64 linux-headers-amd64' ;;
	arm64) k_pool=arm64 k_arch=aarch64
		k_packages='linux-image-cloud-arm64 linux-headers-cloud-arm64' ;;
	debug|kcsan) k_pool='' k_packages='' ;;
	*) deb_error="no kernel $1: there are $kernel_names"; return 1 ;;
	esac
}

# kernel_series POOL NAME...: replaces NAME-7.2 by the newest package of that series
kernel_series()
{
	local pool=$1 name

	shift
	for name; do
		case $name in
		*-[0-9].[0-9]*)
			deb_apt "$pool" \
				apt-cache search -n "^${name//./\\.}\\..*deb[0-9.]+-amd64\$" |
				awk '{ print $1 }' | sort -V | tail -n 1 ;;
		*) echo "$name" ;;
		esac
	done
}

# kernel_fetch K: fetches its tree into the cache. Sets $k_tree, $k_release, $k_image (the kernel),
# $k_modules (its lib/modules/RELEASE), $k_kdir (where to build a module); sets $deb_error on
# failure.
kernel_fetch()
{
	local lock

	kernel_setup "$1" || return 1
	mkdir -p "$vm_dir/trees" || { deb_error="cannot write $vm_dir"; return 1; }
	exec {lock}> "$vm_dir/lock-$1"
	flock "$lock"
	case $1 in
	debug|kcsan) kernel_debug "$1" ;;
	*) kernel_tree ;;
	esac || { exec {lock}>&-; return 1; }
	exec {lock}>&-
	kernel_parts
}

# kernel_tree: makes the tree of a Debian kernel
kernel_tree()
{
	local -a packages

	[ -d "$k_tree" ] && return 0
	deb_lists "$k_pool" "$vm_dir/apt-$k_pool.log" "${k_packages%% *}" || return 1
	mapfile -t packages < <(kernel_series "$k_pool" $k_packages)
	if [ ${#packages[@]} -ne 2 ]; then
		deb_error="apt's sources have no $k_packages"
		return 1
	fi
	deb_tree "$k_pool" "$k_tree.part" "$kernel_filter" "${packages[@]}" || return 1
	if [ "$k_arch" = aarch64 ]; then	# its build programs run on this machine
		deb_tree backports "$k_tree.kbuild" 'linux-kbuild[^=]*' \
			"$(sed -n 's/^\(linux-kbuild-[^=]*\)=.*/\1/p' "$k_tree.part/.packages")" &&
		rm -rf "$k_tree.part/usr/lib"/linux-kbuild* &&
		cp -a "$k_tree.kbuild/usr/." "$k_tree.part/usr/" && rm -rf "$k_tree.kbuild" ||
			return 1
	fi
	kernel_trim "$k_tree.part" && mv "$k_tree.part" "$k_tree"
}

# kernel_trim TREE: keeps only the drivers that a guest can use (a twentieth of the tree), unpacked;
# makes the absolute paths in the headers relative
kernel_trim()
{
	local modules file self

	modules=$(echo "$1"/lib/modules/* "$1"/usr/lib/modules/*)
	modules=${modules#"$1/lib/modules/* "} modules=${modules%" $1/usr/lib/modules/*"}
	find "$modules/kernel" -type f ! -path '*/virtio*' ! -path '*/9p*' ! -path '*/netfs/*' \
		! -path '*/failover.ko*' -delete &&
	find "$modules/kernel" -name '*.ko.xz' -exec xz -d {} + &&
	find "$modules/kernel" -type d -empty -delete || return
	for file in "$1"/usr/src/linux-headers-*/Makefile; do
		self='$(dir $(lastword $(MAKEFILE_LIST)))'
		sed -i -e 's|^include /usr/src/|include $(dir $(lastword $(MAKEFILE_LIST)))../|' \
		       -e 's|^KBUILD_OUTPUT=/usr/src/.*|KBUILD_OUTPUT:=$(realpath '"$self"')|' \
			"$file" || return
	done
}

# kernel_parts: sets kernel_fetch's variables from the tree
kernel_parts()
{
	local dir

	if [ -f "$k_tree/bzImage" ]; then	# a kernel built here has no modules
		k_image=$k_tree/bzImage k_kdir=$k_tree k_modules=$k_tree/modules
		k_release=$(< "$k_tree/include/config/kernel.release")
		return 0
	fi
	for dir in "$k_tree"/lib/modules/* "$k_tree"/usr/lib/modules/*; do
		[ -d "$dir" ] && k_modules=$dir
	done
	k_release=${k_modules##*/}
	k_image=$k_tree/boot/vmlinuz-$k_release
	[ -f "$k_image" ] || k_image=$k_modules/vmlinuz
	k_kdir=$k_tree/usr/src/linux-headers-$k_release
	[ -f "$k_image" ] && [ -f "$k_kdir/Module.symvers" ] && return 0
	deb_error="$k_tree has no kernel or no headers of $k_release; remove it to fetch it anew"
	return 1
}
