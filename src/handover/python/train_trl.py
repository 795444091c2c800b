"""Trains Rollout Playground's task with TRL's GRPOTrainer: `python train_trl.py`, on a CPU, on a GPU, or with --vllm.

The policy writes words and calls its tool as `<call> words </call>`, without JSON. A response template passes each whole turn, well formed
or not, to the environment's only method, `turn`, so malformed turns are answered and scored as on the page. In TRL, an environment can't
end a rollout. But a tool result that doesn't fit into the completion ends it, and is dropped (`_tool_call_loop`). So `turn` returns FULL,
which never fits, when an episode is over.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from pathlib import Path

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

from datasets import load_dataset
from playground_env import CLOSERS, RULES, Episode
from transformers import AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

HERE = Path(__file__).resolve().parent
SETTINGS = json.loads((HERE / "trl.json").read_text(encoding="utf-8"))  # fields of GRPOConfig, made from the page's knobs
FULL = " ".join(["<pad>"] * (RULES["maxTokens"] + 1))

# Makes the whole response a call of `turn`, without any text before it.
RESPONSE_TEMPLATE = {
    "defaults": {"role": "assistant"},
    "start_anchor_pattern": ".*",
    "fields": {
        "tool_calls": {
            "repeats": True,
            "content": "text",
            "transform": {"type": "function", "function": {"name": "turn", "arguments": {"text": "{content}"}}},
        }
    },
}


class Playground:
    """Plays one episode at a time. `reset` begins it with a row of the tasks."""

    def __init__(self):
        self.episode: Episode | None = None

    def reset(self, extra_info: dict, **row) -> None:
        own_seed = RULES["randomness"] == "own" and extra_info["split"] == "train"
        environment_seed = random.getrandbits(32) if own_seed else extra_info["environment_seed"]  # every evaluation uses the same seeds
        self.episode = Episode(extra_info["split"], extra_info["seed"], environment_seed)

    def turn(self, text: str) -> str:
        """
        Takes one turn of the agent.

        Args:
            text: The words of the turn, from its first to its closing tag.

        Returns:
            What the environment says.
        """
        observation = self.episode.step(text.split()).observation
        return FULL if self.episode.over else " ".join(observation[1:-1])  # without its tags, which the chat template adds

    def get_reward(self) -> float:
        return self.episode.reward


def success(environments: list[Playground], **kwargs) -> list[float]:
    """1 for each solved task, otherwise 0. Only shown, not learned from."""
    return [float(environment.episode.success) for environment in environments]


def trainer(arguments: argparse.Namespace) -> GRPOTrainer:
    tokenizer = AutoTokenizer.from_pretrained(arguments.model, padding_side="left")
    tokenizer.response_template = RESPONSE_TEMPLATE
    tokenizer.eos_token = CLOSERS[0]  # TRL cuts the template's text here to find what follows a call
    rows = {split: str(HERE / f"{split}.jsonl") for split in ("train", "val")}
    rows = load_dataset("json", data_files=rows)
    changes = json.loads(arguments.set)
    config = GRPOConfig(
        **{
            **SETTINGS,
            "output_dir": arguments.out,
            "use_vllm": arguments.vllm,
            "use_cpu": arguments.cpu,
            # limits a turn; max_completion_length limits an episode
            "generation_kwargs": {"max_tokens" if arguments.vllm else "max_new_tokens": RULES["maxTurnTokens"]},
            **changes,
        }
    )
    return GRPOTrainer(
        model=arguments.model,
        args=config,
        reward_funcs=[success],
        train_dataset=rows["train"],
        eval_dataset=rows["val"] if config.eval_strategy != "no" else None,
        processing_class=tokenizer,
        environment_factory=Playground,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default=str(HERE / "model"), help="a checkpoint with this folder's tokenizer")
    parser.add_argument("--out", default=str(HERE / "trained"))
    parser.add_argument("--vllm", action="store_true", help="generate with vLLM, which needs a GPU")
    parser.add_argument("--cpu", action="store_true", help="use the CPU even if there is a GPU")
    parser.add_argument("--set", default="{}", help="fields of GRPOConfig as JSON; they override trl.json")
    arguments = parser.parse_args()
    training = trainer(arguments)
    training.train()
    training.save_model(arguments.out)


if __name__ == "__main__":
    main()
