"""Writes small models of each architecture with weights at random, as Transformers saves them, and one that is not read."""

from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, GPT2Config, LlamaConfig, Qwen2Config, Qwen3Config
from transformers.utils.logging import disable_progress_bar

disable_progress_bar()

SIZES = dict(vocab_size=96, hidden_size=48, intermediate_size=80, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2)
LLAMA3 = dict(
    rope_type="llama3", rope_theta=10000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
    original_max_position_embeddings=16,
)
MODELS = {
    "llama": (LlamaConfig(**SIZES, rope_parameters=LLAMA3, tie_word_embeddings=False), torch.float16),
    "qwen2": (Qwen2Config(**SIZES, tie_word_embeddings=True), torch.bfloat16),
    "qwen3": (Qwen3Config(**SIZES, head_dim=16, tie_word_embeddings=False), torch.float32),
    "foreign": (GPT2Config(vocab_size=96, n_embd=16, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0), torch.float32),
}


def drawn(config, seed):
    """A model whose every weight is wide enough that a norm, a bias or a position left out shows."""
    model = AutoModelForCausalLM.from_config(config)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            spread = 0.2 if parameter.dim() > 1 else 0.5
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * spread + ("norm" in name))
    return model


def write_models(folder: Path):
    for seed, (name, (config, dtype)) in enumerate(MODELS.items()):
        # the first in several files, with an index
        shards = {"max_shard_size": "40KB"} if name == "llama" else {}
        drawn(config, seed).to(dtype).save_pretrained(folder / name, **shards)
