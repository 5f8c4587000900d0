// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that ended while their process continued: seen by the kernel's tracer, by records of the
 * kernel module, and by another thread with the same id. Ranges open on a thread end with it;
 * ranges open when its process was killed, with all threads, are open at that time.
 */
#include <stdlib.h>
#include <string.h>

#include <xsprof/trace.h>

#include "decoder/builder.h"
#include "common/tap.h"

#define MS		1000000ull
#define PAGE		4096
#define EXIT_ID		310
#define KILLED_NS	(5000 * MS)
#define RAN_NS		(4990 * MS)
#define RANGES_MAX	16

/* A sub-buffer under construction. */
struct page {
	uint8_t		data[PAGE];
	uint64_t	ts;
	uint32_t	used;
};

static struct xsprof_range ranges[RANGES_MAX];
static uint32_t nr_ranges, nr_ends;

static void put_section(struct cap *list, uint32_t kind, const char *text)
{
	struct xsprof_cap_section head = { .kind = kind, .len = (uint32_t)strlen(text) };
	size_t room = sizeof(head) + ((head.len + 7) & ~7u);

	list->data = realloc(list->data, list->len + room);
	if (!list->data)
		tap_bail("no memory");
	memset(list->data + list->len, 0, room);
	memcpy(list->data + list->len, &head, sizeof(head));
	memcpy(list->data + list->len + sizeof(head), text, head.len);
	list->len += room;
}

static void put_meta(struct cap *cap, const char *tasks)
{
	struct cap list = { 0 };

	put_section(&list, XSPROF_SECTION_INFO, "clock=mono\nsubbuf_size=4096\ndata_offset=16\n"
		    "commit_offset=8\nlong_size=8\nrelease=6.1.0\n");
	put_section(&list, XSPROF_SECTION_FORMAT,
		    "sched\nname: sched_process_exit\nID: 310\nformat:\n"
		    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		    "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		    "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
		    "\nprint fmt: \"comm=%s pid=%d\", REC->comm, REC->pid\n");
	put_section(&list, XSPROF_SECTION_TASKS, tasks);
	cap_chunk(cap, (struct xsprof_chunk){ .type = XSPROF_CHUNK_KERNEL,
					      .producer = XSPROF_NO_PRODUCER }, 0, list.data,
		  list.len);
	free(list.data);
}

static void put_exit(struct page *page, uint64_t ns, uint32_t tid)
{
	struct { uint32_t time[2]; uint32_t head; uint16_t type; uint8_t flags[2]; uint32_t current;
		 char comm[16]; uint32_t pid; } e = {
		.head = 28 / 4, .type = EXIT_ID, .current = tid, .comm = "worker", .pid = tid,
	};

	if (!page->used) {
		page->used = 16;
		page->ts = ns;
		memcpy(page->data, &ns, 8);
	}
	/* A time that does not fit into an event's own bits precedes the event. */
	e.time[0] = 30 | (uint32_t)((ns - page->ts) & ((1u << 27) - 1)) << 5;
	e.time[1] = (uint32_t)((ns - page->ts) >> 27);
	memcpy(page->data + page->used, &e, sizeof(e));
	page->used += sizeof(e);
	page->ts = ns;
}

static void put_page(struct cap *cap, struct page *page)
{
	uint64_t commit = page->used - 16, first;

	memcpy(page->data + 8, &commit, 8);
	memcpy(&first, page->data, 8);
	cap_chunk(cap, (struct xsprof_chunk){ .type = XSPROF_CHUNK_FTRACE,
					      .producer = XSPROF_NO_PRODUCER, .first = first,
					      .last = page->ts }, 0, page->data, PAGE);
}

static void take(void *data, const struct xsprof_range *range)
{
	(void)data;
	if (nr_ranges < RANGES_MAX)
		ranges[nr_ranges] = *range;
	nr_ranges++;
}

