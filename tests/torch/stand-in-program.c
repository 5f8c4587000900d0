// SPDX-License-Identifier: GPL-2.0-only
/* Makes ops with the stand-in for libtorch; each asks for its observers through the PLT. */
#include <stdint.h>

void *_ZN2at27getStepCallbacksUnlessEmptyENS_11RecordScopeE(void *ret, uint8_t scope);
void stand_in_ops(void *(*steps)(void *ret, uint8_t scope));

int main(void)
{
	stand_in_ops(_ZN2at27getStepCallbacksUnlessEmptyENS_11RecordScopeE);
	return 0;
}
