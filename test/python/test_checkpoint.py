"""An exported run, as Transformers, TRL and verl see it. Cases: test/python/cases/checkpoint.ts."""

import json
import os
import runpy
import shutil
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig, PreTrainedTokenizerFast
from trl import chat_template_utils

CASES = Path(os.environ["CASES"]) / "checkpoint"
FORMS = {
    "llama-tied": ("LlamaForCausalLM", True),
    "llama-untied": ("LlamaForCausalLM", False),
    "qwen2-tied": ("Qwen2ForCausalLM", True),
    "qwen2-untied": ("Qwen2ForCausalLM", False),
    "qwen2-tied.llama": ("LlamaForCausalLM", True),  # the same runs as the two above, with biases of 0 on o_proj
    "qwen2-untied.llama": ("LlamaForCausalLM", False),
}
LLAMAS = [form for form, (architecture, _) in FORMS.items() if architecture == "LlamaForCausalLM"]
SLOW = "SLOW_CASES" in os.environ
EPISODES = 25 if SLOW else 6  # of each form
CLOSERS = ("</call>", "</answer>")


@pytest.fixture(scope="module", params=FORMS)
def form(request):
    return request.param


@pytest.fixture(scope="module")
def tokenizer(form):
    # AutoTokenizer of Transformers 5 takes Qwen2's byte-pair tokenizer for every Qwen2; the card names this class there
    kind = AutoTokenizer if form in LLAMAS else PreTrainedTokenizerFast
    return kind.from_pretrained(CASES / form)


@pytest.fixture(scope="module")
def model(form):
    return AutoModelForCausalLM.from_pretrained(CASES / form).eval()


def page(form):
    return load_file(CASES / f"{form.removesuffix('.llama')}.page" / "episodes.safetensors")


def played(form, how):
    """The page's episodes: a list of (ids, actions, turns, logits, grammar states), each cut to its length."""
    columns = page(form)
    column = lambda name: columns[f"{how}.{name}"]
    return [
        tuple(column(name)[row, :length] for name in ("tokens", "actions", "turns", "logits", "states"))
        for row, length in enumerate(column("lengths").tolist())
    ]


def turns_of(ids, actions, turns):
    """(context before the turn, the turn's ids) of each turn of the agent."""
    for turn in sorted(set(turns[actions == 1].tolist())):
        at = torch.nonzero((turns == turn) & (actions == 1)).flatten()
        yield ids[: at[0]], ids[at[0] : at[-1] + 1], at


def test_loads_as_what_it_is_with_every_weight_and_no_other(form):
    model, info = AutoModelForCausalLM.from_pretrained(CASES / form, output_loading_info=True)
    architecture, tied = FORMS[form]
    assert type(model).__name__ == architecture
    assert model.config.tie_word_embeddings is tied
    assert not info["missing_keys"] and not info["unexpected_keys"] and not info["mismatched_keys"], info
    assert model.dtype == torch.float32
    assert json.loads((CASES / form / "config.json").read_text())["rope_parameters"]["rope_theta"] == 10000.0
    if "qwen" in form:  # trained: a bias that was lost would not be noticed at 0
        assert model.model.layers[0].self_attn.q_proj.bias.abs().max() > 1e-3


def test_logits_are_the_pages(form, model, record_property):
    # float32 in another order of sums: measured 2e-6 at most, wrong weights give 1 and more
    worst = 0.0
    episodes = played(form, "free")
    assert len(episodes) == EPISODES
    for ids, _, _, logits, _ in episodes:
        with torch.no_grad():
            got = model(ids[None].long()).logits[0]
        worst = max(worst, (got - logits).abs().max().item())
    record_property("worst", worst)
    print(f"{form}: largest difference of {EPISODES} episodes' logits {worst:.2e}")
    assert worst <= 1e-4


def test_the_tokenizer_gives_the_ids_of_every_episode_and_their_text_back(form, tokenizer):
    words = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    for how in ("free", "masked"):
        for ids, *_ in played(form, how):
            text = " ".join(words[i] for i in ids.tolist())
            assert tokenizer(text)["input_ids"] == ids.tolist()
            assert tokenizer.decode(ids) == text
            # what is paid for is read with special tokens skipped: all but <bos> has to be there
            assert tokenizer.decode(ids, skip_special_tokens=True) == text.removeprefix("<bos> ")
    assert set(tokenizer.all_special_tokens) == {"<pad>", "<bos>"}
    assert tokenizer("xyzzy")["input_ids"] == [tokenizer.pad_token_id]


def generated(model, tokenizer, contexts, allowed=None):
    """What `generate` writes after each context, greedily, up to the tag that ends the turn."""
    batch = tokenizer.pad({"input_ids": [context.tolist() for context in contexts]}, padding_side="left", return_tensors="pt")
    width = batch["input_ids"].shape[1]
    legal = allowed and (lambda row, ids: allowed(row, ids[width:].tolist()))
    got = model.generate(**batch, prefix_allowed_tokens_fn=legal)[:, width:]
    ends = torch.tensor(model.generation_config.eos_token_id)
    lengths = [next((i + 1 for i, t in enumerate(row) if t in ends), len(row)) for row in got]
    return [row[:length].int() for row, length in zip(got, lengths)]