/* Reads all ranges, in batches of @at_once events. */
static void read_back(const struct cap *cap, size_t at_once)
{
	struct xsprof_pairer *pairer;
	struct xsprof_event evs[8];
	struct xsprof_trace *t;
	uint64_t last = 0;
	int n = 0;

	nr_ranges = nr_ends = 0;
	if (xsprof_trace_open(cap_path(cap->data, cap->len), NULL, &t))
		tap_bail("%s", xsprof_trace_error(NULL));
	if (xsprof_pairer_new(t, take, NULL, &pairer))
		tap_bail("no memory");
	while ((n = xsprof_trace_next_batch(t, evs, at_once)) > 0) {
		for (int i = 0; i < n; i++) {
			if (evs[i].ns < last)
				tap_wrong("time goes back");
			last = evs[i].ns;
			nr_ends += evs[i].type == XSPROF_EV_THREAD_EXIT;
			if (evs[i].producer != XSPROF_NO_PRODUCER)
				CHECK_EQ(xsprof_pairer_event(pairer, &evs[i]), 0);
		}
	}
	CHECK_EQ(n, 0);
	CHECK_EQ(xsprof_pairer_finish(pairer), 0);
	xsprof_pairer_free(pairer);
	xsprof_trace_close(t);
}

static void expect(uint32_t tid, uint32_t name, uint64_t end, bool gone)
{
	uint32_t i = 0;

	while (i < nr_ranges && (ranges[i].tid != tid || ranges[i].name != name))
		i++;
	if (i == nr_ranges) {
		tap_wrong("no range %u of thread %u", name, tid);
		return;
	}
	if (ranges[i].end_ns != end || ranges[i].how != XSPROF_RANGE_OPEN ||
	    !(ranges[i].flags & XSPROF_RANGEF_THREAD_EXIT) != !gone)
		tap_wrong("range %u of thread %u ends at %llu, how %u, flags %x", name, tid,
			  (unsigned long long)ranges[i].end_ns, ranges[i].how, ranges[i].flags);
}

static void begin_cap(struct cap *cap, struct ring *r)
{
	struct xsprof_sync syncs[] = { sync_at(1000, 0), sync_at(10000 * MS, 0) };
	struct xsprof_ctl ctl = ctl_make(2, 1, 1 << 20, XSPROF_MODE_DISCARD);

	ctl.pid = 100;
	cap_begin(cap);
	cap_clock(cap, syncs, 2);
	cap_producer(cap, 0, 100, &ctl);
	for (uint32_t tid = 100; tid < 104; tid++) {
		ring_rec(r, XSPROF_REC_BEGIN, tid, (900 + tid) * MS, 1, 0);
		ring_rec(r, XSPROF_REC_BEGIN, tid, (900 + tid) * MS + 1, 2, 0);
	}
}

static void end_cap(struct cap *cap, uint32_t how, int status)
{
	cap_exit(cap, 0, (struct xsprof_cap_exit){ .how = how, .status = status,
						   .ticks = KILLED_NS, .lived = KILLED_NS,
						   .ran = RAN_NS });
	cap_end(cap, KILLED_NS + 10 * MS);
}

/*
 * Thread 101 ends long before the process, 102 with it; 103 belongs to another process according to
 * the recorder; then a new thread gets the id 101.
 */
