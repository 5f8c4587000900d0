// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Symbolizes with elfutils: functions from symbol tables, lines and inlined functions from DWARF,
 * in the file or its separate debug file. Owns the open files; their build ids must match those
 * recorded.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular.h"
#include "result/demangle.h"
#include "result/handle.h"

#define MOST_FILES	256u	/* open at once: further ones give no symbols */

/**
 * struct file - a file from which code was mapped
 * @path: its path
 * @build_id: required build id
 * @dwfl: elfutils' handle, NULL: it cannot be read
 * @module: its elfutils module
 * @bias: offset of its addresses in that module
 * @other: the path names a different file now
 * @trusted: its owner is root or the calling user
 */
struct file {
	char		*path;
	char		build_id[64];
	Dwfl		*dwfl;
	Dwfl_Module	*module;
	GElf_Addr	bias;
	bool		other;
	bool		trusted;
};

struct xsr_files {
	struct file	list[MOST_FILES];
	uint32_t	nr;
};

static char *debug_path;	/* NULL: elfutils' default */

static bool is_trusted(const struct stat *st)
{
	return !st->st_uid || st->st_uid == geteuid();
}

/* Can no other user put something there, or replace it? */
static bool is_ours(const char *path, bool sticky_is)
{
	struct stat st;

	if (lstat(path, &st) || !is_trusted(&st))
		return false;
	return !(st.st_mode & (S_IWGRP | S_IWOTH)) || (sticky_is && st.st_mode & S_ISVTX);
}

/*
 * Is the path of the file safe against other users, including files beside it? In a sticky folder
 * others cannot replace our files, but can add files.
 */
static bool is_alone(const char *path)
{
	char real[PATH_MAX], *slash;
	bool beside = true;

	if (!realpath(path, real) || strcmp(real, path) || !is_ours(real, false))
		return false;
	while ((slash = strrchr(real, '/')) && slash != real) {
		*slash = '\0';
		if (!is_ours(real, !beside))
			return false;
		beside = false;
	}
	return is_ours("/", true);
}

/*
 * A file names its separate debug file, which is opened beside it under any name the file chooses:
 * allowed only if no user but root and ours could have put it there. By its build id it is looked
 * up in the system's folders.
 */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			  const char *path, const char *link, GElf_Word crc, char **found)
{
	if (path && is_alone(path))
		return dwfl_standard_find_debuginfo(module, data, name, base, path, link, crc,
						    found);
	return dwfl_build_id_find_debuginfo(module, data, name, base, path, link, crc, found);
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &debug_path,
};

struct xsr_files *xsr_files_new(void)
{
	return calloc(1, sizeof(struct xsr_files));
}

void xsr_files_free(struct xsr_files *files)
{
	for (uint32_t i = 0; files && i < files->nr; i++) {
		free(files->list[i].path);
		if (files->list[i].dwfl)
			dwfl_end(files->list[i].dwfl);
	}
	free(files);
}

/* ---- files ---------------------------------------------------------------------------------- */

/* Opens regular files only: does not wait for fifos or touch devices. */
static int open_file(const char *path)
{
	struct stat st;
	int fd;

	fd = path[0] == '/' ? xsp_regular_pin(AT_FDCWD, path, &st) : -1;
	if (fd < 0)
		return -1;
	/* Files of size 0 are in kernel file systems: reading some has side effects. */
	if (st.st_size)
		return xsp_regular_open(fd, O_RDONLY);
	close(fd);
	return -1;
}

static bool same_file(Dwfl_Module *module, const char *build_id)
{
	const unsigned char *bits;
	GElf_Addr at;
	char hex[3];
	int n;

	if (!strcmp(build_id, "-"))
		return true;
	n = dwfl_module_build_id(module, &bits, &at);
	if (n <= 0 || strlen(build_id) != 2 * (size_t)n)
		return false;
	for (int i = 0; i < n; i++) {
		snprintf(hex, sizeof(hex), "%02x", bits[i]);
		if (memcmp(hex, build_id + 2 * i, 2))
			return false;
	}
	return true;
}

static void read_file(struct file *f)
{
	int fd = open_file(f->path);
	struct stat st;

	if (fd < 0)
		return;
	f->trusted = !fstat(fd, &st) && is_trusted(&st);
	f->dwfl = dwfl_begin(&callbacks);
	if (f->dwfl) {
		dwfl_report_begin(f->dwfl);
		/* Takes ownership of the descriptor on success. */
		f->module = dwfl_report_offline(f->dwfl, f->path, f->path, fd);
		dwfl_report_end(f->dwfl, NULL, NULL);
	}
	if (!f->module) {
		close(fd);
		return;
	}
	f->other = !same_file(f->module, f->build_id);
	if (f->other || !dwfl_module_getelf(f->module, &f->bias))
		f->module = NULL;
}

static int get_file(struct xsr_files *files, const char *path, const char *build_id,
		    struct file **file)
{
	struct file *f;

	*file = NULL;
	for (uint32_t i = 0; i < files->nr; i++) {
		f = &files->list[i];
		if (!strcmp(f->path, path) && !strcmp(f->build_id, build_id)) {
			*file = f;
			return 0;
		}
	}
	if (files->nr == MOST_FILES)
		return 0;
	f = &files->list[files->nr];
	f->path = strdup(path);
	if (!f->path)
		return -ENOMEM;
	snprintf(f->build_id, sizeof(f->build_id), "%s", build_id);
	files->nr++;
	read_file(f);
	*file = f;
	return 0;
}

