"""Writes small models, and adapters for them as PEFT trains and saves them: write_adapters.py FOLDER, into its models and peft."""

import sys
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM
from transformers.utils.logging import disable_progress_bar
from write_text_models import write_models

disable_progress_bar()

ALL = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
ADAPTERS = {
    "llama": LoraConfig(task_type="CAUSAL_LM", r=4, lora_alpha=10, target_modules=ALL, lora_dropout=0.1),
    "qwen2": LoraConfig(task_type="CAUSAL_LM", r=2, lora_alpha=3, target_modules="all-linear", use_rslora=True),
    "qwen3": LoraConfig(task_type="CAUSAL_LM", r=3, lora_alpha=6, target_modules=["q_proj", "v_proj", "down_proj"]),
}
# of llama, and not read
REFUSED = {
    "dora": LoraConfig(task_type="CAUSAL_LM", r=2, target_modules=["q_proj"], use_dora=True),
    "bias": LoraConfig(task_type="CAUSAL_LM", r=2, target_modules=["q_proj"], bias="lora_only"),
    "head": LoraConfig(task_type="CAUSAL_LM", r=2, target_modules=["q_proj"], modules_to_save=["lm_head"]),
    "ranks": LoraConfig(task_type="CAUSAL_LM", r=2, target_modules=["q_proj", "v_proj"], rank_pattern={"v_proj": 3}),
    "some layers": LoraConfig(task_type="CAUSAL_LM", r=2, target_modules=["q_proj"], layers_to_transform=[1]),
    "embedding": LoraConfig(task_type="CAUSAL_LM", r=2, target_modules=["q_proj", "embed_tokens"]),
    "pissa": LoraConfig(task_type="CAUSAL_LM", r=2, target_modules=["q_proj"], init_lora_weights="pissa"),
}


def trained(models, name, config, seed):
    """Adapters whose every number is drawn, so that both matrices matter."""
    adapted = get_peft_model(AutoModelForCausalLM.from_pretrained(models / name, dtype=torch.float32), config)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for key, parameter in adapted.named_parameters():
            if "lora_" in key:
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.2)
    return adapted


if __name__ == "__main__":
    models, folder = Path(sys.argv[1]) / "models", Path(sys.argv[1]) / "peft"
    write_models(models)
    for seed, (name, config) in enumerate(ADAPTERS.items()):
        trained(models, name, config, seed).save_pretrained(folder / name)
    for seed, (name, config) in enumerate(REFUSED.items()):
        trained(models, "llama", config, seed).save_pretrained(folder / name)
