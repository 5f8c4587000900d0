#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The wheel in a virtual environment: its contents, and its platforms; a C program built with it and
# recorded without root; what it adds to the start of Python; and its removal. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/wheel/start.sh
python=/usr/bin/python3
top=$PWD

python_packages auditwheel auditwheel==6.8.2 pyelftools==0.33 packaging==26.4 &&
	audit=$venv/bin/python
if [ -n "${audit:-}" ]; then
	tag=$("$audit" -m auditwheel show "$wheel" 2>"$dir/log" | tee -a "$dir/log" |
		tr '\n' ' ' | sed -n 's/.*following platform tag: "\([^"]*\)".*/\1/p')
	case $wheel in *"-py3-none-$tag.whl") [ -n "$tag" ] ;; *) false ;; esac
	result "auditwheel gives it the tag in its name" $?
else
	skipped "auditwheel gives it the tag in its name" "$why"
fi

python3 - "$wheel" "$top" 2>"$dir/log" <<'END'
import re, sys, zipfile
names, top = zipfile.ZipFile(sys.argv[1]), sys.argv[2].encode()
for name in names.namelist():
    data = names.read(name)
    # A path of this folder, or of those that it was built in.
    assert top not in data and b"wheel/root" not in data and b"wheel/python" not in data, name
want = {"bin/xsprof", "include/xsprof/xsprof.h", "lib/pkgconfig/xsprof-user.pc",
        "lib/xsprof-vulkan/layer.json", "licenses/libdw-dev.txt", "licenses/README.txt"}
want |= {"lib/libxsprof-%s.so" % n for n in ("cupti", "itt", "levelzero", "nvtx", "opencl",
                                             "preload", "python", "rocm", "rocminit", "torch",
                                             "vulkan")}
want |= {"lib/libxsprof-%s.so.0" % n for n in ("user", "trace")}
lack = {"xsprof/" + n for n in want} | {"xsprof.pth"}
lack -= set(names.namelist())
assert not lack, lack
meta = names.read(next(n for n in names.namelist() if n.endswith("/METADATA"))).decode()
version = re.search(r'^MODULE_VERSION\("(.*)"\);$', open("kmod/main.c").read(), re.M)[1]
assert "\nVersion: %s\n" % version in meta, meta[:400]
END
result "all parts are in it, the version is make's, and no path of the build" $?

cd "$dir" || exit 1
"$python" -m venv "$dir/v" && find v ! -type d ! -name '*.pyc' | sort >before
venv v 2>log
result "pip installs it without anything else" $?

cat >app.c <<'END'
#include <xsprof/xsprof.h>

int main(void)
{
	for (int i = 0; i < 100; i++) {
		XSPROF_SCOPE("step");
		XSPROF_INSTANT("here");
	}
	return 0;
}
END
flags=$(PKG_CONFIG_PATH=$site/lib/pkgconfig pkg-config --cflags --libs xsprof-user 2>log) &&
	gcc -o app app.c $flags 2>>log
result "a program of C is built with its headers and its pkg-config file" $?

# Range 100 of "step", in each output.
cd home || exit 1
as_user "$dir/v/bin/xsprof" record -o data -- "$dir/app" >../out 2>../log &&
	grep -q '300 events from 1 process' ../log &&
	as_user "$dir/v/bin/xsprof" report data >../out 2>>../log &&
	grep -qE '^ +100 .* step$' ../out
result "a user who is not root records it, and reports" $?
as_user "$dir/v/bin/xsprof-dump" -f chrome -o data.json data 2>../log &&
	[ "$(grep -o '"step"' data.json | wc -l)" -ge 100 ] &&
	as_user "$dir/v/bin/python" -m xsprof dump data 2>>../log | grep -c here >../out
[ "$(cat ../out)" = 100 ] || ! cat ../out >>../log
result "xsprof-dump, and python -m xsprof dump" $?
as_user "$dir/v/bin/xsprof" record -o data --gpu -- env 2>../log >../out
tr ':=;, ' '\n' <../out | grep -E '^/.*xsprof.*(\.so|vulkan$)' | sort -u >../paths
for path in $(cat ../paths); do
	case $path in "$site/lib/"*) [ -e "$path" ] ;; *) false ;; esac ||
		! echo "not there: $path" >>../log || break
done && [ "$(wc -l <../paths)" -ge 6 ] || ! cat ../paths >>../log
result "what a recorded program is told to load are the wheel's libraries" $?
cd "$dir" || exit 1
cat >pipe.c <<'END'
#include <signal.h>
#include <stddef.h>

int main(void)
{
	struct sigaction now;

	return sigaction(SIGPIPE, NULL, &now) || now.sa_handler != SIG_DFL;
}
END
gcc -o pipe pipe.c 2>log && v/bin/xsprof record -q -o data -- ./pipe 2>>log
result "a recorded program does not inherit that Python ignores SIGPIPE" $?
MANPATH= man -M "$dir/v/share/man" -P cat xsprof-record 2>log | grep -q XSPROF_COLLECTORS
result "man pages are where man looks" $?

# ---- Python's start -------------------------------------------------------------------------

# loads WORDS...: checks whether the package and the collector are loaded in that environment's
# Python
loads()
{
	env "$@" "$dir/v/bin/python" -c 'import sys
maps = open("/proc/self/maps").read()
print(any(m.split(".")[0] == "xsprof" for m in sys.modules),
      len({l.split()[-1] for l in maps.splitlines() if "libxsprof-torch.so" in l}))' 2>>log
}

[ "$(loads A=)" = "False 0" ] && [ "$(loads XSPROF_ONDEMAND=)" = "False 0" ] && [ ! -s log ]
result "without XSPROF_ONDEMAND Python imports and loads nothing" $?
[ "$(loads XSPROF_ONDEMAND=1)" = "True 1" ] && [ "$(loads XSPROF_ONDEMAND=0)" = "True 0" ] &&
	[ ! -s log ]
result "with it the collector is in the process, with 0 it is not" $?
cp "$site/lib/libxsprof-torch.so" other.so
mkdir other && cp "$site/lib/"*.so* other
[ "$(loads XSPROF_ONDEMAND=1 LD_PRELOAD="$dir/other/libxsprof-torch.so")" = "True 1" ] &&
	[ ! -s log ]
result "one that is preloaded is the only one" $?

# starts: with the package as it is now, Python runs its program and prints the error
starts()
{
	XSPROF_ONDEMAND=1 "$dir/v/bin/python" -c 'print(6 * 7)' >out 2>log && grep -qx 42 out &&
		grep -q '^xsprof: XSPROF_ONDEMAND: .*: this process does not listen to xsprof ctl' \
			log && ! grep -q Traceback log
}

echo "no library" >"$site/lib/libxsprof-torch.so"
starts
result "Python starts where the collector is damaged" $?
rm "$site/lib/libxsprof-torch.so"
starts
result "and where it is missing" $?
cp other.so "$site/lib/libxsprof-torch.so"
XSPROF_ONDEMAND=1 "$dir/v/bin/python" -I -c 'print(6 * 7)' >out 2>log && grep -qx 42 out &&
	[ ! -s log ]
result "and in isolated mode" $?

v/bin/pip uninstall -q -y xsprof 2>log && find v ! -type d ! -name '*.pyc' | sort >after &&
	diff before after >>log
result "pip uninstall leaves no file" $?
finish
