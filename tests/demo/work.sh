#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What the demo records: a PyTorch training, an OpenMP program and a mold link, in parallel, none of
# which uses xsprof. Also runs without a recorder. Usage: work.sh DIR, where DIR has the built heat
# and gets the linked hello.
here=$(dirname "$0")
dir=${1:?usage: work.sh DIR}

# Debian's python3 by its path: another python3 in PATH would not find Debian's torch.
/usr/bin/python3 "$here/train.py" 20 &
train=$!
OMP_NUM_THREADS=2 "$dir/heat" &
heat=$!
# mold forks and exits by _exit(): a tool that waits for atexit would lose its events.
gcc -fuse-ld=mold -o "$dir/hello" "$dir/hello.o" &
link=$!

status=0
wait "$train" || { status=1; echo "work.sh: the training failed" >&2; }
wait "$heat" || { status=1; echo "work.sh: the OpenMP program failed" >&2; }
wait "$link" || { status=1; echo "work.sh: the link failed" >&2; }
[ "$status" = 0 ] && "$dir/hello"
exit "$status"
