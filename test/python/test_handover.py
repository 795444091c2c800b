"""The hand-over: its environments in Python against the page's episodes."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CASES = Path(os.environ["CASES"]) / "handover"
sys.path.append(str(ROOT / "src/handover/python"))

ENVIRONMENTS = ("number-hunt", "multi-hop", "world-facts", "calculator", "document-search")


def episodes(name):
    """(rules, episode) of an environment under all its settings."""
    for folder in sorted(CASES.glob(f"{name}-[0-9]")):
        rules = json.loads((folder / "environment.json").read_text())
        for line in (folder / "episodes.jsonl").read_text().splitlines():
            yield rules, json.loads(line)


# the page and Python may round a logarithm, as in number hunt's process reward, differently in its last bit
ROUNDING = 1e-12


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_thousand_episodes_have_the_observations_rewards_and_ends_of_the_page(name):
    from playground_env import Episode

    count, kinds = 0, Counter()
    for rules, played in episodes(name):
        episode = Episode(rules, played["task"], played["environment_seed"])
        for at, turn in enumerate(played["turns"]):
            took = episode.step(turn["action"])
            where = f"episode {count}, turn {at + 1}: {' '.join(turn['action'])}"
            assert took.observation == turn["observation"], where
            assert (took.valid, took.tool_call, took.waited) == (turn["valid"], turn["toolCall"], turn["waited"]), where
            for part, paid in took.parts.items():
                assert paid == pytest.approx(turn["parts"][part], abs=ROUNDING), f"{where}, {part}"
            kinds["valid" if took.valid else "malformed"] += 1
            kinds["waited"] += took.waited > 0
            kinds["failed"] += took.observation[1:2] == ["none"]
            kinds["thought"] += took.parts["think"] > 0
        assert (episode.stop, episode.success) == (played["stop"], played["success"]), f"episode {count}"
        for part, paid in episode.parts.items():
            assert paid == pytest.approx(played["parts"][part], abs=ROUNDING), f"episode {count}, {part}"
        kinds[played["stop"]] += 1
        kinds["success"] += played["success"]
        count += 1
    assert count == 1000
    print(name, dict(kinds))
    # what was compared holds what it must: each way a turn and an episode can go
    wanted = {"valid", "malformed", "failed", "waited", "thought", "success", "turns"}
    wanted.add("found" if name == "number-hunt" else "answered")
    assert all(kinds[kind] > 5 for kind in wanted), kinds


def test_a_turn_that_is_cut_pays_as_a_malformed_one_and_an_end_between_turns_pays_nothing():
    from playground_env import Episode

    settings = dict.fromkeys(("outcomeReward", "processReward", "callReward", "thinkReward", "turnCost"), 0)
    settings |= {"invalidPenalty": 0.1, "failureRate": 0, "latency": 0}
    rules = {"maxTurns": 4, "think": False, "range": 16, "distractors": 0, "settings": settings}
    cut, malformed, between = (Episode(rules, {"kind": "number-hunt", "target": 5}) for _ in range(3))
    cut.cut(inside=True)
    malformed.step(["<call>", "5"])
    between.cut()
    assert (cut.parts, cut.turns[0].valid, cut.stop) == (malformed.parts, malformed.turns[0].valid, "tokens")
    assert cut.reward == -0.1
    assert (between.reward, between.turns) == (0, [])


def test_the_trl_folder_trains_two_updates_on_one_cpu_and_each_rollout_is_the_environments(tmp_path):
    folder = CASES / "trl-number-hunt"
    program = """
import argparse, json, sys
sys.path.insert(0, sys.argv[1])
import train_trl

rollouts = []
training = train_trl.trainer(argparse.Namespace(model=sys.argv[1] + "/model", out=sys.argv[2], vllm=False, cpu=True, set="{}"))
before = {name: value.clone() for name, value in training.model.named_parameters()}
play, reset = training._tool_call_loop, train_trl.Playground.reset

def known(self, extra_info, **row):
    self.asked = extra_info["task"]
    return reset(self, extra_info, **row)

def looped(prompts, prompt_ids, *rest):
    played = play(prompts, prompt_ids, *rest)
    for environment, ids, mask in zip(training.environments, played[2], played[0]):
        words = training.processing_class.convert_ids_to_tokens(ids)
        drawn = {"words": words, "mask": mask, "task": environment.asked, "environment_seed": environment.episode.environment_seed}
        rollouts.append({**drawn, "reward": environment.get_reward()})
    return played

