"""Exported environments: the folders' episodes against the sandbox's, and each framework's own classes with the folder's files."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from folder_modules import modules_of
from grpo_step import AGENT, train_a_step

CASES = Path(os.environ["CASES"]) / "environments"
ODD = CASES / "odd"
ROOT = Path(__file__).resolve().parents[2]
modules = modules_of(ODD)

REPLAY = """
import json, sys
from playground_episode import Episode, whole

refused = ended = 0
for line in open("episodes.jsonl", encoding="utf-8"):
    played = json.loads(line)
    episode = Episode(**played["task"])
    where = (played["task"], played["moves"])
    assert episode.prompt == whole(played["prompt"]), where
    replies = iter(played["replies"])
    for move in played["moves"]:
        if played["by"] == "expert":
            expert = episode.expert()
            assert expert == (move["answer"] if "answer" in move else {"tool": move["tool"], "arguments": move["values"]}), where
        reply = next(replies, {})
        if "answer" in move:
            episode.answer(move["answer"])
            continue
        said = episode.call(move["tool"], move["values"])
        assert said.text == whole(reply.get("text", reply.get("refused"))), where
        assert (said.refused, said.paid) == ("refused" in reply, reply.get("paid", 0)), where
        refused += said.refused
    assert episode.rewards() == played["parts"], where
    assert episode.reward() == played["reward"], where
    ended += episode.over
print(json.dumps({"episodes": sum(1 for _ in open("episodes.jsonl")), "refused": refused, "over": ended}))
"""


def inside(folder, program):
    """What a program prints that runs in an exported folder, as JSON."""
    run = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=240)
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout)


TEMPLATES = sorted(path.stem for path in (ROOT / "public/environments").glob("*.ts") if not path.name.endswith(".d.ts"))


@pytest.mark.parametrize("name", [*TEMPLATES, "odd"])
def test_episodes_have_the_words_rewards_and_experts_moves_of_the_sandbox_bit_for_bit(name):
    counts = inside(CASES / name, REPLAY)
    assert counts["episodes"] == (1000 if name == "odd" or "SLOW_CASES" in os.environ else 200)
    assert counts["refused"] > counts["episodes"] / 20
    assert counts["over"] > counts["episodes"] / 5


def test_the_expert_draws_the_numbers_of_its_turn_its_task_its_split_and_the_seed():
    told = inside(
        ODD,
        """
import json
from playground_episode import Episode
moves = []
for split, seed in (("train", 0), ("test", 0), ("train", 7)):
    episode = Episode(split, 5, seed)
    for turn in range(3):
        moves.append(list(episode.expert()["arguments"].values()))
        episode.call("look", {})
print(json.dumps(moves))
""",
    )
    # as src/base/rng.ts draws them with the key (seed + turn, task, 1 for a test task), turns from 1
    assert told == [
        *([0.5, "down it", False], [2.5, "up", True], [-4.5, "down it", False]),
        *([-1.5, "down it", False], [-4.5, "down it", False], [-2.5, "down it", True]),
        *([3.5, "up", False], [-1.5, "down it", True], [-2.5, "down it", False]),
    ]


@pytest.mark.parametrize("name", ["endless", "stuck"])
def test_a_call_without_an_end_is_stopped_by_its_counted_work_and_told_with_the_sandboxs_words_and_line(name):
    told = inside(
        CASES / name,
        """
import json
from playground_episode import Episode, EnvironmentFault
from trl_environment import GuessTheWord
faults = []
environment = GuessTheWord()
word = environment.reset("train", 0).split()[2]
for ask in (lambda: environment.guess(word), environment.get_reward):
    try: ask()
    except EnvironmentFault as fault: faults.append(str(fault))
print(json.dumps({"faults": faults, "prompt": Episode("train", 1).prompt}))
""",
    )
    first, again = told["faults"]
    (own,) = json.loads((CASES / name / "episodes.jsonl").read_text().splitlines()[0])["problems"]
    assert first == f"environment.ts:{own['line']}: {own['text']} (train task 0, turn 1)"
    assert "too long" in own["text"]
    assert ("virtual machine was ended" in own["text"]) == (name == "stuck")
    assert again == first  # TRL takes the first one for the tool's answer
    assert len(told["prompt"].split()) > 1  # another episode goes on


def test_zeros_have_no_sign_and_what_is_no_reward_for_the_page_is_none_here():
    told = inside(
        CASES / "signs",
        """
