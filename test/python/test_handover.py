"""The hand-over: its environments in Python against the page's episodes."""

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from folder_modules import modules_of

CASES = Path(os.environ["CASES"]) / "handover"
TRL_FOLDER = CASES / "trl-number-hunt"
modules = modules_of(TRL_FOLDER)
ENVIRONMENTS = (
    *("number-hunt", "multi-hop", "world-facts", "calculator", "document-search"),
    *("frozen-lake", "sokoban", "bandit", "bandit-reversed", "countdown"),
)
ONE_TURN = ("bandit", "bandit-reversed", "countdown")  # without a tool
MOVES = ("number-hunt", "frozen-lake", "sokoban")  # without an answer

# the page and the virtual machine may round a logarithm, as in number hunt's process reward, differently in its last bit
ROUNDING = 1e-12

REPLAY = """
import json, os, sys
from collections import Counter

def replay():
    from playground_env import Episode

    count, kinds = 0, Counter()
    for line in open("episodes.jsonl", encoding="utf-8"):
        played = json.loads(line)
        episode = Episode(played["split"], played["seed"], played["environment_seed"])
        for at, turn in enumerate(played["turns"]):
            took = episode.step(turn["action"])
            where = f"episode {count}, turn {at + 1}: {' '.join(turn['action'])}"
            assert took.observation == turn["observation"], where
            assert (took.valid, took.tool_call, took.waited) == (turn["valid"], turn["toolCall"], turn["waited"]), where
            for part, paid in took.parts.items():
                assert abs(paid - turn["parts"][part]) <= ROUNDING, f"{where}, {part}"
            kinds["valid" if took.valid else "malformed"] += 1
            kinds["waited"] += took.waited > 0
            kinds["failed"] += took.observation[1:2] == ["none"]
            kinds["thought"] += took.parts["think"] > 0
        assert (episode.stop, episode.success) == (played["stop"], played["success"]), f"episode {count}"
        for part, paid in episode.parts.items():
            assert abs(paid - played["parts"][part]) <= ROUNDING, f"episode {count}, {part}"
        kinds[played["stop"]] += 1
        kinds["success"] += played["success"]
        count += 1
    return {"count": count, **kinds}

kinds = Counter()
for folder in FOLDERS:
    os.chdir(folder)  # modules come from here
    for name in ("playground_env", "playground_machine"):
        sys.modules.pop(name, None)
    kinds.update(replay())
print(json.dumps(kinds))
"""


def inside(folder, program):
    """What a program prints that runs in a handed-over folder, as JSON."""
    run = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=900)
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_episodes_have_the_observations_rewards_and_ends_of_the_page(name):
    folders = [str(folder) for folder in sorted(CASES.glob(f"{name}-[0-9]"))]
    kinds = Counter(inside(CASES, f"FOLDERS, ROUNDING = {folders}, {ROUNDING}{REPLAY}"))
    assert kinds["count"] == (1000 if "SLOW_CASES" in os.environ else 80)
    # what was compared holds what it must: each way a turn and an episode can go
    wanted = {"valid", "malformed", "success"}
    if name not in ONE_TURN:
        wanted |= {"failed", "waited", "thought", "turns"}
    if name not in MOVES:
        wanted.add("answered")
    if name == "number-hunt":
        wanted.add("found")
    assert all(kinds[kind] > 2 for kind in wanted), kinds


def test_words_that_end_before_their_turn_end_the_episode_as_a_malformed_turn_and_no_words_pay_nothing():
    cut, between, unknown = inside(
        CASES / "number-hunt-1",
        """
import json
from playground_env import Episode
told = []
for words in (["<call>", "5"], [], ["<call>", "nobody", "</call>"]):
    episode = Episode("train", 1)
    turn = episode.step(words)
    told.append([episode.stop, episode.reward, len(episode.turns), turn.valid, turn.observation])
print(json.dumps(told))
""",
    )
    assert cut == ["tokens", -0.25, 1, False, []]
    assert between == ["tokens", 0, 0, False, []]
    assert unknown == [None, -0.25, 1, False, ["<obs>", "error", "</obs>"]]


REPLAY_ROLLOUTS = """
import json
from playground_env import CLOSERS, Episode

told = []
for rollout in json.load(open(PLAYED)):
    episode = Episode(rollout["split"], rollout["seed"], rollout["environment_seed"])
    words, mask, at, drawn = [], [], 0, rollout["words"]
    while not episode.over and at < len(drawn):
        end = next((i + 1 for i in range(at, len(drawn)) if drawn[i] in CLOSERS), len(drawn))
        turn = drawn[at : min(end, at + episode.budget)]
        said = episode.step(turn).observation
        words, mask = [*words, *turn, *said], mask + [1] * len(turn) + [0] * len(said)
        at = len(words)
    malformed = sum(not turn.valid for turn in episode.turns)
    told.append({"words": words, "mask": mask, "reward": episode.reward, "stop": episode.stop, "malformed": malformed})
print(json.dumps(told))
"""


