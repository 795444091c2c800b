"""Environments in Python: the same file in CPython and under TRL, against the episodes that Pyodide played."""

import importlib.util
import inspect
import json
import math
import os
import random
from pathlib import Path

import pytest

CASES = Path(os.environ["CASES"]) / "pythonClasses"
AGENT = Path(__file__).resolve().parents[2] / "public/models/agent"
NAMES = ("hiddenWord", "sortCards", "oddPython")
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
    observation = environment.reset(**row)
    content = row["prompt"][-1]["content"]
    return content if observation is None else content + observation


def result_of(tools, tool, arguments):
    """What the agent reads of a call: as in TRL's loop of tool calls."""
    try:
        return str(tools[tool](**arguments)), False
    except Exception as error:
        return str({"error": str(error)}), True


def expert_of(environment, turn, split, index):
    """Its next move, whose chance is its own."""
    state = random.getstate()
    random.seed(f"{SEED + turn + 1}/{index}/{0 if split == 'train' else 1}")
    move = environment._expert()
    random.setstate(state)
    return move


@pytest.mark.parametrize("name", NAMES)
def test_a_thousand_episodes_have_the_same_words_and_rewards_in_cpython(name):
    environment = environment_class(name)()  # one for all, as TRL reuses it
    tools = tools_of(environment)
    episodes = [json.loads(line) for line in (CASES / name / "episodes.jsonl").open(encoding="utf-8")]
    assert len(episodes) == 1000
    calls = refused = 0
    for episode in episodes:
        split, index = episode["task"]["split"], episode["task"]["index"]
        where = (episode["by"], split, index)
        assert episode["problems"] == [], where
        assert begun(environment, split, index) == episode["prompt"], where
        for turn, (move, reply) in enumerate(zip(episode["moves"], episode["replies"], strict=True)):
            if episode["by"] == "expert":
                assert expert_of(environment, turn, split, index) == (move["tool"], move["values"]), where
            result, failed = result_of(tools, move["tool"], move["values"])
            assert (reply.get("text", reply.get("refused")), "refused" in reply) == (result[:4000], failed), (where, move)
            assert reply["over"] == environment.done, where
            calls += 1
            refused += failed
        earned = environment.get_reward()
        assert episode["parts"] == (earned if isinstance(earned, dict) else {"reward": earned}), where
    assert calls > 1500
    assert refused > 100


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
        one["function"]["parameters"].pop("required")
        other["function"]["parameters"].pop("required", None)
        assert one == other


def test_trl_trains_a_step_with_the_class_itself_and_pays_what_it_pays(tmp_path, monkeypatch):
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    from datasets import Dataset
    from transformers import AutoTokenizer
    from trl import GRPOConfig, GRPOTrainer
    from trl.chat_template_utils import qwen3_template

    cls = environment_class("oddPython")
    tokenizer = AutoTokenizer.from_pretrained(AGENT, padding_side="left")
    tokenizer.response_template = qwen3_template  # the shipped agent calls tools as Qwen 3 does
    settings = {"output_dir": str(tmp_path), "use_cpu": True, "bf16": False, "report_to": "none", "save_strategy": "no"}
    settings |= {"max_steps": 1, "per_device_train_batch_size": 4, "num_generations": 4, "logging_steps": 1, "learning_rate": 1e-3}
    settings |= {"max_completion_length": 160, "max_tool_calling_iterations": 2, "seed": 5}
    trainer = GRPOTrainer(
        model=str(AGENT),
        args=GRPOConfig(**settings),
        train_dataset=Dataset.from_list([cls.tasks["train"][at] for at in range(4)]),
        processing_class=tokenizer,
        environment_factory=cls,
    )
    call = {"name": "carry", "arguments": {"thing": "tea", "weight": 0.5}}
    generate, turns = trainer._generate_single_turn, []

    def turn(prompt_ids, *rest, **more):
        """The first turn of three rollouts is a call each, the fourth's and all later turns are the model's."""
        ids, logprobs = generate(prompt_ids, *rest, **more)
        turns.append(len(ids))
        if len(turns) == 1:
            for at in range(3):
                said = f"<tool_call>\n{json.dumps(call)}\n</tool_call><|im_end|>"
                ids[at] = tokenizer.encode(said, add_special_tokens=False)
        return ids, logprobs

    monkeypatch.setattr(trainer, "_generate_single_turn", turn)
    before = {name: value.detach().clone() for name, value in trainer.model.named_parameters()}
    trainer.train()
    (logged,) = [entry for entry in trainer.state.log_history if "reward" in entry]
    rewards = [environment.get_reward() for environment in trainer.environments]
    assert logged["rewards/Odd/mean"] == pytest.approx(sum(rewards) / 4, rel=1e-6)  # TRL adds up in float32
    assert len(set(rewards)) > 1
    moved = sum(float((value.detach() - before[name]).abs().sum()) for name, value in trainer.model.named_parameters())
    assert 0 < moved < math.inf
