"""Writes test/fixtures/klVerl.json: estimates of KL, and their derivatives by the policy's log-probability, as verl's own code makes them.

    python test/python/write_kl_fixture.py --verl DIR && npx oxfmt test/fixtures/klVerl.json

verl: the wheel of PyPI, unpacked into DIR (`pip download --no-deps verl==0.9.1`). Its module needs a cluster to import, so its two functions are
taken out of the source by name and run as they stand, in float64.
"""

import argparse
import json
from pathlib import Path

import torch
from write_fixtures import functions

OUT = Path(__file__).resolve().parents[1] / "fixtures" / "klVerl.json"
# log-probabilities (policy, reference): near each other, about the bound of k3 (2.61 below the reference, 11 above), and far past 20 nats
PAIRS = [(reference + delta, reference) for reference in (-1.0, -5.0) for delta in (
    -100.0, -25.0, -20.5, -19.5, -16.0, -5.0, -3.0, -2.625, -2.5, -1.0, -0.25, 0.0, 0.25, 1.0, 2.5,
)] + [(-0.5, -0.5 - delta) for delta in (5.0, 10.5, 10.75, 11.25, 12.0, 19.5, 20.5, 30.0, 100.0)] + [(-6.0, -1.0)]


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--verl", type=Path, required=True)
    scope = {"torch": torch}
    kl_penalty, _ = functions(
        arguments.parse_args().verl / "verl/trainer/ppo/core_algos.py", ["kl_penalty", "kl_penalty_forward"], scope
    )
    cases = []
    for logprob, reference in PAIRS:
        case = {"logprob": logprob, "reference": reference}
        for estimator in ("k1", "k2", "k3"):
            policy = torch.tensor(logprob, dtype=torch.float64, requires_grad=True)
            kl = kl_penalty(policy, torch.tensor(reference, dtype=torch.float64), estimator)
            kl.backward()
            case[estimator] = [kl.item(), policy.grad.item()]
        cases.append(case)
    source = "verl 0.9.1, verl/trainer/ppo/core_algos.py, kl_penalty; [estimate, derivative]"
    OUT.write_text(json.dumps({"source": source, "cases": cases}))


if __name__ == "__main__":
    main()
