#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Trains with the transformers library's Trainer: a tiny BERT with random weights on random tokens.
usage: trainer.py OUT.json [shapes]
Profiles one step. Writes how many steps Trainer counted to OUT.json.steps.
"""
import os
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
import torch
from transformers import (BertConfig, BertForSequenceClassification, Trainer, TrainerCallback,
                          TrainingArguments)

from profiled import profiled

STEPS = 6


class Tokens(torch.utils.data.Dataset):
    def __len__(self):
        return 4 * STEPS

    def __getitem__(self, i):
        torch.manual_seed(i)
        return {"input_ids": torch.randint(100, (16,)), "labels": torch.tensor(i % 2)}


class OneStep(TrainerCallback):
    """Profiles the last step, from its begin to the end of the optimizer's step."""

    def __init__(self):
        self.window = None

    def on_step_begin(self, args, state, control, **kwargs):
        if state.global_step == STEPS - 1:
            self.window = profiled(sys.argv[1])
            self.window.__enter__()

    def on_step_end(self, args, state, control, **kwargs):
        if self.window:
            self.window.__exit__(None, None, None)
            self.window = None


def main():
    torch.manual_seed(0)
    net = BertForSequenceClassification(BertConfig(
        vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=32, num_labels=2))
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            model=net, train_dataset=Tokens(), callbacks=[OneStep()],
            args=TrainingArguments(output_dir=folder, per_device_train_batch_size=4,
                                   num_train_epochs=1, save_strategy="no", report_to=[],
                                   disable_tqdm=True, use_cpu=True, logging_strategy="no"))
        trainer.train()
    with open(sys.argv[1] + ".steps", "w") as f:
        f.write("%d" % trainer.state.global_step)


main()