static void test_tracer(void)
{
	struct page page = { 0 };
	struct ring r = { 0 };
	struct cap cap;

	begin_cap(&cap, &r);
	ring_rec(&r, XSPROF_REC_BEGIN, 101, 3000 * MS, 3, 0);
	ring_rec(&r, XSPROF_REC_END, 101, 3001 * MS, 0, 0);
	put_meta(&cap, "100 100 main\n101 100 worker\n102 100 worker\n103 200 other\n");
	cap_ring(&cap, 0, 0, 0, &r);
	put_exit(&page, 2000 * MS, 101);
	put_exit(&page, 2500 * MS, 103);
	put_exit(&page, 4500 * MS, 102);
	put_exit(&page, 4995 * MS, 100);
	put_page(&cap, &page);
	end_cap(&cap, XSPROF_HOW_KILLED, 9);
	for (size_t at_once = 1; at_once <= 8; at_once += 7) {
		read_back(&cap, at_once);
		CHECK_EQ(nr_ends, 1);
		CHECK_EQ(nr_ranges, 9);
		expect(101, 1, 2000 * MS, true);
		expect(101, 2, 2000 * MS, true);
		expect(100, 2, KILLED_NS, false);
		expect(102, 1, KILLED_NS, false);
		expect(102, 2, KILLED_NS, false);
		expect(103, 2, KILLED_NS, false);
		for (uint32_t i = 0; i < nr_ranges; i++)
			if (ranges[i].name == 3)
				CHECK(ranges[i].how == XSPROF_RANGE_ENDED && !ranges[i].depth &&
				      ranges[i].end_ns == 3001 * MS);
	}
	ring_free(&r);
	cap_free(&cap);
	tap_result("by the kernel's tracer");
}

/* The recorder knows the end only as an interval; the tracer has the exact time. */
static void test_process(void)
{
	struct page page = { 0 };
	struct xsprof_event ev;
	struct xsprof_trace *t;
	struct ring r = { 0 };
	struct cap cap;

	begin_cap(&cap, &r);
	put_meta(&cap, "100 100 main\n101 100 worker\n");
	cap_ring(&cap, 0, 0, 0, &r);
	put_exit(&page, 4980 * MS, 101);
	put_exit(&page, 4995 * MS, 100);
	put_page(&cap, &page);
	cap_exit(&cap, 0, (struct xsprof_cap_exit){ .how = XSPROF_HOW_KILLED, .status = 9,
						    .ticks = KILLED_NS, .lived = RAN_NS,
						    .ran = RAN_NS });
	cap_end(&cap, KILLED_NS + 10 * MS);
	if (xsprof_trace_open(cap_path(cap.data, cap.len), NULL, &t))
		tap_bail("%s", xsprof_trace_error(NULL));
	CHECK(xsprof_trace_next_batch(t, &ev, 1) > 0);
	CHECK_EQ(xsprof_trace_lived_ns(t, 0), 4995 * MS);
	CHECK_EQ(xsprof_trace_ran_ns(t, 0), 4995 * MS);
	xsprof_trace_close(t);
	read_back(&cap, 8);
	expect(100, 2, 4995 * MS, false);
	ring_free(&r);
	cap_free(&cap);
	tap_result("the end of a process by the kernel's tracer");
}

static void sched_out(struct ring *r, uint32_t tid, uint64_t ns, char state)
{
	ring_put(r, (struct xsprof_rec){
		.type = XSPROF_REC_SCHED_OUT, .size = 1, .tid = tid, .ts = ns,
		.aux = (uint32_t)state << XSPROF_SCHED_STATE_SHIFT,
	}, NULL, 0);
}

/* In a snapshot the process is known to have continued. */
static void test_module(void)
{
	struct ring r = { 0 };
	struct cap cap;

	for (int killed = 0; killed < 2; killed++) {
		begin_cap(&cap, &r);
		sched_out(&r, 102, 1900 * MS, 'S');
		sched_out(&r, 101, 2000 * MS, 'X');
		sched_out(&r, 102, 4500 * MS, 'Z');
		cap_ring(&cap, 0, 0, 0, &r);
		end_cap(&cap, killed ? XSPROF_HOW_KILLED : XSPROF_HOW_RUNNING, killed ? 9 : 0);
		read_back(&cap, 8);
		CHECK_EQ(nr_ranges, 8);
		expect(101, 1, 2000 * MS, true);
		expect(101, 2, 2000 * MS, true);
		expect(102, 2, killed ? KILLED_NS : 4500 * MS, !killed);
		expect(100, 2, KILLED_NS, false);
		ring_free(&r);
		r = (struct ring){ 0 };
		cap_free(&cap);
	}
	tap_result("by the kernel's module");
}

