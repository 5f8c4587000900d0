#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The collector of PyTorch ops, loaded by a program with RTLD_GLOBAL before PyTorch: it records ops,
# but no native stacks; calls of functions with the same names in other libraries reach these
# libraries. Usage: loaded.sh PYTHON. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
python=${1:-/usr/bin/python3}
lib=$BUILD/lib/libxsprof-torch.so
unset LD_PRELOAD XSPROF_TORCH XSPROF_ONDEMAND
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
[ -e "$lib" ] || skip "libxsprof-torch is not built for this machine"
mkdir "$dir/shm"
export XSPROF_SHM_DIR=$dir/shm
cd "$dir" || exit 1

# Like a libtorch linked into a library of another name; other libraries have an initModule() too.
cat >other.c <<'END'
#include <stdint.h>

#define STEPS	_ZN2at27getStepCallbacksUnlessEmptyENS_11RecordScopeE
#define GROUP	_ZN4c10d7BackendC1Eii

void *STEPS(void *ret, uint8_t scope)
{
	*(int *)ret = scope;
	return ret;
}

void GROUP(void *object, int rank, int size)
{
	*(int *)object = 10 * rank + size;
}

int initModule(void)
{
	return 7;
}

int calls(void)
{
	int scope = 0, group = 0;

	STEPS(&scope, 5);
	GROUP(&group, 2, 3);
	return scope == 5 && group == 23 && initModule() == 7;
}
END
cat >program.c <<'END'
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *library;
	int (*calls)(void);

	if (argc > 1 && !dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL))
		puts(dlerror());
	library = dlopen("./other.so", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return 2;
	*(void **)&calls = dlsym(library, "calls");
	puts(calls() ? "its own" : "another's");
	return 0;
}
END
gcc -O2 -fPIC -shared -o other.so other.c 2>log && gcc -o program program.c -ldl 2>>log &&
	readelf -rW other.so | grep -q 'JUMP_SLO.*initModule'
result "a library that calls functions of its own by PyTorch's names" $?
./program "$lib" >out 2>>log && grep -qx "its own" out || ! cat out >>log
result "gets its own where the collector was loaded" $?
LD_PRELOAD=$lib ./program >out 2>log && grep -qx "its own" out || ! cat out >>log
result "and where it is preloaded" $?

if ! "$python" -c 'import torch' 2>/dev/null; then
	skipped "PyTorch's ops" "no PyTorch for $python"
	finish
fi
cat >job.py <<END
import ctypes
ctypes.CDLL("$lib", mode=ctypes.RTLD_GLOBAL)
import torch
for i in range(20):
    torch.mm(torch.ones(2, 2), torch.ones(2, 2))
END
# record WORDS: records a PyTorch into which nothing is preloaded
record()
{
	"$xsprof" record -q --no-torch -o data -- env "$@" "$python" -W ignore job.py 2>log &&
		[ "$("$dump" -q data 2>>log | grep -cE ' begin: +aten::mm( |$)')" = 20 ]
}
record XSPROF_TORCH=shapes && "$dump" -q -f ndjson data 2>>log | grep '"aten::mm"' |
	grep -q '\[ *2, *2 *\]'
result "each op of PyTorch is recorded, with its inputs" $?
record XSPROF_TORCH=names,cstack && [ "$(grep -c 'put it first in LD_PRELOAD' log)" = 1 ] &&
	! "$dump" -q -f kineto data 2>>log | grep -q 'Call stack'
result "without native stacks, which is said" $?
finish
