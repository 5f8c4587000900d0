// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rows of a report: see groups.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "report/groups.h"

#define GROUP_BITS	15
#define GROUP_SLOTS	(1u << GROUP_BITS)
#define GROUPS_MAX	(GROUP_SLOTS / 4 * 3)
#define WORD_BITS	15
#define WORD_SLOTS	(1u << WORD_BITS)
#define WORDS_MAX	(WORD_SLOTS / 4 * 3)
#define WORD_BYTES	(4u << 20)
#define MEMO_BITS	14
#define MEMO_SLOTS	(1u << MEMO_BITS)
#define NAME_BYTES	65536u		/* no name in an arena is longer */
#define HIST_MEMORY	(12u << 20)

struct word {
	const char	*text;
	uint32_t	len;
};

/* Limits of the texts: one share for names, one for other texts. */
struct share {
	uint32_t	words;		/* left */
	size_t		bytes;		/* likewise */
};

struct memo {
	uint64_t	key;	/* producer and name, + 1 */
	uint32_t	text;
	uint32_t	category;
};

struct xsp_groups {
	const struct xsprof_trace	*trace;
	bool				pattern;
	uint64_t			seed;
	uint32_t			nr_groups;
	uint32_t			nr_words;
	size_t				bytes;
	struct share			names;
	struct share			texts;
	size_t				hist;
	struct xsp_group		other;
	char				*arena;
	struct xsp_group		*slots[GROUP_SLOTS];
	struct xsp_group		*all[GROUPS_MAX + 1];
	uint32_t			word_slots[WORD_SLOTS];
	struct word			words[WORDS_MAX];
	struct memo			memo[MEMO_SLOTS];
	char				text[NAME_BYTES];
};

int xsp_groups_new(const struct xsprof_trace *trace, bool pattern, bool texts,
		   struct xsp_groups **out)
{
	struct xsp_groups *groups = calloc(1, sizeof(*groups));

	if (!groups)
		return -ENOMEM;
	groups->arena = malloc(WORD_BYTES);
	if (!groups->arena) {
		free(groups);
		return -ENOMEM;
	}
	groups->trace = trace;
	groups->seed = xsp_hash_seed(groups);
	groups->pattern = pattern;
	groups->nr_words = 1;	/* Word 0 stands for all texts that did not fit. */
	groups->words[0] = (struct word){ "(other)", 7 };
	groups->names = (struct share){ WORDS_MAX - 1, WORD_BYTES };
	/* Half each, so that neither can use up the other's space. */
	if (texts)
		groups->names = groups->texts = (struct share){ WORDS_MAX / 2 - 1, WORD_BYTES / 2 };
	groups->other.min = UINT64_MAX;
	*out = groups;
	return 0;
}

static void free_octaves(struct xsp_group *group)
{
	struct xsp_octave *octave;

	while ((octave = group->octaves)) {
		group->octaves = octave->next;
		free(octave);
	}
}

void xsp_groups_free(struct xsp_groups *groups)
{
	uint32_t i;

	if (!groups)
		return;
	for (i = 0; i < GROUP_SLOTS; i++) {
		if (!groups->slots[i])
			continue;
		free_octaves(groups->slots[i]);
		free(groups->slots[i]);
	}
	free_octaves(&groups->other);
	free(groups->arena);
	free(groups);
}

static uint32_t hash_bytes(uint64_t seed, const char *s, size_t len, unsigned int bits)
{
	uint64_t h = seed ^ len;

	while (len--)
		h = (h ^ (unsigned char)*s++) * 0x100000001b3u;
	return (uint32_t)((h * 0x9e3779b97f4a7c15u) >> (64 - bits));
}

static uint32_t intern(struct xsp_groups *groups, struct share *share, const char *s, size_t len)
{
	uint32_t i = hash_bytes(groups->seed, s, len, WORD_BITS), n;

	for (; (n = groups->word_slots[i]); i = (i + 1) % WORD_SLOTS)
		if (groups->words[n].len == len && !memcmp(groups->words[n].text, s, len))
			return n;
	if (!share->words || share->bytes < len)
		return 0;
	share->words--;
	share->bytes -= len;
	n = groups->nr_words++;
	memcpy(groups->arena + groups->bytes, s, len);
	groups->words[n] = (struct word){ groups->arena + groups->bytes, (uint32_t)len };
	groups->bytes += len;
	groups->word_slots[i] = n;
	return n;
}

