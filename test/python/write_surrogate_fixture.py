"""Writes test/fixtures/surrogates.json: policy losses and their gradients by the log-probabilities, clipped shares, MaxRL's advantages and KL
times the ratio, as the packages' own code makes them, in float64.

    python test/python/write_surrogate_fixture.py --skyrl DIR && npx oxfmt test/fixtures/surrogates.json

verl and trl are those of test/python/requirements*.txt. skyrl: the wheel of PyPI, unpacked into DIR (`pip download --no-deps skyrl==0.3.0`),
whose function is taken out of the source by name. TRL's loss is computed by GRPOTrainer._compute_loss, for which the model's
log-probabilities are given.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
from trl import GRPOTrainer
from verl.trainer.ppo.core_algos import get_policy_loss_fn
from verl.workers.config.actor import ActorConfig
from write_fixtures import functions

OUT = Path(__file__).resolve().parents[1] / "fixtures" / "surrogates.json"
ROWS, LENGTH = 6, 8
SETTINGS = [(0.2, 0.2, 3.0), (0.05, 0.1, 1.2), (3e-4, 4e-4, 3.0)]
SURROGATES = [("clipped", "vanilla", "token-mean"), ("cispo", "cispo", "token-mean"), ("dppo-tv", "dppo_tv", "token-mean")]
SURROGATES += [("gspo", "gspo", aggregation) for aggregation in ("token-mean", "seq-mean-token-mean")]


def batch():
    """Log-ratios from tiny to far past every bound; rows of several lengths with gaps in the mask."""
    draw = torch.Generator().manual_seed(5)
    normal = lambda *shape: torch.randn(*shape, generator=draw, dtype=torch.float64)
    old = -0.05 - 2.5 * torch.rand(ROWS, LENGTH, generator=draw, dtype=torch.float64)
    spread = torch.tensor([1e-4, 0.02, 0.3, 1.0, 0.3, 12.0], dtype=torch.float64)[:, None]
    new = torch.minimum(old + spread * normal(ROWS, LENGTH), torch.tensor(-1e-3, dtype=torch.float64))
    new[5] = old[5] + torch.tensor([25.0, 14.0, 9.0, 12.0, 30.0, 11.0, 21.0, 10.5], dtype=torch.float64)  # its row's ratio passes e^10
    mask = (torch.rand(ROWS, LENGTH, generator=draw, dtype=torch.float64) < 0.7).double()
    mask[:, 0] = 1.0
    advantages = normal(ROWS, LENGTH)
    advantages[1, 0] = 0.0
    return {"logprobs": new, "oldLogprobs": old, "refLogprobs": old + 0.4 * normal(ROWS, LENGTH), "lossMask": mask, "advantages": advantages}


def verl_case(arrays, name, loss_mode, settings, aggregation):
    low, high, cap = settings
    config = ActorConfig(strategy="fsdp", rollout_n=1, ppo_micro_batch_size_per_gpu=1, clip_ratio_low=low, clip_ratio_high=high, clip_ratio_c=cap)
    logprobs = arrays["logprobs"].clone().requires_grad_()
    loss, metrics = get_policy_loss_fn(loss_mode)(
        arrays["oldLogprobs"], logprobs, arrays["advantages"], arrays["lossMask"], aggregation, config
    )
    loss.backward()
    return {
        "surrogate": name, "clipLow": low, "clipHigh": high, "dualClip": cap, "aggregation": aggregation,
        "loss": loss.item(), "gradient": logprobs.grad.flatten().tolist(),
        "clipped": metrics["actor/pg_clipfrac"], "clippedLower": metrics["actor/pg_clipfrac_lower"],
    }


def trl_loss(arrays, logprobs, beta, times_ratio):
    """TRL's whole loss, without clipping and with every advantage 0: beta times the KL."""
    class Metrics(defaultdict):
        def __init__(self):
            super().__init__(lambda: defaultdict(list))

    rows = arrays["logprobs"].shape[0]
    args = SimpleNamespace(use_bias_correction_kl=times_ratio, delta=None)
    trainer = SimpleNamespace(
        args=args, beta=beta, epsilon_low=0.2, epsilon_high=0.2, loss_type="bnpo", importance_sampling_level="token",
        top_entropy_quantile=1.0, off_policy_mask_threshold=None, use_vllm=False, vllm_importance_sampling_correction=False,
        current_gradient_accumulation_steps=1, model=SimpleNamespace(training=True), _entropy_bonus_enabled=False, tools=None,
        accelerator=SimpleNamespace(gather=lambda x: x, num_processes=1, reduce=lambda x, reduction=None: x), _metrics=Metrics(),
        max_completion_length=LENGTH, aux_loss_enabled=False,
    )
    trainer._get_per_token_logps_and_entropies = lambda *_, **__: (logprobs, torch.zeros_like(logprobs), None)
    ones = torch.ones_like(arrays["lossMask"])
    inputs = {
        "prompt_ids": torch.ones(rows, 1, dtype=torch.long), "prompt_mask": torch.ones(rows, 1), "completion_ids": ones.long(),
        "completion_mask": arrays["lossMask"], "advantages": torch.zeros(rows, dtype=torch.float64),
        "old_per_token_logps": arrays["oldLogprobs"], "ref_per_token_logps": arrays["refLogprobs"],
        "num_items_in_batch": arrays["lossMask"].sum(),
    }
    return GRPOTrainer._compute_loss(trainer, None, inputs)


def kl_cases(arrays):
    near = {name: values[:5] for name, values in arrays.items()}  # TRL has no bound, so rows far away differ on purpose
    cases = []
    for times_ratio in (False, True):
        logprobs = near["logprobs"].clone().requires_grad_()
        loss = trl_loss(near, logprobs, 1.0, times_ratio)
        loss.backward()
        cases.append({"klTimesRatio": "on" if times_ratio else "off", "loss": loss.item(), "gradient": logprobs.grad.flatten().tolist()})
    return cases


def maxrl_cases(folder):
    scope = {"torch": torch, "np": np, "defaultdict": defaultdict, "Optional": None}
    [maxrl] = functions(folder / "skyrl/backends/skyrl_train/utils/ppo_utils.py", ["compute_maxrl_advantage"], scope)
    cases = []
    for scores, groups in [
        ([1.0, 0.0, 0.0, 1.0], [0, 0, 0, 0]), ([1.0, 0.0, 0.0, 0.0, 0.25, 0.75], [0, 0, 0, 0, 1, 1]), ([0.5, 0.1, 0.9], [3, 3, 3]),
    ]:
        rewards = torch.tensor(scores, dtype=torch.float64)[:, None]
        advantages, _ = maxrl(rewards, torch.ones_like(rewards), np.array(groups))
        cases.append({"scores": scores, "groups": groups, "advantages": advantages.flatten().tolist()})
    return cases


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--skyrl", type=Path, required=True)
    arrays = batch()
    losses = [
        verl_case(arrays, name, loss_mode, settings, aggregation)
        for name, loss_mode, aggregation in SURROGATES
        for settings in SETTINGS
    ]
    fixture = {
        "source": "verl 0.9.1 get_policy_loss_fn; trl 1.16 GRPOTrainer._compute_loss; skyrl 0.3.0 compute_maxrl_advantage",
        "rows": ROWS, "length": LENGTH,
        "batch": {name: values.flatten().tolist() for name, values in arrays.items()},
        "losses": losses, "kl": kl_cases(arrays), "maxrl": maxrl_cases(arguments.parse_args().skyrl),
    }
    OUT.write_text(json.dumps(fixture))


if __name__ == "__main__":
    main()
