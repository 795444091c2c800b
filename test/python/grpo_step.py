"""One step of TRL's GRPOTrainer with a class as environment_factory, on the shipped agent."""

import math
from pathlib import Path

import pytest

AGENT = Path(__file__).resolve().parents[2] / "public/models/agent"


def train_a_step(environment_class, rows, calls, tmp_path, monkeypatch):
    """
    Trains a step of four rollouts. The first turns of the first rollouts are `calls`, a JSON text each; all other turns are the
    model's. Checks that the weights moved and that TRL logs the mean of what the environments pay. Returns the environments.
    """
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")
    from datasets import Dataset
    from transformers import AutoTokenizer
    from trl import GRPOConfig, GRPOTrainer
    from trl.chat_template_utils import qwen3_template

    tokenizer = AutoTokenizer.from_pretrained(AGENT, padding_side="left")
    tokenizer.response_template = qwen3_template  # the shipped agent calls tools as Qwen 3 does
    settings = {"output_dir": str(tmp_path), "use_cpu": True, "bf16": False, "report_to": "none", "save_strategy": "no"}
    settings |= {"max_steps": 1, "per_device_train_batch_size": 4, "num_generations": 4, "logging_steps": 1, "learning_rate": 1e-3}
    settings |= {"max_completion_length": 160, "max_tool_calling_iterations": 2, "seed": 5}
    trainer = GRPOTrainer(
        model=str(AGENT),
        args=GRPOConfig(**settings),
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        environment_factory=environment_class,
    )
    generate, turns = trainer._generate_single_turn, []

    def turn(prompt_ids, *rest, **more):
        ids, logprobs = generate(prompt_ids, *rest, **more)
        turns.append(len(ids))
        if len(turns) == 1:
            for at, call in enumerate(calls):
                ids[at] = tokenizer.encode(f"<tool_call>\n{call}\n</tool_call><|im_end|>", add_special_tokens=False)
        return ids, logprobs

    monkeypatch.setattr(trainer, "_generate_single_turn", turn)
    before = {name: value.detach().clone() for name, value in trainer.model.named_parameters()}
    trainer.train()
    (logged,) = [entry for entry in trainer.state.log_history if "reward" in entry]
    rewards = [environment.get_reward() for environment in trainer.environments]
    # TRL adds up in float32
    assert logged[f"rewards/{environment_class.__name__}/mean"] == pytest.approx(sum(rewards) / 4, rel=1e-6)
    assert len(set(rewards)) > 1
    moved = sum(float((value.detach() - before[name]).abs().sum()) for name, value in trainer.model.named_parameters())
    assert 0 < moved < math.inf
    return trainer.environments
