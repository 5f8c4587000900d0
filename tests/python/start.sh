# SPDX-License-Identifier: GPL-2.0-only
#
# The start of a test of the Python package, behind tap.sh: the package and the libraries are those
# of the tree, and $dir has a session folder of its own. To be sourced.
skip() { echo "1..0 # SKIP $*"; exit 77; }

# shellcheck disable=SC2034 # of who sources it
here=$PWD/tests/python
export PYTHONPATH=$PWD/tools/python XSPROF_LIBDIR=$BUILD/lib
export PYTHONDONTWRITEBYTECODE=1 PYTHONIOENCODING=utf-8 OMP_NUM_THREADS=1
unset XSPROF_TORCH XSPROF_ONDEMAND XSPROF_RECORD XSPROF_BACKEND LD_PRELOAD LD_LIBRARY_PATH
shm=$(mktemp -d /dev/shm/xsprof-test.XXXXXX) || exit 1
trap 'rm -rf "$dir" "$shm"' EXIT
export XSPROF_SHM_DIR=$shm
cd "$dir" || exit 1
