// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of held and dropped producers in /sys/class/misc/xsprof/, for people and monitoring;
 * read-only.
 */
#include <linux/device.h>
#include <linux/sysfs.h>

#include "xsprof.h"

#define COUNTER(name, field)								\
	static ssize_t name##_show(struct device *dev, struct device_attribute *attr,	\
				   char *buf)						\
	{										\
		struct xsp_counters c;							\
											\
		xsp_retain_counters(&c);						\
		return sysfs_emit(buf, "%llu\n", c.field);				\
	}										\
	static DEVICE_ATTR_RO(name)

COUNTER(live, live);
COUNTER(kept, kept);
COUNTER(kept_bytes, kept_bytes);
COUNTER(dropped, dropped);
COUNTER(dropped_bytes, dropped_bytes);

static ssize_t bytes_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", xsp_account_total());
}
static DEVICE_ATTR_RO(bytes);

static struct attribute *xsp_attrs[] = {
	&dev_attr_live.attr,
	&dev_attr_kept.attr,
	&dev_attr_kept_bytes.attr,
	&dev_attr_dropped.attr,
	&dev_attr_dropped_bytes.attr,
	&dev_attr_bytes.attr,
	NULL,
};

static const struct attribute_group xsp_group = {
	.attrs = xsp_attrs,
};

const struct attribute_group *xsp_sysfs_groups[] = {
	&xsp_group,
	NULL,
};
