# SPDX-License-Identifier: LGPL-2.1-only
"""python -m xsprof: the command of the same name."""
from ._command import main

main()
