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
n=0
failed=0

result() # $1 name, $2 what is wrong
{
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n $1"
	else
		sed 's/^/# /' <<<"$2"
		echo "not ok $n $1"
		failed=1
	fi
}

skip()
{
	echo "1..0 # SKIP $*"
	exit 77
}

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

result "make kmod builds" "$(tell make BUILD="$work/build" KDIR="$k_kdir" kmod)"
ko=$work/build/kmod/xsprof.ko
result "without a warning" "$(grep -iE '(^|[ :])warning[: ]' "$work/log")"
result "the tree stays clean" "$(find kmod Kbuild -newer "$work/tree" -type f \
	-name '*.[ok]*' -print)"

result "make kmod without headers says what to do" "$(
	make BUILD="$work/none" KDIR="$work/nowhere" kmod >"$work/log" 2>&1 &&
		echo "it passed"
	grep -q 'linux-headers-.*KDIR=' "$work/log" || cat "$work/log")"

for field in description author license version srcversion; do
	result "modinfo: $field" "$([ -n "$(modinfo -F "$field" "$ko")" ] || echo "is empty")"
done
result "modinfo: version is the project's" "$([ "$(modinfo -F version "$ko")" = "$version" ] ||
	echo "is $(modinfo -F version "$ko"), not $version")"
result "modinfo: every parameter has its description and type" "$(
	grep -ohE 'module_param(_named|_cb)?\([a-z_]+' kmod/*.c | sed 's/.*(//' | sort >"$work/have"
	modinfo -F parm "$ko" | grep -E '^[a-z_]+:.{20,} \((bool|uint|ulong)\)$' | sed 's/:.*//' |
		sort >"$work/told"
	[ -s "$work/have" ] || echo "no parameter was found in the sources"
	diff "$work/have" "$work/told")"
result "the manual tells of each parameter" "$(
	while read -r name; do
		grep -qE "^\.BR? .*\b$name\b" Documentation/man/xsprof.4 || echo "not of $name"
	done <"$work/have")"

result "make modules_install" "$(tell make BUILD="$work/build" KDIR="$k_kdir" \
	DESTDIR="$work/root" modules_install)"
result "puts the module and the udev rule in place" "$(
	find "$work/root" -name 'xsprof.ko*' | grep -q . || echo "no module"
	[ -f "$work/root/usr/lib/udev/rules.d/60-xsprof.rules" ] || echo "no rule")"

result "make dkms_install" "$(tell make DESTDIR="$work/root" dkms_install)"
dkms_run()
{
	dkms "$@" -m xsprof -v "$version" --dkmstree "$work/tree" \
		--sourcetree "$work/root/usr/src"
}
result "dkms takes the sources" "$(tell dkms_run add)"
result "dkms builds them" "$(tell dkms_run build -k "$k_release" --kernelsourcedir "$k_kdir"
	[ -n "$(find "$work/tree" -name 'xsprof.ko*' -path "*$k_release*")" ] || {
		echo "no module"; cat "$work"/tree/xsprof/*/build/make.log; })"

rm -rf "$work"
echo "1..$n"
exit $failed
