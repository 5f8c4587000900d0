/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Limits of the sizes that the environment or a configuration may request, and the default size of
 * a ring.
 */
#ifndef XSP_ENV_LIMITS_H
#define XSP_ENV_LIMITS_H

#define XSP_RING_DEFAULT	(4ull << 20)
#define XSP_RING_MAX	(1ull << 40)
#define XSP_ARENA_MIN	4096
#define XSP_ARENA_MAX	(256ull << 20)

#endif /* XSP_ENV_LIMITS_H */
