// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stand-in for the libcuda of a program: it tells the version of the driver.
 */
__attribute__((visibility("default"))) int cuDriverGetVersion(int *version);

int cuDriverGetVersion(int *version)
{
	*version = 13010;
	return 0;
}
