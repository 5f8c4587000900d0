#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# device.sh [KERNEL]...: tests the library on the device, in guests whose kernels have the module.
# By default in the oldest kernel, in tier full in three.
set -u
cd "$(dirname "$0")/../.." || exit 1

build=$(realpath -m "${BUILD:-build}")
tests=$build/tests
out=$build/device-tests
if [ $# -eq 0 ]; then
	set -- 6.1
	[ "${XSPROF_TIER:-quick}" = full ] && set -- 6.1 6.12 6.12-rt
fi
mkdir -p "$out"

# Where there is a device, sessions without XSPROF_BACKEND use tmpfs, as in the other tests.
cat > "$out/guest.sh" <<'END'
#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
failed=0
t()
{
	echo "# $*"
	./session XSPROF_BUFFER_SIZE=256k "$@" || failed=1
}
for program in device device-rings; do
	t XSPROF_BACKEND=device ./$program
	t XSPROF_BACKEND=device GLIBC_TUNABLES=glibc.pthread.rseq=0 ./$program
	t XSPROF_BACKEND=device XSPROF_CLOCK=mono ./$program
done
t ./fork
t ./clone
./quiet || failed=1
exit $failed
END
chmod +x "$out/guest.sh"

failed=0
for kernel; do
	ko=$(tests/vm/module.sh "$kernel")
	status=$?
	[ $status = 77 ] && { echo "$ko"; exit 77; }
	[ $status = 0 ] || { echo "$ko"; exit 1; }
	LD_LIBRARY_PATH=$build/lib tests/vm/boot.sh --kernel "$kernel" --smp 2 --limit 300 \
		--with-libs --module "${ko##*$'\n'}" "$tests/ring/session" "$tests/lib/device" \
		"$tests/lib/device-rings" "$tests/lib/fork" "$tests/lib/clone" \
		"$tests/lib/quiet" "$out/guest.sh" -- ./guest.sh
	status=$?
	[ $status = 77 ] && exit 77
	[ $status = 0 ] || failed=1
done
exit $failed