import json
from playground_episode import Episode, EnvironmentFault
told = []
for n in (-0.0, float("nan"), float("inf"), 10**400, 1e39, 6e5):
    episode = Episode("train", 0)
    reply = episode.call("act", {"n": n})
    try: told.append([reply.text, reply.refused, str(episode.reward())])
    except EnvironmentFault as fault: told.append([reply.text, reply.refused, str(fault)])
print(json.dumps(told))
""",
    )
    zero, nan, infinity, huge, beyond, twice = told
    assert zero == ["Infinity", False, "0.0"]
    assert nan == infinity == huge == ["n of act has to be a number", True, "0.0"]
    assert "once = 1e+39" in beyond[2] and "a million" in beyond[2]
    assert "1200000" in twice[2] and "a million" in twice[2]


def episodes(*by):
    """Episodes of these players."""
    played = [json.loads(line) for line in (ODD / "episodes.jsonl").read_text().splitlines()]
    return [episode for episode in played if episode["by"] in by]


def told(reply):
    """What a reply of the sandbox says, as Python has it."""
    return reply.get("text", reply.get("refused", "")).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def schemas():
    return [tool["schema"] for tool in json.loads((ODD / "machine/environment.json").read_text())["tools"]]


PYTHON_NAMES = {"import": "import_", "from": "from_", "lambda": "lambda_", "self": "self_"}


def python_names(values):
    return {PYTHON_NAMES.get(name, name): value for name, value in values.items()}


def test_the_methods_of_the_trl_class_have_the_schemas_of_the_tools():
    from transformers.utils import get_json_schema
    from trl_environment import Odd

    flat = lambda text: text.replace(":", " –")  # a colon behind the words that begin a section, and no other one, is another sign
    for schema in schemas():
        function = schema["function"]
        method = getattr(Odd(), PYTHON_NAMES.get(function["name"], function["name"]))
        made = get_json_schema(method)["function"]
        assert flat(made["description"]) == flat(function["description"] or function["name"])
        parameters = made["parameters"].get("properties", {})
        assert list(parameters) == list(python_names(function["parameters"]["properties"]))
        for of, (name, own) in zip(parameters.values(), function["parameters"]["properties"].items()):
            assert of["type"] == own["type"]
            assert of.get("enum") == own.get("enum")
            assert flat(of["description"]) == flat(own.get("description", PYTHON_NAMES.get(name, name)))


def test_the_trl_class_plays_the_sandboxs_episodes():
    from trl_environment import Odd, rows

    environment = Odd()  # TRL makes it once, and resets it
    assert [(row["split"], row["index"]) for row in rows("test", 2)] == [("test", 0), ("test", 1)]
    played = episodes("chance", "expert")
    for episode in played:
        assert environment.reset(prompt=[], **episode["task"]) == told({"text": episode["prompt"]})
        replies = [told(reply) for reply in episode["replies"] if not reply.get("over") or "answer" not in episode["moves"][-1]]
        said = []
        for move in episode["moves"]:
            if "answer" in move:
                environment.answer(move["answer"])
            else:
                method = getattr(environment, PYTHON_NAMES.get(move["tool"], move["tool"]))
                said.append(method(**python_names(move["values"])))
        assert said == replies
        assert environment.get_reward() == episode["reward"]
    assert len(played) == 500


def test_trl_trains_a_step_with_the_class_as_environment_factory_and_pays_what_the_environment_pays(tmp_path, monkeypatch):
    from trl_environment import Odd, rows

    calls = ['{"name": "import_", "arguments": {"from_": %d, "lambda_": "up", "self_": false}}' % step for step in (1, 2, 3)]
    environments = train_a_step(Odd, rows("train", 4), calls, tmp_path, monkeypatch)
    assert sum(environment._episode.turns > 0 for environment in environments) >= 3


class StateChannel(BaseHTTPRequestHandler):
    """Where verifiers keeps a rollout's state while its toolset runs in another process."""

    state = b"{}"

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(type(self).state)

    def do_PUT(self):
        type(self).state = self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def test_verifiers_loads_the_taskset_calls_the_toolset_and_scores_the_parts_with_their_weights(monkeypatch):
    import httpx
    import verifiers.v1 as vf
    from mcp.server.mcpserver import MCPServer
    from verifiers.v1.utils.loaders import taskset_class
    from verifiers_environment import OddConfig, OddTask, Played

    server = ThreadingHTTPServer(("127.0.0.1", 0), StateChannel)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    tasks = {split: list(taskset_class("verifiers_environment")(OddConfig(split=split))) for split in ("train", "test")}
    assert (len(tasks["train"]), len(tasks["test"])) == (300, 60)

    async def play(episode, client):
        task = tasks[episode["task"]["split"]][episode["task"]["index"]]
        assert task.data.prompt == told({"text": episode["prompt"]})
        (toolset,) = OddTask.toolsets(task.config)
        toolset._state_client = client
        await toolset.setup_task(task.data)
        tools = MCPServer("odd")
        toolset.register(tools)
        assert [tool.name for tool in await tools.list_tools()] == ["import", "look", "print"]
        StateChannel.state = Played().model_dump_json().encode()
        for move, reply in zip(episode["moves"], episode["replies"]):
            if "tool" in move:
                result = await tools.call_tool(move["tool"], python_names(move["values"]))
                assert result.content[0].text == told(reply)
        last = episode["moves"][-1].get("answer", "") if episode["moves"] else ""
        trace = vf.Trace.model_construct(
            state=Played.model_validate_json(StateChannel.state), root_reply=last, rewards={}, metrics={}, nodes=[]
        )
        await task.score(trace)
        assert {name: part.score for name, part in trace.rewards.items()} == episode["parts"]
        assert trace.reward == pytest.approx(episode["reward"], rel=1e-12)  # verifiers adds the parts up in another order

    async def play_all():
        async with httpx.AsyncClient(trust_env=False) as client:
            for episode in episodes("chance")[:20] + episodes("expert")[:30]:
                await play(episode, client)

    monkeypatch.setenv("VF_STATE_URL", f"http://127.0.0.1:{server.server_port}/state")
    monkeypatch.setenv("VF_STATE_SECRET", "x")
    try:
        asyncio.run(play_all())
    finally:
        server.shutdown()


