"""The hand-over to verl: its own classes load the folder. Training with it needs a GPU, for its agent loop generates with vLLM or SGLang."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from folder_modules import modules_of
from omegaconf import OmegaConf
from transformers import AutoModelForCausalLM, AutoTokenizer

CASES = Path(os.environ["CASES"]) / "handover"
FOLDER = CASES / "verl-number-hunt"
modules = modules_of(FOLDER)


def overrides(folder, tmp_path):
    """What run.sh gives to Hydra, by a python3 that says what it was called with."""
    shim = tmp_path / "python3"
    shim.write_text(f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n")
    shim.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    run = subprocess.run(
        ["bash", str(folder / "run.sh"), "trainer.save_freq=5"], env={**os.environ, "PATH": path}, capture_output=True
    )
    said = json.loads(run.stdout)
    assert said[:2] == ["-m", "verl.trainer.main_ppo"]
    return said[2:]


def composed(folder, tmp_path):
    from hydra import compose, initialize_config_module

    with initialize_config_module(config_module="verl.trainer.config", version_base=None):
        return compose("ppo_trainer", overrides=overrides(folder, tmp_path))  # throws on a key that it does not know


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    return composed(FOLDER, tmp_path_factory.mktemp("shim"))


@pytest.fixture(scope="module")
def tokenizer():
    return AutoTokenizer.from_pretrained(FOLDER / "model")


@pytest.mark.parametrize("folder", ["verl-number-hunt", "verl-multi-hop"])
def test_every_override_of_the_run_script_is_known_and_the_whole_is_valid(folder, tmp_path):
    from verl.trainer.ppo.utils import need_critic, need_reference_policy
    from verl.utils.config import omega_conf_to_dataclass, validate_config

    config = composed(CASES / folder, tmp_path)
    gae = folder == "verl-multi-hop"
    assert (need_critic(config), need_reference_policy(config)) == (gae, gae)
    for part in (config.actor_rollout_ref.actor, config.actor_rollout_ref.rollout, config.critic, config.algorithm):
        omega_conf_to_dataclass(part)
    validate_config(config, use_reference_policy=gae, use_critic=gae)
    assert config.trainer.save_freq == 5  # what stands behind run.sh wins
    assert config.actor_rollout_ref.actor.optim.lr == 2e-3
    assert config.actor_rollout_ref.actor.optim.override_optimizer_config == {"eps": 1e-5}


def test_the_dataset_class_reads_the_rows(config, tokenizer):
    from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn

    for split, count in (("train", 8), ("val", 16)):
        rows = RLHFDataset(str(FOLDER / f"{split}.jsonl"), tokenizer, config.data)
        assert len(rows) == count
        batch = collate_fn([rows[0], rows[1]])
        assert batch["raw_prompt"][0] == [{"role": "user", "content": "find"}]
        assert batch["agent_name"][0] == "rollout_playground"
        assert batch["extra_info"][1]["split"] == split
        assert batch["reward_model"][0]["ground_truth"].isdigit()


class Server:
    """Generates as verl's servers do, with the exported model: ids up to a stop id, or as many as there is room for."""

    def __init__(self, model):
        self.model, self.asked = model, []

    async def generate(self, request_id, *, prompt_ids, sampling_params, **kwargs):
        from verl.workers.rollout.replica import TokenOutput

        self.asked.append(sampling_params)
        with torch.no_grad():
            ids = self.model.generate(
                torch.tensor([prompt_ids]),
                attention_mask=torch.ones(1, len(prompt_ids), dtype=torch.long),
                do_sample=True,
                temperature=1.5,  # so that some turns are malformed
                top_k=0,
                max_new_tokens=sampling_params["max_tokens"],
                eos_token_id=sampling_params["stop_token_ids"],
                pad_token_id=0,
            )[0][len(prompt_ids) :].tolist()
        return TokenOutput(token_ids=ids, log_probs=[-1.0] * len(ids))


