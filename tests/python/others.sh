#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Programs without Python, with the library that is preloaded for Python: programs that use the C
# library's functions that it wraps, at moments when nothing else may be called. TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tools/tap.sh
. tests/python/start.sh

cat >ctor.c <<'END'
/* Its constructor waits for a thread, which makes a condition in front of another and signals. */
#include <pthread.h>
static struct { pthread_cond_t cond; pthread_mutex_t mutex; } pair[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static int is;
static void *work(void *arg)
{
	pthread_cond_init(&pair[0].cond, 0);
	pthread_cond_init(&pair[1].cond, 0);
	pthread_mutex_lock(&lock);
	is = 1;
	pthread_cond_signal(&done);
	pthread_mutex_unlock(&lock);
	return arg;
}
static __attribute__((constructor)) void begin(void)
{
	pthread_t thread;

	pthread_create(&thread, 0, work, 0);
	pthread_mutex_lock(&lock);
	while (!is)
		pthread_cond_wait(&done, &lock);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, 0);
}
END
cat >open.c <<'END'
#include <dlfcn.h>
int main(int argc, char **argv) { return argc == 2 && dlopen(argv[1], RTLD_NOW) ? 7 : 1; }
END
gcc -shared -fPIC -o ctor.so ctor.c -pthread 2>log && gcc -o open open.c 2>>log -ldl &&
	timeout 60 "$xsprof" record -q -o data -- ./open ./ctor.so 2>>log
[ $? = 7 ]
result "a library whose constructor waits for a thread" $?

cat >malloc.c <<'END'
/* An allocator that makes its locks in the first call. */
#include <pthread.h>
#include <string.h>
static char memory[64 << 20] __attribute__((aligned(64)));
static struct { pthread_cond_t cond; pthread_mutex_t mutex; } locks[4];
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static size_t used;
static int made;
void *malloc(size_t n)
{
	void *p;

	pthread_mutex_lock(&first);
	for (int i = 0; !made && i < 4; i++)
		pthread_cond_init(&locks[i].cond, 0);
	made = 1;
	p = memory + used;
	used += (n + 63) & ~63ul;
	pthread_mutex_unlock(&first);
	return used <= sizeof(memory) ? p : 0;
}
void free(void *p) { (void)p; }
void *calloc(size_t n, size_t m) { return malloc(n * m); }
void *realloc(void *old, size_t n)
{
	void *p = malloc(n);

	return old && p ? memmove(p, old, n) : p;
}
END
echo '#include <stdlib.h>
int main(void) { return malloc(5) ? 8 : 1; }' >allocates.c
gcc -shared -fPIC -fno-builtin -o malloc.so malloc.c -pthread 2>log &&
	gcc -fno-builtin -o allocates allocates.c 2>>log &&
	timeout 60 "$xsprof" record -q -o data -- \
		env LD_PRELOAD="./malloc.so:$BUILD/lib/libxsprof-python.so" ./allocates 2>>log
[ $? = 8 ]
result "an allocator that makes conditions when it is first called" $?

cat >races.c <<'END'
/* No race: what is shared is under its lock. */
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static int whose, count;
static void *work(void *arg)
{
	int me = (int)(long)arg;

	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&lock);
		while (whose != me)
			pthread_cond_wait(&turn, &lock);
		count++;
		whose = !me;
		pthread_cond_broadcast(&turn);
		pthread_mutex_unlock(&lock);
	}
	return 0;
}
int main(void)
{
	pthread_t threads[2];

	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], 0, work, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], 0);
	return count == 2000 ? 9 : 1;
}
END
if gcc -fsanitize=thread -g -o races races.c -pthread 2>log && { ./races 2>>log; [ $? = 9 ]; }; then
	"$xsprof" record -q -o data -- ./races 2>>log
	[ $? = 9 ] && ! grep -q 'WARNING: ThreadSanitizer' log
	result "a program under gcc's ThreadSanitizer" $?
else
	skipped "a program under gcc's ThreadSanitizer" "it cannot be built or run here"
fi

echo 'import gc; gc.collect()' >collect.py
"$xsprof" record -q -o data -- bash -c 'exec -a libc.so.6 /usr/bin/python3 collect.py' 2>log &&
	"$xsprof" report data 2>>log | grep -q 'garbage collection$'
result "a Python that is called by the name of another file" $?
finish
