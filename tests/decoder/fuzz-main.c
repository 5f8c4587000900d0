// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a fuzz target without libFuzzer.
 *
 *	fuzz-X FILE...			replays files
 *	fuzz-X runs=N [seed=S]		N mutations of the target's own seeds
 *	fuzz-X seeds=DIR		writes the seeds to an existing folder
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decoder/fuzz.h"
#include "common/tap.h"

#define SEEDS	16

static struct { uint8_t *data; size_t size; } seeds[SEEDS];
static unsigned int nr_seeds;
static uint64_t state;

static uint64_t dice(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

static void give(const void *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);

	if (!copy || nr_seeds == SEEDS)
		tap_bail("too many seeds");
	memcpy(copy, data, size);
	seeds[nr_seeds].data = copy;
	seeds[nr_seeds++].size = size;
}

static void mutate(uint8_t *data, size_t *size)
{
	static const uint64_t values[] = { 0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff,
		0xffffffff, 1ull << 63, ~0ull };
	size_t at = dice(*size), n = dice(16) + 1;

	if (n > *size - at)
		n = *size - at;
	switch (dice(7)) {
	case 0:
		data[at] ^= 1 << dice(8);
		break;
	case 1:
		data[at] = dice(256);
		break;
	case 2:
		memcpy(data + at, &values[dice(11)], n < 8 ? n : 8);
		break;
	case 3:	/* a piece moves */
		memmove(data + dice(*size - n + 1), data + at, n);
		break;
	case 4:	/* a word counts up or down a little */
		data[at] += dice(9) - 4;
		break;
	case 5:
		memset(data + at, 0, n);
		break;
	case 6:
		if (dice(8) == 0)
			*size -= dice(*size);
		break;
	}
}

static void fuzz(uint64_t runs)
{
	for (uint64_t run = 0; run < runs; run++) {
		unsigned int which = dice(nr_seeds);
		size_t size = seeds[which].size;
		uint8_t *data = malloc(size + 1);

		if (!data)
			tap_bail("no memory");
		memcpy(data, seeds[which].data, size);
		for (uint64_t n = 1 + dice(6); n && size; n--)
			mutate(data, &size);
		LLVMFuzzerTestOneInput(data, size);
		free(data);
	}
	tap_result("%llu mutations of %u seeds", (unsigned long long)runs, nr_seeds);
}

static void replay(const char *path)
{
	FILE *f = fopen(path, "re");
	uint8_t *data = malloc(1 << 24);
	size_t size;

	if (!f || !data)
		tap_bail("%s: %s", path, strerror(errno));
	size = fread(data, 1, 1 << 24, f);
	fclose(f);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	tap_result("%s", path);
}

static void write_seeds(const char *dir)
{
	for (unsigned int i = 0; i < nr_seeds; i++) {
		char path[4096];
		FILE *f;

		snprintf(path, sizeof(path), "%s/seed-%u", dir, i);
		f = fopen(path, "we");
		if (!f || fwrite(seeds[i].data, 1, seeds[i].size, f) != seeds[i].size || fclose(f))
			tap_bail("%s: %s", path, strerror(errno));
	}
	tap_result("%u seeds", nr_seeds);
}

int main(int argc, char **argv)
{
	uint64_t runs = arg_number(argc, argv, "runs", 0);
	const char *dir = arg_text(argc, argv, "seeds");

	state = arg_number(argc, argv, "seed", 1) * 0x9e3779b97f4a7c15ull | 1;
	fuzz_seeds(give);
	for (unsigned int i = 0; i < nr_seeds; i++)
		LLVMFuzzerTestOneInput(seeds[i].data, seeds[i].size);
	tap_result("the seeds themselves");
	if (dir)
		write_seeds(dir);
	if (runs)
		fuzz(runs);
	for (int i = 1; i < argc; i++)
		if (!strchr(argv[i], '=') || !access(argv[i], R_OK))
			replay(argv[i]);
	return tap_done();
}
