#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# PyTorch in programs that are not Python: one that embeds Python, also with a second interpreter,
# and a C++ program. Usage: embed.sh PYTHON [c++]. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
here=$PWD/tests/torch
python=${1:-/usr/bin/python3}
export OMP_NUM_THREADS=1
unset XSPROF_TORCH LD_PRELOAD
cd "$dir" || exit 1

# Prints how many aten::mm of a program were recorded
count()
{
	"$dump" -q data 2>>log | grep -cE ' begin: +aten::mm( |$)'
}

config=$("$python" -c 'import sysconfig
v = sysconfig.get_config_var
print("-I" + v("INCLUDEPY"), "-L" + v("LIBPL"), "-L" + v("LIBDIR"), "-Wl,-rpath," + v("LIBDIR"),
      "-lpython" + v("LDVERSION"), v("LIBS") or "", v("SYSLIBS") or "", v("LINKFORSHARED") or "")')
# Only Python itself knows the packages of a virtual environment.
packages=$("$python" -c 'import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))')
# shellcheck disable=SC2086 # split into words on purpose
if gcc -o embed "$here/embed.c" $config 2>log; then
	for detail in names all; do
		"$xsprof" record -q --torch $detail -o data -- \
			env PYTHONPATH="$packages" ./embed >out 2>log &&
			[ "$(count)" = 7 ] || ! echo "$(count) of 7" >>log
		result "a program with Python inside, --torch $detail" $?
		"$xsprof" record -q --torch $detail -o data -- \
			env PYTHONPATH="$packages" ./embed second >out 2>log
		status=$?
		want=$(cat out)
		[ "${want%%:*}" = none ] && want=7
		[ $status = 0 ] && [ "$(count)" = "$want" ] ||
			! { cat out; echo "$(count) of $want"; } >>log
		status=$?
		result "and with a second interpreter, --torch $detail: $(cat out)" $status
	done
else
	skipped "a program with Python inside" "gcc: $(grep -m 1 error log)"
fi

# As conda does it: a prefix of its own with the interpreter and its libraries, found by RPATH;
# libxsprof-torch is in another prefix.
mkdir -p prefix/bin prefix/lib
printf '%s\n' '#include <Python.h>' 'int main(int argc, char **argv)' \
	'{ return Py_BytesMain(argc, argv); }' >main.c
# shellcheck disable=SC2086 # split into words on purpose
if gcc -o prefix/bin/python3 main.c -Wl,--disable-new-dtags '-Wl,-rpath,$ORIGIN/../lib' $config \
	2>log && ldd prefix/bin/python3 | grep -o '/.*libpython[^ ]*' >library; then
	cp -L "$(cat library)" "$(gcc -print-file-name=libstdc++.so.6)" \
		"$(gcc -print-file-name=libgcc_s.so.1)" prefix/lib
	ln -s "$("$python" -c 'import os; print(os.path.dirname(os.__file__))')" prefix/lib
	"$xsprof" record -q -o data -- env PYTHONPATH="$packages" prefix/bin/python3 -W ignore -c '
import os, sys, torch
for _ in range(7):
    torch.ones(2, 2).mm(torch.ones(2, 2))
own = os.path.realpath(os.path.dirname(os.path.dirname(sys.executable)))
assert sys.prefix == own, (sys.prefix, own)
loaded = {line.split()[-1] for line in open("/proc/self/maps")}
for name in os.listdir("prefix/lib"):
    found = {n for n in loaded if n.endswith("/" + name) or n.startswith("/usr") and name in n}
    assert not ".so" in name or found == {own + "/lib/" + name}, found' >out 2>>log &&
		[ "$(count)" = 7 ] ||
		! echo "$(count) of 7" >>log
	result "the Python of a prefix of its own" $?
else
	skipped "the Python of a prefix of its own" "no shared libpython, or no headers, of $python"
fi

# Headers and library of this Python's PyTorch.
where=$("$python" -c 'import os, torch; print(os.path.dirname(torch.__file__))' 2>log)
abi=$("$python" -c 'import torch; print(int(torch.compiled_with_cxx11_abi()))' 2>>log)
if [ ! -e "$where/include/ATen/ATen.h" ]; then
	skipped "a C++ program that links libtorch" "no headers of PyTorch beside $where"
	finish
fi
g++ -std=c++17 -O0 -D_GLIBCXX_USE_CXX11_ABI="$abi" -o plain "$here/plain.cc" -I"$where/include" \
	-L"$where/lib" -Wl,-rpath,"$where/lib" -ltorch_cpu -lc10 -pthread 2>log
result "a C++ program that links libtorch is built" $?
for detail in names shapes all; do
	"$xsprof" record -q --torch $detail -o data -- ./plain >out 2>log && [ "$(count)" = 30 ] ||
		! echo "$(count) of 30" >>log
	result "each of its ops, --torch $detail" $?
	[ $detail = names ] && continue
	"$dump" -q -f ndjson data 2>>log | grep '"aten::mm"' | grep -c '\[ *2, *2 *\]' >out
	[ "$(cat out)" = 30 ] || ! "$dump" -q data | grep aten::mm | head -n 3 >>log
	result "with its inputs, --torch $detail" $?
	"$xsprof" report --by shape --json data 2>>log |
		grep -qF '"float[], float[4, 3], long int[4], None, -, -, float[]"'
	result "an undefined tensor is none, --torch $detail" $?
done
"$xsprof" report --by line data >out 2>log && grep -qxF "... no lines were recorded: $(
	)use record --torch=all for ops called by Python; $(
	)for a C++ program, record --torch=cstack records stacks, for dump -f kineto" out
result "report --by line of it says why there are none" $?
finish
