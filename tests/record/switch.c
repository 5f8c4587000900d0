// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose threads switch on purpose: two that wake each other. Each ends with a counter
 * that has the kernel's count of its switches so far.
 *
 *	switch ROUNDS [wait]
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <xsprof/xsprof.h>

static long rounds;
static unsigned int turn;

static long switches(void)
{
	struct rusage u;

	return getrusage(RUSAGE_THREAD, &u) ? -1 : u.ru_nvcsw + u.ru_nivcsw;
}

/* Reads the count and writes the counter; repeats if the thread was switched in between. */
static void tell(uint32_t name)
{
	long n;

	do {
		n = switches();
		xsprof_counter(name, n);
	} while (n != switches());
}

static void *play(void *arg)
{
	unsigned int me = arg ? 1 : 0;
	uint32_t name = xsprof_name("switches"), hand = xsprof_name("hand");
	long i;

	for (i = 0; i < rounds; i++) {
		while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != me)
			syscall(SYS_futex, &turn, FUTEX_WAIT, !me, NULL, NULL, 0);
		xsprof_instant(hand);
		__atomic_store_n(&turn, !me, __ATOMIC_RELEASE);
		syscall(SYS_futex, &turn, FUTEX_WAKE, 1, NULL, NULL, 0);
		if (i % 8 == 0)
			usleep(50);
	}
	tell(name);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[2];

	if (argc < 2)
		return 2;
	rounds = atol(argv[1]);
	if (argc > 2 && getchar() == EOF)
		return 3;
	if (pthread_create(&thread[0], NULL, play, NULL) ||
	    pthread_create(&thread[1], NULL, play, argv))
		return 4;
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	return 0;
}
