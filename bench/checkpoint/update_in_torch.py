"""One update of adapters beside a checkpoint in PyTorch eager and PEFT, timed by stage; run by ../adapters.mjs, in a process of its own. Prints a line of JSON.

Arguments: the GGUF file, the folder of the case, the file with what this project found or -, threads, rows that run together, sdpa or eager, 1 to checkpoint layers.
"""

import json
import os
import sys
import time
from pathlib import Path

import torch
from peft import PeftModel
from safetensors.torch import load_file
from smollm2_in_torch import checkpoint

PREFIX = "base_model.model."


class Stages:
    """Seconds by the clock and of processors, by stage."""

    def __init__(self):
        self.took = {}

    def run(self, name, work):
        s, cpu = time.perf_counter(), time.process_time()
        found = work()
        before = self.took.get(name, {"s": 0, "cpuS": 0})
        self.took[name] = {"s": before["s"] + time.perf_counter() - s, "cpuS": before["cpuS"] + time.process_time() - cpu}
        return found

    def sum(self, stage):
        parts = [each for name, each in self.took.items() if name.startswith(stage)]
        return {key: sum(each[key] for each in parts) for key in ("s", "cpuS")}


def head(causal, hidden, tokens):
    return causal.lm_head(hidden).log_softmax(-1).gather(-1, tokens[..., None])[..., 0]


def update(peft, learned, adamw, case, rows, micro):
    """Scores old log-probabilities, then one step of GRPO. Rows run `micro` at a time, and only what the agent wrote meets the language head."""
    causal, stages = peft.base_model.model, Stages()
    tokens, advantages = case["tokens"][:rows], case["advantages"][:rows]
    prompt, of = case["prompt"], case["objective"]
    own = tokens[:, prompt:]
    parts = [slice(i, i + micro) for i in range(0, rows, micro)]
    trunk = lambda part: causal.model(tokens[part], use_cache=False).last_hidden_state[:, prompt - 1 : -1]
    old = []
    with torch.no_grad():
        for part in parts:
            hidden = stages.run("scoring, forward", lambda: trunk(part))
            old.append(stages.run("scoring, head", lambda: head(causal, hidden, own[part])))
    adamw.zero_grad()
    total, logprobs = 0, []
    for part, before in zip(parts, old):
        hidden = stages.run("learning, forward", lambda: trunk(part))
        cut = hidden.detach().requires_grad_()  # so that head and layers are told apart on the way back

        def loss():
            found = head(causal, cut, own[part])
            logprobs.append(found.detach())
            ratio = (found - before).clamp(-20, 20).exp()
            a = advantages[part, None]
            policy = torch.maximum(-a * ratio, -a * ratio.clamp(1 - of["clipLow"], 1 + of["clipHigh"]))
            policy = torch.where(a < 0, torch.minimum(policy, -a * of["dualClip"]), policy)
            return policy.sum() / own.numel()

        value = stages.run("learning, head", loss)
        stages.run("learning, head back", value.backward)
        stages.run("learning, layers back", lambda: hidden.backward(cut.grad))
        total += value.item()
    gradients = {key: each.grad.clone() for key, each in learned.items()}

    def step():
        norm = torch.nn.utils.clip_grad_norm_(learned.values(), case["optimizer"]["maxGradNorm"]).item()
        adamw.step()
        return norm

    norm = stages.run("learning, optimizer", step)
    return stages, gradients, {"loss": total, "gradNorm": norm}, torch.cat(logprobs)


def best_product(size=1024):
    """GFLOP/s of the best of a square product and one of the model's own, least time of several."""
    found = {}
    for name, n, o, k in [("square 1024", size, size, size), ("up 2000", 2000, 1536, 576), ("head 64", 64, 49152, 576)]:
        x, w = torch.randn(n, k), torch.randn(o, k)
        best = float("inf")
        for _ in range(6):
            began = time.perf_counter()
            torch.nn.functional.linear(x, w)
            best = min(best, time.perf_counter() - began)
        found[name] = 2 * n * o * k / best / 1e9
    return found


def apart(found, wanted):
    """Distances of gradients from what was found here, as shares of their length: of the worst tensor, and of all together."""
    each = {key: (found[key].double() - wanted[key].double()).norm().item() for key in found}
    whole = sum(x**2 for x in each.values()) ** 0.5 / sum(x.double().norm().item() ** 2 for x in found.values()) ** 0.5
    return {"worst": max(each[key] / found[key].double().norm().item() for key in found), "whole": whole}


def status(key):
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(key))
    return 1024 * int(line.split()[1])


def main(file, folder, ours, threads, micro, attention, checkpointing):
    torch.set_num_threads(int(threads))
    case = json.loads((Path(folder) / "batch.json").read_text())
    case["tokens"], case["advantages"] = torch.tensor(case["tokens"]), torch.tensor(case["advantages"], dtype=torch.float32)
    empty = status("VmRSS")
    peft = PeftModel.from_pretrained(checkpoint(file, attention), folder, is_trainable=True)
    if checkpointing == "1":
        peft.gradient_checkpointing_enable()
        peft.enable_input_require_grads()
    learned = {key.removeprefix(PREFIX).replace(".default.weight", ".weight"): each for key, each in peft.named_parameters() if each.requires_grad}
    begun = {key: each.detach().clone() for key, each in learned.items()}
    of = case["optimizer"]
    make = lambda: torch.optim.AdamW(learned.values(), lr=of["learningRate"], betas=(of["beta1"], of["beta2"]), eps=of["eps"], weight_decay=of["weightDecay"])
    update(peft, learned, make(), case, 1, 1)  # what is set up, is set up
    with torch.no_grad():
        for key, each in learned.items():
            each.copy_(begun[key])
    Path("/proc/self/clear_refs").write_text("5")  # the peak from here on
    load = os.getloadavg()[0]
    began, cpu = time.perf_counter(), time.process_time()
    stages, gradients, measured, logprobs = update(peft, learned, make(), case, len(case["tokens"]), int(micro))
    whole = {"s": time.perf_counter() - began, "cpuS": time.process_time() - cpu}
    peak = status("VmHWM")
    record = {
        "backend": f"PyTorch {torch.__version__}, {threads} threads, {attention}" + (", layers checkpointed" if checkpointing == "1" else ""),
        "whole": whole, "scoring": stages.sum("scoring"), "learning": stages.sum("learning"), "parts": stages.took, **measured,
        "memory": {"peak": peak, "grown": peak - empty}, "load": [load, os.getloadavg()[0]], "products": best_product(),
    }  # fmt: skip
    if ours != "-" and Path(ours).exists():
        found = load_file(ours)
        record["apart"] = apart(gradients, found)
        record["apart"]["logprobs"] = (logprobs - found["logprobs"][:, case["prompt"] :]).abs().max().item()
    print(json.dumps(record))


if __name__ == "__main__":
    main(*sys.argv[1:])
