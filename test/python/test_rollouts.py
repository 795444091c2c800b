"""Exported rollouts are what verifiers itself reads, and obey what it says of the lengths of lists."""

import json
import os
from pathlib import Path

import pytest
from verifiers.v1.episode import WireEpisode
from verifiers.v1.trace import WireTrace
from verifiers.v1.utils.trace_store import read_episodes

FOLDER = Path(os.environ["CASES"]) / "rollouts"
SAMPLED = ["logprobs", "advantages", "reference_logprobs", "trainer_logprobs", "entropies"]


def lines(name):
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


def own():
    return {line["id"]: line for line in lines("own.jsonl")}


def test_verifiers_own_reader_takes_the_file_whole():
    episodes = read_episodes(FOLDER, WireTrace)
    assert len(episodes) == 40
    assert {episode.run.work.step for episode in episodes} == {1, 10, 25, 60, 160}
    assert all(episode.run.work.policy.start == episode.run.work.step - 1 for episode in episodes)
    assert all(episode.group.id for episode in episodes)


@pytest.mark.parametrize("name", ["traces.jsonl", "with-reference.jsonl"])
def test_no_field_is_one_that_verifiers_does_not_know(name):
    # its models drop keys they do not know: what is written and what is read again must have the same ones
    def paths(value, at=""):
        if isinstance(value, dict):
            return {path for key, inner in value.items() for path in paths(inner, f"{at}.{key}")} | {at}
        if isinstance(value, list):
            return {path for inner in value for path in paths(inner, f"{at}[]")} | {at}
        return {at}

    for line in lines(name):
        read = WireEpisode.model_validate(line).to_record(float_decimals=None)
        free = (".info", ".task.data")
        lost = {path for path in paths(line) - paths(read) if not any(part in path for part in free)}
        assert lost == set()


@pytest.mark.parametrize("name", ["traces.jsonl", "with-reference.jsonl"])
def test_lists_have_the_lengths_that_verifiers_asks_for(name):
    for line in lines(name):
        [trace] = WireEpisode.model_validate(line).traces
        assert trace.num_branches == 1
        for node in trace.nodes:
            assert len(node.mask) == len(node.token_ids)
            assert all(len(stream) == len(node.token_ids) for stream in (node.loss_weights or {}).values())
            for field in SAMPLED:
                values = getattr(node, field)
                assert values in (None, []) or len(values) == sum(node.mask)
            assert node.sampled == any(node.mask)
            assert (len(node.logprobs) > 0) == node.sampled


def test_a_branch_is_the_sequence_that_was_played_with_its_numbers():
    sources = own()
    for line in lines("with-reference.jsonl"):
        source = sources[line["id"].removeprefix("run-1-")]
        [trace] = WireEpisode.model_validate(line).traces
        [branch] = trace.branches
        acted = [role == 2 for role in source["roles"]]
        assert branch.token_ids == source["tokens"]
        assert branch.sampled_mask == acted

        def drawn(key):
            return [value if action else 0.0 for value, action in zip(source[key], acted)]

        assert branch.logprobs == drawn("sampled_logprobs")
        assert branch.advantages == drawn("advantages")
        assert branch.reference_logprobs == drawn("ref_logprobs")
        assert branch.trainer_logprobs == drawn("logprobs")
        assert branch.loss_weights("rl") == source["loss_mask"]
        assert trace.reward == pytest.approx(source["reward"], abs=1e-6)
        assert trace.num_turns == source["turns"]


def test_calls_are_answered_by_the_message_after_them():
    for line in lines("traces.jsonl"):
        [trace] = WireEpisode.model_validate(line).traces
        messages = trace.messages
        for before, after in zip(messages, messages[1:]):
            if after.role == "tool":
                assert before.tool_calls and before.tool_calls[-1].id == after.tool_call_id
