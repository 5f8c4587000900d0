// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the dynamic symbols of an ELF file. The file is not trusted: it may be crafted to cost
 * time, and it may change and shrink while it is read. So it is read in pieces, a missing piece
 * ends it, and the amount read is limited.
 *
 * First the string table is searched for the names; without a match, as in nearly all files, no
 * symbol is read.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "inject/local.h"

#define PIECE		(64u << 10)
#define HEADERS		64u		/* of a program */
#define SECTIONS	512u
#define TEXTS_MAX	(128u << 20)	/* bytes; the largest libraries have 30 MiB */
#define SYMBOLS_MAX	(4u << 20)
#define CODE_MAX	(32u << 20)	/* of the C library */
#define NAMES		64u		/* places of a name: a string may be the end of another */
#define NAME_MAX_LEN	32u

struct file {
	int		fd;
	uint64_t	*budget;
};

static int read_at(struct file *f, uint64_t offset, void *to, size_t len)
{
	if (offset > INT64_MAX - len)
		return -ENOEXEC;
	if (*f->budget < len)
		return -EFBIG;
	*f->budget -= len;
	return pread(f->fd, to, len, (off_t)offset) == (ssize_t)len ? 0 : -ENOEXEC;
}

/*
 * Calls @look for each piece of @len bytes at @offset; each begins with the last @keep bytes of the
 * one before. Return: 0; a result of @look other than 0; or an error.
 */
static int each_piece(struct file *f, uint64_t offset, uint64_t len, size_t keep,
		      int (*look)(void *data, const char *piece, size_t len, uint64_t at),
		      void *data)
{
	static char buffer[PIECE];
	uint64_t at = 0;
	size_t n;
	int err = 0;

	while (!err && at < len) {
		n = len - at < PIECE ? (size_t)(len - at) : PIECE;
		err = read_at(f, offset + at, buffer, n);
		if (!err)
			err = look(data, buffer, n, at);
		at += n < PIECE ? n : PIECE - keep;
	}
	return err;
}

/* ---- names ----------------------------------------------------------------------------------- */

struct names {
	struct symbol	*symbols;
	size_t		nr;
	uint64_t	places[NAMES];	/* offset in the string table */
	size_t		of[NAMES];	/* index of the symbol */
	size_t		nr_places;
};

static int look_for_names(void *data, const char *piece, size_t len, uint64_t at)
{
	struct names *n = data;
	const char *from, *found;
	size_t size, i;

	for (size_t k = 0; k < n->nr; k++) {
		size = strlen(n->symbols[k].name) + 1;
		for (from = piece; n->nr_places < NAMES; from = found + 1) {
			found = memmem(from, len - (size_t)(from - piece), n->symbols[k].name,
				       size);
			if (!found)
				break;
			/* Two pieces may contain it. */
			for (i = 0; i < n->nr_places; i++)
				if (n->places[i] == at + (uint64_t)(found - piece) && n->of[i] == k)
					break;
			if (i < n->nr_places)
				continue;
			n->places[n->nr_places] = at + (uint64_t)(found - piece);
			n->of[n->nr_places++] = k;
		}
	}
	return 0;
}

static int look_at_symbols(void *data, const char *piece, size_t len, uint64_t at)
{
	struct names *n = data;
	Elf64_Sym sym;

	(void)at;
	for (size_t i = 0; i + sizeof(sym) <= len; i += sizeof(sym)) {
		memcpy(&sym, piece + i, sizeof(sym));
		if (sym.st_shndx == SHN_UNDEF)
			continue;
		for (size_t k = 0; k < n->nr_places; k++) {
			if (n->places[k] != sym.st_name)
				continue;
			n->symbols[n->of[k]].value = sym.st_value;
			n->symbols[n->of[k]].size = sym.st_size;
		}
	}
	return 0;
}

