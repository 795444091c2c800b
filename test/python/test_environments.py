"""Exported environments: the folders' episodes against the sandbox's, and each framework's own classes with the folder's files."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(os.environ["CASES"]) / "environments"
ODD = CASES / "odd"
sys.path.insert(0, str(ODD))

REPLAY = """
import json, sys
from playground_episode import Episode, whole

refused = ended = 0
for line in open("episodes.jsonl", encoding="utf-8"):
    played = json.loads(line)
    episode = Episode(**played["task"])
    where = (played["task"], played["moves"])
    assert episode.prompt == whole(played["prompt"]), where
    replies = iter(played["replies"])
    for move in played["moves"]:
        if played["expert"]:
            expert = episode.expert()
            assert expert == (move["answer"] if "answer" in move else {"tool": move["tool"], "arguments": move["values"]}), where
        reply = next(replies, {})
        if "answer" in move:
            episode.answer(move["answer"])
            continue
        said = episode.call(move["tool"], move["values"])
        assert said.text == whole(reply.get("text", reply.get("refused"))), where
        assert (said.refused, said.paid) == ("refused" in reply, reply.get("paid", 0)), where
        refused += said.refused
    assert episode.rewards() == played["parts"], where
    assert episode.reward() == played["reward"], where
    ended += episode.over
print(json.dumps({"episodes": sum(1 for _ in open("episodes.jsonl")), "refused": refused, "over": ended}))
"""


def inside(folder, program):
    """What a program prints that runs in an exported folder, as JSON."""
    run = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=240)
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout)


@pytest.mark.parametrize("name", ["guessTheWord", "keyValueStore", "odd"])
def test_a_thousand_episodes_have_the_words_rewards_and_experts_moves_of_the_sandbox_bit_for_bit(name):
    counts = inside(CASES / name, REPLAY)
    assert counts["episodes"] == 1000
    assert counts["refused"] > 50
    assert counts["over"] > 200


def test_an_endless_loop_ends_by_its_counted_work_as_a_fault_with_its_line_and_the_machine_goes_on():
    told = inside(
        CASES / "endless",
        """
import json
from playground_episode import Episode, EnvironmentFault
from trl_environment import GuessTheWord
faults = []
environment = GuessTheWord()
word = environment.reset("train", 0).split()[-1]
for ask in (lambda: environment.guess(word), environment.get_reward):
    try: ask()
    except EnvironmentFault as fault: faults.append(str(fault))
print(json.dumps({"faults": faults, "prompt": Episode("train", 1).prompt}))
""",
    )
    first, again = told["faults"]
    (own,) = json.loads((CASES / "endless/episodes.jsonl").read_text().splitlines()[0])["problems"]
    assert first == f"environment.ts:{own['line']}: {own['text']} (train task 0, turn 1)"
    assert "too long" in own["text"]
    assert again == first  # TRL takes the first one for the tool's answer
    assert told["prompt"].startswith("One of ")


def episodes():
    return [json.loads(line) for line in (ODD / "episodes.jsonl").read_text().splitlines()]


def schemas():
    return [tool["schema"] for tool in json.loads((ODD / "machine/environment.json").read_text())["tools"]]


PYTHON_NAMES = {"import": "import_", "from": "from_", "lambda": "lambda_", "self": "self_"}


def python_names(values):
    return {PYTHON_NAMES.get(name, name): value for name, value in values.items()}


def test_the_methods_of_the_trl_class_have_the_schemas_of_the_tools():
    from transformers.utils import get_json_schema
    from trl_environment import Odd

    flat = lambda text: text.replace(":", " –")  # a colon behind the words that begin a section, and no other one, is another sign
    for schema in schemas():
        function = schema["function"]
        method = getattr(Odd(), PYTHON_NAMES.get(function["name"], function["name"]))
        made = get_json_schema(method)["function"]
        assert flat(made["description"]) == flat(function["description"] or function["name"])
        parameters = made["parameters"].get("properties", {})
        assert list(parameters) == list(python_names(function["parameters"]["properties"]))
        for of, (name, own) in zip(parameters.values(), function["parameters"]["properties"].items()):
            assert of["type"] == own["type"]
            assert of.get("enum") == own.get("enum")
            assert flat(of["description"]) == flat(own.get("description", PYTHON_NAMES.get(name, name)))
