// SPDX-License-Identifier: LGPL-2.1-only
/*
 * Readable parts of a loaded object, by its program headers, as the dynamic linker mapped it. The
 * headers must be in the object's first page, where linkers put them; otherwise nothing is reported
 * readable.
 */
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/common/elf.h"

/* Mapped for certain: objects are mapped in whole pages. */
#define LEAST_PAGE	4096u

/*
 * Probes a word: the kernel reads the new signal set before it rejects the invalid @how, and writes
 * nothing. No seccomp filter of a program forbids this call.
 */
static bool can_read(uintptr_t word)
{
	int saved = errno;
	bool can = !syscall(SYS_rt_sigprocmask, -1, word, NULL, sizeof(uint64_t)) ||
		   errno != EFAULT;

	errno = saved;
	return can;
}

bool elf_is_there(struct bytes *bytes, uint64_t size)
{
	uintptr_t at = (uintptr_t)bytes->at & ~(uintptr_t)(LEAST_PAGE - 1);

	if (bytes->bad || size > (uint64_t)(bytes->end - bytes->at))
		bytes->bad = true;
	for (; !bytes->bad && at < (uintptr_t)bytes->at + size; at += LEAST_PAGE)
		bytes->bad = !can_read(at);
	if (bytes->bad)
		bytes->at = bytes->end;
	return !bytes->bad;
}

static const ElfW(Phdr) *headers(const struct elf_object *object, size_t *nr)
{
	const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)object->start;

	if (object->end - object->start < LEAST_PAGE || !can_read(object->start) ||
	    memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_phentsize != sizeof(ElfW(Phdr)) ||
	    head->e_phoff > LEAST_PAGE || head->e_phoff % _Alignof(ElfW(Phdr)))
		return NULL;
	*nr = (LEAST_PAGE - head->e_phoff) / sizeof(ElfW(Phdr));
	if (head->e_phnum < *nr)
		*nr = head->e_phnum;
	return (const ElfW(Phdr) *)(object->start + head->e_phoff);
}

struct bytes elf_readable(const struct elf_object *object, uintptr_t at)
{
	static const struct bytes none = { .bad = true };
	const ElfW(Phdr) *ph;
	uintptr_t base = 0;
	bool first = true;
	size_t nr;

	ph = headers(object, &nr);
	if (!ph || at < object->start || at >= object->end)
		return none;
	for (size_t i = 0; i < nr; i++, ph++) {
		uintptr_t start;

		if (ph->p_type != PT_LOAD)
			continue;
		/* Segments are sorted by address, so the first one is at the begin. */
		if (first)
			base = object->start - (ph->p_vaddr & ~(uintptr_t)(LEAST_PAGE - 1));
		first = false;
		start = base + ph->p_vaddr;
		if (!(ph->p_flags & PF_R) || start < object->start || at < start ||
		    at - start >= ph->p_filesz || ph->p_filesz > object->end - start)
			continue;
		return (struct bytes){ (const uint8_t *)at,
				       (const uint8_t *)start + ph->p_filesz, false };
	}
	return none;
}