training._tool_call_loop = looped
train_trl.Playground.reset = known
training.train()
moved = sum(float((value - before[name]).abs().sum()) for name, value in training.model.named_parameters())
steps = [entry for entry in training.state.log_history if "reward" in entry]
print("RESULT" + json.dumps({"rollouts": rollouts, "moved": moved, "steps": training.state.global_step, "logged": len(steps)}))
"""
    run = subprocess.run(
        [sys.executable, "-c", program, str(folder), str(tmp_path)], capture_output=True, text=True, timeout=240
    )
    assert "RESULT" in run.stdout, run.stderr[-3000:]
    result = json.loads(run.stdout.split("RESULT")[1])
    assert result["steps"] == 4  # two updates of two minibatches
    assert result["logged"] == 2
    assert result["moved"] > 0
    from playground_env import Episode, load_rules

    rules = load_rules(folder / "environment.json")
    kinds = Counter()
    for rollout in result["rollouts"]:
        episode, at, mask = Episode(rules, rollout["task"], rollout["environment_seed"]), 0, []
        words = rollout["words"]
        while not episode.over and at < len(words):
            end = next((i + 1 for i in range(at, len(words)) if words[i] in ("</call>", "</answer>")), len(words))
            turn = words[at : min(end, at + rules["maxTurnTokens"])]
            said = episode.step(turn).observation
            at += len(turn)
            assert words[at : at + len(said)] == said
            mask += [1] * len(turn) + [0] * len(said)
            at += len(said)
        assert (at, mask) == (len(words), rollout["mask"])
        assert episode.over
        assert episode.reward == pytest.approx(rollout["reward"], abs=ROUNDING)
        kinds[episode.stop] += 1
        kinds["malformed"] += sum(not turn.valid for turn in episode.turns)
    evaluated = 16  # at the end, each task once
    assert sum(kinds[stop] for stop in ("found", "turns")) == 2 * 4 * 4 + evaluated  # updates, prompts, rollouts of each
    assert all(kinds[kind] > 0 for kind in ("found", "turns", "malformed")), kinds


def test_kl_in_the_loss_of_trl_has_the_pages_gradient_and_trls_default_has_another(tmp_path):
    folder = CASES / "trl-number-hunt"
    program = """
import argparse, json, sys
sys.path.insert(0, sys.argv[1])
import torch, train_trl

training = train_trl.trainer(argparse.Namespace(model=sys.argv[1] + "/model", out=sys.argv[2], vllm=False, cpu=True, set='{"beta": 1}'))
training.model.eval()  # a loss of one batch, without accumulation

def gradients():
    reference = torch.full((1, 4), -3.0, dtype=torch.float64)
    policy = (reference + torch.tensor([[1.0, -1.0, 0.0, 2.0]])).requires_grad_()
    training._get_per_token_logps_and_entropies = lambda *_, **__: (policy, torch.zeros_like(policy), None)
    ids, ones = torch.zeros((1, 4), dtype=torch.long), torch.ones((1, 4))
    inputs = {"prompt_ids": ids, "prompt_mask": ones, "completion_ids": ids, "completion_mask": ones, "ref_per_token_logps": reference}
    inputs |= {"advantages": torch.zeros(1), "num_items_in_batch": torch.tensor(4.0)}
    training._compute_loss(training.model, inputs).backward()
    return (4 * policy.grad[0]).tolist()  # the loss is the mean of four tokens

folders = gradients()
training.args.use_bias_correction_kl = True
print("RESULT" + json.dumps([folders, gradients()]))
"""
    run = subprocess.run(
        [sys.executable, "-c", program, str(folder), str(tmp_path)], capture_output=True, text=True, timeout=240
    )
    assert "RESULT" in run.stdout, run.stderr[-3000:]
    folders, default = json.loads(run.stdout.split("RESULT")[1])
    # 1 − e^δ with δ = log π_ref − log π, as klEstimate of src/rl/objective.ts has it for k3
    assert folders == pytest.approx([0.6321206, -1.7182818, 0, 0.8646647], abs=1e-6)
    assert default == pytest.approx([1, -1, 0, 2], abs=1e-6)  # −δ
