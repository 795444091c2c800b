"""Writes test/fixtures/rollouts anew, each file by the writer of the package it is named after.

    python test/python/write_fixtures.py --verl DIR [--agent-r1 FILE]

verl: the wheel of PyPI, unpacked into DIR (`pip download --no-deps verl==0.9.1`). Its module needs a cluster to import, so its dump
functions are taken out of the source by name and run as they stand. Agent-R1 is not on PyPI: FILE is its
agent_r1/trainer/ppo/ray_trainer.py. verifiers 0.4.0 and TRL's way of writing (pandas, to_parquet) come from the environment. --only NAME: write_NAME alone (trackio 0.43.0, openenv 0.10.0).
"""

import argparse
import ast
import json
import math
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

OUT = Path(__file__).resolve().parents[1] / "fixtures" / "rollouts"


def functions(path, names, scope):
    """Runs the functions of a source file by name, without importing it."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name in names]
    for node in found:
        node.decorator_list = []
    exec(compile(ast.Module(body=found, type_ignores=[]), str(path), "exec"), scope)  # noqa: S102
    return [scope[name] for name in names]


PROMPT = "system\nYou may call tools: <tool_call>…</tool_call>.\nuser\nWho wrote “Ada”? Ünïcode too.\nassistant\n"
OUTPUT = (
    "<think>\nI should look.\n</think>\n<tool_call>\n{\"name\": \"search\", \"arguments\": {\"query\": \"Ada\"}}\n</tool_call>"
    "\nuser\n<tool_response>\nuser\nNabokov wrote it.\n</tool_response>\nassistant\n<answer>Nabokov</answer>"
)
SHORT = "<answer>no idea</answer>"


def write_verl(folder):
    import numpy as np

    scope = {"os": os, "json": json, "np": np}
    [v1] = functions(folder / "verl/trainer/ppo/v1/trainer_base.py", ["_write_generations"], dict(scope))
    [legacy] = functions(folder / "verl/trainer/ppo/ray_trainer.py", ["_write_generations"], dict(scope))
    uids = ["8f_a_0_0", "8f_a_1_0", "9c_b_0_0"]
    for step, scores in ((1, [0.0, 1.0, 0.5]), (2, [1.0, 1.0, np.float32(0.25)])):
        v1([PROMPT, PROMPT, PROMPT], [SHORT, OUTPUT, OUTPUT], ["Nabokov", "Nabokov", None], scores, {"uid": uids}, str(OUT / "verl-v1"), step)
    extra = {"acc": [True, False], "pred": ["Nabokov", "no idea"], "request_id": ["r1", "r2"], "too short": [1]}
    legacy([PROMPT, PROMPT], [OUTPUT, SHORT], ["Nabokov", "Nabokov"], [1.0, math.nan], extra, str(OUT / "verl-legacy"), 7)


def write_agent_r1(source):
    import numpy as np
    import torch

    scope = {"np": np, "torch": torch, "Mapping": Mapping, "Sequence": Sequence}
    _, build = functions(source, ["make_json_safe", "build_trajectory_dump_entries"], scope)
    first = "<tool_call>\n{\"name\": \"search\", \"arguments\": {\"query\": \"Ada\"}}\n</tool_call>"
    second = PROMPT + first + "\nuser\n<tool_response>\nNabokov wrote it.\n</tool_response>\nassistant\n"
    entries = build(
        inputs=[PROMPT, second, PROMPT],
        outputs=[first, "<answer>Nabokov</answer>", SHORT],
        gts=["Nabokov"] * 3,
        scores=[np.float32(0.0), np.float32(1.0), np.float32(0.0)],
        reward_extra_infos_dict={"acc": [0, 1, 0]},
        trajectory_uids=["t0", "t0", "t1"],
        step_indices=[0, 1, 0],
        global_step=3,
    )
    path = OUT / "agent-r1" / "3.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:  # as its `_dump_generations` does
        for entry in entries:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def write_verifiers():
    from verifiers.v1.episode import Episode, EnvInfo, GroupInfo, PolicySpan, TrainRunInfo, TrainWorkInfo
    from verifiers.v1.graph import MessageNode
    from verifiers.v1.task import WireTaskData
    from verifiers.v1.trace import AgentConfig, AgentInfo, Trace, TraceTask
    from verifiers.v1.types import AssistantMessage, SystemMessage, ToolCall, ToolMessage, UserMessage
    from verifiers.v1.utils.trace_store import write_episode

    folder = OUT / "verifiers"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "traces.jsonl").unlink(missing_ok=True)
    when = {"timestamp": 1_700_000_000.0}
    for i, reward in enumerate((1.0, 0.0)):
        task = TraceTask(type="Task", data=WireTaskData(idx=0, prompt="Who wrote Ada?"))
        trace = Trace(id=f"trace-{i}", task=task, agent=AgentInfo(config=AgentConfig(max_turns=4)))
        call = ToolCall(id="c1", name="search", arguments='{"query": "Ada"}')
        trace.nodes = [
            MessageNode(message=SystemMessage(content="Be brief."), token_ids=[1, 5], mask=[False] * 2, **when),
            MessageNode(parent=0, message=UserMessage(content="Who wrote Ada?"), token_ids=[6, 7, 8], mask=[False] * 3, **when),
            MessageNode(
                parent=1,
                sampled=True,
                message=AssistantMessage(content="", reasoning_content="I should look.", tool_calls=[call]),
                token_ids=[2, 9, 10, 11],
                mask=[False, True, True, True],
                logprobs=[-0.1, -0.25, -1.5],
                advantages=[reward - 0.5] * 3,
                reference_logprobs=[-0.2, -0.3, -1.4],
                **when,
            ),
            MessageNode(parent=2, message=ToolMessage(tool_call_id="c1", name="search", content="Nabokov wrote it."), token_ids=[12, 13], mask=[False] * 2, **when),
            MessageNode(parent=3, sampled=True, message=AssistantMessage(content="Nabokov" if reward else "Joyce"), token_ids=[2, 14], mask=[False, True], logprobs=[-0.5], advantages=[reward - 0.5], **when),
            # a sub-agent's branch that nothing came of: the last leaf is the one to show
        ]
        if i == 1:
            trace.nodes.insert(2, MessageNode(parent=1, sampled=True, message=AssistantMessage(content="A first try.")))
            for node in trace.nodes[3:]:
                node.parent = 1 if node.parent == 1 else node.parent + 1
        trace.record_reward("correct", reward, 1.0)
        trace.record_reward("format", 0.5, 0.2)
        trace.record_metric("success", reward)
        trace.stop("agent_completed")
        trace.ok = True
        episode = Episode(id=f"episode-{i}", env=EnvInfo(id="books"), task=task, group=GroupInfo(id="g0"), ok=True, traces=[trace])
        episode.record_run(TrainRunInfo(id="run", work=TrainWorkInfo(step=12, policy=PolicySpan(start=11, end=12))))
        write_episode(folder, episode)


def write_trl():
    import pandas as pd

    folder = OUT / "trl"
    folder.mkdir(parents=True, exist_ok=True)
    prompt = [{"role": "user", "content": "Who wrote Ada?"}]
    said = [
        [{"role": "assistant", "content": "<think>Easy.</think> Nabokov"}],
        [{"role": "assistant", "content": "Joyce"}],
    ]
    # as GRPOTrainer.log does: step, prompt, completion, rewards, what log_extra added, advantage
    table = {
        "step": [5, 5],
        "prompt": [prompt, prompt],
        "completion": said,
        "accuracy_reward": [1.0, 0.0],
        "format_reward": [0.5, math.nan],
        "golden": ["Nabokov", "Nabokov"],
        "advantage": [0.7, -0.7],
    }
    pd.DataFrame(table).to_parquet(folder / "completions_00005.parquet")
    table |= {"step": [6, 6], "prompt": ["Who wrote Ada?"] * 2, "completion": ["Nabokov", "Joyce"]}
    pd.DataFrame(table).to_parquet(folder / "completions_00006.parquet")


TOOL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"query": "Ada"}'}}
ASKED = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who wrote Ada?"}]
SEARCHED = [*ASKED, {"role": "assistant", "content": "", "tool_calls": [TOOL]}, {"role": "tool", "tool_call_id": "c1", "content": "Nabokov wrote it."}]


def write_trackio():
    """As `trackio.log` stores traces, and as its export for a static Space writes them."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["TRACKIO_DIR"] = home
        from trackio import Trace
        from trackio.sqlite_storage import SQLiteStorage

        said = [[*SEARCHED, {"role": "assistant", "content": "Nabokov"}], [*ASKED, {"role": "assistant", "content": "Joyce"}]]
        traces = [Trace(messages, metadata={"reward": reward, "golden": "Nabokov"}) for messages, reward in zip(said, (1.0, 0.0))]
        logged = {"rollouts": [trace._to_dict("books", "grpo", 12) for trace in traces], "reward": 0.5}
        SQLiteStorage.bulk_log("books", "grpo", [logged], steps=[12], timestamps=["2026-11-30T00:00:00+00:00"], log_ids=["log"])
        SQLiteStorage.export_for_static_space("books", Path(home) / "out")
        (OUT / "trackio").mkdir(exist_ok=True)
        shutil.copy(Path(home) / "out" / "aux" / "traces.parquet", OUT / "trackio")


