"""Rollout Playground's task for verl: the tool, the agent loop and the reward function.

The policy writes words and calls its tool as `<call> words </call>`, without JSON, so verl's own tool parsers can't read its turns. This
agent loop can. It plays episodes with the page's own rules, by playground_env.py, and appends observations to the agent's tokens as
ids with mask 0. tools.yaml, agent_loop.yaml and run.sh refer to this file.
"""

from __future__ import annotations

import random
from typing import Any
from uuid import uuid4

from playground_env import CLOSERS, RULES, Episode

from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopMetrics, AgentLoopOutput, register
from verl.tools.base_tool import BaseTool
from verl.tools.schemas import OpenAIFunctionToolSchema, ToolResponse
from verl.utils.profiler import simple_timer


class PlaygroundTool(BaseTool):
    """The environment's tool. An instance is an episode. `execute` takes a turn as the agent wrote it, well formed or not."""

    def __init__(self, config: dict, tool_schema: OpenAIFunctionToolSchema):
        super().__init__(config, tool_schema)
        self.episodes: dict[str, Episode] = {}

    async def create(self, instance_id: str | None = None, **kwargs) -> tuple[str, ToolResponse]:
        instance_id = instance_id or uuid4().hex
        begin = kwargs["create_kwargs"]
        self.episodes[instance_id] = Episode(begin["split"], begin["seed"], begin["environment_seed"])
        return instance_id, ToolResponse()

    async def execute(self, instance_id: str, parameters: dict[str, Any], **kwargs) -> tuple[ToolResponse, float, dict]:
        turn = self.episodes[instance_id].step(parameters["words"])
        return ToolResponse(text=" ".join(turn.observation)), turn.reward, {"valid": turn.valid, "waited": turn.waited}

    async def calc_reward(self, instance_id: str, **kwargs) -> float:
        return self.episodes[instance_id].reward

    async def release(self, instance_id: str, **kwargs) -> None:
        self.episodes.pop(instance_id, None)


@register("rollout_playground")
class PlaygroundAgentLoop(AgentLoopBase):
    """Samples turns up to `</call>`, `</answer>` or the maximum length, and appends the environment's answers, until the episode is over."""

    def __init__(self, *args, tools=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.tool = next(tool for tool in tools.tools if isinstance(tool, PlaygroundTool))
        # only these tokens end a turn; the tokenizer's end token is its padding
        self.closers = self.tokenizer.convert_tokens_to_ids(list(CLOSERS))

    async def run(self, sampling_params: dict[str, Any], **kwargs) -> AgentLoopOutput:
        row = kwargs["extra_info"]
        own_seed = RULES["randomness"] == "own" and row["split"] == "train"
        environment_seed = random.getrandbits(32) if own_seed else row["environment_seed"]  # every evaluation uses the same seeds
        instance, _ = await self.tool.create(create_kwargs={"split": row["split"], "seed": row["seed"], "environment_seed": environment_seed})
        try:
            return await self._play(instance, sampling_params, list(kwargs["raw_prompt"]))
        finally:
            await self.tool.release(instance)

    async def _play(self, instance: str, sampling_params: dict[str, Any], messages: list[dict]) -> AgentLoopOutput:
        episode = self.tool.episodes[instance]
        prompt = await self.ct_build_initial_tokens(messages)
        ids: list[int] = []
        mask: list[int] = []
        logprobs: list[float] = []
        scores: list[float] = []
        timing: dict[str, Any] = {}
        fields: dict[str, Any] = {}
        while not episode.over:
            turn_limit = episode.budget
            with simple_timer("generate_sequences", timing):
                sampled = await self.server_manager.generate(
                    request_id=instance,
                    prompt_ids=prompt + ids,
                    sampling_params={
                        **sampling_params,
                        **{"max_tokens": turn_limit, "stop_token_ids": self.closers, "ignore_eos": True},
                    },
                )
            fields = {**sampled.extra_fields, **{k: v for k, v in fields.items() if k == "min_global_steps"}}
            turn = list(sampled.token_ids)[:turn_limit]
            ids += turn
            mask += [1] * len(turn)
            logprobs += list(sampled.log_probs or [])[:turn_limit]
            words = self.tokenizer.convert_ids_to_tokens(turn)
            with simple_timer("tool_calls", timing):
                reply, reward, _ = await self.tool.execute(instance, {"words": words})
            scores += [reward] if turn else []
            observation = self.tokenizer.convert_tokens_to_ids(reply.text.split())
            ids += observation
            mask += [0] * len(observation)
            logprobs += [0.0] * len(observation) if logprobs else []
        played = {"score": episode.reward, "success": float(episode.success), "turns": len(episode.turns), **episode.parts}
        max_length = self.rollout_config.response_length
        return AgentLoopOutput(
            prompt_ids=prompt,
            response_ids=ids[:max_length],
            response_mask=mask[:max_length],
            response_logprobs=logprobs[:max_length] if logprobs else None,
            num_turns=1 + 2 * len(episode.turns) - (1 if episode.over else 0),
            metrics=AgentLoopMetrics(
                generate_sequences=timing.get("generate_sequences", 0.0), tool_calls=timing.get("tool_calls", 0.0)
            ),
            extra_fields={**fields, "turn_scores": scores, "tool_rewards": [], "played": played, "environment_seed": episode.environment_seed},
        )


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs) -> dict[str, float]:
    """The score of an episode with its parts, from its agent loop; if missing, the episode is played again from its text."""
    extra = extra_info or {}
    played = extra.get("played")
    if played is None:
        episode = replay(solution_str, extra)
        played = {"score": episode.reward, "success": float(episode.success), "turns": len(episode.turns), **episode.parts}
    return {key: float(value) for key, value in played.items()}


def replay(solution: str, row: dict) -> Episode:
    """Plays the turns in a rollout's text again and skips its observations. Uses the row's `environment_seed`, or 0."""
    episode, words = Episode(row["split"], row["seed"], row.get("environment_seed", 0)), solution.split()
    at = 0
    while not episode.over:
        end = next((i + 1 for i in range(at, len(words)) if words[i] in CLOSERS), len(words))
        turn = words[at : min(end, at + episode.budget)]
        at += len(turn) + len(episode.step(turn).observation)
    return episode
