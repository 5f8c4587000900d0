/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the program in vulkan.c: batches with labels (VK_EXT_debug_utils).
 */
#ifndef XSPROF_TEST_VULKAN_LABELS_H
#define XSPROF_TEST_VULKAN_LABELS_H

/* A command buffer with a label, recorded again without one; and a queue with two labels. */
void labels(void);
/*
 * 10,000 command buffers, each with a label and in a batch of its own: of five devices, one after
 * the other. @how: "again": then recorded without labels; "freed": freed instead; "names": as
 * "again", and each label has another name; "together": all have labels at once.
 */
void labelled(const char *how);

#endif /* XSPROF_TEST_VULKAN_LABELS_H */