@pytest.mark.parametrize("how", ["free", "masked"])
def test_greedy_generate_writes_the_pages_turns(form, how, model, tokenizer):
    """Turn for turn: by itself what the page plays without the grammar mask, and with the page's grammar what it plays under it."""
    config = GenerationConfig.from_pretrained(CASES / form)
    assert [tokenizer.convert_ids_to_tokens(i) for i in config.eos_token_id] == list(CLOSERS)
    turns = [(*turn, e[3], e[4]) for e in played(form, how) for turn in turns_of(*e[:3])]
    table = page(form)["grammar"].tolist()
    everything = list(range(len(table[0])))
    legal = [[token for token, state in enumerate(after) if state >= 0] or everything for after in table]  # none: the turn is over
    firsts = [int(turn[4][turn[2][0]]) for turn in turns]  # the state of each turn's first token

    def allowed(row, written):
        state = firsts[row]
        for token in written:
            state = table[state][token]
        return legal[state]

    got = generated(model, tokenizer, [turn[0] for turn in turns], allowed if how == "masked" else None)
    for written, (context, turn, *_) in zip(got, turns):
        wanted = turn[: config.max_new_tokens]
        # a turn the page had no more room for goes on in `generate`
        assert torch.equal(written[: len(wanted)], wanted), f"{tokenizer.decode(context)} | {tokenizer.decode(turn)}"
    alone = sum(torch.equal(logits[at - 1].argmax(-1).int(), turn) for _, turn, at, logits, _ in turns)
    print(f"{form}, {how}: {len(turns)} turns equal; the network's own first choice throughout in {alone}")
    assert len(turns) >= EPISODES


def test_the_chat_template_writes_episodes(form, tokenizer):
    """Messages become the ids that were trained on, and each message only adds to the ones before."""
    for ids, actions, turns, *_ in played(form, "masked"):
        words = tokenizer.convert_ids_to_tokens(ids.tolist())
        first = actions.tolist().index(1)
        assert words[0] == "<bos>"
        messages = [{"role": "user", "content": " ".join(words[1:first])}]
        at = first
        while at < len(words):
            end = at
            while end < len(words) and actions[end] == actions[at]:
                end += 1
            span = words[at:end]
            if actions[at] == 0:
                assert span[0] == "<obs>" and span[-1] == "</obs>"
                messages.append({"role": "tool", "content": " ".join(span[1:-1])})
            elif "<call>" in span and span[-1] == "</call>":
                called = span.index("<call>")
                words_argument = " ".join(span[called + 1 : -1])
                call = {"type": "function", "function": {"name": "call", "arguments": {"words": words_argument}}}
                messages.append({"role": "assistant", "content": " ".join(span[:called]), "tool_calls": [call]})
            else:
                messages.append({"role": "assistant", "content": " ".join(span)})
            at = end
        before = []
        for n in range(1, len(messages) + 1):
            got = tokenizer.apply_chat_template(messages[:n], tokenize=True, return_dict=False)
            assert got[: len(before)] == before
            before = got
        assert before == ids.tolist()


def test_trl_takes_the_template(form, tokenizer):
    assert chat_template_utils.supports_tool_calling(tokenizer)
    assert chat_template_utils.is_chat_template_prefix_preserving(tokenizer)


def test_trl_reads_a_turn_back(form, tokenizer):
    one, other = tokenizer.convert_ids_to_tokens([12, 13])  # of the environment
    prompt = tokenizer.apply_chat_template([{"role": "user", "content": one}], tokenize=True, return_dict=False)
    read = lambda turn: chat_template_utils.parse_response(tokenizer, tokenizer(turn)["input_ids"], prefix=prompt)
    (call,) = read(f"<call> {one} {other} </call>")["tool_calls"]
    assert call["function"] == {"name": "call", "arguments": {"words": f"{one} {other}"}}
    answer = read(f"<answer> {other} </answer>")
    assert answer["content"] == f"<answer> {other} </answer>" and "tool_calls" not in answer
    thought = read(f"<think> {one} </think> <call> {other} </call>")
    assert thought["content"].strip() == f"<think> {one} </think>" and len(thought["tool_calls"]) == 1


@pytest.mark.parametrize("form", LLAMAS if SLOW else LLAMAS[:1])
def test_verl_takes_the_template(form, tmp_path, monkeypatch, capsys):
    """verl's own checker, which takes the tokenizer's end token for what stops generation: it is told the tag that does."""
    script = next(p for path in sys.path if (p := Path(path) / "scripts/chat_template_checker.py").exists())
    folder = shutil.copytree(CASES / form, tmp_path / form)
    config = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(config | {"eos_token": "</call>"}))
    monkeypatch.setattr(sys, "argv", [str(script), "--model", str(folder)])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(script), run_name="__main__")  # here, where its imports are there already
    said = capsys.readouterr().out
    assert not ended.value.code, said[-3000:]
    assert "[PASS]" in said and "[FAIL]" not in said and "[WARN]" not in said