/* Adds a thread's first entry. */
static void put_new(struct cap *arena, uint32_t tid, const char *comm, uint64_t since)
{
	struct xsprof_entry entry;
	size_t at = arena->len;

	cap_entry(arena, XSPROF_ENTRY_THREAD, tid, XSPROF_THREAD_NEW, comm);
	arena->data = realloc(arena->data, arena->len + sizeof(since));
	if (!arena->data)
		tap_bail("no memory");
	arena->room = arena->len + sizeof(since);
	memcpy(arena->data + arena->len, &since, sizeof(since));
	arena->len += sizeof(since);
	memcpy(&entry, arena->data + at, sizeof(entry));
	entry.size += sizeof(since);
	memcpy(arena->data + at, &entry, sizeof(entry));
}

static void called(const struct cap *cap, uint32_t tid, const char *name)
{
	struct xsprof_trace *t;

	if (xsprof_trace_open(cap_path(cap->data, cap->len), NULL, &t))
		tap_bail("%s", xsprof_trace_error(NULL));
	if (strcmp(xsprof_trace_thread(t, 0, tid), name))
		tap_wrong("thread %u is called '%s', not '%s'", tid,
			  xsprof_trace_thread(t, 0, tid), name);
	xsprof_trace_close(t);
}

/* Of a long name of a predecessor the begin is shown, up to a character's end. */
static void test_long(void)
{
	char name[200] = "", wide[200] = "x", want[500];
	struct cap cap, arena = { 0 };
	struct ring r = { 0 };

	memset(name, 'n', 100);
	while (strlen(wide) < 100)
		strcat(wide, "\u00fc");
	begin_cap(&cap, &r);
	put_new(&arena, 101, "kernel's", 800 * MS);
	cap_entry(&arena, XSPROF_ENTRY_THREAD, 101, XSPROF_THREAD_GIVEN, wide);
	put_new(&arena, 101, "kernel's", 900 * MS);
	cap_entry(&arena, XSPROF_ENTRY_THREAD, 101, XSPROF_THREAD_GIVEN, wide);
	put_new(&arena, 101, "kernel's", 950 * MS);
	cap_entry(&arena, XSPROF_ENTRY_THREAD, 101, XSPROF_THREAD_GIVEN, name);
	cap_arena(&cap, 0, 0, &arena);
	cap_ring(&cap, 0, 0, 0, &r);
	end_cap(&cap, XSPROF_HOW_KILLED, 9);
	snprintf(want, sizeof(want), "%.63s, %s", wide, name);
	called(&cap, 101, want);
	cap_free(&cap);
	cap_free(&arena);
	ring_free(&r);
	tap_result("threads: long names of predecessors");
}

/* A name that the thread gave itself comes first; an empty one is none. */
static void test_names(void)
{
	const uint32_t other = XSPROF_THREAD_GIVEN | XSPROF_THREAD_OTHER;
	struct cap cap, arena = { 0 };
	struct ring r = { 0 };

	begin_cap(&cap, &r);
	for (uint32_t tid = 101; tid < 109; tid++)
		put_new(&arena, tid, "kernel's", 800 * MS);
	for (uint32_t tid = 102; tid < 108; tid++)
		cap_entry(&arena, XSPROF_ENTRY_THREAD, tid, other, "others'");
	for (uint32_t tid = 103; tid < 109; tid++)
		cap_entry(&arena, XSPROF_ENTRY_THREAD, tid, XSPROF_THREAD_GIVEN, "own");
	cap_entry(&arena, XSPROF_ENTRY_THREAD, 104, other, "others' again");
	cap_entry(&arena, XSPROF_ENTRY_THREAD, 105, XSPROF_THREAD_GIVEN, "");
	cap_entry(&arena, XSPROF_ENTRY_THREAD, 107, other, "");
	cap_entry(&arena, XSPROF_ENTRY_THREAD, 108, XSPROF_THREAD_GIVEN, "");
	put_new(&arena, 106, "kernel's", 900 * MS);
	cap_entry(&arena, XSPROF_ENTRY_THREAD, 106, other, "others'");
	cap_arena(&cap, 0, 0, &arena);
	cap_ring(&cap, 0, 0, 0, &r);
	end_cap(&cap, XSPROF_HOW_KILLED, 9);
	called(&cap, 101, "kernel's");
	called(&cap, 102, "others'");
	called(&cap, 103, "own");
	called(&cap, 104, "own");
	called(&cap, 105, "others'");
	called(&cap, 106, "own, others'");
	called(&cap, 107, "own");
	called(&cap, 108, "kernel's");
	cap_free(&cap);
	cap_free(&arena);
	ring_free(&r);
	tap_result("threads: their names by themselves, by others, by the kernel");
}

