# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest of flight-kmod.sh, with the module loaded: snapshots, categories and the flight
# recorder with rings that the kernel owns. For busybox' sh. TAP.
n=0
failed=0
mkdir -p /tmp/w
cd /tmp/w || exit 1
PATH=/t:$PATH

result() # $1 name, $2 0 when it holds
{
	n=$((n + 1))
	if [ "$2" = 0 ]; then
		echo "ok $n $1"
	else
		sed 's/^/# /' log 2>/dev/null
		echo "not ok $n $1"
		failed=1
	fi
	rm -f log
}

wait_for() # waits until the command succeeds
{
	i=0
	while ! "$@" 2>/dev/null; do
		i=$((i + 1))
		[ $i -lt 500 ] || { echo "waited in vain: $*" >>log; return 1; }
		usleep 20000
	done
}

# A file has its name while it is still being written; it is complete when the recorder says so.
wrote() # $1 capture
{
	grep -q ", wrote $1 ]" err
}

# Starts a program without a recorder: the module still gives it rings.
start()
{
	rm -f pid
	beat pid "$@" &
	program=$!
	wait_for test -s pid
}

stop()
{
	kill -9 $program
	wait $program 2>/dev/null
}

events() # $1 capture, $2 name
{
	xsprof dump -q "$1" 2>/dev/null | grep -c " begin: *$2\$"
}

[ -c /dev/xsprof ] || { echo "1..0 # SKIP no device"; exit 4; }

start
usleep 100000
xsprof snapshot -o s.data 2>log
[ "$(events s.data step)" -ge 10 ] && grep -q '0 lost, wrote s.data' log
result "snapshot of a program with no recorder" $?
xsprof info s.data >info && grep -q "^ *0 *$program running *overwrite" info &&
	grep -q '^clock .*sync points' info
result "snapshot: what info says of it" $?
xsprof snapshot -q -p 1 -o none.data 2>log
[ $? = 1 ] && grep -q 'process 1: has no rings' log
result "snapshot of a process that has none" $?

xsprof disable io >out 2>log && [ "$(cat out)" = "disabled in 1 process" ] &&
	xsprof disable io >out && [ "$(cat out)" = "disabled in 0 processes, 1 unchanged" ]
result "disable by the kernel" $?
usleep 100000
xsprof snapshot -q -o a.data
usleep 300000
xsprof snapshot -q -o b.data
[ "$(events a.data read)" = "$(events b.data read)" ] && [ "$(events a.data read)" -gt 0 ] &&
	[ "$(events a.data step)" -lt "$(events b.data step)" ]
result "disable: the category ends, others go on" $?
xsprof enable -p $program io >out 2>log && usleep 300000 && xsprof snapshot -q -o c.data &&
	[ "$(events b.data read)" -lt "$(events c.data read)" ]
result "enable: and it comes back" $?
xsprof enable disk >out 2>log
[ $? = 1 ] && grep -q 'known: default, io, net' log
result "enable: an unknown category" $?
stop
dead=$program
xsprof snapshot -o dead.data -p $program 2>log && xsprof report dead.data >out 2>>log
[ "$(events dead.data step)" -ge 10 ]
result "snapshot of what the kernel kept of a killed program" $?

open tids kill
xsprof snapshot -o open.data 2>log && xsprof report open.data >out 2>>log
grep -q '(stand-0) was in conv "2d" for .* (in step > forward) when killed by SIGKILL' out ||
	{ cat out >>log; false; }
result "where each thread was, though nobody recorded" $?

start
xsprof record -o f.data --flight -a --watch 'nccl:*' --stall 300ms 2>err &
recorder=$!
usleep 300000
kill -USR1 $program
wait_for wrote "f.data.1.stall-$program"
xsprof report "f.data.1.stall-$program" 2>log |
	grep -q "was in nccl:all_reduce for .* (in step) when the snapshot was taken"
result "flight -a: a stall in a program that ran before" $?
stop
wait_for wrote "f.data.2.killed-$program"
result "flight -a: its death" $?
start
stop
wait_for wrote "f.data.3.killed-$program" &&
	wait_for grep -q "process $program was killed by SIGKILL" err
result "flight -a: one that came later" $?
# Background commands ignore SIGINT.
kill -TERM $recorder
wait $recorder
[ $? = 0 ] && [ "$(events f.data step)" -ge 10 ]
result "flight -a: the file at the end" $?
cp err log
xsprof info --json f.data >out && grep -q "\"pid\":$program," out && ! grep -q "\"pid\":$dead," out
result "flight -a: not of those that were dead before" $?

rm -f f.data*
xsprof record -o f.data --flight=64k --backend device -- open tids kill 2>log
[ $? = 137 ] && xsprof info f.data | grep -q ' killed 9 *overwrite' &&
	xsprof report f.data | grep -q '(in step > forward) when killed by SIGKILL'
result "flight of a command, in the device" $?
xsprof record -o f.data --flight --backend tmpfs -- open tids kill 2>log
[ $? = 137 ] && xsprof report f.data | grep -q '(in step > forward) when killed by SIGKILL'
result "flight of a command, on tmpfs" $?
echo "1..$n"
exit $failed
