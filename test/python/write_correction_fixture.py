"""Writes test/fixtures/corrections.json: weights, masks and measurements of off-policy corrections by verl's own functions, in float64, and
expected gradients of corrected estimators on a small Markov decision process in exact fractions, by martingale.

    python test/python/write_correction_fixture.py --martingale DIR && npx oxfmt test/fixtures/corrections.json

verl is that of test/python/requirements*.txt. martingale: the wheel of PyPI, unpacked into DIR (`pip download --no-deps martingale==0.2.0`).
"""

import argparse
import json
import sys
from fractions import Fraction
from pathlib import Path

import torch
from verl.trainer.ppo.core_algos import get_policy_loss_fn
from verl.trainer.ppo.rollout_corr_helper import (
    compute_offpolicy_metrics,
    compute_rollout_correction_weights,
    compute_rollout_rejection_mask,
)
from verl.workers.config.actor import ActorConfig

OUT = Path(__file__).resolve().parents[1] / "fixtures" / "corrections.json"
ROWS, LENGTH = 7, 9
LIMITS = [(0.5, 2.0), (0.9, 1.25)]
METRICS = ("kl", "k3_kl", "ppl_ratio", "chi2_token", "chi2_seq")


def batch():
    """Log-ratios from tiny to beyond the clamp; rows of several lengths with gaps in the mask."""
    draw = torch.Generator().manual_seed(11)
    uniform = lambda: torch.rand(ROWS, LENGTH, generator=draw, dtype=torch.float64)
    normal = lambda: torch.randn(ROWS, LENGTH, generator=draw, dtype=torch.float64)
    behaviour = -0.05 - 2.5 * uniform()
    spread = torch.tensor([1e-4, 0.02, 0.1, 0.3, 0.8, 0.05, 9.0], dtype=torch.float64)[:, None]
    shift = torch.tensor([0, 0, 0.2, 0, 0, -0.3, 0], dtype=torch.float64)[:, None]
    old = behaviour + shift + spread * normal()
    old[6, :2] = behaviour[6, :2] + torch.tensor([23.0, -26.0], dtype=torch.float64)
    mask = (uniform() < 0.7).double()
    mask[:, 0] = mask[6, 1] = 1.0
    return {"behaviour": behaviour, "oldLogprobs": old, "logprobs": old + 0.1 * normal(), "mask": mask, "advantages": normal()}


def policy_loss(arrays, mask, weights):
    """verl's clipped loss with these weights, and its gradient by the log-probabilities."""
    config = ActorConfig(strategy="fsdp", rollout_n=1, ppo_micro_batch_size_per_gpu=1, clip_ratio_low=0.2, clip_ratio_high=0.2, clip_ratio_c=3.0)
    logprobs = arrays["logprobs"].clone().requires_grad_()
    loss, _ = get_policy_loss_fn("vanilla")(
        arrays["oldLogprobs"], logprobs, arrays["advantages"], mask, "token-mean", config, rollout_is_weights=weights
    )
    loss.backward()
    return {"loss": loss.item(), "gradient": logprobs.grad.flatten().tolist()}


def corrected(arrays, correction, level, low, high):
    log_ratio, mask = arrays["oldLogprobs"] - arrays["behaviour"], arrays["mask"]
    case = {"correction": correction, "correctionLevel": level, "correctionLow": low, "correctionHigh": high}
    if correction == "rejected":  # verl's limits are those of the inverse ratio
        mode = {"token": "token_k1", "sequence": "seq_mean_k1"}[level]
        kept, metrics = compute_rollout_rejection_mask(log_ratio, mask, mode, f"{1 / high}_{1 / low}")
        share = metrics["rollout_rs_masked_fraction"]
        return {**case, "kept": kept.flatten().tolist(), "outside": share, **policy_loss(arrays, kept, None)}
    threshold = high if correction == "truncated" else f"{low}_{high}"
    weights, metrics = compute_rollout_correction_weights(log_ratio, mask, level, threshold)
    outside = metrics["rollout_is_ratio_fraction_high" if correction == "truncated" else "rollout_is_oob_ratio"]
    return {
        **case, "weights": weights.flatten().tolist(), "outside": outside,
        "effectiveSize": metrics["rollout_is_eff_sample_size"], "mean": metrics["rollout_is_mean"],
        **policy_loss(arrays, mask, weights),
    }


