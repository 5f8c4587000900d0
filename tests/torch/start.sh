# SPDX-License-Identifier: GPL-2.0-only
#
# The start of a test that records PyTorch programs, behind tap.sh: with the Python of its first
# argument, or Debian's, as $python; in $dir, with a session folder of its own. To be sourced.
skip() { echo "1..0 # SKIP $*"; exit 77; }

# shellcheck disable=SC2034 # of who sources it
python=${1:-/usr/bin/python3} here=$PWD/tests/torch
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
unset XSPROF_TORCH LD_PRELOAD
shm=$(mktemp -d /dev/shm/xsprof-test.XXXXXX) || exit 1
trap 'rm -rf "$dir" "$shm"' EXIT
export XSPROF_SHM_DIR=$shm
cd "$dir" || exit 1
[ -e "$BUILD/lib/libxsprof-torch.so" ] || skip "libxsprof-torch is not built for this machine"
"$python" -c 'import torch' 2>/dev/null || skip "no PyTorch for $python"
