/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A producer made by hand from the ABI headers alone: it shares no code with the library, so that
 * a recorder tested with it is tested against the layout and not against itself.  It can do what
 * the library never would.  With SIM_DEVICE in the environment it is one of the device's.
 */
#ifndef TESTS_RECORD_SIM_H
#define TESTS_RECORD_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/abi.h>

/**
 * struct sim - a producer
 * @fd: its file
 * @base: all of it
 * @ctl: its first page
 * @rings: rings in it
 * @slots: of a ring
 * @device: its control page is the kernel's
 * @name: in the session
 */
struct sim {
	int			fd;
	uint8_t			*base;
	struct xsprof_ctl	*ctl;
	uint32_t		rings;
	uint64_t		slots;
	bool			device;
	char			name[64];
};

/* In the session of XSPROF_SESSION; dies with a message where that cannot be. */
void sim_open(struct sim *s, uint32_t rings, uint64_t ring_size, uint32_t mode, uint32_t seq);

struct xsprof_ring_writer *sim_writer(const struct sim *s, uint32_t k);
struct xsprof_ring_reader *sim_reader(const struct sim *s, uint32_t k);
struct xsprof_rec *sim_slot(const struct sim *s, uint32_t k, uint64_t pos);

/* A name in the arena.  Return: its id. */
uint32_t sim_name(struct sim *s, const char *text);

/*
 * One record of @size slots, its value @value in every payload word.  In DISCARD mode, where it
 * does not fit, it is a drop, unless @wait says to wait for the reader.
 *
 * Return: it is in the ring.
 */
bool sim_put(struct sim *s, uint32_t k, uint32_t name, uint32_t size, uint64_t value, bool wait);

/* The goodbye of a regular exit. */
void sim_goodbye(struct sim *s);

#endif /* TESTS_RECORD_SIM_H */
