// SPDX-License-Identifier: GPL-2.0-only
/* The other file of inline-twice.cc. */
#include "inline-twice.h"

void twice_elsewhere(int i)
{
	twice<int>(i);
}
