#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds and tests the library with the C library and the compiler of another Debian release, in a
# minimal root: glibc 2.31 (bullseye) registers no rseq and has dlopen() in libdl. Also loaded at
# run time, and as several copies in a process. TAP.
#
# Usage: tests/lib/glibc.sh SUITE        (as root)
#
# ROOT names an existing root, made by debootstrap with gcc, libc6-dev and make; otherwise one is
# made in TMPDIR (/var/tmp) and removed. MIRROR overrides Debian's archive.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/common/tap.sh
suite=$1
BUILD=${BUILD:-build}
programs="api args fork clone moments limits"
[ "$(id -u)" = 0 ] || skip "not root: no root file system of another release"
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/xsprof-glibc.XXXXXX") || exit 1
trap 'rm -rf --one-file-system "$dir"' EXIT
root=${ROOT:-$dir/root}

if [ -z "${ROOT:-}" ] && ! debootstrap --variant=minbase --include=gcc,libc6-dev,make "$suite" \
		"$root" ${MIRROR:+"$MIRROR"} >"$dir/log" 2>&1; then
	tail -n 3 "$dir/log" | sed 's/^/# /'
	echo "Bail out! debootstrap $suite"
	exit 1
fi
rm -rf "$root/src"
mkdir -p "$root/src"
git ls-files -z | xargs -0 tar c | tar x -C "$root/src" || exit 1

# A thread's first marker, in a signal handler, after many keys of thread-specific data.
cat >"$root/src/keys.c" <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <xsprof/xsprof.h>

void *__libc_calloc(size_t n, size_t size);
static volatile int in_handler, allocations;

void *calloc(size_t n, size_t size)
{
	allocations += in_handler;
	return __libc_calloc(n, size);
}

__attribute__((constructor(100))) static void take_keys(void)
{
	pthread_key_t key;

	for (int i = 0; i < 40; i++)
		if (pthread_key_create(&key, NULL))
			exit(3);
}

static void handler(int sig)
{
	in_handler = 1;
	xsprof_instant((xsprof_name_t)sig);
	in_handler = 0;
}

static void *work(void *unused)
{
	raise(SIGUSR1);
	return unused;
}

int main(void)
{
	struct xsprof_stats stats = { .size = sizeof(stats) };
	pthread_t thread;

	signal(SIGUSR1, handler);
	if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
		return 1;
	if (xsprof_get_stats(&stats) || !stats.attached || !stats.slots)
		return 2;
	if (allocations)
		printf("%d allocations in a signal handler\n", allocations);
	return !!allocations;
}
END

cat >"$dir/inside" <<'END'
cd "$1" || exit 1
shift
mount -t proc proc proc && mount -t sysfs -o ro sysfs sys && mount -t tmpfs none dev/shm || exit 1
exec chroot . sh -c '
	cd /src || exit 1
	unset BUILD
	n=1
	result()
	{
		status=$?
		if [ $status = 0 ]; then
			echo "ok $n $1"
		else
			grep -Ev "^ok|^  [A-Z]+ " log | head -n 20 | sed "s/^/# /"
			echo "not ok $n $1: status $status"
		fi
		n=$((n + 1))
	}

	echo "# $(ldd --version | head -n 1)"
	echo "# $(gcc --version | head -n 1)"
	make -s user build/tests/ring/session >log 2>&1
	result "the library is built"
	for t; do
		make -s build/tests/lib/$t >log 2>&1 &&
			timeout 300 build/tests/ring/session XSPROF_BUFFER_SIZE=1M \
				LOCAL_RANK=3 build/tests/lib/$t >>log 2>&1
		result "lib/$t"
	done
	gcc -Wno-prio-ctor-dtor -Ikmod/uapi -Ilib/include keys.c -o keys \
			build/lib/libxsprof-user.a -pthread -ldl >log 2>&1 &&
		build/tests/ring/session XSPROF_BUFFER_SIZE=1M ./keys >>log 2>&1
	result "the first marker of a thread, in a handler, allocates nothing"
	lib=build/tests/lib
	make -s $lib/dl $lib/copies $lib/plugin.so $lib/plugin-static.so >log 2>&1
	result "plug-ins are built"
	build/tests/ring/session XSPROF_BUFFER_SIZE=256k $lib/dl build/lib/libxsprof-user.so \
		$lib/plugin.so >log 2>&1
	result "lib/dl: the library and a plug-in, loaded and unloaded"
	build/tests/ring/session XSPROF_BUFFER_SIZE=256k $lib/dl $lib/plugin-static.so \
		$lib/plugin-static.so >log 2>&1
	result "lib/dl: a plug-in with a copy of its own"
	cp $lib/plugin-static.so one.so && cp $lib/plugin-static.so two.so &&
		XSPROF_BUFFER_SIZE=1M XSPROF_RECORD=copies.data $lib/copies ./one.so ./two.so \
			$lib/plugin.so >copies.out 2>log
	result "lib/copies: two copies and the shared library, beside each other"
' sh "$@"
END
# shellcheck disable=SC2086 # split into words on purpose
unshare -m sh "$dir/inside" "$root" $programs | tee "$dir/out"
[ "${PIPESTATUS[0]}" = 0 ] && ! grep -q "^not ok" "$dir/out"
tap_failed=$?
tap_n=$(($(wc -w <<<"$programs") + 6))
# The root has no reader.
read=$("$BUILD/tests/record/inspect" "$root/src/copies.data" 2>&1 |
	awk '{ for (i = 1; i < NF; i++) if ($i == "read") n += $(i + 1) } END { print n }')
made=$(sed -n 's/^events //p' "$root/src/copies.out")
correct "lib/copies: each record is in the capture" \
	"$([ -n "$read" ] && [ "$read" = "$made" ] || echo "read $read, made: $made")"
finish
