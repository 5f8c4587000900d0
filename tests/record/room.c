// SPDX-License-Identifier: GPL-2.0-only
/*
 * A capture on a full disk, or at the file size limit: all processes' accounts and the END chunk
 * fit, however many bytes remain after the last slots that fitted. TAP.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/tap.h"
#include "capture/writer.h"

#define PRODUCERS	40
#define RINGS		8

static uint8_t slots[XSP_CAP_RAW_MAX];

static void must(int bad, const char *what)
{
	if (!bad)
		return;
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static int data(struct xsp_cap *cap, uint16_t type, size_t len)
{
	struct xsprof_chunk chunk = { .type = type, .producer = 1 };

	return xsp_cap_chunk(cap, &chunk, slots, len);
}

/* Writes the account that a recorder writes for each process. */
static int accounts(struct xsp_cap *cap)
{
	static const struct xsprof_cap_ledger ledgers[RINGS];
	static const struct xsprof_cap_exit gone;
	struct xsprof_chunk chunk = { .type = XSPROF_CHUNK_LEDGER };
	int err = 0;

	for (; chunk.producer < PRODUCERS && !err; chunk.producer++) {
		xsp_cap_retry(cap);
		chunk.type = XSPROF_CHUNK_LEDGER;
		err = xsp_cap_chunk(cap, &chunk, ledgers, sizeof(ledgers));
		chunk.type = XSPROF_CHUNK_EXIT;
		if (!err)
			err = xsp_cap_chunk(cap, &chunk, &gone, sizeof(gone));
	}
	return err;
}

/* Return: whether the capture ended correctly, with @expected as the error of the slots. */
static bool fill(const char *path, size_t step, int expected)
{
	static const struct xsprof_cap_end end = { .why = 3 };
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct xsp_cap cap;
	struct stat st;
	int err, told, last;

	must(fd < 0 || xsp_cap_create(&cap, fd, NULL), path);
	do {
		err = data(&cap, XSPROF_CHUNK_RING, step);
	} while (!err);
	told = accounts(&cap);
	xsp_cap_retry(&cap);
	/* Any number of notes still leaves room for the end. */
	while (!xsp_cap_note(&cap, "no room"))
		;
	xsp_cap_retry(&cap);
	last = xsp_cap_end(&cap, &end);
	must(fstat(fd, &st), "fstat");
	xsp_cap_free(&cap);
	close(fd);
	if (err != expected || told || last || (uint64_t)st.st_size != cap.size)
		printf("# %zu: slots %d accounts %d end %d size %lld of %llu\n", step, err, told,
		       last, (long long)st.st_size, (unsigned long long)cap.size);
	return err == expected && !told && !last && (uint64_t)st.st_size == cap.size;
}

static void limited(const char *path)
{
	struct rlimit all, some;
	bool good = true;

	must(getrlimit(RLIMIT_FSIZE, &all), "getrlimit");
	some = all;
	for (size_t i = 0; i < 64; i++) {
		some.rlim_cur = (400u << 10) + i * 1031;
		must(setrlimit(RLIMIT_FSIZE, &some), "setrlimit");
		good &= fill(path, 4096 + 64 * i, -EFBIG);
	}
	must(setrlimit(RLIMIT_FSIZE, &all), "setrlimit");
	tap_ok("a limit of the process: accounts and end", good);
}

static void full(const char *dir)
{
	char path[256], size[32];
	bool good = true;

	snprintf(path, sizeof(path), "%s/full.data", dir);
	for (size_t i = 0; i < 32; i++) {
		snprintf(size, sizeof(size), "size=%zuk", 400 + 4 * i);
		must(mount("tmpfs", dir, "tmpfs", 0, size), "mount");
		good &= fill(path, 4096 + 1024 * i, -ENOSPC);
		must(umount(dir), "umount");
	}
	tap_ok("a full disk: accounts and end", good);
}

/* A complete file has no extra bytes after its end. */
static void given_back(const char *path)
{
	static const struct xsprof_cap_end end = { .why = 1 };
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct stat kept, st;
	struct xsp_cap cap;

	must(fd < 0 || xsp_cap_create(&cap, fd, NULL), path);
	must(data(&cap, XSPROF_CHUNK_RING, 4096), "chunk");
	must(fstat(fd, &kept), "fstat");
	must(xsp_cap_end(&cap, &end), "end");
	must(fstat(fd, &st), "fstat");
	tap_ok("room is kept", kept.st_blocks * 512 >= 64 << 10);
	tap_ok("and given back", st.st_blocks * 512 <= 16 << 10);
	xsp_cap_free(&cap);
	close(fd);
}

int main(void)
{
	char dir[] = "/dev/shm/xsprof-room.XXXXXX", path[64];

	must(!mkdtemp(dir), dir);
	signal(SIGXFSZ, SIG_DFL);
	memset(slots, 0x5a, sizeof(slots));
	snprintf(path, sizeof(path), "%s/room.data", dir);
	limited(path);
	given_back(path);
	unlink(path);
	if (!unshare(CLONE_NEWNS) && !mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL))
		full(dir);
	else
		tap_skip("a full disk", "needs root and mount");
	rmdir(dir);
	return tap_done();
}
