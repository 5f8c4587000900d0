#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# arm64.sh [options] [FILE...] -- COMMAND [ARG...]: boot.sh with Debian's arm64 kernel
exec "$(dirname "$(readlink -f "$0")")/boot.sh" --kernel arm64 "$@"