uint32_t xsp_groups_intern(struct xsp_groups *groups, const char *s, size_t len)
{
	return intern(groups, &groups->texts, s, len);
}

uint32_t xsp_groups_intern_name(struct xsp_groups *groups, const char *s, size_t len)
{
	return intern(groups, &groups->names, s, len);
}

uint32_t xsp_groups_category(struct xsp_groups *groups, uint32_t producer, uint32_t name)
{
	const char *s = xsprof_trace_category(groups->trace, producer, name);

	return intern(groups, &groups->names, s, strlen(s));
}

static bool is_letter(char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* The length of the number at the begin of @s, decimal, or 0x and hexadecimal; 0: none. */
static size_t number_len(const char *s, size_t len)
{
	bool hex = len > 2 && s[0] == '0' && s[1] == 'x';
	size_t n = hex ? 2 : 0;

	while (n < len && ((s[n] >= '0' && s[n] <= '9') ||
			   (hex && (s[n] | 0x20) >= 'a' && (s[n] | 0x20) <= 'f')))
		n++;
	/* If a letter follows, as in 2d, it is a word and no number. */
	return (hex && n == 2) || (n < len && is_letter(s[n])) ? 0 : n;
}

/* Replaces each number that is a word of its own by *: the result is a pattern for --name. */
static const char *make_pattern(struct xsp_groups *groups, const char *s, size_t *len)
{
	size_t i = 0, to = 0, n;

	while (i < *len && to < NAME_BYTES) {
		n = i && (is_letter(s[i - 1]) || (s[i - 1] >= '0' && s[i - 1] <= '9')) ? 0 :
		    number_len(s + i, *len - i);
		groups->text[to++] = n ? '*' : s[i];
		i += n ? n : 1;
	}
	*len = to;
	return groups->text;
}

void xsp_groups_words(struct xsp_groups *groups, uint32_t producer, uint32_t name,
		      uint32_t *text, uint32_t *category)
{
	uint64_t key = ((uint64_t)producer << 32 | name) + 1;
	struct memo *memo = &groups->memo[(key * 0x9e3779b97f4a7c15u) >> (64 - MEMO_BITS)];
	const char *s;
	size_t len;

	if (memo->key != key) {
		s = xsprof_trace_name_len(groups->trace, producer, name, &len);
		if (groups->pattern && name)
			s = make_pattern(groups, s, &len);
		memo->text = intern(groups, &groups->names, name ? s : "-", name ? len : 1);
		memo->category = xsp_groups_category(groups, producer, name);
		/* A name that is missing so far may come with a later chunk. */
		memo->key = name && !strcmp(xsprof_trace_name(groups->trace, producer, name), "?") ?
			    0 : key;
	}
	*text = memo->text;
	*category = memo->category;
}

const char *xsp_groups_word(const struct xsp_groups *groups, uint32_t word, size_t *len)
{
	*len = groups->words[word].len;
	return groups->words[word].text;
}

static uint32_t hash_key(const struct xsp_key *key)
{
	uint64_t h = key->type;

	h = h * 0x9e3779b97f4a7c15u + key->name;
	h = (h ^ h >> 29) * 0x9e3779b97f4a7c15u + key->category;
	h = (h ^ h >> 29) * 0x9e3779b97f4a7c15u + key->shape;
	h = (h ^ h >> 29) * 0x9e3779b97f4a7c15u + key->module;
	h = (h ^ h >> 29) * 0x9e3779b97f4a7c15u + key->producer;
	h = (h ^ h >> 29) * 0x9e3779b97f4a7c15u + key->tid;
	return (uint32_t)((h ^ h >> 32) * 0x9e3779b97f4a7c15u >> (64 - GROUP_BITS));
}

static bool same(const struct xsp_key *a, const struct xsp_key *b)
{
	return a->type == b->type && a->name == b->name && a->category == b->category &&
	       a->shape == b->shape && a->module == b->module &&
	       a->producer == b->producer && a->tid == b->tid;
}

struct xsp_group *xsp_groups_get(struct xsp_groups *groups, const struct xsp_key *key)
{
	uint32_t i = hash_key(key);
	struct xsp_group *group;

	for (; groups->slots[i]; i = (i + 1) % GROUP_SLOTS)
		if (same(&groups->slots[i]->key, key))
			return groups->slots[i];
	group = groups->nr_groups < GROUPS_MAX ? calloc(1, sizeof(*group)) : NULL;
	/* Events without duration must not be added to one row. */
	if (!group)
		return key->type ? NULL : &groups->other;
	group->key = *key;
	group->min = UINT64_MAX;
	groups->slots[i] = group;
	groups->nr_groups++;
	return group;
}

/*
 * Octave 0 has 0 to 63; octave k the numbers whose highest bit is k + 5, in 64 steps. So everything
 * below 128 is exact.
 */
static uint32_t shift_of(uint64_t ns)
{
	return ns < XSP_HIST_STEPS ? 0 : 64 - XSP_HIST_BITS - (uint32_t)__builtin_clzll(ns);
}

static struct xsp_octave *get_octave(struct xsp_groups *groups, struct xsp_group *group,
				     uint32_t shift)
{
	struct xsp_octave **link = &group->octaves, *octave;

	for (; (octave = *link); link = &octave->next) {
		if (octave->shift != shift)
			continue;
		/* The next duration is most likely in the same octave. */
		*link = octave->next;
		octave->next = group->octaves;
		group->octaves = octave;
		return octave;
	}
	if (groups->hist + sizeof(*octave) > HIST_MEMORY)
		return NULL;
	octave = calloc(1, sizeof(*octave));
	if (!octave)
		return NULL;
	groups->hist += sizeof(*octave);
	octave->shift = shift;
	octave->next = group->octaves;
	group->octaves = octave;
	return octave;
}

void xsp_group_duration(struct xsp_groups *groups, struct xsp_group *group, uint64_t ns)
{
	uint32_t shift = shift_of(ns);
	uint64_t step = shift ? (ns >> (shift - 1)) - XSP_HIST_STEPS : ns;
	struct xsp_octave *octave = group->octaves;
	uint32_t *count;

	if (!octave || octave->shift != shift)
		octave = get_octave(groups, group, shift);
	if (!octave) {
		group->no_hist = true;
		return;
	}
	count = &octave->count[step];
	if (*count != UINT32_MAX)
		(*count)++;
}

/* The middle of a bucket. */
static uint64_t middle(uint32_t shift, uint32_t step)
{
	if (!shift)
		return step;
	return ((uint64_t)(XSP_HIST_STEPS + step) << (shift - 1)) + ((1ull << (shift - 1)) >> 1);
}

uint64_t xsp_group_quantile(const struct xsp_group *group, double part)
{
	const struct xsp_octave *octave;
	uint64_t rank = (uint64_t)(part * (double)group->timed), seen = 0, ns;
	uint32_t shift, step;

	/* The smallest duration such that at least @part of all are not longer. */
	if ((double)rank < part * (double)group->timed || !rank)
		rank++;
	for (shift = 0; shift <= 64 - XSP_HIST_BITS; shift++) {
		for (octave = group->octaves; octave && octave->shift != shift; )
			octave = octave->next;
		for (step = 0; octave && step < XSP_HIST_STEPS; step++) {
			seen += octave->count[step];
			if (seen < rank)
				continue;
			ns = middle(shift, step);
			return ns < group->min ? group->min : ns > group->max ? group->max : ns;
		}
	}
	return group->max;
}

struct xsp_group **xsp_groups_all(struct xsp_groups *groups, size_t *n)
{
	uint32_t i;

	*n = 0;
	if (groups->other.count)
		groups->all[(*n)++] = &groups->other;
	for (i = 0; i < GROUP_SLOTS; i++)
		if (groups->slots[i])
			groups->all[(*n)++] = groups->slots[i];
	return groups->all;
}

bool xsp_groups_is_other(const struct xsp_groups *groups, const struct xsp_group *group)
{
	return group == &groups->other;
}