/* The address of file offset @offset. */
static bool address_of(const struct file *f, uint64_t offset, Dwarf_Addr *address)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(f->module, &bias);
	size_t nr;

	if (!elf || elf_getphdrnum(elf, &nr))
		return false;
	for (size_t i = 0; i < nr; i++) {
		GElf_Phdr mem, *ph = gelf_getphdr(elf, (int)i, &mem);

		if (!ph || ph->p_type != PT_LOAD || offset < ph->p_offset ||
		    offset - ph->p_offset >= ph->p_filesz)
			continue;
		*address = offset - ph->p_offset + ph->p_vaddr + f->bias;
		return true;
	}
	return false;
}

/* ---- frames --------------------------------------------------------------------------------- */

struct place {
	const char	*file;	/* NULL: unknown */
	int		line;
};

static int give_frame(const char *name, const struct place *at,
		      int (*give)(void *data, const struct xsr_frame *frame), void *data)
{
	const char *file = at->file ? strrchr(at->file, '/') : NULL;
	struct xsr_frame frame = { name ? name : "??", file ? file + 1 : at->file, at->line };

	return give(data, &frame);
}

/* The call site of an inlined function. */
static struct place call_place(Dwarf_Die *unit, Dwarf_Die *inlined)
{
	struct place at = { 0 };
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	Dwarf_Word value;
	size_t nr;

	if (!dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attr), &value) &&
	    value <= INT32_MAX)
		at.line = (int)value;
	if (!dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attr), &value) &&
	    !dwarf_getsrcfiles(unit, &files, &nr) && value < nr)
		at.file = dwarf_filesrc(files, value, NULL, NULL);
	return at;
}

/* The innermost DWARF scope and those around it, up to an out-of-line function. */
static Dwarf_Die *scopes_of(Dwarf_Die *unit, Dwarf_Addr pc, int *nr)
{
	Dwarf_Die *scopes = NULL, *chain = NULL, inner;

	if (dwarf_getscopes(unit, pc, &scopes) > 0) {
		inner = scopes[0];
		*nr = dwarf_getscopes_die(&inner, &chain);
	}
	free(scopes);
	return chain;
}

/*
 * The compilation unit of an address. Not all compilers write .debug_aranges: then each unit is
 * checked.
 */
static Dwarf_Die *unit_of(Dwfl_Module *module, Dwarf_Addr address, Dwarf_Addr *bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(module, address, bias);

	if (unit)
		return unit;
	while ((unit = dwfl_module_nextcu(module, unit, bias)))
		if (dwarf_haspc(unit, address - *bias) == 1)
			break;
	return unit;
}

static struct place line_of(Dwarf_Die *unit, Dwarf_Addr pc)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, pc);
	struct place at = { 0 };

	if (line && !dwarf_lineno(line, &at.line))
		at.file = dwarf_linesrc(line, NULL, NULL);
	return at;
}

/* @begins: @pc is the begin of a function and stands for all of it, not for inlined code. */
static int give_dwarf(Dwarf_Die *unit, Dwarf_Addr pc, const char *symbol, bool begins,
		      int (*give)(void *data, const struct xsr_frame *frame), void *data)
{
	int nr = 0, err = 0, depth = 0;
	Dwarf_Die *chain = scopes_of(unit, pc, &nr);
	struct place at = line_of(unit, pc);
	const char *name;
	bool done = false;

	for (int i = 0; i < nr && !done && !err && depth < (int)XSR_SYMBOL_INLINES - 1; i++) {
		int tag = dwarf_tag(&chain[i]);

		if ((tag != DW_TAG_inlined_subroutine || begins) && tag != DW_TAG_subprogram)
			continue;
		done = tag == DW_TAG_subprogram;
		name = dwarf_diename(&chain[i]);
		/* For the function itself prefer the symbol, unless it is still mangled. */
		if (done && symbol && (!name || strncmp(symbol, "_Z", 2)))
			name = symbol;
		err = give_frame(name, &at, give, data);
		depth++;
		if (!done)
			at = call_place(unit, &chain[i]);
	}
	free(chain);
	if (err)
		return err;
	if (done)
		return 0;
	return symbol || at.file ? give_frame(symbol, &at, give, data) : 0;
}

/* Only a symbol whose size covers the address: the nearest one may be another function. */
static const char *symbol_of(const struct file *f, Dwarf_Addr address, bool *begins)
{
	const char *name;
	GElf_Off into;
	GElf_Sym sym;

	name = dwfl_module_addrinfo(f->module, address, &into, &sym, NULL, NULL, NULL);
	*begins = name && !into;
	return name && into < sym.st_size ? name : NULL;
}

int xsr_files_look_up(struct xsr_files *files, const char *path, const char *build_id,
		      uint64_t offset, int (*give)(void *data, const struct xsr_frame *frame),
		      void *data)
{
	const struct place nowhere = { 0 };
	Dwarf_Addr address, bias;
	const char *symbol;
	char *plain = NULL;
	Dwarf_Die *unit;
	bool begins;
	struct file *f;
	int err = get_file(files, path, build_id, &f);

	if (err)
		return err;
	if (f && f->other)
		return XSR_OTHER_FILE;
	if (!f || !f->module || !address_of(f, offset, &address))
		return XSR_UNKNOWN;
	/* No call ends in a function's first byte, so such an address is not a return address. */
	symbol = symbol_of(f, address, &begins);
	/* A hostile mangled name may expand to fill all memory: demangle trusted files only. */
	if (symbol && f->trusted)
		plain = xsr_demangle(symbol);
	if (plain)
		symbol = plain;
	unit = unit_of(f->module, address, &bias);
	if (unit)
		err = give_dwarf(unit, address - bias, symbol, begins, give, data);
	else if (symbol)
		err = give_frame(symbol, &nowhere, give, data);
	free(plain);
	return err < 0 ? err : XSR_KNOWN;
}
