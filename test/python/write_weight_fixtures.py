"""Writes test/weights: tiny checkpoints as transformers and gguf write them, blocks of every format, and what they are.

Run with the packages of requirements.txt: python test/python/write_weight_fixtures.py
"""

import base64
import json
import shutil
from pathlib import Path

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType as Type
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen3Config

HERE = Path(__file__).parent.parent / "weights"
TOKENS = [3, 17, 9, 31, 0, 5, 5, 22, 14, 8, 30, 1, 12, 26, 19, 7, 2, 28, 11, 4]
SIZES = dict(vocab_size=32, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4)
LLAMA3 = dict(
    rope_type="llama3", rope_theta=10000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
    original_max_position_embeddings=32,
)


def packed(array):
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def logits(model):
    with torch.no_grad():
        return model.double()(torch.tensor([TOKENS])).logits[0].numpy().round(9).tolist()


def rough(model, seed):
    """Every weight is drawn anew, wide enough that a norm, a bias or a position left out shows."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            spread = 0.3 if parameter.dim() > 1 else 0.5
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * spread + ("norm" in name))
    return model


def folder(name, config, dtype, seed):
    model = rough(AutoModelForCausalLM.from_config(config), seed).to(dtype)
    shutil.rmtree(HERE / name, ignore_errors=True)
    model.save_pretrained(HERE / name)
    (HERE / name / "generation_config.json").unlink(missing_ok=True)
    read = AutoModelForCausalLM.from_pretrained(HERE / name, dtype=torch.float32)
    return logits(read)


def blocks():
    """Two blocks of each format: bytes, and the float32 that gguf widens them to."""
    rng = np.random.default_rng(7)
    result = {}
    for kind in [Type.F32, Type.F16, Type.BF16, Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.Q8_0, Type.Q6_K]:
        size, width = gguf.GGML_QUANT_SIZES[kind]
        count = 64 if size == 1 else 4
        raw = rng.integers(0, 256, (count, width), dtype=np.uint8)
        scales = {Type.F16: [0], Type.Q4_0: [0], Type.Q4_1: [0, 2], Type.Q5_0: [0], Type.Q5_1: [0, 2], Type.Q8_0: [0],
                  Type.Q6_K: [208]}.get(kind, [])
        for at in scales:  # every pattern of bits that is a finite half, small ones below 2**-14 too
            raw[:, at + 1] = (raw[:, at + 1] & 0x83) | rng.choice([0, 4, 0x38, 0x74], count).astype(np.uint8)
        if kind in (Type.F32, Type.BF16):
            raw[:, width - 1] &= 0xBF
        flat = raw.reshape(1, -1)
        values = gguf.quants.dequantize(flat.view(np.float32) if kind == Type.F32 else flat.view(np.float16) if kind == Type.F16 else flat, kind)
        assert np.isfinite(values).all(), kind
        result[kind.name] = {"bytes": packed(raw), "values": packed(values.astype(np.float32))}
    return result


def permuted(weights, heads):
    """As llama.cpp's converter lays out rows of q and k."""
    return weights.reshape(heads, 2, weights.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(weights.shape)


def small_gguf():
    """A Llama with every way to pack a matrix, scaled rotary positions and its own head."""
    config = LlamaConfig(**{**SIZES, "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1}, num_key_value_heads=2,
                         rope_parameters=LLAMA3, rms_norm_eps=1e-5, tie_word_embeddings=False)  # fmt: skip
    model = rough(LlamaForCausalLM(config), 11)
    state = {name: tensor.numpy().copy() for name, tensor in model.state_dict().items()}
    writer = gguf.GGUFWriter(HERE / "small.gguf", "llama")
    for key, value in dict(block_count=1, context_length=256, embedding_length=32, feed_forward_length=32, head_count=4,
                           head_count_kv=2).items():  # fmt: skip
        getattr(writer, f"add_{key}")(value)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_rope_dimension_count(8)
    writer.add_vocab_size(32)
    at = "model.layers.0."
    tensors = [
        ("model.embed_tokens.weight", "token_embd.weight", Type.Q8_0), ("lm_head.weight", "output.weight", Type.Q5_1),
        (at + "self_attn.q_proj.weight", "blk.0.attn_q.weight", Type.Q4_1),
        (at + "self_attn.k_proj.weight", "blk.0.attn_k.weight", Type.F16),
        (at + "self_attn.v_proj.weight", "blk.0.attn_v.weight", Type.Q8_0),
        (at + "self_attn.o_proj.weight", "blk.0.attn_output.weight", Type.Q4_0),
        (at + "mlp.gate_proj.weight", "blk.0.ffn_gate.weight", Type.Q4_0),
        (at + "mlp.up_proj.weight", "blk.0.ffn_up.weight", Type.Q4_1),
        (at + "mlp.down_proj.weight", "blk.0.ffn_down.weight", Type.BF16),
        (at + "input_layernorm.weight", "blk.0.attn_norm.weight", Type.F32),
        (at + "post_attention_layernorm.weight", "blk.0.ffn_norm.weight", Type.F32),
        ("model.norm.weight", "output_norm.weight", Type.F32),
    ]  # fmt: skip
    for name, own, kind in tensors:
        weights = state[name]
        heads = {"attn_q": 4, "attn_k": 2}.get(own.split(".")[-2], 0)
        data = gguf.quants.quantize(permuted(weights, heads) if heads else weights, kind)
        writer.add_tensor(own, data, raw_dtype=kind)
        # what a reader has to get: quantised row by row, so the permutation changes nothing
        state[name] = gguf.quants.dequantize(gguf.quants.quantize(weights, kind), kind).reshape(weights.shape)
    turns = 32 * 10000.0 ** (-np.arange(0, 8, 2) / 8) / (2 * np.pi)
    smooth = (turns - 1) / (4 - 1)
    factors = np.where(turns > 4, 1, np.where(turns < 1, 8, 1 / ((1 - smooth) / 8 + smooth)))
    writer.add_tensor("rope_freqs.weight", factors.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    model.load_state_dict({name: torch.from_numpy(np.array(tensor, dtype=np.float32)) for name, tensor in state.items()})
    return logits(model)


def main():
    HERE.mkdir(exist_ok=True)
    llama = LlamaConfig(**SIZES, num_key_value_heads=2, rope_parameters=LLAMA3, rms_norm_eps=1e-5, tie_word_embeddings=True)
    qwen2 = Qwen2Config(**SIZES, num_key_value_heads=2, rms_norm_eps=1e-6, tie_word_embeddings=True,
                        rope_parameters=dict(rope_type="default", rope_theta=1000000.0))  # fmt: skip
    qwen3 = Qwen3Config(**SIZES, num_key_value_heads=1, head_dim=8, rms_norm_eps=1e-6, tie_word_embeddings=False,
                        rope_parameters=dict(rope_type="default", rope_theta=1000000.0))  # fmt: skip
    expected = {
        "tokens": TOKENS,
        "logits": {
            "llama3": folder("llama3", llama, torch.bfloat16, 1),
            "qwen2": folder("qwen2", qwen2, torch.float16, 2),
            "qwen3": folder("qwen3", qwen3, torch.float32, 3),
            "small.gguf": small_gguf(),
        },
        "blocks": blocks(),
    }
    (HERE / "expected.json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main()
