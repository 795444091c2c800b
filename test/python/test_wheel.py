"""The wheel holds the page and nothing of Node, its command serves on a path with blanks, and `view` sends what the widget asks for."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import numpy
import pandas
import pytest

FOLDER = Path(os.environ["CASES"]) / "wheel"
(WHEEL,) = FOLDER.glob("*.whl")
CHUNK = 4 * 2**20


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """An environment that has the wheel alone: the command needs nothing else."""
    folder = tmp_path_factory.mktemp("wheel") / "a folder with blanks"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)  # a pip of its own takes seconds to unpack
    install = ["-m", "pip", "--python", folder, "install", "--quiet", "--no-deps", "--no-index", WHEEL]
    subprocess.run([sys.executable, *install], check=True)
    return folder


@pytest.fixture(scope="module")
def package(installed):
    (site,) = installed.glob("lib/python*/site-packages")
    sys.path.insert(0, str(site))
    import rollout_playground

    assert Path(rollout_playground.__file__).is_relative_to(installed)
    yield rollout_playground
    sys.path.remove(str(site))


def test_holds_the_page_and_the_viewer_no_file_of_node_and_at_most_25_mb_without_pyodide():
    files = {file.filename: file.file_size for file in zipfile.ZipFile(WHEEL).infolist()}
    of_node = re.compile(r"node_modules|package(-lock)?\.json|\.(mjs|cjs|node|map)$|(^|/)(scripts|src|commands)/")
    assert [name for name in files if of_node.search(name)] == []
    assert {"rollout_playground/page/index.html", "rollout_playground/viewer.html"} < set(files)
    own = sum(size for name, size in files.items() if not re.search("pyodide|python_stdlib", name))
    assert 5e6 < own < 25e6
    assert files["rollout_playground/viewer.html"] < 1e6  # it is sent for each output


def run(installed, *args, **env):
    command = [installed / "bin" / "rollout-playground", *args]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **env})


def test_says_what_is_wrong_with_its_arguments(installed):
    assert "watch FOLDER" in run(installed, "--help").stdout
    for args, said in [
        (["trian"], "There is no command and no file trian."),
        (["watch"], "Name one folder."),
        (["train", "--seed", "1"], "npx rollout-playground train --seed 1"),
    ]:
        done = run(installed, *args)
        assert (done.returncode, said in done.stderr) == (2, True)
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        done = run(installed, PORT=str(port))
        assert (done.returncode, done.stderr.startswith(f"Port {port} can’t be opened")) == (1, True)


@pytest.fixture
def start(installed):
    children = []

    def started(*args):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        env = {**os.environ, "PORT": str(port), "CI": "true"}
        command = [installed / "bin" / "rollout-playground", *args]
        children.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env))
        return children[-1], re.search(r"http\S+", children[-1].stdout.readline())[0]

    yield started
    for child in children:
        child.kill()


def fetched(address):
    with urllib.request.urlopen(address) as answer:
        return answer.read().decode("utf-8")


def test_watch_serves_the_page_and_the_folder_for_the_printed_token_until_it_is_interrupted(start, tmp_path):
    (tmp_path / "1.jsonl").write_text("{}\n")
    child, address = start("watch", str(tmp_path))
    page, token = address.split("?watch=")
    assert "Rollout Playground" in fetched(address)
    assert [file["path"] for file in json.loads(fetched(f"{page}watched/{token}"))["files"]] == ["1.jsonl"]
    with pytest.raises(urllib.error.HTTPError, match="403"):
        fetched(f"{page}watched/{token[:-1]}")
    child.send_signal(signal.SIGINT)
    assert child.wait() == 0


def test_opens_a_named_folder_without_its_links(start, tmp_path):
    folder = tmp_path / "out"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "one.jsonl").write_text("one")
    (folder / "link.jsonl").symlink_to(folder / "deep" / "one.jsonl")
    child, address = start(str(folder))
    page, token = address.split("?open=")
    assert [file["path"] for file in json.loads(fetched(f"{page}watched/{token}"))["files"]] == ["out/deep/one.jsonl"]
    assert fetched(f"{page}watched/{token}/out/deep/one.jsonl") == "one"
    child.terminate()
    assert child.wait() == 0


def test_two_files_of_one_name_are_told_apart_by_their_folders(start, tmp_path):
    for name in ["a", "b"]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "one.jsonl").write_text(name)
    _, address = start(str(tmp_path / "a" / "one.jsonl"), str(tmp_path / "b" / "one.jsonl"))
    page, token = address.split("?open=")
    paths = [file["path"] for file in json.loads(fetched(f"{page}watched/{token}"))["files"]]
    assert paths == [str(tmp_path / name / "one.jsonl")[1:] for name in ["a", "b"]]
    assert [fetched(f"{page}watched/{token}/{path}") for path in paths] == ["a", "b"]


def sent(widget):
    """What the widget's other half gets: each file asked for from its beginning, until all of it has come."""
    texts = []
    answers = []
    widget.send = lambda content, buffers=None: answers.append((content, buffers))
    for number, file in enumerate(widget.files):
        data = b""
        while len(data) < file["size"]:
            asked = {"view": 7, "file": number, "from": len(data)}
            widget._handle_custom_msg(asked, [])
            content, (chunk,) = answers.pop()
            assert content == asked
            assert 0 < len(chunk) <= CHUNK
            data += chunk
        texts.append(data.decode("utf-8"))
    return texts


