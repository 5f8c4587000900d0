# SPDX-License-Identifier: GPL-2.0-only
#
# Starts a test of the Python package: uses the package and libraries of the tree, and gives $dir a
# session folder of its own. Source this after tap.sh.

# shellcheck disable=SC2034 # used by the script that sources it
here=$PWD/tests/python
export PYTHONPATH=$PWD/tools/python XSPROF_LIBDIR=$BUILD/lib
export PYTHONDONTWRITEBYTECODE=1 PYTHONIOENCODING=utf-8 OMP_NUM_THREADS=1
unset XSPROF_TORCH XSPROF_ONDEMAND XSPROF_RECORD XSPROF_BACKEND LD_PRELOAD LD_LIBRARY_PATH
shm=$(mktemp -d /dev/shm/xsprof-test.XXXXXX) || exit 1
trap 'rm -rf "$dir" "$shm"' EXIT
export XSPROF_SHM_DIR=$shm
cd "$dir" || exit 1
