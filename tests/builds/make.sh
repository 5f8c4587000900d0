#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds everything again, with another compiler, with sanitizers or for another machine, in
# $BUILD/NAME, for the tests that run there. `make check` calls it before the first test; a test
# calls it again for its own build, which is then complete. One run at a time per build. The log is
# $BUILD/NAME.log; its errors go to stdout as TAP comments.
#
# Usage: tests/builds/make.sh NAME...
#
#	clang	by clang			asan	by clang, with ASan and UBSan
#	tsan	with TSan			arm64	static programs for arm64
#	asan-gcc	the library and its rings by gcc, with ASan and UBSan
#
# Exit status 77 where the compiler is not installed.
set -u
cd "$(dirname "$0")/../.." || exit 1
base=${BUILD:-build}
cross=${ARM64_CROSS:-aarch64-linux-gnu-}

# Prints the programs that the tests of the build NAME use. A script gets those of its folder.
named()
{
	{
		grep -hE "builds=([a-z,]*,)?$1\b" tests/*/tests.list |
			grep -oE '\$\{?BUILD\}?/tests/[A-Za-z0-9_./-]+' |
			sed -E "s|^\\$\{?BUILD\}?|$base/$1|"
		grep -hE "builds=([a-z,]*,)?$1\b" tests/*/tests.list |
			grep -oE '(^|[[:space:]])tests/[a-z0-9]+/[A-Za-z0-9_-]+\.(sh|py)' |
			sed -E 's|^[[:space:]]*tests/([a-z0-9]+)/.*|tests-\1|'
	} | sort -u
}

# $1 NAME: sets the build's requirements and arguments of make: need, flags, targets.
describe()
{
	local dir=$base/$1

	case $1 in
	clang)
		need=clang flags=(CC=clang) targets=(all tests) ;;
	asan)
		need=clang flags=(CC=clang SAN=address,undefined CFLAGS="-O1 -g")
		mapfile -t targets < <(named asan)
		targets+=(all) ;;
	asan-gcc)
		# The rings' tests: signals at a high rate upset the runtime of clang 14's ASan.
		need=gcc flags=(CC=gcc SAN=address,undefined CFLAGS="-O1 -g")
		targets=("$dir/tests/ring/"{ledger,snapshot,leak,locks,hostile}
			"$dir/tests/lib/"{api,args,categories,clone,fork,moments,limits}) ;;
	tsan)
		need=gcc flags=(CC=gcc SAN=thread CFLAGS="-O1 -g")
		targets=("$dir/lib/"libxsprof-{itt,nvtx}.so "$dir/tests/nvtx/table"
			"$dir/tests/ring/ledger"
			"$dir/tests/lib/"{args,categories} "$dir/tests/profiler/"{dynolog,ondemand}
			"$dir/tests/profiler/"{ondemand-peers,mirror-nvtx,mirror-itt}) ;;
	arm64)
		need=${cross}gcc
		flags=(CC="${cross}gcc" AR="${cross}ar" SAN= LDFLAGS=-static)
		targets=("$dir/lib/libxsprof-user.a" "$dir/tests/ring/"{session,bounded,kills}
			"$dir/tests/ring/"{locks,leak,ledger,snapshot,bounded-noarm}
			"$dir/tests/ring/"step{,-noarm,-early,-earlygeneral,-nobound}
			"$dir/tests/lib/"{args,categories}) ;;
	*)
		sed -n 's/^# Usage: /usage: /p' "$0" >&2
		exit 2 ;;
	esac
}

# Makes one build, without the flags of an outer make, which are for that make's build.
build()
{
	local name=$1 log=$base/$1.log
	local need flags targets

	describe "$name"
	command -v "$need" >/dev/null || { echo "1..0 # SKIP $need is not installed"; return 77; }
	mkdir -p "$base/$name" || return 1
	flock "$base/$name" env -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES -u MAKELEVEL \
		make -j"$(nproc)" --no-print-directory BUILD="$base/$name" "${flags[@]}" \
		"${targets[@]}" >"$log" 2>&1 && return
	grep -E 'error:|Error|undefined' "$log" | head -n 20 | sed 's/^/# /'
	echo "# the build $name failed, see $log"
	return 1
}

[ $# -gt 0 ] || describe ''
status=0
for name; do
	build "$name" || status=$?
done
exit $status
