// SPDX-License-Identifier: GPL-2.0-only
/* The code that LTTng-UST generates from lttng-event.h. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng-event.h"
