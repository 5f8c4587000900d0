// SPDX-License-Identifier: GPL-2.0-only
/*
 * An empty library with the name of PyTorch's.
 */
int xsp_test_torch(void);

int xsp_test_torch(void)
{
	return 0;
}
