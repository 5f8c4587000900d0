// SPDX-License-Identifier: GPL-2.0-only
/*
 * The output of a dump: checks, opens and closes it.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/tool.h"
#include "dump/local.h"
#include "format/common/spool.h"

/*
 * Binary formats are useless on a terminal. An output that is the input file would destroy the
 * recording.
 */
int dump_output_check(const struct dump *dump)
{
	const char *input = dump->reading.input;
	struct stat in, out;

	if (dump->format == &xsp_format_perfetto && !strcmp(dump->output, "-") &&
	    isatty(STDOUT_FILENO))
		return tool_usage("dump", "--format perfetto is binary: name a file with -o, or "
				  "redirect the output");
	if (dump->look_on || !strcmp(dump->output, "-") || stat(dump->output, &out) ||
	    (strcmp(input, "-") ? stat(input, &in) : fstat(STDIN_FILENO, &in)))
		return 0;
	if (!S_ISREG(out.st_mode) || in.st_dev != out.st_dev || in.st_ino != out.st_ino)
		return 0;
	return tool_usage("dump", "--output: %s: is the input file: name another file",
			  dump->output);
}

int dump_output_open(struct dump *dump)
{
	int ret;

	ret = xsp_buf_open(&dump->out.buf, dump->output);
	if (ret < 0)
		return tool_error("%s: cannot be written: %s: name another file with -o",
				  dump->output, strerror(-ret));
	ret = xsr_pack_open(&dump->pack, &dump->out.buf, dump->output);
	if (ret) {
		xsp_buf_close(&dump->out.buf, 0);
		return tool_error("%s: cannot be compressed: %s: use a name without "
				  ".gz", dump->output,
				  ret == -EOPNOTSUPP ? "built without zlib" : strerror(-ret));
	}
	return 0;
}

int dump_output_close(struct dump *dump, int status)
{
	const char *path = dump->output;
	int ret = xsr_pack_close(&dump->pack, &dump->out.buf, status ? -ECANCELED : 0);
	int closed = xsp_buf_close(&dump->out.buf, !ret);

	if (!ret)
		ret = closed;

	if (dump->out.spool_err)
		tool_error("%s: temporary file for kernel events: %s; set TMPDIR to another "
			   "directory", xsp_spool_folder(),
			   strerror(-dump->out.spool_err));
	if (status || !ret)
		return status;
	/* The reader of a pipe has ended, such as a pager: no message. */
	dump->left = ret == -EPIPE;
	if (dump->left)
		return 0;
	return tool_error("%s: %s%s", strcmp(path, "-") ? path : "stdout", strerror(-ret),
			  ret == -ENOSPC ? ": free some space, or name another file with -o" : "");
}
