// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a dump goes: whether it may go there, and how it is opened and closed.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/tool.h"
#include "dump/local.h"
#include "format/common/spool.h"

/*
 * A terminal shows nothing useful of a binary format.  And where a recording would go is where it
 * is read from, it would be gone.
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
	return tool_usage("dump", "--output: %s: is the capture that is read: name another file",
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
		return tool_error("%s: cannot be packed: %s: name a file without .gz", dump->output,
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
		tool_error("%s: events of the kernel wait there for their turn: %s; name another "
			   "folder with TMPDIR", xsp_spool_folder(),
			   strerror(-dump->out.spool_err));
	if (status || !ret)
		return status;
	/* A reader that has seen enough, as a pager: there is nothing to say. */
	dump->left = ret == -EPIPE;
	if (dump->left)
		return 0;
	return tool_error("%s: %s%s", strcmp(path, "-") ? path : "stdout", strerror(-ret),
			  ret == -ENOSPC ? ": make room, or give another place with -o" : "");
}