def train(train_trl, folder, out):
    """Two updates of the folder's training: every rollout, and how far the weights moved."""
    rollouts = []
    training = train_trl.trainer(argparse.Namespace(model=f"{folder}/model", out=out, vllm=False, cpu=True, set="{}"))
    before = {name: value.detach().clone() for name, value in training.model.named_parameters()}
    play, reset = training._tool_call_loop, train_trl.Playground.reset

    def known(self, extra_info, **row):
        self.asked = {"split": extra_info["split"], "seed": extra_info["seed"]}
        return reset(self, extra_info, **row)

    def looped(prompts, prompt_ids, *rest):
        played = play(prompts, prompt_ids, *rest)
        for environment, ids, mask in zip(training.environments, played[2], played[0]):
            words = training.processing_class.convert_ids_to_tokens(ids)
            drawn = {"words": words, "mask": mask, **environment.asked, "environment_seed": environment.episode.environment_seed}
            rollouts.append({**drawn, "reward": environment.get_reward()})
        return played

    training._tool_call_loop = looped
    train_trl.Playground.reset = known
    training.train()
    train_trl.Playground.reset = reset
    moved = sum(float((value.detach() - before[name]).abs().sum()) for name, value in training.model.named_parameters())
    steps = [entry for entry in training.state.log_history if "reward" in entry]
    return {"rollouts": rollouts, "moved": moved, "steps": training.state.global_step, "logged": len(steps)}


def gradients(training):
    """Of the KL in the loss, by the log-probability of each of four tokens."""
    import torch

    reference = torch.full((1, 4), -3.0, dtype=torch.float64)
    policy = (reference + torch.tensor([[1.0, -1.0, 0.0, 2.0]])).requires_grad_()
    training._get_per_token_logps_and_entropies = lambda *_, **__: (policy, torch.zeros_like(policy), None)
    ids, ones = torch.zeros((1, 4), dtype=torch.long), torch.ones((1, 4))
    inputs = {"prompt_ids": ids, "prompt_mask": ones, "completion_ids": ids, "completion_mask": ones, "ref_per_token_logps": reference}
    inputs |= {"advantages": torch.zeros(1), "num_items_in_batch": torch.tensor(4.0)}
    training._compute_loss(training.model, inputs).backward()
    return (4 * policy.grad[0]).tolist()  # the loss is the mean of four tokens


@pytest.fixture(scope="module")
def trl(tmp_path_factory):
    """What TRL makes of the folder of number hunt: two updates of training, and gradients of the KL in the loss."""
    import train_trl  # here, where TRL is imported once for all files

    out = str(tmp_path_factory.mktemp("trl"))
    trained = train(train_trl, TRL_FOLDER, out)
    training = train_trl.trainer(argparse.Namespace(model=f"{TRL_FOLDER}/model", out=out, vllm=False, cpu=True, set='{"beta": 1}'))
    training.model.eval()  # a loss of one batch, without accumulation
    folders = gradients(training)
    training.args.use_bias_correction_kl = True
    return {"trained": trained, "gradients": [folders, gradients(training)]}


def test_the_trl_folder_trains_two_updates_on_one_cpu_and_each_rollout_is_the_environments(trl, tmp_path):
    result = trl["trained"]
    assert result["steps"] == 4  # two updates of two minibatches
    assert result["logged"] == 2
    assert result["moved"] > 0
    again = tmp_path / "again.json"
    again.write_text(json.dumps(result["rollouts"]))
    replayed = inside(TRL_FOLDER, f"PLAYED = {str(again)!r}{REPLAY_ROLLOUTS}")
    kinds = Counter()
    for rollout, own in zip(result["rollouts"], replayed, strict=True):
        assert (own["words"], own["mask"]) == (rollout["words"], rollout["mask"])
        assert own["reward"] == pytest.approx(rollout["reward"], abs=ROUNDING)
        kinds[own["stop"]] += 1
        kinds["malformed"] += own["malformed"]
    evaluated = 16  # at the end, each task once
    assert sum(kinds[stop] for stop in ("found", "turns")) == 2 * 4 * 4 + evaluated  # updates, prompts, rollouts of each
    assert all(kinds[kind] > 0 for kind in ("found", "turns", "malformed")), kinds


def test_kl_in_the_loss_of_trl_has_the_pages_gradient_and_trls_default_has_another(trl):
    folders, default = trl["gradients"]
    # 1 − e^δ with δ = log π_ref − log π, as klEstimate of src/rl/objective.ts has it for k3
    assert folders == pytest.approx([0.6321206, -1.7182818, 0, 0.8646647], abs=1e-6)
    assert default == pytest.approx([1, -1, 0, 2], abs=1e-6)  # −δ
