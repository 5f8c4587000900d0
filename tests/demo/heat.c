// SPDX-License-Identifier: GPL-2.0-only
/*
 * The demo's OpenMP job: heat spreads over a plate until it changes little. It does not use xsprof;
 * the recording has the frames (parallel regions, barriers) and the thread names that LLVM's OpenMP
 * runtime emits through ITT. Built by demo.sh with clang.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SIDE	512
#define STEPS	50

static double plate[2][SIDE][SIDE];

int main(void)
{
	double change = 0;
	long hottest = 0;

	for (int i = 0; i < SIDE; i++)
		plate[0][0][i] = plate[1][0][i] = 100;

	for (int step = 0; step < STEPS; step++) {
		double (*from)[SIDE] = plate[step & 1], (*to)[SIDE] = plate[!(step & 1)];

		change = 0;
#pragma omp parallel for reduction(+ : change)
		for (int y = 1; y < SIDE - 1; y++)
			for (int x = 1; x < SIDE - 1; x++) {
				to[y][x] = (from[y - 1][x] + from[y + 1][x] + from[y][x - 1] +
					    from[y][x + 1]) / 4;
				change += fabs(to[y][x] - from[y][x]);
			}

#pragma omp parallel
		{
			long mine = 0;

#pragma omp for nowait
			for (int y = 1; y < SIDE - 1; y++)
				for (int x = 1; x < SIDE - 1; x++)
					mine += to[y][x] > 50;
#pragma omp critical
			hottest += mine;
#pragma omp barrier
		}
	}
	printf("heat: %d steps, last change %.1f, %ld hot points seen\n", STEPS, change, hottest);
	return 0;
}
