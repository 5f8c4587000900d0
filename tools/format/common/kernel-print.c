// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints common kinds of kernel events as text. The caller has checked sizes.
 */
#include "format/common/kernel-print.h"
#include "text/escape.h"
#include "text/put.h"

static uint64_t get64(const char *data, uint16_t at)
{
	uint64_t v;

	memcpy(&v, data + at, sizeof(v));
	return v;
}

static char *put_int(char *p, const char *data, uint16_t at)
{
	return put_i64(p, (int32_t)xsp_kernel_get32(data, at));
}

/* Most names are plain letters, which one test of sixteen bytes detects. */
static char *put_comm(char *p, const char *data, uint16_t at)
{
	const char *s = data + at;
	size_t len = 0;

	while (len < KERNEL_COMM && s[len] >= ' ' && s[len] < 127 && s[len] != '\\')
		len++;
	if (len == KERNEL_COMM || !s[len]) {
		memcpy(p, s, KERNEL_COMM);
		return p + len;
	}
	return xsp_escape_text(p, s, strnlen(s, KERNEL_COMM));
}

static char *put_state(char *p, uint64_t state)
{
	static const char letters[] = "SDTtXZPI";
	bool any = false;

	for (int i = 0; i < 8; i++) {
		if (!(state >> i & 1))
			continue;
		if (any)
			*p++ = '|';
		*p++ = letters[i];
		any = true;
	}
	if (!any)
		*p++ = 'R';
	if (state & 0x100)
		*p++ = '+';
	return p;
}

static char *put_switch(char *p, const char *d, const uint16_t *at)
{
	p = put_comm(put_lit(p, "prev_comm="), d, at[0]);
	p = put_int(put_lit(p, " prev_pid="), d, at[1]);
	p = put_int(put_lit(p, " prev_prio="), d, at[2]);
	p = put_state(put_lit(p, " prev_state="), get64(d, at[3]));
	p = put_comm(put_lit(p, " ==> next_comm="), d, at[4]);
	p = put_int(put_lit(p, " next_pid="), d, at[5]);
	return put_int(put_lit(p, " next_prio="), d, at[6]);
}

/* At least three digits. */
static char *put_cpu(char *p, uint32_t cpu)
{
	return cpu < 1000 ? put_d3(p, cpu) : put_u32(p, cpu);
}

static char *put_wakeup(char *p, const char *d, const uint16_t *at)
{
	p = put_comm(put_lit(p, "comm="), d, at[0]);
	p = put_int(put_lit(p, " pid="), d, at[1]);
	p = put_int(put_lit(p, " prio="), d, at[2]);
	return put_cpu(put_lit(p, " target_cpu="), xsp_kernel_get32(d, at[3]));
}

static char *put_migrate(char *p, const char *d, const uint16_t *at)
{
	p = put_comm(put_lit(p, "comm="), d, at[0]);
	p = put_int(put_lit(p, " pid="), d, at[1]);
	p = put_int(put_lit(p, " prio="), d, at[2]);
	p = put_int(put_lit(p, " orig_cpu="), d, at[3]);
	return put_int(put_lit(p, " dest_cpu="), d, at[4]);
}

static char *put_plain_hex(char *p, uint64_t v)
{
	char tmp[XSP_PUT_MAX], *end = put_hex(tmp, v);

	memcpy(p, tmp + 2, end - tmp - 2);
	return p + (end - tmp - 2);
}

static char *put_sys_enter(char *p, const char *d, const uint16_t *at)
{
	p = put_i64(put_lit(p, "NR "), (int64_t)get64(d, at[0]));
	p = put_lit(p, " (");
	for (int i = 0; i < 6; i++) {
		if (i)
			p = put_lit(p, ", ");
		p = put_plain_hex(p, get64(d, at[1] + 8 * i));
	}
	*p++ = ')';
	return p;
}

static char *put_sys_exit(char *p, const char *d, const uint16_t *at)
{
	p = put_i64(put_lit(p, "NR "), (int64_t)get64(d, at[0]));
	return put_i64(put_lit(p, " = "), (int64_t)get64(d, at[1]));
}

static char *put_softirq(char *p, const char *d, const uint16_t *at)
{
	static const char *const names[] = {
		"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED",
		"HRTIMER", "RCU",
	};
	uint32_t vec = xsp_kernel_get32(d, at[0]);

	p = put_u32(put_lit(p, "vec="), vec);
	p = put_lit(p, " [action=");
	if (vec < sizeof(names) / sizeof(names[0])) {
		size_t len = strlen(names[vec]);

		memcpy(p, names[vec], len);
		p += len;
	} else {
		p = put_u32(p, vec);
	}
	*p++ = ']';
	return p;
}

char *xsp_kernel_print(enum printer printer, const char *data, const uint16_t *at, char *p)
{
	switch (printer) {
	case SWITCH:
		return put_switch(p, data, at);
	case WAKEUP:
		return put_wakeup(p, data, at);
	case MIGRATE:
		return put_migrate(p, data, at);
	case SYS_ENTER:
		return put_sys_enter(p, data, at);
	case SYS_EXIT:
		return put_sys_exit(p, data, at);
	case VECTOR:
		return put_int(put_lit(p, "vector="), data, at[0]);
	case SOFTIRQ:
		return put_softirq(p, data, at);
	default:
		return p;
	}
}
