// SPDX-License-Identifier: GPL-2.0-only
/*
 * Symbols that an ELF file has for the dynamic linker.  Nothing in the file is believed.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "inject/local.h"

struct file {
	const char	*data;
	uint64_t	size;
};

static const void *at(const struct file *f, uint64_t offset, uint64_t len)
{
	return len <= f->size && offset <= f->size - len ? f->data + offset : NULL;
}

static void look(const struct file *f, const Elf64_Shdr *syms, const Elf64_Shdr *strs,
		 struct symbol *symbols, size_t nr)
{
	const Elf64_Sym *sym = at(f, syms->sh_offset, syms->sh_size);
	const char *texts = at(f, strs->sh_offset, strs->sh_size);

	if (!sym || !texts || !strs->sh_size || texts[strs->sh_size - 1])
		return;
	for (uint64_t i = 0; i < syms->sh_size / sizeof(*sym); i++) {
		if (sym[i].st_shndx == SHN_UNDEF || sym[i].st_name >= strs->sh_size)
			continue;
		for (size_t k = 0; k < nr; k++) {
			if (strcmp(texts + sym[i].st_name, symbols[k].name))
				continue;
			symbols[k].value = sym[i].st_value;
			symbols[k].size = sym[i].st_size;
		}
	}
}

static uint64_t find_restorer(const struct file *f, const Elf64_Phdr *ph)
{
	/* mov $15, %rax; syscall */
	static const unsigned char code[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };
	const char *text = at(f, ph->p_offset, ph->p_filesz), *found;

	found = text ? memmem(text, ph->p_filesz, code, sizeof(code)) : NULL;
	return found ? ph->p_vaddr + (uint64_t)(found - text) : 0;
}

static int read_file(const struct file *f, struct symbol *symbols, size_t nr, uint64_t *begin,
		     uint64_t *restorer)
{
	const Elf64_Ehdr *elf = at(f, 0, sizeof(*elf));
	const Elf64_Phdr *ph;
	const Elf64_Shdr *sh;
	uint64_t lowest = UINT64_MAX;

	if (!elf || memcmp(elf->e_ident, ELFMAG, SELFMAG) ||
	    elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_phentsize != sizeof(*ph) ||
	    elf->e_shentsize != sizeof(*sh))
		return -ENOEXEC;
	ph = at(f, elf->e_phoff, (uint64_t)elf->e_phnum * sizeof(*ph));
	sh = at(f, elf->e_shoff, (uint64_t)elf->e_shnum * sizeof(*sh));
	if (!ph || !sh)
		return -ENOEXEC;
	for (int i = 0; i < elf->e_phnum; i++) {
		if (ph[i].p_type != PT_LOAD)
			continue;
		if (ph[i].p_vaddr < lowest)
			lowest = ph[i].p_vaddr - (ph[i].p_vaddr & 0xfff);
		if (restorer && !*restorer && ph[i].p_flags & PF_X)
			*restorer = find_restorer(f, &ph[i]);
	}
	for (int i = 0; i < elf->e_shnum; i++)
		if (sh[i].sh_type == SHT_DYNSYM && sh[i].sh_link < elf->e_shnum)
			look(f, &sh[i], &sh[sh[i].sh_link], symbols, nr);
	if (begin)
		*begin = lowest;
	return lowest == UINT64_MAX ? -ENOEXEC : 0;
}

int symbols_find(int fd, struct symbol *symbols, size_t nr, uint64_t *begin, uint64_t *restorer)
{
	struct file f;
	struct stat st;
	void *data;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || !st.st_size)
		return -ENOEXEC;
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return -errno;
	f.data = data;
	f.size = (uint64_t)st.st_size;
	err = read_file(&f, symbols, nr, begin, restorer);
	munmap(data, (size_t)st.st_size);
	return err;
}
