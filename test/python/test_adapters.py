"""Adapters as this project writes, reads, merges and trains them, held against PEFT. Cases: test/python/cases/adapters.ts."""

import json
import os
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM
from transformers.utils.logging import disable_progress_bar

disable_progress_bar()

CASES = Path(os.environ["CASES"]) / "adapters"
TINY = ["llama", "qwen2", "qwen3"]
PREFIX = "base_model.model."


def model(folder):
    return AutoModelForCausalLM.from_pretrained(CASES / folder, dtype=torch.float64).eval()


def adapted(name, folder="ours"):
    return PeftModel.from_pretrained(model(f"models/{name}"), CASES / folder / name).double().eval()


def logprobs(of, text):
    with torch.no_grad():
        every = of(torch.tensor([text])).logits[0].log_softmax(-1)
    assert every.dtype == torch.float64
    return every[range(len(text) - 1), text[1:]]


# The rotary angles of Transformers are float32: 1e-7 of an angle of up to 40. An adapter left out gives .1 and more.
@pytest.mark.parametrize("name", TINY)
def test_an_adapter_of_ours_opens_in_peft_and_gives_our_log_probabilities_as_the_merged_folder_does(name):
    read = json.loads((CASES / "ours" / name / "logprobs.json").read_text())
    ours = torch.tensor(read["logprobs"], dtype=torch.float64)
    beside = adapted(name)
    assert len(load_file(CASES / "ours" / name / "adapter_model.safetensors")) == 2 * 7 * 3
    on, merged = logprobs(beside, read["text"]), logprobs(model(f"merged/{name}"), read["text"])
    with beside.disable_adapter():
        off = logprobs(beside, read["text"])
    far = {"adapter": (ours - on).abs().max().item(), "merged": (ours - merged).abs().max().item()}
    print(f"{name}: log p of {len(ours)} tokens at most apart", far, "without", (ours - off).abs().max().item())
    assert far["adapter"] <= 1e-4 and far["merged"] <= 1e-4 and (ours - off).abs().max() > 0.1


@pytest.mark.parametrize("name", TINY)
def test_an_adapter_that_peft_saved_is_read_and_merged_as_peft_does(name):
    read = json.loads((CASES / "ours" / name / "read.json").read_text())
    beside = adapted(name, "peft")
    config = beside.peft_config["default"]
    assert set(read["adapters"]["targets"]) == set(config.target_modules) and read["adapters"]["rank"] == config.r
    saved = load_file(CASES / "peft" / name / "adapter_model.safetensors")
    assert {PREFIX + key for key in read["weights"]} == saved.keys()
    before = model(f"models/{name}").state_dict()
    wanted = beside.merge_and_unload().state_dict()
    found = load_file(CASES / "merged-peft" / name / "model.safetensors")
    changed = 0
    for key, tensor in found.items():
        assert tensor.dtype == torch.float32
        changed += not torch.equal(wanted[key], before[key])
        # rounded once to float32, 24 bits
        assert torch.allclose(tensor.double(), wanted[key], rtol=2**-24, atol=1e-12), key
    assert changed == len(saved) // 2
    assert wanted.keys() - found.keys() <= {"lm_head.weight"}  # tied


def test_adapters_that_cannot_be_read_are_refused_by_what_they_need():
    refused = json.loads((CASES / "refused.json").read_text())
    names = {"dora": "use_dora: found true", "bias": "bias: found lora_only", "head": "modules_to_save: found a list",
             "ranks": "rank_pattern: found an object", "some layers": "layers_to_transform: found a list",
             "embedding": "target_modules: found embed_tokens", "pissa": "init_lora_weights: found pissa"}  # fmt: skip
    assert refused.keys() == names.keys()
    for case, part in names.items():
        assert part in refused[case], f"{case}: {refused[case]}"


def permuted(weights, heads):
    """As llama.cpp's converter lays out rows of q and k."""
    return weights.reshape(heads, 2, weights.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(weights.shape)


GGUF = {"attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
        "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
        "ffn_down": "mlp.down_proj"}  # fmt: skip


@pytest.mark.parametrize("kind", ["F32", "F16"])
def test_a_merged_gguf_has_the_keys_of_its_base_and_the_tensors_that_gguf_makes_of_both(kind):
    base, merged = gguf.GGUFReader("test/weights/small.gguf"), gguf.GGUFReader(CASES / "gguf" / f"{kind}.gguf")
    keys = lambda reader: {key: field.contents() for key, field in reader.fields.items() if not key.startswith("GGUF.")}
    assert keys(merged) == keys(base) | {"general.file_type": ["F32", "F16"].index(kind)}
    assert [tensor.name for tensor in merged.tensors] == [tensor.name for tensor in base.tensors]
    adapters = load_file(CASES / "ours" / "gguf" / "adapter_model.safetensors")
    scale = 8 / 3  # alpha and rank of test/adapters/made.ts
    for before, after in zip(base.tensors, merged.tensors):
        wanted = gguf.quants.dequantize(before.data, before.tensor_type).astype(np.float64)
        part = before.name.split(".")[-2]
        if part in GGUF:
            a, b = (adapters[f"{PREFIX}model.layers.0.{GGUF[part]}.lora_{ab}.weight"].double().numpy() for ab in "AB")
            heads = {"attn_q": 4, "attn_k": 2}.get(part, 0)
            change = scale * b @ a
            wanted = wanted + (permuted(change, heads) if heads else change)
        vector = len(before.shape) == 1
        assert after.tensor_type == (GGMLQuantizationType.F32 if vector else GGMLQuantizationType[kind])
        found = after.data.astype(np.float64)
        # rounded once to 24 bits, and to the 11 of a half
        np.testing.assert_allclose(found, wanted, rtol=2**-24 if vector or kind == "F32" else 1.001 * 2**-11, atol=1e-7, err_msg=before.name)