def test_verl_loads_rows_and_tools_its_agent_loop_calls_them_and_the_score_is_the_rewards():
    from types import SimpleNamespace

    import verl_environment
    from hydra import compose, initialize_config_module
    from transformers import AutoTokenizer
    from verl.experimental.agent_loop.tool_agent_loop import AgentData, ToolAgentLoop
    from verl.experimental.agent_loop.tool_parser import FunctionCall
    from verl.tools.tool_registry import load_all_tools
    from verl.utils.dataset.rl_dataset import RLHFDataset

    verl_environment.main()
    tools = {tool.name: tool for tool in load_all_tools(str(ODD / "tools.yaml"), None)}
    assert list(tools) == ["import", "print", "look", "answer"]
    readme = (ODD / "README.md").read_text().split("verl.trainer.main_ppo")[1].split("…")[0]
    overrides = [part for part in readme.split() if "=" in part]
    assert len(overrides) == 9
    with initialize_config_module(config_module="verl.trainer.config", version_base=None):
        config = compose("ppo_trainer", overrides=overrides)  # throws on a key that it does not know
    rows = RLHFDataset(str(ODD / "train.jsonl"), AutoTokenizer.from_pretrained(AGENT), config.data)
    assert len(rows) == 300
    loop = SimpleNamespace(tools=tools, max_tool_response_length=5000, tool_response_truncate_side="left")

    async def play(episode):
        row = rows[episode["task"]["index"]]
        assert row["raw_prompt"][1]["content"] == told({"text": episode["prompt"]})
        data = AgentData([], None, None, None, None, {}, "1", row["tools_kwargs"])
        said = []
        for move in episode["moves"]:
            name, arguments = ("answer", {"text": move["answer"]}) if "answer" in move else (move["tool"], move["values"])
            call = FunctionCall(name=name, arguments=json.dumps(arguments))
            response, paid, _ = await ToolAgentLoop._call_tool(loop, call, data.tools_kwargs, data)
            said += [] if "answer" in move else [(response.text, paid)]
        replies = [(told(reply), reply.get("paid", 0)) for reply in episode["replies"]][: len(said)]
        assert said == replies
        score = verl_environment.compute_score("", "", "", extra_info={**row["extra_info"], **data.extra_fields})
        assert score == {"score": episode["reward"], **episode["parts"]}

    trained = [episode for episode in episodes("chance", "expert") if episode["task"]["split"] == "train"]
    assert len(trained) == 400
    for episode in trained:
        asyncio.run(play(episode))
    assert len(tools["print"].episodes) == 0  # an episode goes with its rollout


