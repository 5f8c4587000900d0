#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Hostile ring files: snapshots, the flight recorder and its watch, enable and disable terminate,
# and their files can be read. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
export XSPROF_SHM_DIR=$dir/shm XSPROF_BACKEND=tmpfs
mkdir -p "$XSPROF_SHM_DIR"
cd "$dir" || exit 1
rounds=40
[ "${XSPROF_TIER:-quick}" = full ] && rounds=400
[ -n "${XSPROF_VARIANT:-}" ] && rounds=15
echo "# XSPROF_SEED=$seed"

# A valid file to start from, of a program that ended inside ranges; its recorder is killed.
"$xsprof" record -q -b 64k -m overwrite -o rec.data -- sh -c \
	"$BUILD/tests/tools/beat pid count 3000 & echo \$! >shell; wait" >log 2>&1 &
recorder=$!
for ((i = 0; i < 500; i++)); do
	[ -s pid ] && break
	sleep 0.02
done
kill -9 $recorder
kill -9 "$(cat pid)"
wait $recorder 2>/dev/null
session=$(find "$XSPROF_SHM_DIR" -name 's.*')
cp --sparse=always "$session"/p.* sound 2>>log && [ -s sound ]
result "a ring file of a killed program" $?
rm -rf "$session"

cat >fuzz.py <<'END'
import random, struct, sys
src, dst, seed = sys.argv[1:4]
rnd = random.Random(seed)
data = bytearray(open(src, "rb").read())
page, = struct.unpack_from("<I", data, 76)
size, stride, rings, arena, arena_size = struct.unpack_from("<QQQQQ", data, 96)
words = [0, 1, 15, 127, 128, 2**31, 2**32 - 1, 2**58 - 1, 2**58, 2**60, 2**63, 2**64 - 1,
         size // 32, size // 32 - 15, size // 32 + 1]
nr = sum(struct.unpack_from("<II", data, 84))
used, = struct.unpack_from("<Q", data, arena)
for _ in range(rnd.randint(1, 12)):
    what = rnd.random()
    k = rnd.randrange(nr)
    ring = rings + k * stride
    if what < 0.25:         # the counters of a ring
        at = ring + rnd.choice([0, 8, 16, 24, 32, page, page + 8])
        struct.pack_into("<Q", data, at, rnd.choice(words) & (2**64 - 1))
    elif what < 0.5:        # records
        at = ring + 2 * page + rnd.randrange(size // 32) * 32 + rnd.choice([0, 4, 5, 8, 16, 24])
        data[at] = rnd.randrange(256)
    elif what < 0.75:       # names
        at = arena + rnd.randrange(64 + used)
        data[at] = rnd.randrange(256)
    elif what < 0.85:       # the header of the arena
        struct.pack_into("<Q", data, arena, rnd.choice(words) & (2**64 - 1))
    elif what < 0.95:       # the control page
        at = rnd.choice(list(range(64, 344)) + list(range(1024, 1032)))
        data[at] = rnd.randrange(256)
    else:                   # a file that is shorter than its control page says
        data = data[:rnd.randrange(len(data))] + bytes(4096)
        break
open(dst, "wb").write(data)
END

session=$(find "$XSPROF_SHM_DIR" -name 'xsprof-*')/s.1.1.00000001
mkdir -m 700 "$session" || exit 1
bad=
for ((i = 0; i < rounds && ${#bad} == 0; i++)); do
	python3 fuzz.py sound "$session/p.77.1.0" "$seed.$i" || exit 1
	rm -f s.data
	timeout -s KILL 60 "$xsprof" snapshot -q -l 100 -o s.data >log 2>&1
	rc=$?
	[ $rc -le 1 ] || [ $rc = 4 ] || bad="$i: snapshot: exit status $rc: $(tail -n 20 log)"
	[ $rc != 1 ] || continue
	for verb in info report; do
		timeout -s KILL 60 "$xsprof" $verb -q s.data >log 2>&1
		rc=$?
		# 3 and 4: the producer wrote invalid data, and the tool says so.
		[ $rc = 0 ] || [ $rc = 3 ] || [ $rc = 4 ] ||
			bad="$i: $verb of the snapshot: exit status $rc: $(tail -n 20 log)"
	done
done
echo "$bad" >log
[ -z "$bad" ]
result "snapshots of $rounds files that lie" $?
rm -rf "$session"

# Files that are in the session before the recorder scans it: it takes them for members.
rm -f f.data*
cat >many.sh <<'END'
for ((i = 0; i < $1; i++)); do
	python3 fuzz.py sound "$XSPROF_SESSION/t.77.1.$i" "$2.w$i" || exit 1
	mv "$XSPROF_SESSION/t.77.1.$i" "$XSPROF_SESSION/p.$((77 + i)).1.0"
done
"$3" disable io
"$3" enable all
sleep 1
exit 3
END
# Only a recorder that hangs takes this long.
timeout -s KILL $((100 + rounds * 2)) "$xsprof" record -o f.data --flight --watch '*' --stall 40ms \
	--flight-files 3 -- bash many.sh "$rounds" "$seed" "$xsprof" >>log 2>&1
rc=$?
echo "flight recorder: exit status $rc" >>log
[ $rc = 3 ] && { "$xsprof" info -q --allow-lost f.data >out 2>>log || [ $? = 3 ]; }
result "a flight recorder with $rounds members that lie, all of them watched" $?
finish
