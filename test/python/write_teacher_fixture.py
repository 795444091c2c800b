"""Writes test/fixtures/teacherVerl.json: the KL to a teacher, and its gradient by the logits, as verl's own code makes them.

    python test/python/write_teacher_fixture.py --verl DIR && npx oxfmt test/fixtures/teacherVerl.json

verl: the wheel of PyPI, unpacked into DIR (`pip download --no-deps verl==0.9.1`). Its modules need a cluster to import, so functions are taken out
of the source by name. Its exact divergence runs in float64: `float()` of its source is left out. Its loss of single tokens (k1) runs once for each
token of the vocabulary; the fixture has the expectation of these.
"""

import argparse
import json
from pathlib import Path
from types import SimpleNamespace

import torch
from write_fixtures import functions

OUT = Path(__file__).resolve().parents[1] / "fixtures" / "teacherVerl.json"
V = 6


class Wide:
    """A tensor whose float() stays float64."""

    def __init__(self, of):
        self.of = of

    def float(self):
        return self.of


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--verl", type=Path, required=True)
    folder = arguments.parse_args().verl
    scope = {"torch": torch}
    functions(folder / "verl/trainer/ppo/core_algos.py", ["kl_penalty", "kl_penalty_forward"], scope)
    [divergence] = functions(folder / "verl/trainer/distillation/fsdp/losses.py", ["kl_divergence"], scope)
    scope |= {"ActorConfig": object, "DistillationConfig": object, "TensorDict": dict, "Any": object}
    scope |= {"DistillationLossConfig": object, "Metric": lambda *_: None, "AggregationType": SimpleNamespace(MEAN=0)}
    scope["no_padding_2_padding"] = lambda values, _: values
    [estimator] = functions(
        folder / "verl/trainer/distillation/losses.py", ["compute_distillation_loss_reverse_kl_estimator"], scope
    )
    config = SimpleNamespace(distillation_loss=SimpleNamespace(loss_mode="k1"))
    draw = torch.Generator().manual_seed(5)
    cases = []
    for illegal, temperature, spread in [([], 1.0, 1.0), ([1, 4], 0.7, 1.0), ([0], 1.3, 4.0), ([0, 2, 3, 4, 5], 1.0, 1.0)]:
        raw, teacher_raw = (spread * torch.randn(V, generator=draw, dtype=torch.float64) for _ in range(2))
        legal = [v for v in range(V) if v not in illegal]
        logits = raw.clone().requires_grad_(True)
        student = torch.log_softmax(logits[legal] / temperature, dim=-1)
        teacher = torch.log_softmax(teacher_raw[legal] / temperature, dim=-1)
        kl = divergence(Wide(teacher), Wide(student))
        kl.backward()
        data = {"response_mask": torch.ones(1, len(legal)), "teacher_logprobs": teacher.reshape(1, -1, 1)}
        single, _ = estimator(None, config, {"log_probs": student.detach().reshape(1, -1)}, data)
        q = torch.zeros(V, dtype=torch.float64)
        q[legal] = teacher
        cases.append(
            {
                "logits": raw.tolist(),
                "illegal": illegal,
                "temperature": temperature,
                "teacher": q.tolist(),
                "kl": kl.item(),
                "expectedK1": (student.exp() * single[0]).sum().item(),
                "gradient": logits.grad.tolist(),
            }
        )
    source = "verl 0.9.1: kl_divergence of the student from the teacher, and compute_distillation_loss_reverse_kl_estimator"
    OUT.write_text(json.dumps({"source": source, "cases": cases}))


if __name__ == "__main__":
    main()
