"""Environments in Python: the same file in CPython and under TRL, against the episodes that Pyodide played."""

import asyncio
import enum
import importlib.util
import inspect
import json
import os
import random
from pathlib import Path

import pytest
from grpo_step import train_a_step

CASES = Path(os.environ["CASES"]) / "pythonClasses"
NAMES = ("hiddenWord", "sortCards", "oddPython", "hintedPython")
SEED = 0  # of the tasks


def environment_class(name):
    """The class of a file, loaded as TRL's users do."""
    spec = importlib.util.spec_from_file_location(name, CASES / name / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    importlib.sys.modules[name] = module
    spec.loader.exec_module(module)
    return getattr(module, json.loads((CASES / name / "class.json").read_text())["name"])


def tools_of(environment):
    """As TRL finds them."""
    found = inspect.getmembers(type(environment), predicate=inspect.isfunction)
    return {name: getattr(environment, name) for name, _ in found if name not in ("reset", "get_reward") and not name.startswith("_")}


def row_of(cls, split, index):
    """A row of the dataset; the words of the prompt."""
    rows = cls.tasks[split]
    row = {} if isinstance(rows, int) else rows[index]
    more = {"prompt": [{"role": "user", "content": ""}], "split": split, "index": index}
    return {**more, **row}


def begun(environment, split, index):
    """Begins an episode as TRL does, with the chance that it has in the page; its prompt."""
    row = row_of(type(environment), split, index)
    random.seed(f"{SEED}/{index}/{0 if split == 'train' else 1}")
    row["seed"] = 2 * index + (split == "test")
    observation = joined(environment.reset(**row))
    content = row["prompt"][-1]["content"]
    return content if observation is None else content + observation


def joined(content):
    """The text of content blocks, which TRL passes to the chat template."""
    is_blocks = isinstance(content, list) and all(isinstance(block, dict) and "type" in block for block in content)
    return "".join(block["text"] for block in content) if is_blocks else content


def settled(value):
    """Awaited as TRL does, without the waiting."""
    return asyncio.run(value) if inspect.iscoroutine(value) else value


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    """Tools may sleep for a minute; only the order of what happens is compared."""
    sleep = asyncio.sleep
    monkeypatch.setattr(asyncio, "sleep", lambda _, result=None: sleep(0, result))


def with_floats(tool, arguments):
    """The arguments with the floats that a model writes: the episodes are JSON from JavaScript, which writes 2.0 as 2."""

    def wants(hint, value):
        if isinstance(value, dict):
            return {name: float(each) for name, each in value.items()}
        return float(value) if hint is float or "float | list" in str(hint) and isinstance(value, int) else value

    hints = inspect.get_annotations(tool, eval_str=True)
    return {name: wants(hints[name], value) for name, value in arguments.items()}


def result_of(tools, tool, arguments):
    """What the agent reads of a call: as in TRL's loop of tool calls."""
    try:
        return str(joined(settled(tools[tool](**with_floats(tools[tool], arguments))))), False
    except Exception as error:
        return str({"error": str(error)}), True


def rewards_of(environment, module, row, calls):
    """The parts of the reward as TRL adds them up: `get_reward` and the file's reward functions, where None counts as 0."""
    earned = settled(environment.get_reward())
    parts = earned if isinstance(earned, dict) else {"reward": earned}
    if hasattr(module, "kept"):
        completions = [[{"tool_calls": []}] * calls]
        (parts["kept"],) = settled(module.kept(completions=completions, environments=[environment], bonus=[row["bonus"]]))
    return {name: 0 if part is None else part for name, part in parts.items()}


def expert_of(environment, turn, split, index):
    """Its next move, whose chance is its own."""
    state = random.getstate()
    random.seed(f"{SEED + turn + 1}/{index}/{0 if split == 'train' else 1}")
    move = environment._expert()
    random.setstate(state)
    return move


@pytest.mark.parametrize("name", NAMES)
def test_episodes_have_the_same_words_and_rewards_in_cpython(name):
    environment = environment_class(name)()  # one for all, as TRL reuses it
    tools = tools_of(environment)
    episodes = [json.loads(line) for line in (CASES / name / "episodes.jsonl").open(encoding="utf-8")]
    assert len(episodes) == (1000 if "SLOW_CASES" in os.environ else 199)
    calls = refused = 0
    for episode in episodes:
        split, index = episode["task"]["split"], episode["task"]["index"]
        where = (episode["by"], split, index)
        assert episode["problems"] == [], where
        assert begun(environment, split, index) == episode["prompt"], where
        for turn, (move, reply) in enumerate(zip(episode["moves"], episode["replies"], strict=True)):
            if episode["by"] == "expert":
                tool, values = expert_of(environment, turn, split, index)
                values = {name: value.value if isinstance(value, enum.Enum) else value for name, value in values.items()}
                assert (tool, values) == (move["tool"], move["values"]), where
            result, failed = result_of(tools, move["tool"], move["values"])
            assert (reply.get("text", reply.get("refused")), "refused" in reply) == (result[:4000], failed), (where, move)
            assert reply["over"] == bool(environment.done), where
            calls += 1
            refused += failed
        module = importlib.sys.modules[name]
        row = row_of(type(environment), split, index)
        assert episode["parts"] == rewards_of(environment, module, row, len(episode["moves"])), where
    assert calls > 1.5 * len(episodes)
    assert refused > len(episodes) / 20


@pytest.mark.parametrize("name", NAMES)
def test_the_schemas_of_the_tools_are_those_that_trl_gives_the_model(name):
    from transformers.utils import get_json_schema

    own = json.loads((CASES / name / "class.json").read_text())["schemas"]
    theirs = []
    for tool in tools_of(environment_class(name)()).values():
        schema = get_json_schema(tool)
        schema["function"].pop("return", None)  # the page does without
        theirs.append(schema)
    assert [one["function"]["name"] for one in own] == [one["function"]["name"] for one in theirs]
    for one, other in zip(own, theirs, strict=True):
        other["function"]["parameters"].setdefault("required", [])  # left out there if it is empty
        assert one == other


def test_trl_trains_a_step_with_the_class_itself_and_pays_what_it_pays(tmp_path, monkeypatch):
    cls = environment_class("oddPython")
    call = json.dumps({"name": "carry", "arguments": {"thing": "tea", "weight": 0.5}})
    train_a_step(cls, cls.tasks["train"][:4], [call] * 3, tmp_path, monkeypatch)