def exact(folder):
    """Expected gradients under the behaviour policy, by the probability of each action in each state, on a process of two states."""
    sys.path.insert(0, str(folder))
    from martingale.estimators import on_policy_gradient
    from martingale.exact import defendants, expected_gradient
    from martingale.mdp import MDP
    from martingale.policy import RationalPolicy

    F = Fraction
    states = actions = [0, 1]
    transitions = {0: {0: {0: F(3, 4), 1: F(1, 4)}, 1: {0: F(1, 3), 1: F(2, 3)}}, 1: {0: {0: F(1, 2), 1: F(1, 2)}, 1: {0: F(1, 5), 1: F(4, 5)}}}
    rewards = {0: {0: {0: F(0), 1: F(1)}, 1: {0: F(2), 1: F(-1)}}, 1: {0: {0: F(1, 2), 1: F(0)}, 1: {0: F(-1), 1: F(3)}}}
    process = MDP(states, actions, transitions, rewards, horizon=3)
    target = {0: {0: F(2, 5), 1: F(3, 5)}, 1: {0: F(1, 4), 1: F(3, 4)}}
    behaviour = {0: {0: F(4, 7), 1: F(3, 7)}, 1: {0: F(1, 2), 1: F(1, 2)}}
    low, high = F(3, 5), F(6, 5)
    estimators = [
        ("none", "token", defendants.unweighted), ("truncated", "token", defendants.token_truncated_is(high)),
        ("masked", "token", defendants.token_masked_is(low, high)), ("truncated", "sequence", defendants.seq_truncated_is(high)),
        ("masked", "sequence", defendants.seq_masked_is(low, high)), ("truncated", "token", defendants.token_is),
        ("truncated", "sequence", defendants.seq_is),
    ]
    table = lambda values: [[float(values[s][a]) for a in actions] for s in states]
    order = [(s, a) for s in states for a in actions]
    policies = RationalPolicy(target), RationalPolicy(behaviour)
    truth = on_policy_gradient(process, policies[0])
    cases = []
    for correction, level, estimator in estimators:
        gradient = expected_gradient(process, estimator, *policies)
        bias = sum((gradient[key] - truth[key]) ** 2 for key in order) / sum(truth[key] ** 2 for key in order)
        limits = {"correctionLow": float(low), "correctionHigh": 1000 if estimator.__name__.endswith("_is") else float(high)}
        cases.append({
            "estimator": estimator.__name__, "correction": correction, "correctionLevel": level, **limits,
            "gradient": [float(gradient[key]) for key in order], "fractions": [str(gradient[key]) for key in order],
            "relativeSquaredBias": float(bias),
        })
    nested = lambda values: [[[float(values[s][a][after]) for after in states] for a in actions] for s in states]
    return {
        "transitions": nested(transitions), "rewards": nested(rewards), "horizon": 3, "target": table(target), "behaviour": table(behaviour),
        "truth": [float(truth[key]) for key in order], "cases": cases,
    }


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--martingale", type=Path, required=True)
    arrays = batch()
    metrics = compute_offpolicy_metrics(arrays["oldLogprobs"], arrays["behaviour"], arrays["mask"])
    fixture = {
        "source": "verl 0.9.1 rollout_corr_helper, get_policy_loss_fn; martingale 0.2.0 exact.defendants",
        "rows": ROWS, "length": LENGTH,
        "batch": {name: values.flatten().tolist() for name, values in arrays.items()},
        "metrics": {name: metrics[name] for name in METRICS},
        "cases": [
            corrected(arrays, correction, level, low, high)
            for correction in ("truncated", "masked", "rejected") for level in ("token", "sequence") for low, high in LIMITS
        ],
        "exact": exact(arguments.parse_args().martingale),
    }
    OUT.write_text(json.dumps(fixture))


if __name__ == "__main__":
    main()
