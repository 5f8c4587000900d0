// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose threads stand in known ranges when it is killed, or ends:
 *
 *	open FILE kill|exit|exec|pause|wait|fat|lose|many|gone
 *
 * FILE gets "TID THREAD-NAME" lines once every thread is where it stays.  "many": there are more
 * threads, which all stand in "step".  "exec": it executes one that waits.  "fat": it has memory
 * that takes the kernel long to free, and waits.  "gone": two seconds before it is killed, another
 * thread ends inside "fetch".
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <xsprof/xsprof.h>

#define THREADS	3
#define FAT	(1500ul << 20)
#define DEEP	30	/* inside each other, in main */
#define MANY	40
#define BEATS	50

static pthread_barrier_t there;
static pid_t tids[MANY];

static void begin(const char *text)
{
	xsprof_begin(xsprof_name(text));
}

/* Thread 0: step > forward > conv; 1: all its ranges have ended; 2: one, and an async one. */
static void *stand(void *arg)
{
	long i = (long)arg;
	char name[16];

	tids[i] = syscall(SYS_gettid);
	snprintf(name, sizeof(name), "stand-%ld", i);
	prctl(PR_SET_NAME, name);
	if (i == 0) {
		begin("step");
		begin("forward");
		begin("data");
		xsprof_end();
		begin("conv \"2d\"");
	} else if (i == 1) {
		begin("step");
		begin("backward");
		xsprof_end();
		xsprof_end();
	} else if (i >= THREADS) {
		begin("step");
	} else {
		begin("all_reduce");
		xsprof_async_begin(xsprof_name("request"), 0x77);
		xsprof_async_begin(xsprof_name("request"), 0x78);
		xsprof_async_end(xsprof_name("request"), 0x78);
	}
	pthread_barrier_wait(&there);
	for (;;)
		pause();
	return NULL;
}

/* It runs several times: where a tracer missed some switches, it saw others. */
static void *leave(void *arg)
{
	begin("batch");
	for (int i = 0; i < BEATS; i++) {
		xsprof_instant(xsprof_name("beat"));
		usleep(2000);
	}
	begin("fetch");
	return arg;
}

static void tell(const char *path, int threads)
{
	char tmp[4096];
	FILE *file;
	int i;

	snprintf(tmp, sizeof(tmp), "%s.tmp", path);
	file = fopen(tmp, "w");
	if (!file)
		exit(90);
	fprintf(file, "%d main\n", (int)getpid());
	for (i = 0; i < threads; i++)
		fprintf(file, "%d stand-%d\n", (int)tids[i], i);
	if (fclose(file) || rename(tmp, path))
		exit(91);
}

static bool is_stopped(pid_t pid)
{
	char path[32], text[512] = "", *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	if (!file || !fgets(text, sizeof(text), file) || fclose(file))
		exit(97);
	state = strrchr(text, ')');
	return state && state[1] == ' ' && state[2] == 'T';
}

/* More records than any ring holds, while the recorder, our parent, reads none. */
static void lose(void)
{
	uint32_t name = xsprof_name("burst");
	pid_t recorder = getppid();
	long i;

	if (kill(recorder, SIGSTOP))
		exit(98);
	while (!is_stopped(recorder))
		usleep(1000);
	for (i = 0; i < 2000000; i++)
		xsprof_instant(name);
	kill(recorder, SIGCONT);
}

/* In small pages. */
static void take_memory(void)
{
	char *mem = mmap(NULL, FAT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED || madvise(mem, FAT, MADV_NOHUGEPAGE))
		exit(95);
	for (size_t i = 0; i < FAT; i += 4096)
		mem[i] = 1;
}

int main(int argc, char **argv)
{
	int threads = THREADS;
	pthread_t t;
	long i;

	if (argc < 3)
		return 92;
	if (!strcmp(argv[2], "many"))
		threads = MANY;
	begin("main");
	pthread_barrier_init(&there, NULL, threads + 1);
	for (i = 0; i < threads; i++)
		if (pthread_create(&t, NULL, stand, (void *)i))
			return 93;
	pthread_barrier_wait(&there);
	usleep(200000);
	if (!strcmp(argv[2], "pause")) {
		xsprof_pause();
		usleep(50000);
		xsprof_resume();
		/* What was hidden ends: the main thread's only. */
		xsprof_end();
		begin("after");
	}
	if (!strcmp(argv[2], "lose"))
		lose();
	for (i = 0; i < DEEP && !strcmp(argv[2], "deep"); i++)
		begin("deep");
	if (!strncmp(argv[2], "fat", 3))
		take_memory();
	tell(argv[1], threads);
	if (!strcmp(argv[2], "gone")) {
		if (pthread_create(&t, NULL, leave, NULL) || pthread_join(t, NULL))
			return 96;
		sleep(2);
	}
	if (!strcmp(argv[2], "exit") || !strcmp(argv[2], "fat-exit"))
		exit(3);
	if (!strcmp(argv[2], "exec"))
		execlp("sleep", "sleep", "600", NULL);
	if (!strcmp(argv[2], "wait") || !strcmp(argv[2], "fat"))
		for (;;)
			pause();
	kill(getpid(), SIGKILL);
	return 94;
}