static int look_up(struct file *f, const Elf64_Shdr *syms, const Elf64_Shdr *strs,
		   struct symbol *symbols, size_t nr)
{
	struct names n = { .symbols = symbols, .nr = nr };
	uint64_t len = syms->sh_size - syms->sh_size % sizeof(Elf64_Sym);
	int err;

	if (strs->sh_size > TEXTS_MAX || len / sizeof(Elf64_Sym) > SYMBOLS_MAX)
		return -ENOEXEC;
	err = each_piece(f, strs->sh_offset, strs->sh_size, NAME_MAX_LEN, look_for_names, &n);
	/* A piece has whole symbols, except for its last bytes, with which the next one begins. */
	if (!err && n.nr_places)
		err = each_piece(f, syms->sh_offset, len, PIECE % sizeof(Elf64_Sym),
				 look_at_symbols, &n);
	return err;
}

/* ---- the end of a signal's handler ----------------------------------------------------------- */

/* mov $15, %rax; syscall */
static const unsigned char restorer_code[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };

static int look_for_restorer(void *data, const char *piece, size_t len, uint64_t at)
{
	uint64_t *place = data;
	const char *found = memmem(piece, len, restorer_code, sizeof(restorer_code));

	if (!found)
		return 0;
	*place = at + (uint64_t)(found - piece);
	return 1;
}

static int find_restorer(struct file *f, const Elf64_Phdr *ph, uint64_t *restorer)
{
	uint64_t len = ph->p_filesz < CODE_MAX ? ph->p_filesz : CODE_MAX, place;
	int found = each_piece(f, ph->p_offset, len, sizeof(restorer_code), look_for_restorer,
			       &place);

	if (found == 1)
		*restorer = ph->p_vaddr + place;
	return found < 0 ? found : 0;
}

/* ---- a file ---------------------------------------------------------------------------------- */

static int look_at_segments(struct file *f, const Elf64_Ehdr *elf, uint64_t *begin,
			    uint64_t *restorer)
{
	static Elf64_Phdr ph[HEADERS];
	int err = read_at(f, elf->e_phoff, ph, elf->e_phnum * sizeof(ph[0]));

	*begin = UINT64_MAX;
	for (int i = 0; i < elf->e_phnum && !err; i++) {
		if (ph[i].p_type != PT_LOAD)
			continue;
		if (ph[i].p_vaddr < *begin)
			*begin = ph[i].p_vaddr - (ph[i].p_vaddr & 0xfff);
		if (restorer && !*restorer && ph[i].p_flags & PF_X)
			err = find_restorer(f, &ph[i], restorer);
	}
	return err ? err : *begin == UINT64_MAX ? -ENOEXEC : 0;
}

int symbols_find(int fd, struct symbol *symbols, size_t nr, uint64_t *begin, uint64_t *restorer,
		 uint64_t *budget)
{
	static Elf64_Shdr sh[SECTIONS];
	struct file f = { fd, budget };
	Elf64_Ehdr elf;
	int err = read_at(&f, 0, &elf, sizeof(elf));

	if (!err && (memcmp(elf.e_ident, ELFMAG, SELFMAG) || elf.e_ident[EI_CLASS] != ELFCLASS64 ||
		     elf.e_phentsize != sizeof(Elf64_Phdr) || elf.e_phnum > HEADERS ||
		     elf.e_shentsize != sizeof(sh[0]) || elf.e_shnum > SECTIONS))
		err = -ENOEXEC;
	if (!err)
		err = look_at_segments(&f, &elf, begin, restorer);
	if (!err)
		err = read_at(&f, elf.e_shoff, sh, elf.e_shnum * sizeof(sh[0]));
	if (err)
		return err;
	/* There is exactly one. */
	for (int i = 0; i < elf.e_shnum; i++)
		if (sh[i].sh_type == SHT_DYNSYM && sh[i].sh_link < elf.e_shnum)
			return look_up(&f, &sh[i], &sh[sh[i].sh_link], symbols, nr);
	return 0;
}
