/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A producer made from the ABI headers alone: it shares no code with the library, so a recorder is
 * tested against the layout, not against the library. It can do what the library never would. With
 * SIM_DEVICE in the environment it uses the device.
 */
#ifndef TESTS_RECORD_SIM_H
#define TESTS_RECORD_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include <xsprof/abi.h>

/**
 * struct sim - a producer
 * @fd: its file
 * @base: the whole mapping
 * @ctl: its first page
 * @rings: number of rings
 * @slots: slots of a ring
 * @device: the kernel owns the control page
 * @name: its name in the session
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

/* Opens a producer in the session of XSPROF_SESSION; exits with a message on failure. */
void sim_open(struct sim *s, uint32_t rings, uint64_t ring_size, uint32_t mode, uint32_t seq);

struct xsprof_ring_writer *sim_writer(const struct sim *s, uint32_t k);
struct xsprof_ring_reader *sim_reader(const struct sim *s, uint32_t k);
struct xsprof_rec *sim_slot(const struct sim *s, uint32_t k, uint64_t pos);

/* Adds a name to the arena. Return: its id. */
uint32_t sim_name(struct sim *s, const char *text);

/*
 * Writes one record of @size slots, with @value in every payload word. In DISCARD mode a record
 * that does not fit is a drop, unless @wait says to wait for the reader.
 *
 * Return: whether it is in the ring.
 */
bool sim_put(struct sim *s, uint32_t k, uint32_t name, uint32_t size, uint64_t value, bool wait);

/* Writes the goodbye of a regular exit. */
void sim_goodbye(struct sim *s);

#endif /* TESTS_RECORD_SIM_H */