def write_openenv():
    from openenv.core.harness.capture.contract import to_training_trace
    from openenv.core.harness.capture.graph import RolloutGraph, TurnNode
    from openenv.core.harness.collect import EpisodeRecord, RolloutSerializer

    folder = OUT / "openenv"
    folder.mkdir(exist_ok=True)
    graph = RolloutGraph()
    call = {"role": "assistant", "content": "", "tool_calls": [TOOL]}
    reply = {"role": "assistant", "content": "Nabokov"}
    graph.add_turn(TurnNode("n0", [1, 5, 6, 7], [9, 10], [-0.25, -1.5], finish_reason="tool_calls", request_messages=ASKED, response_message=call))
    graph.add_turn(TurnNode("n1", [1, 5, 6, 7, 9, 10, 12, 13], [14], [-0.5], index=1, finish_reason="stop", request_messages=SEARCHED, response_message=reply))
    # the harness has cut its history short: this prompt doesn't carry on
    graph.add_turn(TurnNode("n2", [1, 20], [15], [-0.75], index=2, finish_reason="stop", request_messages=ASKED[1:], response_message=reply))
    sequences = [{"role": "agent", "node_ids": ["n0", "n1"]}, {"role": "agent", "node_ids": ["n2"]}]
    trace = to_training_trace(graph, {"rollout_type": "train", "sequences": sequences})
    (folder / "traces.jsonl").write_text(trace.model_dump_json() + "\n")
    (folder / "results.jsonl").unlink(missing_ok=True)
    tool = {"tool_name": "search", "arguments": {"query": "Ada"}, "result": {"data": "Nabokov wrote it.", "done": False, "metadata": {}, "error": None}}
    record = EpisodeRecord("e0", [*SEARCHED, reply], 1.0, True, [tool], {"steps": 2}, {"success": True}, {}, task="ada")
    RolloutSerializer(folder).write_episode(record)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--verl", type=Path)
    arguments.add_argument("--agent-r1", type=Path)
    arguments.add_argument("--only", choices=["trackio", "openenv"])
    given = arguments.parse_args()
    if given.only:
        return {"trackio": write_trackio, "openenv": write_openenv}[given.only]()
    write_verl(given.verl)
    if given.agent_r1:
        write_agent_r1(given.agent_r1)
    write_verifiers()
    write_trl()
    write_trackio()
    write_openenv()


if __name__ == "__main__":
    main()
