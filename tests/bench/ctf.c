// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the begins and ends of a capture as a CTF 1.8 trace with the same events, for readers
 * of that format: a stream a CPU, the CPU in the packet's context, fields as LTTng-UST would
 * record a marker (u32 tid, two u64). Prints how many. Usage: ctf FILE DIR (an empty folder)
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xsprof/trace.h>

#define CTF_MAGIC	0xc1fc1fc1u
#define PACKET		(1u << 20)	/* bytes of a packet */
#define MAX_CPUS	64

struct packet_head {
	uint32_t	magic;
	uint32_t	stream_id;
	uint64_t	begin;
	uint64_t	end;
	uint64_t	content_bits;
	uint64_t	packet_bits;
	uint32_t	cpu;
} __attribute__((packed));

struct ctf_event {
	uint8_t		id;
	uint64_t	ns;
	uint32_t	tid;
	uint64_t	a;
	uint64_t	b;
} __attribute__((packed));

/**
 * struct stream - a CPU's stream
 * @file: its file, NULL while the CPU has no event
 * @used: bytes used in the current packet, 0 if there is none
 * @packet: the current packet
 */
struct stream {
	FILE		*file;
	size_t		used;
	unsigned char	*packet;
};

static const char metadata[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"trace {\n\tmajor = 1; minor = 8; byte_order = le;\n"
	"\tpacket.header := struct { uint32_t magic; uint32_t stream_id; };\n};\n"
	"clock { name = monotonic; freq = 1000000000; };\n"
	"typealias integer { size = 64; align = 8; signed = false;\n"
	"\tmap = clock.monotonic.value; } := clock_t;\n"
	"stream {\n\tid = 0;\n"
	"\tpacket.context := struct { clock_t timestamp_begin; clock_t timestamp_end;\n"
	"\t\tuint64_t content_size; uint64_t packet_size; uint32_t cpu_id; };\n"
	"\tevent.header := struct { uint8_t id; clock_t timestamp; };\n};\n"
	"event { id = 0; name = \"begin\"; stream_id = 0;\n"
	"\tfields := struct { uint32_t tid; uint64_t name; uint64_t value; }; };\n"
	"event { id = 1; name = \"end\"; stream_id = 0;\n"
	"\tfields := struct { uint32_t tid; uint64_t name; uint64_t value; }; };\n";

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "ctf: %s: %s\n", what, why);
	exit(1);
}

static FILE *create(const char *dir, const char *file)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	f = fopen(path, "wxe");
	if (!f)
		fail(path, strerror(errno));
	return f;
}

static void start(struct stream *s, const char *dir, uint32_t cpu)
{
	char name[32];

	snprintf(name, sizeof(name), "stream_%" PRIu32, cpu);
	s->file = create(dir, name);
	s->packet = malloc(PACKET);
	if (!s->packet)
		fail(name, strerror(ENOMEM));
}

static void flush(struct stream *s)
{
	struct packet_head *head = (struct packet_head *)s->packet;

	if (!s->used)
		return;
	head->content_bits = s->used * 8;
	head->packet_bits = PACKET * 8ull;
	memset(s->packet + s->used, 0, PACKET - s->used);
	s->used = 0;
	if (fwrite(s->packet, PACKET, 1, s->file) != 1)
		fail("stream", strerror(errno));
}

static void add(struct stream *s, uint32_t cpu, const struct xsprof_event *ev)
{
	struct packet_head *head = (struct packet_head *)s->packet;
	const struct ctf_event e = {
		.id = ev->type == XSPROF_REC_END,
		.ns = ev->ns,
		.tid = ev->tid,
		.a = ev->name,
		.b = ev->value,
	};

	if (s->used + sizeof(e) > PACKET)
		flush(s);
	if (!s->used) {
		*head = (struct packet_head){ .magic = CTF_MAGIC, .begin = ev->ns, .cpu = cpu };
		s->used = sizeof(*head);
	}
	memcpy(s->packet + s->used, &e, sizeof(e));
	s->used += sizeof(e);
	head->end = ev->ns;
}

int main(int argc, char **argv)
{
	const struct xsprof_trace_options opts = { .size = sizeof(opts) };
	static struct stream streams[MAX_CPUS];
	const struct xsprof_event *ev;
	struct xsprof_trace *trace;
	uint64_t events = 0;
	FILE *f;
	int n;

	if (argc != 3) {
		fprintf(stderr, "usage: ctf FILE DIR\n");
		return 2;
	}
	if (xsprof_trace_open(argv[1], &opts, &trace) < 0)
		fail(argv[1], xsprof_trace_error(NULL));
	f = create(argv[2], "metadata");
	if (fputs(metadata, f) < 0 || fclose(f))
		fail("metadata", strerror(errno));
	while ((n = xsprof_trace_next(trace, &ev)) > 0) {
		uint32_t cpu = ev->cpu < 0 ? 0 : ev->cpu % MAX_CPUS;

		if (ev->type != XSPROF_REC_BEGIN && ev->type != XSPROF_REC_END)
			continue;
		if (!streams[cpu].file)
			start(&streams[cpu], argv[2], cpu);
		add(&streams[cpu], cpu, ev);
		events++;
	}
	if (n < 0)
		fail(argv[1], xsprof_trace_error(trace));
	for (struct stream *s = streams; s < streams + MAX_CPUS; s++) {
		if (!s->file)
			continue;
		flush(s);
		free(s->packet);
		if (fclose(s->file))
			fail("stream", strerror(errno));
	}
	xsprof_trace_close(trace);
	printf("%" PRIu64 "\n", events);
	return 0;
}
