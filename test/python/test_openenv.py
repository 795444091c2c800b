"""A real OpenEnv server as the environment of a text model: the client in src/openenv plays the sandbox's episodes on it."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

CASES = Path(os.environ["CASES"])
ODD = CASES / "environments/odd"
ROOT = Path(__file__).resolve().parents[2]
OPENENV = Path(sys.prefix) / "apart"  # its packages contradict those of verifiers


class Server:
    """The exported environment, served on a port until it is killed."""

    def __init__(self, port, log):
        env = {**os.environ, "PYTHONPATH": str(OPENENV)}
        program = [sys.executable, "openenv_server.py", "--port", str(port)]
        self.process = subprocess.Popen(program, cwd=ODD, env=env, stdout=log.open("a"), stderr=subprocess.STDOUT)
        while not self.answers(port):
            assert self.process.poll() is None, log.read_text()[-2000:]
            time.sleep(0.1)

    def answers(self, port):
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).status == 200
        except OSError:
            return False

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def test_a_real_server_plays_a_hundred_episodes_with_the_sandboxs_words_and_rewards_and_is_found_again_after_it_was_killed(tmp_path):
    if not OPENENV.exists():
        pytest.skip("openenv isn't installed apart from the other packages")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path / "log"
    server = Server(port, log)
    try:
        address = f"ws://127.0.0.1:{port}/ws?train=300&test=60&turns=6&observation=128"
        node = os.environ.get("npm_node_execpath") or shutil.which("node")
        client = subprocess.Popen(
            [node, str(CASES / "openenv/openenv.js"), address, str(ODD / "episodes.jsonl")],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=(tmp_path / "errors").open("w"), text=True,
        )  # fmt: skip

        def said():
            line = client.stdout.readline()
            assert line, (tmp_path / "errors").read_text()[-3000:] + log.read_text()[-2000:]
            return json.loads(line)

        played = said()
        assert played["episodes"] == 100
        assert 0 < played["test"] < 100
        assert played["turns"] > 10
        assert said() == {"begun": 8}
        server.kill()
        client.stdin.write("killed\n")
        client.stdin.flush()
        assert "No server answers" in said()["lost"]
        server = Server(port, log)
        client.stdin.write("back\n")
        client.stdin.flush()
        assert said() == {"again": 8}
        assert client.wait(60) == 0
    finally:
        server.kill()
