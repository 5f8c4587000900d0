#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Installs the Debian packages that building, the demo and the tests need.
#
# Usage: tests/install-deps.sh [-n] [GROUP...]      (default group: build)
#
# It asks dpkg what is there, installs only what is missing, and touches neither apt's
# lists nor anything else when nothing is. It never removes, upgrades or configures.
# -n only reports, by exit status 1 too. XSPROF_INSTALL=no is for machines whose packages
# are not ours to change: it reports, and the build and the tests go on with what there is.
set -eu

usage()
{
	sed -n 's/^# Usage: /usage: /p' "$0"
	echo "groups: build wheel demo check full bench fresh kernel"
}

# One package a word. A|B: either will do, A is installed when neither is there. @CMD: the
# command CMD will do in place of a package (Node.js is often installed by other means).
group_build="gcc make libc6-dev libzstd-dev zlib1g-dev libdw-dev libtraceevent-dev
	libtracefs-dev pkg-config"
# The wheel has the archives of what the tool needs. Its compiler is fetched by itself.
group_wheel="$group_build binutils libelf-dev liblzma-dev libbz2-dev python3 python3-venv"
# The demo's programs: PyTorch on oneDNN, OpenMP on LLVM's runtime, mold on TBB, a benchmark of
# OpenCL on PoCL, and Python with NVTX in an environment of its own.
group_demo="$group_build python3 python3-venv python3-torch python3-numpy clang
	libomp-14-dev|libomp-dev mold clpeak pocl-opencl-icd"
# The module, the debug kernel, what checks them. Kernels and QEMU 10 are unpacked into a
# cache, see tests/vm/packages.sh, and never installed.
group_kernel="gcc make libc6-dev dkms bc bison flex libelf-dev libssl-dev pahole kmod sparse
	busybox-static cpio xz-utils perl rsync util-linux"
group_check="$group_demo $group_wheel g++ libclang-rt-14-dev|libclang-rt-dev llvm libtbb-dev
	valgrind spin
	qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-system-arm busybox-static
	cpio xz-utils man-db groff-base file procps trace-cmd musl-tools libtcmalloc-minimal4
	libprotobuf-c-dev protobuf-c-compiler python3-dev nodejs|@node npm|@npm
	ca-certificates ocl-icd-opencl-dev libvulkan-dev mesa-vulkan-drivers vulkan-tools
	vulkan-validationlayers xvfb xauth libze1 libze-dev $group_kernel"
# Viewers and readers of traces are unpacked into a cache, see tests/viewers/packages.sh.
group_full="$group_check debootstrap chromium"
# The demo's programs are measured as well, and the device in a guest. Only libkineto, which is no
# package, is not among them.
group_bench="$group_demo g++ ocl-icd-opencl-dev
	liblttng-ust-dev lttng-tools babeltrace2 trace-cmd procps
	libprotobuf-c-dev protobuf-c-compiler
	$group_kernel"
group_fresh="git debootstrap util-linux mount"

say() { echo "install-deps: $*" >&2; }
die() { say "$*"; exit 1; }

dry=
if [ "${XSPROF_INSTALL:-yes}" = no ]; then
	dry=1
fi
if [ "${1:-}" = --help ]; then
	usage
	exit 0
fi
while getopts nh opt; do
	case $opt in
	n) dry=1 ;;
	h) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- build

wanted=
for g in "$@"; do
	case $g in
	build|wheel|demo|check|full|bench|fresh|kernel) v=group_$g; wanted="$wanted ${!v}" ;;
	*) usage >&2; die "$g: no such group" ;;
	esac
done

if ! command -v dpkg-query >/dev/null; then
	die "this is not a Debian system (no dpkg): install the likes of these by hand:" $wanted
fi

# All installed packages at once: one dpkg-query costs as much as a hundred.
installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p')

there()
{
	case $1 in
	@*) command -v "${1#@}" >/dev/null ;;
	*) grep -qxF -e "$1" <<<"$installed" ;;
	esac
}

missing=
for w in $wanted; do
	found=
	for alt in ${w//|/ }; do
		if there "$alt"; then
			found=1
			break
		fi
	done
	[ -n "$found" ] || case " $missing " in
	*" $w "*) ;;
	*) missing="$missing $w" ;;
	esac
done
missing=${missing# }

if [ -z "$missing" ]; then
	say "$*: everything is installed"
	exit 0
fi
if [ -n "$dry" ]; then
	say "$*: missing, and not installed on request: $missing"
	[ "${XSPROF_INSTALL:-yes}" = no ]
	exit
fi

if [ "$(id -u)" = 0 ]; then
	root=
elif command -v sudo >/dev/null; then
	root=sudo
	# Without a terminal sudo cannot ask for a password; find out before apt is half done.
	if ! [ -t 0 ] && ! sudo -n true 2>/dev/null; then
		die "sudo wants a password and there is no terminal; run as root:" \
			"apt-get install $missing"
	fi
else
	die "neither root nor sudo; ask an administrator for: apt-get install $missing"
fi

export DEBIAN_FRONTEND=noninteractive
apt()
{
	$root ${root:+env DEBIAN_FRONTEND=noninteractive} apt-get -q \
		-o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 "$@" >&2
}

say "$*: missing: $missing"
say "${root:+sudo }apt-get update"
apt update || die "apt-get update failed: see its messages above"

# Of alternatives, the first that this release of Debian has.
choose()
{
	local alt

	for alt in ${1//|/ }; do
		case $alt in
		@*) continue ;;
		esac
		if [ -n "$(apt-cache show --no-all-versions "$alt" 2>/dev/null)" ]; then
			echo "$alt"
			return
		fi
	done
	say "$1: no such package in the configured archives; is 'main' of Debian 12 among them?"
	return 1
}

packages=
for w in $missing; do
	p=$(choose "$w") || exit 1
	packages="$packages $p"
done
say "${root:+sudo }apt-get install --no-install-recommends$packages"
# shellcheck disable=SC2086
apt install -y --no-install-recommends $packages || die "apt-get install failed: see above"
