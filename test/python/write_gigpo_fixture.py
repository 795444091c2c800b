"""Writes test/fixtures/gigpo.json: advantages of turns by Trinity-RFT's GiGPOAdvantageFn, in float64.

    python test/python/write_gigpo_fixture.py --trinity DIR && npx oxfmt test/fixtures/gigpo.json

trinity-rft: the wheel of PyPI, unpacked into DIR (`pip download --no-deps trinity-rft==0.6.0`). Its class is run from its source, without
the package's imports, with float64 for float32. It compares equal states of the whole batch, so the task is put into its key.
"""

import argparse
import ast
import json
import random
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Dict, List, Literal, Tuple

import torch

OUT = Path(__file__).resolve().parents[1] / "fixtures" / "gigpo.json"


def advantage_fn(folder):
    path = folder / "trinity/algorithm/advantage_fn/gigpo_advantage.py"
    [node] = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.ClassDef)]
    node.bases = []
    wide = SimpleNamespace(tensor=lambda values, dtype=None: torch.tensor(values, dtype=torch.float64), mean=torch.mean, std=torch.std)
    wide.float32 = torch.float64
    wide.Tensor = torch.Tensor

    def group_by(experiences, name):
        groups = defaultdict(list)
        for each in experiences:
            groups[{"task": each.eid.tid, "run": each.eid.rid}[name]].append(each)
        return groups

    scope = {"torch": wide, "group_by": group_by, "aggregate_metrics": lambda *_, **__: {}, "Experience": object}
    scope |= {"Dict": Dict, "List": List, "Literal": Literal, "Tuple": Tuple}
    exec(compile(ast.Module(body=[node], type_ignores=[]), str(path), "exec"), scope)  # noqa: S102
    return scope[node.name]


def rollouts(draw):
    """Five tasks of four rollouts of one to five turns in few states, some of which two tasks share; most pay at the end alone."""
    for task in range(5):
        for run in range(4):
            turns = 1 + draw.randrange(5)
            yield {
                "group": task,
                "states": ["start"] + [draw.choice(["a", "b", "c", f"only {task} {run}"]) for _ in range(turns - 1)],
                "rewards": [0.0 if task < 3 else round(draw.uniform(-1, 1), 3) for _ in range(turns - 1)] + [float(draw.random() < 0.5)],
            }


def case(of, all_rollouts, omega, gamma, fnorm):
    # 1e-6 is added to a divisor of 1 too, which is the paper's none at all
    function = of(omega=omega, gamma=gamma, fnorm=fnorm, epsilon=1e-6 if fnorm == "std" else 0.0)
    steps = []
    for run, rollout in enumerate(all_rollouts):
        for turn, (state, reward) in enumerate(zip(rollout["states"], rollout["rewards"])):
            eid = SimpleNamespace(tid=rollout["group"], rid=run, run=run, step=turn)
            info = {"step_reward": reward, "env_state_hash": f"{rollout['group']} {state}"}
            steps.append(SimpleNamespace(eid=eid, info=info, reward=None, action_mask=torch.ones(1, dtype=torch.float64)))
    function.process(steps)
    got = [[] for _ in all_rollouts]
    for step in steps:
        got[step.eid.rid].append(step.advantages.item())
    return {"omega": omega, "gamma": gamma, "divideByStd": fnorm == "std", "advantages": got}


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--trinity", type=Path, required=True)
    of = advantage_fn(arguments.parse_args().trinity)
    drawn = list(rollouts(random.Random(7)))
    settings = [(1.0, 1.0, "none"), (1.0, 0.95, "none"), (1.0, 0.95, "std"), (0.5, 0.8, "std"), (0.0, 1.0, "std")]
    cases = [case(of, drawn, *each) for each in settings]
    OUT.write_text(json.dumps({"source": "trinity-rft 0.6.0 GiGPOAdvantageFn", "rollouts": drawn, "cases": cases}))


if __name__ == "__main__":
    main()
