#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What `make install` puts under a prefix is enough to build and run programs with, by pkg-config
# alone and without LD_LIBRARY_PATH: C11, C++17, shared and static; and `make uninstall` leaves
# nothing of it. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh

BUILD=${BUILD:-build}
# make install would build it again, without the flags of that build.
[ "$BUILD" = build ] || skip "installs build/ only, not $BUILD"
dir=$(mktemp -d "${TMPDIR:-/tmp}/xsprof-install.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
prefix=$dir/usr
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
unset LD_LIBRARY_PATH
tap_log=$dir/log

# $1 the result's name; the rest is run.
check()
{
	local what=$1

	shift
	"$@" >"$dir/log" 2>&1
	result "$what" $?
}

cat >"$dir/app.c" <<-END
	#include <xsprof/xsprof.h>

	int main(void)
	{
		XSPROF_SCOPE("main");
		XSPROF_INSTANT("here");
		return 0;
	}
END
cp "$dir/app.c" "$dir/app.cc"
cat >"$dir/reader.c" <<-END
	#include <xsprof/trace.h>
	#include <xsprof/xsprof.h>

	int main(void)
	{
		return 0;
	}
END

flags() { pkg-config --cflags --libs "$@"; }
strict=(-Wall -Wextra -Werror -pedantic)

built() { # $1 output, then the compiler's words; built, and it runs without a recorder
	local out=$dir/$1

	shift
	"$@" -o "$out" && "$out"
}

quiet() # a program of which nobody records says nothing and leaves nothing
{
	[ -z "$(HOME=$dir "$dir/c" 2>&1)" ] || return 1
	[ -z "$(find "$dir" -name '*xsprof.data*')" ]
}

tool()
{
	"$prefix/bin/xsprof" --version && "$prefix/bin/xsprof" --help >/dev/null &&
		[ -L "$prefix/bin/xsprof-dump" ] && "$prefix/bin/xsprof-dump" --help >/dev/null
}

# As distributions lay it out: their name for the prefix, a folder of libraries of each machine.
elsewhere()
{
	make --no-print-directory install BUILD="$BUILD" DESTDIR="$dir/root" prefix=/opt/x \
		LIBDIR="$dir/multi" >/dev/null || return 1
	mkdir -p "$dir/multi" && cp -a "$dir/root$dir/multi/." "$dir/multi/" || return 1
	find "$dir/root/opt/x/bin" "$dir/multi" | sort
	grep -x "prefix=/opt/x" "$dir/multi/pkgconfig/xsprof-user.pc" || return 1
	"$dir/root/opt/x/bin/xsprof" record -o "$dir/itt.data" -- \
		sh -c 'echo "$INTEL_LIBITTNOTIFY64"' >"$dir/itt"
	cat "$dir/itt"
	grep -qx "$dir/multi/libxsprof-itt.so" "$dir/itt" || return 1
	"$dir/root/opt/x/bin/xsprof" record -o "$dir/itt.data" -- \
		sh -c 'echo "$NVTX_INJECTION64_PATH"' >"$dir/nvtx"
	grep -qx "$dir/multi/libxsprof-nvtx.so" "$dir/nvtx" || return 1
	[ ! -e "$dir/multi/libxsprof-torch.so" ] ||
		LD_PRELOAD='' "$dir/root/opt/x/bin/xsprof" record -o "$dir/itt.data" -- \
			sh -c '[ "$LD_PRELOAD" = "$0/libxsprof-torch.so:$0/libxsprof-python.so" ]' \
				"$dir/multi"
}

# Where the loader looks, none is told where to: as distributions want it.
system_wide()
{
	local libdir

	for libdir in /usr/lib /usr/local/lib /usr/lib/x86_64-linux-gnu; do
		make --no-print-directory install BUILD="$BUILD" DESTDIR="$dir/root" \
			PREFIX=/usr LIBDIR=$libdir >/dev/null || return 1
		grep "^Libs:" "$dir/root$libdir"/pkgconfig/xsprof-*.pc
		! grep rpath "$dir/root$libdir"/pkgconfig/xsprof-*.pc || return 1
	done
}

gone() { [ -z "$(find "$prefix" ! -type d)" ] || { find "$prefix" ! -type d; false; }; }

manual()
{
	local page pages

	pages=$(find "$prefix/share/man" -type f) || return 1
	[ -n "$pages" ] || { echo "no man page is installed"; return 1; }
	for page in $pages; do
		# From where pages of one text name each other: .so man1/...
		if ! (cd "$prefix/share/man" && man -l --warnings=w "$page" 2>&1 >/dev/null) |
				grep .; then
			continue
		fi
		echo "$page"
		return 1
	done
}

# A collector needs the headers and the library that are installed, and nothing else.
collector()
{
	gcc -std=gnu11 "${strict[@]}" -Wno-pedantic -shared -fPIC -o "$dir/collector.so" \
		tests/collector/example.c $(flags xsprof-user) &&
		nm -D --defined-only "$dir/collector.so" | grep -w xsprof_collector_init
}

check "install" make --no-print-directory install BUILD="$BUILD" PREFIX="$prefix"
check "C11, shared" built c gcc -std=c11 "${strict[@]}" "$dir/app.c" $(flags xsprof-user)
check "C17 with clang, shared" built c17 clang -std=c17 "${strict[@]}" -Wno-gnu "$dir/app.c" \
	$(flags xsprof-user)
check "C++17, shared" built cc g++ -std=c++17 "${strict[@]}" "$dir/app.cc" $(flags xsprof-user)
check "C++17 with clang, shared" built cc17 clang++ -std=c++17 "${strict[@]}" -Wno-gnu \
	"$dir/app.cc" $(flags xsprof-user)
check "C11, static" built s gcc -std=c11 -static "$dir/app.c" $(flags --static xsprof-user)
check "the decoder's header and library" built r gcc -std=c11 "${strict[@]}" "$dir/reader.c" \
	$(flags xsprof-trace xsprof-user)
check "a collector, shared" collector
check "unrecorded: no output, no file" quiet
check "xsprof and xsprof-dump run where they are installed" tool
check "man pages format without a warning" manual
make --no-print-directory uninstall BUILD="$BUILD" PREFIX="$prefix" >/dev/null 2>&1
check "uninstall leaves nothing" gone
check "no run path in the system's folders" system_wide
check "prefix= and LIBDIR= as they are given" elsewhere
finish
