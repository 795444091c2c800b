"""SmolLM2 in PyTorch, from its GGUF file."""

import gguf
import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM

NAMES = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
         "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
         "ffn_down": "mlp.down_proj", "token_embd": "model.embed_tokens", "output_norm": "model.norm"}  # fmt: skip


def checkpoint(file, attention):
    """The GGUF's weights in float32, as test/python/test_weights.py holds them to be; rows of q and k go back from pairs to halves."""
    reader = gguf.GGUFReader(file)
    of = lambda key: reader.fields[f"llama.{key}"].contents()
    heads, kv = of("attention.head_count"), of("attention.head_count_kv")
    config = LlamaConfig(
        vocab_size=int(next(t for t in reader.tensors if t.name == "token_embd.weight").shape[1]), hidden_size=of("embedding_length"),
        intermediate_size=of("feed_forward_length"), num_hidden_layers=of("block_count"), num_attention_heads=heads, num_key_value_heads=kv,
        rms_norm_eps=of("attention.layer_norm_rms_epsilon"), tie_word_embeddings=True, attn_implementation=attention,
        rope_parameters=dict(rope_type="default", rope_theta=of("rope.freq_base")),
    )  # fmt: skip
    state = {}
    for tensor in reader.tensors:
        weights = torch.from_numpy(np.array(gguf.quants.dequantize(tensor.data, tensor.tensor_type), dtype=np.float32))
        parts = tensor.name.split(".")
        part = parts[-2]
        if part in ("attn_q", "attn_k"):
            rows = weights.shape[0] // (heads if part == "attn_q" else kv)
            weights = weights.reshape(-1, rows // 2, 2, weights.shape[1]).transpose(1, 2).reshape(weights.shape)
        state[f"model.layers.{parts[1]}.{NAMES[part]}.weight" if parts[0] == "blk" else f"{NAMES[part]}.weight"] = weights
    model = LlamaForCausalLM(config)
    model.load_state_dict(state, strict=False)
    model.tie_weights()
    return model
