"""Prompts of folders of every kind, as AutoTokenizer and apply_chat_template make them. Cases: test/python/cases/folders.ts.

Run as a program it writes what the unit tests compare with: python test/python/test_folders.py CASES/folders test/speaking/folderIds.json
"""

import json
import os
import sys
from pathlib import Path

import pytest
from transformers import AutoTokenizer

CASES = Path(os.environ["CASES"]) / "folders" if "CASES" in os.environ else Path(sys.argv[1])
TALKS = json.loads((CASES / "talks.json").read_text())
KINDS = sorted(folder.name for folder in CASES.iterdir() if folder.is_dir())


def prompts(kind, talks):
    tokenizer = AutoTokenizer.from_pretrained(CASES / kind)
    write = lambda talk: tokenizer.apply_chat_template(
        talk["messages"], tools=talk["tools"], add_generation_prompt=talk["asks"], return_dict=False
    )
    return [write(talk) for talk in talks]


@pytest.mark.parametrize("kind", KINDS)
def test_the_prompts_of_200_conversations_have_the_ids_of_apply_chat_template(kind):
    got = json.loads((CASES / f"{kind}.ids.json").read_text())
    assert len(got) == len(TALKS) == 200
    assert len(KINDS) == 22
    wanted = prompts(kind, TALKS)
    different = [i for i, ids in enumerate(wanted) if ids != got[i]]
    assert not different, f"{len(different)} of 200 prompts differ, as number {different[0]}"


if __name__ == "__main__":
    by_length = sorted(range(len(TALKS)), key=lambda i: len(json.dumps(TALKS[i]["messages"])))
    # short ones, with tools and without
    chosen = [i for i in by_length if TALKS[i]["tools"]][:1] + [i for i in by_length if not TALKS[i]["tools"]][:1]
    lines = [f"{json.dumps(kind)}: {json.dumps(dict(zip(chosen, prompts(kind, [TALKS[i] for i in chosen]))), separators=(',', ':'))}" for kind in KINDS]
    Path(sys.argv[2]).write_text("{\n" + ",\n".join(lines) + "\n}\n")
