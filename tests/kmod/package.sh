#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The module as people install it: `make kmod`, `make modules_install`, the sources for dkms and
# what dkms makes of them, and what modinfo says. Nothing is installed into this system. TAP.
set -u
here=$(dirname "$(readlink -f "$0")")
cd "$here/../.." || exit 1
. tests/vm/kernels.sh

base=$(readlink -f "${BUILD:-build}")
work=$base/kmod-package
. tests/common/tap.sh

# tell COMMAND...: nothing when it passes, else the end of what it said
tell()
{
	"$@" >"$work/log" 2>&1 && return
	echo "failed: $*"
	tail -n 15 "$work/log"
}

for tool in dkms modinfo pahole; do
	command -v "$tool" >/dev/null || PATH=$PATH:/usr/sbin:/sbin
	command -v "$tool" >/dev/null || skip "$tool is not installed"
done
kernel_fetch 6.1 || skip "$deb_error"
rm -rf "$work"
mkdir -p "$work/tree"
unset MAKEFLAGS MAKEOVERRIDES
version=$(sed -n 's/^MODULE_VERSION("\(.*\)");$/\1/p' kmod/main.c)

correct "make kmod builds" "$(tell make BUILD="$work/build" KDIR="$k_kdir" kmod)"
ko=$work/build/kmod/xsprof.ko
correct "without a warning" "$(grep -iE '(^|[ :])warning[: ]' "$work/log")"
correct "the tree stays clean" "$(find kmod Kbuild -newer "$work/tree" -type f \
	-name '*.[ok]*' -print)"

correct "make kmod without headers says what to do" "$(
	make BUILD="$work/none" KDIR="$work/nowhere" kmod >"$work/log" 2>&1 &&
		echo "it passed"
	grep -q 'linux-headers-.*KDIR=' "$work/log" || cat "$work/log")"

for field in description author license version srcversion; do
	correct "modinfo: $field" "$([ -n "$(modinfo -F "$field" "$ko")" ] || echo "is empty")"
done
correct "modinfo: version is the project's" "$([ "$(modinfo -F version "$ko")" = "$version" ] ||
	echo "is $(modinfo -F version "$ko"), not $version")"
correct "modinfo: every parameter has its description and type" "$(
	grep -ohE 'module_param(_named|_cb)?\([a-z_]+' kmod/*.c | sed 's/.*(//' | sort >"$work/have"
	modinfo -F parm "$ko" | grep -E '^[a-z_]+:.{20,} \((bool|uint|ulong)\)$' | sed 's/:.*//' |
		sort >"$work/told"
	[ -s "$work/have" ] || echo "no parameter was found in the sources"
	diff "$work/have" "$work/told")"
correct "the manual tells of each parameter" "$(
	while read -r name; do
		grep -qE "^\.BR? .*\b$name\b" Documentation/man/xsprof.4 || echo "not of $name"
	done <"$work/have")"

correct "make modules_install" "$(tell make BUILD="$work/build" KDIR="$k_kdir" \
	DESTDIR="$work/root" modules_install)"
correct "puts the module and the udev rule in place" "$(
	find "$work/root" -name 'xsprof.ko*' | grep -q . || echo "no module"
	[ -f "$work/root/usr/lib/udev/rules.d/60-xsprof.rules" ] || echo "no rule")"

correct "make dkms_install" "$(tell make DESTDIR="$work/root" dkms_install)"
dkms_run()
{
	dkms "$@" -m xsprof -v "$version" --dkmstree "$work/tree" \
		--sourcetree "$work/root/usr/src"
}
correct "dkms takes the sources" "$(tell dkms_run add)"
correct "dkms builds them" "$(tell dkms_run build -k "$k_release" --kernelsourcedir "$k_kdir"
	[ -n "$(find "$work/tree" -name 'xsprof.ko*' -path "*$k_release*")" ] || {
		echo "no module"; cat "$work"/tree/xsprof/*/build/make.log; })"

rm -rf "$work"
finish