OPENENV = Path(sys.prefix) / "apart"  # its packages contradict those of verifiers
PLAY = """
import json, sys
from openenv.core import GenericEnvClient

played = [json.loads(line) for line in open("episodes.jsonl", encoding="utf-8")]
whole = lambda text: text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
turns = ended = 0
with GenericEnvClient(base_url=sys.argv[1]).sync() as first, GenericEnvClient(base_url=sys.argv[1]).sync() as second:
    listed = first.step({"type": "list_tools"}).observation["tools"]
    own = [tool["schema"]["function"] for tool in json.load(open("machine/environment.json"))["tools"]]
    assert [(tool["name"], tool["input_schema"]) for tool in listed[:-1]] == [(tool["name"], tool["parameters"]) for tool in own]
    assert listed[-1]["name"] == "answer"
    for at in range(0, len(played), len(played) // 40):  # all four players
        episode = played[at]
        for client in (first, second):  # at once, each its own episode
            result = client.reset(**episode["task"])
            assert result.observation["text"] == whole(episode["prompt"])
        for move, reply in zip(episode["moves"], [*episode["replies"], {}]):
            answers = "answer" in move
            step = {"tool_name": "answer", "arguments": {"text": move["answer"]}} if answers else {"tool_name": move["tool"], "arguments": move["values"]}
            for client in (first, second):
                result = client.step({"type": "call_tool", **step})
                if not answers:
                    assert result.observation["text"] == whole(reply.get("text", reply.get("refused")))
                    assert result.observation["refused"] == ("refused" in reply)
                    assert result.observation["turn_reward"] == reply.get("paid", 0)
            turns += 1
        if not result.done:
            result = first.step({"type": "call_tool", "tool_name": "answer", "arguments": {"text": ""}})
            continue
        assert result.reward == episode["reward"]
        assert result.observation["rewards"] == episode["parts"]
        ended += 1
    assert first.reset(seed=7, split="test").observation["text"] == first.reset(index=7, split="test").observation["text"]
print(json.dumps({"turns": turns, "ended": ended}))
"""


def test_a_real_openenv_server_plays_the_episodes_over_its_own_client(tmp_path):
    if not OPENENV.exists():
        pytest.skip("openenv isn't installed apart from the other packages")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = {**os.environ, "PYTHONPATH": str(OPENENV)}
    log = (tmp_path / "log").open("w")
    server = subprocess.Popen(
        [sys.executable, "openenv_server.py", "--port", str(port)], cwd=ODD, env=env, stdout=log, stderr=subprocess.STDOUT
    )
    try:
        address = f"http://127.0.0.1:{port}"
        while server.poll() is None and not answers(f"{address}/health"):
            time.sleep(0.1)
        run = subprocess.run([sys.executable, "-c", PLAY, address], cwd=ODD, env=env, capture_output=True, text=True, timeout=240)
        assert run.returncode == 0, run.stderr[-3000:] + (tmp_path / "log").read_text()[-2000:]
        counts = json.loads(run.stdout)
        assert counts["turns"] > 100
        assert counts["ended"] >= 10
    finally:
        server.kill()
        server.wait()


def answers(address):
    try:
        return urllib.request.urlopen(address, timeout=5).status == 200
    except OSError:
        return False
