#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The wheel in a bare root of a Debian release that has Python and pip, for all users and in a
# virtual environment: a user who is not root records a program and, if the cache has a PyTorch for
# that Python, an unchanged PyTorch program, also on demand; then uninstalls the wheel. TAP. Usage:
# root.sh SUITE, as root. MIRROR overrides Debian's archive.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/wheel/start.sh
suite=$1
[ "$(id -u)" = 0 ] || skip "not root: no root file system of another release"

root_fetch()
{
	chmod 755 "$new" && debootstrap --variant=minbase --include=python3-venv,python3-pip "$1" \
		"$new" ${MIRROR:+"$MIRROR"}
}

fetch "root-$suite" root_fetch "$suite" || skip "$why"
root=$dir/root
cp -a "$viewers/root-$suite" "$root" && mkdir "$root/test" "$root/torch" || exit 1
cp "$wheel" tests/torch/jobs/looping.py "$root/test"
version=$(chroot "$root" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
torch=$(dirname "$(printf '%s\n' "$viewers"/torch-python"$version"-*/lib/python*/*/torch |
	sort | tail -n 1)")

cat >"$root/test/marks.py" <<'END'
import ctypes
import xsprof._lib
user = ctypes.CDLL(xsprof._lib.find("libxsprof-user.so.0"))
user.xsprof_name.argtypes, user.xsprof_name.restype = [ctypes.c_char_p], ctypes.c_uint32
for call in user.xsprof_emit_begin, user.xsprof_emit_end:
    call.argtypes = [ctypes.c_uint32]
step = user.xsprof_name(b"step")
for i in range(100):
    user.xsprof_emit_begin(step)
    user.xsprof_emit_end(step)
END

# marks BIN PYTHON: records markers with BIN's tool
cat >"$root/test/marks" <<'END'
set -e
cd /home/user
"$1/xsprof" record -o data -- "$2" /test/marks.py
"$1/xsprof" report data >report
grep -qE '^ +100 .* step$' report
[ "$("$1/xsprof-dump" data | grep -c ' begin: *step')" = 100 ]
"$1/xsprof" info data >info
END

cat >"$root/test/torch" <<'END'
set -e
cd /home/user
rm -rf job
mkdir job
/v/bin/python -W ignore /test/looping.py job >out 2>&1 &
for i in $(seq 600); do
	[ ! -e job/begun ] || break
	sleep 0.1
done
pid=$!
if [ -n "$XSPROF_ONDEMAND" ]; then
	/v/bin/xsprof ctl start -p $pid -n 3 -w -o /home/user/demand.json
	[ "$(grep -o '"Optimizer.step#SGD.step"' demand.json | wc -l)" -ge 3 ]
fi
touch job/enough
wait $pid
END

cat >"$root/test/inside" <<'END'
n=0
result() # NAME STATUS
{
	n=$((n + 1))
	if [ "$2" = 0 ]; then
		echo "ok $n $1"
	else
		tail -n 20 /tmp/log | sed "s/^/# /"
		echo "not ok $n $1"
	fi
}
user() { setpriv --reuid=1000 --regid=1000 --clear-groups env HOME=/home/user "$@"; }
files() { find /usr /etc /v ! -type d ! -name '*.pyc' 2>/dev/null | sort; }

mkdir -m 777 /home/user
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
export OMP_NUM_THREADS=1 PIP_NO_CACHE_DIR=1
system=
pip3 install --help | grep -q break-system-packages && system=--break-system-packages
python3 -m venv /v >/tmp/log 2>&1 && files >/tmp/before &&
	/v/bin/pip install -q --no-index /test/*.whl >/tmp/log 2>&1
result "pip installs it in a virtual environment" $?
user sh /test/marks /v/bin /v/bin/python >/tmp/log 2>&1
result "a user who is not root records, reports and dumps" $?
pip3 install -q $system --no-index /test/*.whl >/tmp/log 2>&1 &&
	user sh /test/marks /usr/local/bin /usr/bin/python3 >>/tmp/log 2>&1
result "and where it is installed for all" $?
echo /torch >"$(echo /v/lib/python3*/site-packages)/torch.pth"
if /v/bin/python -c 'import torch' >/tmp/log 2>&1; then
	user XSPROF_ONDEMAND=1 sh /test/torch >/tmp/log 2>&1
	result "PyTorch on demand, with nothing preloaded" $?
	cd /home/user && user /v/bin/xsprof record -o torch.data -- \
		env XSPROF_ONDEMAND= sh /test/torch >/tmp/log 2>&1 &&
		user /v/bin/xsprof report torch.data >/tmp/report 2>>/tmp/log &&
		grep -q ' aten::linear$' /tmp/report
	result "PyTorch recorded" $?
else
	for what in "on demand, with nothing preloaded" recorded; do
		n=$((n + 1))
		echo "ok $n PyTorch $what # SKIP no PyTorch for this Python: $(tail -n 1 /tmp/log)"
	done
fi
rm /v/lib/python3*/site-packages/torch.pth
{ /v/bin/pip uninstall -q -y xsprof && pip3 uninstall -q -y $system xsprof; } >/tmp/log 2>&1 &&
	files >/tmp/after && diff /tmp/before /tmp/after >>/tmp/log
result "pip uninstall leaves no file" $?
echo "1..$n"
END

cat >"$dir/outside" <<'END'
cd "$1" || exit 1
mount -t proc proc proc && mount -t sysfs -o ro sysfs sys && mount -t tmpfs none dev/shm &&
	chmod 1777 dev/shm || exit 1
[ ! -d "$2/torch" ] || mount --bind -o ro "$2" torch || exit 1
exec chroot . env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 HOME=/root \
	sh /test/inside
END
unshare --mount --propagation private --pid --fork --kill-child sh "$dir/outside" "$root" "$torch" |
	tee "$dir/out"
grep -q '^1\.\.' "$dir/out" && ! grep -q '^not ok' "$dir/out"
