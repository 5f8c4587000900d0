// SPDX-License-Identifier: GPL-2.0-only
/*
 * A library with the name of PyTorch's, and nothing in it.
 */
int xsp_test_torch(void);

int xsp_test_torch(void)
{
	return 0;
}
