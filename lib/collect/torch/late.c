// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Attaches to a PyTorch that was loaded before this library. PyTorch's calls go through GOT slots
 * that the loader fills; with preloading, it fills them with the functions of enter.c, memory.c and
 * groups.c. Here the slots of these functions are changed afterwards, in all loaded objects. No
 * code and no other slot is changed.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/torch/late.h"

#ifdef __aarch64__
#define SLOT_CALL	R_AARCH64_JUMP_SLOT
#define SLOT_ADDRESS	R_AARCH64_GLOB_DAT
#else
#define SLOT_CALL	R_X86_64_JUMP_SLOT
#define SLOT_ADDRESS	R_X86_64_GLOB_DAT
#endif

/* Prefixes of these functions' names: a slot is changed if this library exports its symbol. */
static const char *const prefixes[] = {
	"_ZN2at27getStepCallbacksUnlessEmpty", "_ZN3c102", "_ZN4c10d",
};

/**
 * struct bind - a walk over the loaded objects
 * @own: handle of this library
 * @base: its load address
 * @slots: changed slots of the function that every op calls
 * @err: the first error
 */
struct bind {
	void		*own;
	uintptr_t	base;
	uint32_t	slots;
	int		err;
};

/**
 * struct object - a loaded object
 * @base: load bias
 * @symbols: symbol table
 * @strings: string table
 * @table: relocation tables: of the PLT, and all others
 * @size: their sizes in bytes
 * @relro: begin of the segment that the loader made read-only
 * @relro_end: its end
 */
struct object {
	uintptr_t		base;
	const ElfW(Sym)		*symbols;
	const char		*strings;
	const ElfW(Rela)	*table[2];
	size_t			size[2];
	uintptr_t		relro;
	uintptr_t		relro_end;
};

/* C libraries other than glibc do not relocate these addresses: add the load bias. */
static const void *at(const struct object *o, ElfW(Addr) address)
{
	return (const void *)(address < o->base ? o->base + address : address);
}

static void read_dynamic(struct object *o, const ElfW(Dyn) *dynamic)
{
	bool rela = false;

	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		const void *there = at(o, dynamic->d_un.d_ptr);

		switch (dynamic->d_tag) {
		case DT_SYMTAB:
			o->symbols = there;
			break;
		case DT_STRTAB:
			o->strings = there;
			break;
		case DT_JMPREL:
			o->table[0] = there;
			break;
		case DT_PLTRELSZ:
			o->size[0] = dynamic->d_un.d_val;
			break;
		case DT_PLTREL:
			rela = dynamic->d_un.d_val == DT_RELA;
			break;
		case DT_RELA:
			o->table[1] = there;
			break;
		case DT_RELASZ:
			o->size[1] = dynamic->d_un.d_val;
			break;
		}
	}
	if (!rela)
		o->size[0] = 0;
}

static int write_slot(const struct object *o, uintptr_t slot, void *function)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = slot & ~(page - 1);
	bool guarded = slot >= o->relro && slot < o->relro_end;

	if (guarded && mprotect((void *)start, page, PROT_READ | PROT_WRITE))
		return -errno;
	/* Release: a thread that calls through the slot sees everything this library has set up. */
	__atomic_store_n((void **)slot, function, __ATOMIC_RELEASE);
	if (guarded && mprotect((void *)start, page, PROT_READ))
		return -errno;
	return 0;
}

static bool is_known(const char *name)
{
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static void bind_slot(struct bind *bind, const struct object *o, const ElfW(Rela) *rela)
{
	uint32_t type = (uint32_t)ELF64_R_TYPE(rela->r_info);
	uintptr_t slot = o->base + rela->r_offset;
	const char *name;
	void *function;
	int err;

	if (type != SLOT_CALL && type != SLOT_ADDRESS)
		return;
	name = o->strings + o->symbols[ELF64_R_SYM(rela->r_info)].st_name;
	if (!is_known(name))
		return;
	function = dlsym(bind->own, name);
	if (!function)
		return;
	err = *(void **)slot == function ? 0 : write_slot(o, slot, function);
	if (err && !bind->err)
		bind->err = err;
	bind->slots += !err && !strncmp(name, prefixes[0], strlen(prefixes[0]));
}

static int bind_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	const ElfW(Dyn) *dynamic = NULL;
	struct object o = { .base = info->dlpi_addr };
	struct bind *bind = arg;

	(void)size;
	if (o.base == bind->base)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_DYNAMIC)
			dynamic = (const void *)(o.base + ph->p_vaddr);
		if (ph->p_type == PT_GNU_RELRO) {
			o.relro = o.base + ph->p_vaddr;
			o.relro_end = o.relro + ph->p_memsz;
		}
	}
	if (!dynamic)
		return 0;
	read_dynamic(&o, dynamic);
	if (!o.symbols || !o.strings)
		return 0;
	for (int i = 0; i < 2; i++)
		for (size_t n = 0; o.table[i] && n < o.size[i] / sizeof(ElfW(Rela)); n++)
			bind_slot(bind, &o, &o.table[i][n]);
	return 0;
}

int torch_late_bind(void)
{
	struct bind bind = { 0 };
	Dl_info self;

	if (!dladdr((void *)torch_late_bind, &self) || !self.dli_fname)
		return -ENOSYS;
	bind.base = (uintptr_t)self.dli_fbase;
	bind.own = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!bind.own)
		return -ENOSYS;
	dl_iterate_phdr(bind_object, &bind);
	return bind.err ? bind.err : bind.slots ? 0 : -ENOSYS;
}