/* The kernel reuses an id: nobody saw the first thread end, but another one has its id. */
static void test_numbers(void)
{
	struct cap cap, arena = { 0 };
	struct ring r = { 0 };

	begin_cap(&cap, &r);
	put_new(&arena, 100, "main", 800 * MS);
	put_new(&arena, 101, "first", 900 * MS);
	put_new(&arena, 102, "worker", 901 * MS);
	put_new(&arena, 103, "worker", 902 * MS);
	cap_entry(&arena, XSPROF_ENTRY_THREAD, 103, XSPROF_THREAD_GIVEN, "given");
	/* The same thread under another name; and flags that a later version may use. */
	cap_entry(&arena, XSPROF_ENTRY_THREAD, 100, 0, "called");
	cap_entry(&arena, XSPROF_ENTRY_THREAD, 100, XSPROF_THREAD_NEW, "called");
	put_new(&arena, 101, "second", 2000 * MS);
	put_new(&arena, 102, "worker", 2500 * MS);
	put_new(&arena, 103, "other", 2600 * MS);
	cap_arena(&cap, 0, 0, &arena);
	ring_rec(&r, XSPROF_REC_BEGIN, 101, 3000 * MS, 3, 0);
	ring_rec(&r, XSPROF_REC_END, 101, 3001 * MS, 0, 0);
	cap_ring(&cap, 0, 0, 0, &r);
	end_cap(&cap, XSPROF_HOW_KILLED, 9);
	for (size_t at_once = 1; at_once <= 8; at_once += 7) {
		read_back(&cap, at_once);
		CHECK_EQ(nr_ends, 3);
		CHECK_EQ(nr_ranges, 9);
		expect(100, 2, KILLED_NS, false);
		expect(101, 1, 2000 * MS, true);
		expect(101, 2, 2000 * MS, true);
		expect(102, 2, 2500 * MS, true);
		expect(103, 1, 2600 * MS, true);
		for (uint32_t i = 0; i < nr_ranges; i++)
			if (ranges[i].name == 3)
				CHECK(ranges[i].how == XSPROF_RANGE_ENDED && !ranges[i].depth);
	}
	called(&cap, 100, "called");
	called(&cap, 101, "first, second");
	called(&cap, 102, "worker");
	called(&cap, 103, "given, other");
	cap_free(&cap);
	ring_free(&r);
	r = (struct ring){ 0 };
	/* More threads with that id, and the recorder's notice of the last one's end. */
	begin_cap(&cap, &r);
	put_new(&arena, 101, "third", 3500 * MS);
	put_new(&arena, 101, "fourth", 3600 * MS);
	cap_arena(&cap, 0, 0, &arena);
	cap_chunk(&cap, (struct xsprof_chunk){ .type = XSPROF_CHUNK_THREADS }, 0,
		  &(struct xsprof_cap_thread){ .tid = 101, .comm = "renamed" },
		  sizeof(struct xsprof_cap_thread));
	cap_ring(&cap, 0, 0, 0, &r);
	end_cap(&cap, XSPROF_HOW_KILLED, 9);
	called(&cap, 101, "first, ..., renamed");
	cap_free(&cap);
	cap_free(&arena);
	ring_free(&r);
	tap_result("by another thread that has the number");
}

int main(void)
{
	test_tracer();
	test_process();
	test_module();
	test_names();
	test_long();
	test_numbers();
	return tap_done();
}
