// SPDX-License-Identifier: GPL-2.0-only
/*
 * A flight recorder scans a folder that others fill, in steps of a limited number of names each: it
 * still finds what appears meanwhile. TAP.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/tap.h"
#include "record/flight-local.h"

#define NAMES	5000u
#define STEP	512u	/* the most names in one step */

/* Replaces the real one; nothing here calls for it. */
void flight_save_ask(struct flight *f, const char *tag, uint32_t pid, const char *reason)
{
	(void)f;
	(void)tag;
	(void)pid;
	(void)reason;
	abort();
}

static struct flight f;

static void make(const char *format, uint32_t i)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), format, i);
	fd = openat(f.session.dirfd, name, O_CREAT | O_WRONLY, 0600);
	if (fd < 0 || close(fd)) {
		perror(name);
		exit(1);
	}
}

/* Return: the steps until the scan is complete. */
static uint32_t steps(void)
{
	uint32_t n = 0;

	do {
		flight_processes_scan(&f);
		n++;
	} while (f.folder && n < NAMES);
	return n;
}

int main(void)
{
	static struct record_options opts = { .quiet = true };
	char folder[] = "/tmp/xsprof-scan.XXXXXX", command[64];
	uint32_t once = (NAMES + 2) / STEP + 1;

	if (!mkdtemp(folder))
		return 1;
	f.opts = &opts;
	f.device = -1;
	f.inotify = -1;
	snprintf(f.session.path, sizeof(f.session.path), "%s", folder);
	f.session.dirfd = open(folder, O_RDONLY | O_DIRECTORY);
	CHECK_EQ(steps(), 1);
	tap_result("a folder of few names takes one step");
	for (uint32_t i = 0; i < NAMES; i++)
		make("p.%u.1.0", 1000000 + i);
	flight_processes_scan(&f);
	CHECK(f.folder);
	tap_result("a step ends before a large one does");
	CHECK_EQ(steps() + 1, once);
	tap_result("as many as it takes");
	f.appeared = true;
	flight_processes_scan(&f);
	CHECK(f.folder && !f.appeared);
	/* A notice during a scan, which may have passed the file's place. */
	f.appeared = true;
	steps();
	CHECK(!f.folder && f.appeared);
	tap_result("what comes meanwhile is looked for again");
	flight_processes_scan_last(&f);
	CHECK(!f.folder);
	tap_result("the last look is whole");
	flight_processes_scan(&f);
	flight_processes_unscan(&f);
	CHECK(!f.folder);
	flight_processes_unscan(&f);
	tap_result("one that is given up");
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	if (system(command))
		return 1;
	return tap_done();
}
