/* SPDX-License-Identifier: LGPL-2.1-only */
/*
 * Environment variables for traces on demand, as at the start of the program.
 */
#ifndef XSP_KINETO_ENV_H
#define XSP_KINETO_ENV_H

#include <sys/types.h>

#include "base/own.h"

/**
 * struct xsp_kineto_env - values of the environment
 * @config: KINETO_CONFIG, the machine's configuration
 * @trace_dir: KINETO_ONDEMAND_TRACE_DIR, the folder for traces
 * @socket_dir: KINETO_IPC_SOCKET_DIR, NULL for abstract names
 * @job: SLURM_JOB_ID, 0 for none
 * @gpu: LOCAL_RANK, 0 if unset
 * @daemon_uid: XSPROF_DAEMON_UID, -1 for none
 * @any_uid: XSPROF_DAEMON_UID is "any"
 * @ask: poll the daemon: KINETO_USE_DAEMON is set, and XSPROF_ONDEMAND is not 0; or @ask_first
 * @ask_first: XSPROF_ONDEMAND is "dynolog": poll even if PyTorch's own profiler is present
 * @listen: XSPROF_ONDEMAND is set, and not 0
 */
struct xsp_kineto_env {
	char		*config;
	char		*trace_dir;
	char		*socket_dir;
	int64_t		job;
	int32_t		gpu;
	uid_t		daemon_uid;
	bool		any_uid;
	bool		ask;
	bool		ask_first;
	bool		listen;
};

extern struct xsp_kineto_env xsp_kineto_env XSP_HIDDEN;

void xsp_kineto_env_read(void) XSP_HIDDEN;

#endif /* XSP_KINETO_ENV_H */
