/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cost of calls through a collector's library, as a ratio to a plain marker pair.
 */
#ifndef BENCH_COLLECTOR_H
#define BENCH_COLLECTOR_H

#define BENCH_CALLS_MAX	3

/**
 * struct bench_calls - a way to begin and end a range through the collector
 * @fn: begins and ends @n ranges
 * @id: name of the figure in ns
 * @ratio: name of its ratio to a marker pair
 */
struct bench_calls {
	void		(*fn)(long n);
	const char	*id;
	const char	*ratio;
};

/* Return: the library that the environment's variable names; exits where there is none. */
void *bench_collector(const char *variable);
/* Return: a function of it; exits where there is none. */
void *bench_collector_find(void *lib, const char *symbol);

/*
 * Measures a marker pair (@pair is the name of that figure) and @nr calls in turn, in a session,
 * and prints the figures. @open loads the collector, once the session is open. Return: an exit
 * status.
 */
int bench_collector_run(char **argv, const char *pair, void (*open)(void),
			const struct bench_calls *calls, int nr);

#endif /* BENCH_COLLECTOR_H */
