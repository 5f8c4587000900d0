#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# All ways in which a program may load PyTorch or not, start other programs and end: its ops are
# recorded, and it behaves as without. Usage: ways.sh PYTHON. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/torch/start.sh
lib=$BUILD/lib/libxsprof-torch.so

# record OPTIONS... -- COMMAND...: records to $dir/data
record()
{
	rm -f data
	"$xsprof" record -o data "$@" >out 2>log || ! echo "exit status $?" >>log
}

# Prints how many ops of that name were recorded
count()
{
	"$dump" -q --allow-lost data 2>>log | grep -cE " begin: +$1( |$)"
}

# counted NAME WANTED CODE [OPTION...]: WANTED aten::mm are recorded of that program
counted()
{
	local name=$1 want=$2 code=$3

	shift 3
	record -- "$python" -W ignore "$@" -c "$code" &&
		[ "$(count aten::mm)" = "$want" ] ||
		! echo "$(count aten::mm) of aten::mm, not $want; $(cat out)" >>log
	result "$name" $?
}

mm='import torch
def mm(n):
    a = torch.ones(2, 2)
    for _ in range(n):
        a.mm(a)
'
counted "python -I" 10 "$mm
mm(10)" -I
counted "python -E" 10 "$mm
mm(10)" -E
# Without site Python does not know the packages' folders either.
PYTHONPATH=$("$python" -W ignore -c 'import os, sys, torch
print(os.pathsep.join(p for p in sys.path if p))')
export PYTHONPATH
counted "python -S" 10 "$mm
import sys
assert 'site' not in sys.modules
mm(10)" -S
unset PYTHONPATH
counted "four threads" 4010 "$mm
import threading
mm(10)
threads = [threading.Thread(target=mm, args=(1000,)) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]"
counted "the child of a fork, which records nothing else" 30 "$mm
import os
mm(10)
pid = os.fork()
if not pid:
    mm(20)
    os._exit(0)
os.waitpid(pid, 0)"
cat >loader.py <<-'END'
	import torch

	# A server that has PyTorch itself, and makes workers that record nothing else.
	torch.multiprocessing.set_forkserver_preload(["torch"])


	class Data(torch.utils.data.Dataset):
	    def __len__(self):
	        return 24

	    def __getitem__(self, i):
	        a = torch.ones(2, 2)
	        return a.mm(a)


	if __name__ == "__main__":
	    for start in ("fork", "spawn", "forkserver"):
	        for _ in torch.utils.data.DataLoader(Data(), num_workers=2, batch_size=4,
	                                             multiprocessing_context=start):
	            pass
END
record -- "$python" -W ignore loader.py && [ "$(count aten::mm)" = 72 ] ||
	! echo "$(count aten::mm) of 72" >>log
result "workers of a DataLoader, forked, spawned and of a fork server" $?
# The process writes how far it is, and is killed while it runs on.
rm -f data
{ "$xsprof" record -q -o data -- "$python" -W ignore -c "$mm
import os, signal
mm(100)
os.kill(os.getpid(), signal.SIGKILL)"; } >out 2>log
[ $? = 137 ] && [ "$(count aten::mm)" = 100 ]
result "killed: all ops up to then" $?

LD_PRELOAD=libm.so.6 "$xsprof" record -q -o data -- sh -c 'echo "$LD_PRELOAD"
	grep -c -e libxsprof-user -e libxsprof-torch /proc/self/maps
	grep -c libxsprof-user /proc/self/maps' >out 2>log
[ "$(sed -n 1p out)" = "libm.so.6:$lib:$BUILD/lib/libxsprof-python.so" ] &&
	[ "$(sed -n 2p out)" -gt 0 ] && [ "$(sed -n 3p out)" = 0 ] || ! cat out >>log
result "a program without PyTorch has the library, behind what is preloaded, and no other" $?
# Loading the library runs only the compiler's own constructor, none of ours.
python3 - "$lib" 2>log <<-'END'
	import re, subprocess, sys
	def said(*command):
	    return subprocess.run([*command, sys.argv[1]], stdout=subprocess.PIPE,
	                          check=True).stdout.decode()
	section = re.search(r" \.init_array +INIT_ARRAY +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) ",
	                    said("readelf", "-SW"))
	at, size = (int(v, 16) for v in section.groups()) if section else (0, 0)
	own = {int(a, 16) for a in re.findall(r"^([0-9a-f]+) t frame_dummy$", said("nm"), re.M)}
	run = {int(value, 16) for where, value in
	       re.findall(r"^([0-9a-f]+) +\S+ +\S*RELATIVE\S* +([0-9a-f]+)$",
	                  said("readelf", "-rW"), re.M) if at <= int(where, 16) < at + size}
	assert len(run) == size // 8 and run <= own, (run, own, size)
	needed = re.findall(r"\(NEEDED\).*\[(.*)\]", said("readelf", "-dW"))
	assert needed and all(re.match(r"lib(c|dl|pthread)\.so", n) for n in needed), needed
	END
result "the library has no constructor, and needs the C library alone" $?
for off in --no-torch '--torch off'; do
	# shellcheck disable=SC2086 # split into words on purpose
	"$xsprof" record -q $off --no-python -o data -- \
		sh -c 'echo "${LD_PRELOAD-none} ${XSPROF_TORCH-none}"' \
		>out 2>log
	[ "$(cat out)" = "none none" ] || ! cat out >>log
	result "$off" $?
done
"$xsprof" record --torch everything -- true 2>log
[ $? = 2 ] && grep -q "^xsprof: --torch: 'everything': expected names, shapes, all or off" log
result "another word" $?
mkdir shm
XSPROF_SHM_DIR=$dir/shm LD_PRELOAD=$lib "$python" -W ignore -c "$mm
mm(10)
print('done')" >out 2>&1 && [ "$(cat out)" = "done" ] && [ -z "$(ls shm)" ] || ! cat out >>log
result "without a recorder the program is as it was" $?
if command -v musl-gcc >/dev/null; then
	echo 'int main(void) { return 7; }' >musl.c
	musl-gcc -o musl musl.c 2>log
	"$xsprof" record -q -o data -- ./musl >out 2>>log
	[ $? = 7 ] || ! cat out >>log
	result "a program of another C library runs" $?
else
	skipped "a program of another C library runs" "no musl-gcc: install musl-tools"
fi
finish
