"""Writes test/fixtures/stepRows.json: advantages with a row for each step, as SkyRL's own trainer computes and spreads them, in float64.

    python test/python/write_step_rows_fixture.py --skyrl DIR && npx oxfmt test/fixtures/stepRows.json

skyrl: the wheel of PyPI, unpacked into DIR (`pip download --no-deps skyrl==0.3.0`). RayPPOTrainer.compute_advantages_and_returns and the
estimators are taken out of its source by name.
"""

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
from write_fixtures import functions

OUT = Path(__file__).resolve().parents[1] / "fixtures" / "stepRows.json"
torch.set_default_dtype(torch.float64)
ESTIMATORS = {"grpo": "compute_grpo_outcome_advantage", "rloo": "compute_rloo_outcome_advantage", "maxrl": "compute_maxrl_advantage"}
# the agent's tokens of each step; a prompt of two tokens comes before; two prompts with three trajectories each
STEPS = [[3, 1], [2], [1, 4, 2], [2, 2], [1, 1, 1], [4]]
GROUPS = [0, 0, 0, 1, 1, 1]
SCORES = [1.0, 0.25, 0.5, 0.0, 1.5, 0.75]
LENGTH = 6


class Batch(dict):
    metadata: dict

    def to(self, _device):
        return self


def advantages(folder, estimator, by_std):
    warn = SimpleNamespace(warning=print, info=lambda *_: None)
    sys.modules.setdefault("loguru", SimpleNamespace(logger=warn))
    scope = {"torch": torch, "np": np, "defaultdict": defaultdict, "logger": warn}
    [estimate] = functions(folder / "skyrl/backends/skyrl_train/utils/ppo_utils.py", [ESTIMATORS[estimator]], dict(scope))
    utils = SimpleNamespace(compute_advantages_and_returns=lambda **given: estimate(**given))
    trainer_scope = {**scope, "ppo_utils": utils, "TrainingInputBatch": dict}
    [compute] = functions(folder / "skyrl/train/trainer.py", ["compute_advantages_and_returns"], trainer_scope)
    rows = [(t, step, count) for t, steps in enumerate(STEPS) for step, count in enumerate(steps)]
    last = [step == len(STEPS[t]) - 1 for t, step, _ in rows]
    mask, rewards = torch.zeros(len(rows), LENGTH), torch.zeros(len(rows), LENGTH)
    for i, (t, _, count) in enumerate(rows):
        mask[i, 2 : 2 + count] = 1
        if last[i]:
            rewards[i, 1 + count] = SCORES[t]
    batch = Batch(rewards=rewards, response_mask=mask, values=None)
    batch.metadata = {"is_last_step": last, "uids": [str(GROUPS[t]) for t, _, _ in rows], "avg_response_length": 0.0}
    algorithm = SimpleNamespace(advantage_estimator=estimator, gamma=1.0, lambd=1.0, grpo_norm_by_std=by_std)
    settings = SimpleNamespace(generator=SimpleNamespace(step_wise_trajectories=True), trainer=SimpleNamespace(algorithm=algorithm))
    return compute(SimpleNamespace(cfg=settings, all_metrics={}), batch)["advantages"].tolist()


arguments = argparse.ArgumentParser()
arguments.add_argument("--skyrl", type=Path, required=True)
folder = arguments.parse_args().skyrl
cases = [{"estimator": e, "divideByStd": s, "advantages": advantages(folder, e, s)} for e, s in (("grpo", True), ("grpo", False), ("rloo", True), ("maxrl", True))]
source = "skyrl 0.3.0 RayPPOTrainer.compute_advantages_and_returns, step_wise_trajectories"
OUT.write_text(json.dumps({"source": source, "steps": STEPS, "groups": GROUPS, "scores": SCORES, "cases": cases}))
