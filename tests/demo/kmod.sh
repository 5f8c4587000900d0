#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The demo of the kernel module, in an emulated machine: a mold link on TBB's threads writes markers
# into rings that the kernel owns, without any recorder, and is killed with SIGKILL. Afterwards the
# last ranges of each thread are read from the kernel, decoded and shown. `make demo-kmod` installs
# and builds first; nothing shown here is canned.
set -eu -o pipefail
cd "$(dirname "$0")/../.."

BUILD=${BUILD:-build}
KERNEL=${KERNEL:-6.1}
out=${OUT:-demo}
work=$BUILD/obj/demo-kmod
xsprof=$BUILD/bin/xsprof

die() { echo "demo-kmod: $*" >&2; exit 1; }

[ -x "$xsprof" ] || die "$xsprof: not built: run 'make demo-kmod', or 'make' first"
command -v mold >/dev/null || die "mold: not found: install Debian's mold"
mkdir -p "$out" "$work"

echo "== building xsprof.ko for Linux $KERNEL"
ko=$(tests/vm/module.sh "$KERNEL" 2>"$work/module.log" | tail -n 1) && [ -s "$ko" ] ||
	die "xsprof.ko: not built: see $work/module.log"

# Input that takes mold a while to link: many objects with many symbols and relocations.
objects=()
for o in $(seq 1 24); do
	obj=$work/part$o.o
	objects+=("$obj")
	[ -s "$obj" ] && continue
	awk -v o="$o" 'BEGIN {
		print "\t.text"
		for (i = 0; i < 4000; i++) {
			printf "\t.section .text.f%d_%d,\"ax\"\n\t.globl f%d_%d\n", o, i, o, i
			printf "f%d_%d:\n\tcall f%d_%d\n\tret\n", o, i, o % 24 + 1, (i * 7) % 4000
		}
	}' | gcc -c -x assembler -o "$obj" -
done
printf 'int f1_0(void);\nvoid _start(void) { f1_0(); }\n' |
	gcc -c -O1 -ffreestanding -x c -o "$work/start.o" -

cat >"$work/guest.sh" <<'END'
# In the guest. Its standard output is the capture and nothing else.
exec 3>&1 1>&2
export INTEL_LIBITTNOTIFY64=/t/libxsprof-itt.so
say() { echo "guest# $*"; }
now() { tr -d . </proc/uptime | cut -d' ' -f1; }
link() { ./mold --no-fork --threads --thread-count=4 -o "/tmp/out$1" start.o part*.o; }

say "uname -r; ls -l /dev/xsprof"
uname -r
ls -l /dev/xsprof
[ -c /dev/xsprof ] || exit 1
say "mold ...          # once to its end, to see how long it takes"
begin=$(now)
link 1 || exit 1
took=$(($(now) - begin))
say "# $took hundredths of a second"

# Killed half-way; or where it was faster this time, or between two ranges then, at another moment.
status=
for part in 50 30 40 15 5; do
	say "mold ... & sleep; kill -9 \$!"
	./mold --no-fork --threads --thread-count=4 -o /tmp/out2 start.o part*.o &
	pid=$!
	usleep $((took * part * 100))
	# One that has ended, and is not waited for yet, takes a signal too.
	kill -9 $pid 2>/dev/null
	wait $pid
	status=$?
	say "# wait status $status; there was no recorder. What the kernel kept:"
	[ $status = 137 ] || continue
	say "xsprof list"
	./xsprof list
	say "xsprof snapshot -p $pid -o killed.data"
	./xsprof snapshot -p $pid -o killed.data || exit 1
	./xsprof report killed.data | grep -q "^  thread .* when killed by SIGKILL" &&
		break
	say "# no range was open then"
done
[ -s killed.data ] || { say "# mold ended before it could be killed"; exit 1; }
cat killed.data >&3
END

echo "== booting Linux $KERNEL: mold marks into the module's rings and is killed"
tests/vm/boot.sh --kernel "$KERNEL" --smp 2 --with-libs --module "$ko" "$xsprof" \
	"$BUILD/lib/libxsprof-itt.so" "$BUILD/lib/libxsprof-user.so.0" "$(command -v mold)" \
	"$work/guest.sh" "$work/start.o" "${objects[@]}" -- sh ./guest.sh >"$work/killed.data" || {
	status=$?
	[ "$status" != 77 ] || { cat "$work/killed.data"; exit 77; }
	die "the guest failed with status $status: see above"
}
[ -s "$work/killed.data" ] || die "the guest handed out no capture"
mv "$work/killed.data" "$out/killed.data"
"$xsprof" report "$out/killed.data" >"$out/killed.txt"
"$xsprof" dump -q -f chrome -o "$out/killed.json" "$out/killed.data"

echo
echo "== out of the guest: $xsprof report $out/killed.data   (its end)"
sed -n '/^Open at the end/,$p' "$out/killed.txt" | cut -c1-"${COLUMNS:-140}"
grep -q '^  thread .* when killed by SIGKILL' "$out/killed.txt" ||
	die "the report names no open range: see $out/killed.txt"
cat <<END

== $out/killed.txt has the whole report, $out/killed.json is for https://ui.perfetto.dev
END