def test_rows_are_sent_as_json_lines_in_chunks(package):
    rows = [{"input": "ä" * 5_000_000, "output": "b", "score": numpy.float32(0.5), "ids": numpy.arange(3), "step": 1}] * 2
    (text,) = sent(package.view(rows))
    line = {**rows[0], "score": 0.5, "ids": [0, 1, 2]}
    assert [json.loads(each) for each in text.splitlines()] == [line, line]
    frame = pandas.DataFrame([{"output": "a", "score": 1.0}, {"output": "b", "score": 0.0}])
    assert [json.loads(each)["score"] for each in sent(package.view(frame))[0].splitlines()] == [1, 0]


def test_a_file_and_the_readable_files_of_a_folder_are_sent(package, tmp_path):
    (tmp_path / "step 1").mkdir()
    (tmp_path / "step 1" / "1.jsonl").write_text("one")
    (tmp_path / "notes.txt").write_text("no rollouts")
    (tmp_path / "trainer_state.json").write_text("no rollouts")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "notes.txt")
    with (tmp_path / "huge.jsonl").open("wb") as file:
        file.truncate(2**30 + 1)  # sparse
    with pytest.warns(UserWarning, match="huge.jsonl is left out: larger than 1 GB"):
        widget = package.view(tmp_path)
    assert widget.files == [{"path": "step 1/1.jsonl", "size": 3}]
    assert sent(widget) == ["one"]
    assert sent(package.view(str(tmp_path / "step 1" / "1.jsonl"))) == ["one"]
    (tmp_path / "step 1" / "1.jsonl").unlink()
    answers = []
    widget.send = lambda content, buffers=None: answers.append(content)
    widget._handle_custom_msg({"view": 7, "file": 0, "from": 0}, [])
    assert answers == [{"view": 7, "file": 0, "from": 0, "problem": "step 1/1.jsonl can’t be read now: No such file or directory."}]


def test_says_what_is_wrong_with_what_it_is_given(package, tmp_path):
    for given, error, said in [
        (tmp_path / "none", FileNotFoundError, "There is no file or folder"),
        (tmp_path, FileNotFoundError, "has no .jsonl, .ndjson or .parquet file"),
        ([{"a": 1}, "b"], TypeError, "Row 1 is of type str"),
        ([{"a": object()}], TypeError, "Row 0 can’t be written as JSON: a value is of type object"),
        ([], ValueError, "There are no rows"),
    ]:
        with pytest.raises(error, match=said):
            package.view(given)
