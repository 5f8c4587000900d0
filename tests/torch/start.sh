# SPDX-License-Identifier: GPL-2.0-only
#
# Starts a test that records PyTorch programs: $python is the Python of the first argument, or
# Debian's; works in $dir, with its own session folder. Source this after tap.sh.

# shellcheck disable=SC2034 # used by the script that sources it
python=${1:-/usr/bin/python3} here=$PWD/tests/torch
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
unset XSPROF_TORCH LD_PRELOAD
shm=$(mktemp -d /dev/shm/xsprof-test.XXXXXX) || exit 1
trap 'rm -rf "$dir" "$shm"' EXIT
export XSPROF_SHM_DIR=$shm
cd "$dir" || exit 1
[ -e "$BUILD/lib/libxsprof-torch.so" ] || skip "libxsprof-torch is not built for this machine"
"$python" -c 'import torch' 2>/dev/null || skip "no PyTorch for $python"
