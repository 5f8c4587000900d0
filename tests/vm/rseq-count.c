// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shows that a guest can run tests of rseq code: many threads increment per-CPU counters, each in a
 * restartable sequence (load, add, store), and the sum must be exact. It does not test a real ring,
 * only whether this kernel, libc and emulator restart a sequence as they should.
 *
 * With -DBROKEN the descriptor ends the sequence before its store, so a thread that is preempted
 * just there stores an old value. Counts must get lost then; otherwise the guest takes interrupts
 * at so few places that a test in it proves nothing.
 *
 * Usage: rseq-count THREADS COUNT. Exit status: 0 exact, 1 counts lost, 2 no rseq.
 */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/rseq.h>

#ifndef __aarch64__
#error "the sequence is written for arm64 only"
#endif

#ifdef BROKEN
#define SEQUENCE_END	"2:	str	x9, [%[counter]]\n"
#else
#define SEQUENCE_END	"	str	x9, [%[counter]]\n2:\n"
#endif

enum { MAX_CPUS = 64, MAX_THREADS = 64 };

static struct { volatile uint64_t value; char pad[120]; } counters[MAX_CPUS];
static long count;

static struct rseq *own_rseq(void)
{
	return (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

/* Returns 1 if it incremented the counter, 0 if the sequence was aborted */
static int try_increment(struct rseq *rseq)
{
	uint32_t cpu = *(volatile uint32_t *)&rseq->cpu_id_start;
	volatile uint64_t *counter = &counters[cpu % MAX_CPUS].value;

	__asm__ __volatile__ goto (
		"	.pushsection __rseq_cs, \"aw\"\n"
		"	.balign	32\n"
		"3:	.long	0, 0\n"
		"	.quad	1f, 2f - 1f, 4f\n"
		"	.popsection\n"
		"	adrp	x9, 3b\n"
		"	add	x9, x9, :lo12:3b\n"
		"	str	x9, [%[rseq], %[cs]]\n"
		"1:	ldr	w10, [%[rseq], %[cpu_id]]\n"
		"	cmp	w10, %w[cpu]\n"
		"	b.ne	%l[aborted]\n"
		"	ldr	x9, [%[counter]]\n"
		"	add	x9, x9, #1\n"
		SEQUENCE_END
		"	b	5f\n"
		"	.inst	0xd428bc00\n"	/* RSEQ_SIG, the word before an abort handler */
		"4:	b	%l[aborted]\n"
		"5:\n"
		: : [rseq] "r" (rseq), [cpu] "r" (cpu), [counter] "r" (counter),
		    [cs] "i" (offsetof(struct rseq, rseq_cs)),
		    [cpu_id] "i" (offsetof(struct rseq, cpu_id))
		: "x9", "x10", "cc", "memory" : aborted);
	return 1;
aborted:
	return 0;
}

static void *run_thread(void *aborts)
{
	struct rseq *rseq = own_rseq();

	for (long i = 0; i < count; i++)
		while (!try_increment(rseq))
			++*(uint64_t *)aborts;
	return NULL;
}

int main(int argc, char **argv)
{
	int n_threads = argc > 2 ? atoi(argv[1]) : 0;
	uint64_t aborts[MAX_THREADS] = { 0 };
	uint64_t sum = 0, sum_aborts = 0, want;
	pthread_t threads[MAX_THREADS];

	if (argc > 2)
		count = atol(argv[2]);
	if (n_threads < 1 || n_threads > MAX_THREADS || count < 1) {
		fprintf(stderr, "usage: rseq-count THREADS COUNT\n");
		return 3;
	}
	printf("# __rseq_size %u, cpu_id %d\n", __rseq_size, (int)own_rseq()->cpu_id);
	if (__rseq_size < 20 || (int)own_rseq()->cpu_id < 0)
		return 2;

	for (int i = 0; i < n_threads; i++) {
		if (pthread_create(&threads[i], NULL, run_thread, &aborts[i])) {
			fprintf(stderr, "rseq-count: thread %d: cannot be started\n", i);
			return 3;
		}
	}
	for (int i = 0; i < n_threads; i++) {
		pthread_join(threads[i], NULL);
		sum_aborts += aborts[i];
	}
	for (int i = 0; i < MAX_CPUS; i++)
		sum += counters[i].value;
	want = (uint64_t)n_threads * count;
	printf("# sum %llu of %llu, %llu aborts\n", (unsigned long long)sum,
	       (unsigned long long)want, (unsigned long long)sum_aborts);
	return sum != want;
}
