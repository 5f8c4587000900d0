// SPDX-License-Identifier: GPL-2.0-only
/*
 * Determines whether our libraries are loaded into an executable: its permissions, as execve()
 * checks them, and its ELF header. Does not guess about unreadable files.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "record/launch.h"
#include "record/program.h"

#define SCRIPTS_MAX	4	/* nested interpreters, as in the kernel */
#define HEADERS_MAX	256u	/* limit of program headers read */

#define ANOTHER_USER \
	"a program that runs as another user or with more privileges, so that nothing can be " \
	"preloaded into it: run xsprof itself as that user, with the actual command"

/* Like the kernel: set-id bits have no effect on a "nosuid" mount. */
static bool gains_rights(int fd, const struct stat *st)
{
	struct statvfs fs;

	if (!fstatvfs(fd, &fs) && fs.f_flag & ST_NOSUID)
		return false;
	if (st->st_mode & S_ISUID && st->st_uid != getuid())
		return true;
	/* Without the execute permission the bit has another meaning. */
	if (st->st_mode & S_ISGID && st->st_mode & S_IXGRP && st->st_gid != getgid())
		return true;
	return getuid() && fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

/* Return: 1: a segment names the dynamic linker; 0: none does; -1: unknown. */
static int has_linker(int fd, const Elf64_Ehdr *elf)
{
	Elf64_Phdr header;

	if (elf->e_phentsize != sizeof(header) || elf->e_phnum > HEADERS_MAX)
		return -1;
	for (uint32_t i = 0; i < elf->e_phnum; i++) {
		off_t at = (off_t)(elf->e_phoff + i * sizeof(header));

		if (pread(fd, &header, sizeof(header), at) != (ssize_t)sizeof(header))
			return -1;
		if (header.p_type == PT_INTERP)
			return 1;
	}
	return 0;
}

static const char *elf_refusal(int fd, const Elf64_Ehdr *elf)
{
	if (elf->e_ident[EI_CLASS] != ELFCLASS64)
		return "a 32-bit program, and the libraries here are 64-bit";
	if (has_linker(fd, elf) == 0)
		return "statically linked: only markers of a libxsprof-user.a linked into it are "
		       "recorded";
	return NULL;
}

/* The first word of "#!/usr/bin/env python3". Return: false: there is none. */
static bool interpreter(char *head, char *path, size_t size)
{
	char *word = head + 2 + strspn(head + 2, " \t");

	word[strcspn(word, " \t\n")] = '\0';
	if (*word != '/' || strlen(word) >= size)
		return false;
	strcpy(path, word);
	return true;
}

/* Return: true if @path was replaced by another file to check. */
static bool look(char *path, size_t size, const char **why)
{
	/* Do not block on a fifo, nor get a controlling terminal. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	union {
		char		text[PATH_MAX];
		Elf64_Ehdr	elf;
	} head;
	struct stat st;
	ssize_t n = -1;
	bool more = false;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		n = pread(fd, head.text, sizeof(head.text) - 1, 0);
	if (n > 2 && !memcmp(head.text, "#!", 2)) {
		head.text[n] = '\0';
		more = interpreter(head.text, path, size);
	} else if (n >= (ssize_t)sizeof(head.elf) && !memcmp(head.text, ELFMAG, SELFMAG)) {
		*why = gains_rights(fd, &st) ? ANOTHER_USER : elf_refusal(fd, &head.elf);
	}
	close(fd);
	return more;
}

const char *program_refusal(const char *name)
{
	const char *why = NULL;
	char path[PATH_MAX];

	if (launch_find(name, path, sizeof(path)))
		return NULL;
	for (int i = 0; i < SCRIPTS_MAX && look(path, sizeof(path), &why); i++)
		;
	return why;
}
