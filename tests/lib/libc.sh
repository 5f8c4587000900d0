#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The archive in programs of another C library, musl, which registers no rseq: shared and static;
# with threads for which something else has registered rseq, and whose first marker is in a signal
# handler. The same with glibc, told to register none. And markers with another allocator, tcmalloc.
# TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
xsprof=$build/bin/xsprof
dir=$(mktemp -d "${TMPDIR:-/tmp}/xsprof-libc.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/shm"
export XSPROF_SHM_DIR=$dir/shm
. tests/common/tap.sh

cat >"$dir/program.c" <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <xsprof/xsprof.h>

static void handler(int sig)
{
	(void)sig;
	XSPROF_INSTANT("handler");
}

static void *work(void *how)
{
	static _Thread_local struct {
		uint32_t words[8];
	} area __attribute__((aligned(32)));

	/* As tcmalloc does it; 0x53053053 is the signature of x86. */
	if (how && syscall(SYS_rseq, &area, 32, 0, 0x53053053))
		_exit(3);
	raise(SIGUSR1);
	for (int i = 0; i < 1000; i++)
		XSPROF_INSTANT("thread");
	return NULL;
}

int main(void)
{
	pthread_t threads[4];

	/* The process has its rings before a handler wants them: what comes meanwhile is lost. */
	XSPROF_SCOPE("main");
	signal(SIGUSR1, handler);
	for (uintptr_t i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)(i & 1)))
			return 1;
	for (unsigned int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END

# recorded COMPILER FLAGS: prints errors.
recorded()
{
	local name count

	# shellcheck disable=SC2086 # split into words on purpose
	$1 -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -pedantic $2 -Ikmod/uapi \
		-Ilib/include "$dir/program.c" -o "$dir/program" \
		"$build/lib/libxsprof-user.a" 2>&1 || return
	"$dir/program" 2>&1 || echo "unrecorded: status $?"
	# Without rseq a marker needs a free lock ring: more than there are threads and handlers.
	XSPROF_LOCK_RINGS=64 "$xsprof" record --backend tmpfs -q -o "$dir/data" -- \
		"$dir/program" 2>&1 ||
		echo "recorded: status $?"
	"$xsprof" dump "$dir/data" >"$dir/text" 2>&1 || cat "$dir/text"
	for name in "instant: +thread 4000" "instant: +handler 4" "begin: +main 1"; do
		count=$(grep -cE -- "${name% *}\$" "$dir/text")
		[ "$count" = "${name##* }" ] || echo "$name times, not $count"
	done
}

for flags in "" -static; do
	what="a program of musl${flags:+, $flags}"
	if ! command -v musl-gcc >/dev/null; then
		skipped "$what" "no musl-gcc: install musl-tools"
	elif [ "$(uname -m)" != x86_64 ]; then
		skipped "$what" "the signature of rseq is that of x86"
	else
		correct "$what" "$(recorded musl-gcc "$flags")"
	fi
done
what="a program of glibc that registers threads itself"
if [ "$(uname -m)" != x86_64 ]; then
	skipped "$what" "the signature of rseq is that of x86"
else
	correct "$what" "$(export GLIBC_TUNABLES=glibc.pthread.rseq=0
		recorded "${CC:-gcc}" -pthread)"
fi

tcmalloc=$(ldconfig -p | sed -n 's/.*libtcmalloc_minimal\.so\.4 .*=> //p' | head -n 1)
if [ -z "$tcmalloc" ]; then
	skipped "beside tcmalloc" "no libtcmalloc_minimal.so.4: install libtcmalloc-minimal4"
else
	correct "beside tcmalloc" "$(
		for program in moments cxx; do
			"$build/tests/ring/session" XSPROF_BUFFER_SIZE=1M env \
				LD_PRELOAD="$tcmalloc" "$build/tests/lib/$program" \
				>"$dir/log" 2>&1 || cat "$dir/log"
		done)"
fi
finish