@pytest.fixture(scope="module")
def played(config, tokenizer):
    """Rows and what verl's agent loop, made as its worker makes it, made of them."""
    import hydra
    from verl.experimental.agent_loop.agent_loop import DictConfigWrap, ToolListWrap, _agent_loop_registry
    from verl.tools.tool_registry import load_all_tools
    from verl.utils.dataset.rl_dataset import RLHFDataset

    torch.manual_seed(0)
    server = Server(AutoModelForCausalLM.from_pretrained(FOLDER / "model"))
    rollout = config.actor_rollout_ref.rollout
    tools = load_all_tools(rollout.multi_turn.tool_config_path, None)
    for loop in OmegaConf.load(rollout.agent.agent_loop_config_path):
        _agent_loop_registry[loop.name] = loop
    rows = RLHFDataset(str(FOLDER / "train.jsonl"), tokenizer, config.data)

    async def play():
        outputs = []
        for i in range(40):
            row = rows[i % len(rows)]
            loop = hydra.utils.instantiate(
                config=_agent_loop_registry[row["agent_name"]],
                trainer_config=DictConfigWrap(config=config),
                server_manager=server,
                tokenizer=tokenizer,
                processor=None,
                hf_model_type="llama",
                dataset_cls=RLHFDataset,
                data_config=DictConfigWrap(config.data),
                tools=ToolListWrap(tools),
            )
            outputs.append((row, await loop.run({"temperature": 1.0}, **row)))
        return outputs

    torch.manual_seed(7)
    return tools, server, asyncio.run(play())


def test_the_registries_find_tool_and_agent_loop(played):
    import playground_verl
    from verl.experimental.agent_loop.agent_loop import _agent_loop_registry

    tools, _, _ = played
    assert [tool.name for tool in tools] == ["compare"]
    assert isinstance(tools[0], playground_verl.PlaygroundTool)
    assert tools[0].episodes == {}  # each was released
    assert _agent_loop_registry["rollout_playground"]["_target_"] == "playground_verl.PlaygroundAgentLoop"


def test_the_agent_loop_plays_the_environment_and_masks_what_it_says(played, tokenizer):
    _, server, outputs = played
    assert all(asked["max_tokens"] <= 3 and asked["ignore_eos"] for asked in server.asked)
    malformed = 0
    for row, output in outputs:
        assert tokenizer.convert_ids_to_tokens(output.prompt_ids) == ["<bos>", "find"]
        words = tokenizer.convert_ids_to_tokens(output.response_ids)
        assert len(words) == len(output.response_mask) == len(output.response_logprobs)
        said = [word for word, mine in zip(words, output.response_mask) if not mine]
        assert set(said) <= {"<obs>", "</obs>", "higher", "lower", "error"}
        malformed += said.count("error")
        played = output.extra_fields["played"]
        assert played["score"] == pytest.approx(sum(played[part] for part in ("outcome", "process", "format", "turnCost")))
        assert sum(output.extra_fields["turn_scores"]) == pytest.approx(played["score"])
    assert malformed > 5
    assert 0 < sum(output.extra_fields["played"]["success"] for _, output in outputs) < len(outputs)


def test_the_reward_manager_pays_what_the_loop_played_and_what_its_text_replays_to(played, config, tokenizer):
    import numpy as np
    from tensordict import TensorDict
    from verl.protocol import DataProto
    from verl.trainer.ppo.reward import load_reward_manager

    _, _, outputs = played
    manager = load_reward_manager(config, tokenizer)

    async def paid(row, output, fields):
        responses = torch.tensor([output.response_ids])
        batch = TensorDict({"responses": responses, "attention_mask": torch.ones_like(responses)}, batch_size=1)
        columns = {key: row[key] for key in ("data_source", "reward_model", "extra_info")}
        columns = {**columns, "extra_info": dict(row["extra_info"]), "tool_extra_fields": fields}
        columns = {key: np.array([value], dtype=object) for key, value in columns.items()}
        return await manager.run_single(DataProto(batch=batch, non_tensor_batch=columns))

    async def all_paid():
        manager.loop = asyncio.get_running_loop()
        environment_seed = [{"environment_seed": output.extra_fields["environment_seed"]} for _, output in outputs]
        return [
            (await paid(row, output, output.extra_fields), await paid(row, output, own))
            for (row, output), own in zip(outputs, environment_seed)
        ]

    for (row, output), (given, replayed) in zip(outputs, asyncio.run(all_paid())):
        played = output.extra_fields["played"]
        assert given["reward_score"] == played["score"]
        assert given["reward_extra_info"]["success"] == played["success"]
        words = tokenizer.convert_ids_to_tokens(output.response_ids)
        if "<pad>" not in words and "<bos>" not in words:  # which the manager leaves out of the text
            assert replayed["reward_extra_info"] == pytest.approx(played)
