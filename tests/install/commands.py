#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
commands.py XSPROF DOCUMENT...: are the commands of xsprof that documents show, in blocks and
within sentences, of verbs and options that it has?
"""
import re
import shlex
import subprocess
import sys

COMMAND = r"(?<![\w./-])(?:[\w./]*/)?xsprof(-dump)? +(?=[a-z-])([^|;&#()\[]*)"


def told(xsprof, *words):
    return subprocess.run([xsprof, *words, "--help"], capture_output=True, text=True,
                          check=True).stdout


def options(xsprof, verb):
    text = told(xsprof, verb)
    names = {"-h", "--help", "-V", "--version"}
    for line in text.splitlines():
        head = re.match(r" *((-\w)[ ,])? *(--[a-z-]+)?", line)
        names.update(name for name in (head[2], head[3]) if name)
    return names


def plain(path):
    """The text, with the marks of roff and quotes of names gone."""
    text = open(path, encoding="utf-8").read()
    if not path.endswith((".rst", ".md")):
        text = re.sub(r'^\.\\".*|^\.(SH|TH|SS).*', "", text, flags=re.M)
        text = re.sub(r"^\.(B|I|BR|RB|BI|IR|RI|IB)\s", "", text, flags=re.M)
        text = re.sub(r"\\f.|\\&", "", text)
        text = text.replace("\\-", "-").replace("\\(aq", "'").replace("\\ ", " ")
    return text


def commands(path):
    """Each as a list of words from the verb on, and whether it can be nothing else."""
    text = plain(path)
    spans = []
    if path.endswith((".rst", ".md")):
        marks = r"``(.+?)``" if path.endswith(".rst") else r"(?<!`)`([^`]+)`(?!`)"
        spans = [re.sub(r"\s+", " ", span) for span in re.findall(marks, text, re.S)]
        text = re.sub(marks, "", text, flags=re.S)
    for n, line in enumerate(spans + text.splitlines()):
        # A sentence may say what xsprof reports.
        sure = n < len(spans) or re.match(r"\s*([$#]|sudo|XSPROF_\w+=\S+) ", line)
        if not sure and path.endswith((".rst", ".md")) and not re.match(r"\s*xsprof", line):
            continue
        for found in re.finditer(COMMAND, line):
            words = found[2].replace('"', " ").replace("`", " ")
            try:
                words = shlex.split(words)
            except ValueError:
                words = words.split()
            if found[1]:
                words.insert(0, "dump")
            if words:
                yield sure, [word.rstrip(".,:") for word in words]


def main():
    xsprof, *paths = sys.argv[1:]
    verbs = re.findall(r"^  ([a-z]+)  ", told(xsprof), re.M)
    known = {verb: options(xsprof, verb) for verb in verbs}
    count = 0
    wrong = []
    for path in paths:
        for sure, (verb, *words) in commands(path):
            if verb not in known:
                if sure and re.fullmatch("[a-z]+", verb):
                    wrong.append(f"{path}: {verb}: no such verb")
                continue
            count += 1
            for word in words:
                if word == "--" or (verb == "record" and not word.startswith("-") and
                                    "/" in word):
                    break
                name = re.match(r"--[a-z-]+|-\w", word)
                if name and name[0] not in known[verb]:
                    wrong.append(f"{path}: {verb}: no option {name[0]}")
    print("\n".join(wrong) if wrong else f"{count} commands in {len(paths)} documents")
    return bool(wrong) or not count


if __name__ == "__main__":
    sys.exit(main())
