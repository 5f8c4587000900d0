// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a Perfetto trace with protobuf-c, packet by packet: a library written by others must
 * understand what xsprof-dump writes byte by byte, with no unknown field, and would write it in as
 * many bytes. Usage: read-perfetto FILE; prints the number of packets.
 */
#include <stdio.h>
#include <stdlib.h>

#include "perfetto.pb-c.h"

static unsigned char *read_all(const char *path, size_t *len)
{
	FILE *file = fopen(path, "r");
	unsigned char *data = NULL;
	size_t room = 0, n;

	*len = 0;
	if (!file)
		return NULL;
	do {
		room = room ? room * 2 : 1 << 20;
		data = realloc(data, room);
		if (!data)
			exit(1);
		n = fread(data + *len, 1, room - *len, file);
		*len += n;
	} while (n);
	fclose(file);
	return data;
}

/* Counts unknown fields in every message of the packet, recursively. */
static size_t unknown(const ProtobufCMessage *message)
{
	const ProtobufCMessageDescriptor *d = message->descriptor;
	size_t n = message->n_unknown_fields;

	for (unsigned int i = 0; i < d->n_fields; i++) {
		const ProtobufCFieldDescriptor *f = &d->fields[i];
		const char *member = (const char *)message + f->offset;

		if (f->type != PROTOBUF_C_TYPE_MESSAGE)
			continue;
		if (f->label == PROTOBUF_C_LABEL_REPEATED) {
			size_t many = *(const size_t *)((const char *)message +
							f->quantifier_offset);

			for (size_t k = 0; k < many; k++)
				n += unknown((*(ProtobufCMessage *const *const *)member)[k]);
		} else if (*(ProtobufCMessage *const *)member) {
			n += unknown(*(ProtobufCMessage *const *)member);
		}
	}
	return n;
}

int main(int argc, char **argv)
{
	size_t len, at = 0, packets = 0;
	unsigned char *data = argc == 2 ? read_all(argv[1], &len) : NULL;

	if (!data) {
		fprintf(stderr, "usage: read-perfetto FILE\n");
		return 2;
	}
	while (at < len) {
		size_t size = 0, shift = 0;
		Pf__TracePacket *packet;

		if (data[at++] != 10)
			break;
		do {
			size |= (size_t)(data[at] & 127) << shift;
			shift += 7;
		} while (data[at++] & 128 && at < len && shift < 35);
		if (at > len || size > len - at)
			break;
		packet = pf__trace_packet__unpack(NULL, size, data + at);
		if (!packet) {
			fprintf(stderr, "packet %zu cannot be read\n", packets);
			return 1;
		}
		if (unknown(&packet->base)) {
			fprintf(stderr, "packet %zu has unknown fields\n", packets);
			return 1;
		}
		if (pf__trace_packet__get_packed_size(packet) != size) {
			fprintf(stderr, "packet %zu takes %zu bytes, not %zu\n", packets, size,
				pf__trace_packet__get_packed_size(packet));
			return 1;
		}
		pf__trace_packet__free_unpacked(packet, NULL);
		packets++;
		at += size;
	}
	if (at != len) {
		fprintf(stderr, "no packet at byte %zu of %zu\n", at, len);
		return 1;
	}
	free(data);
	printf("%zu\n", packets);
	return 0;
}
