#!/usr/bin/env python3
"""Makes and checks the numbers this project's engines must agree with. Needs PyTorch and numpy, nothing else.

    make_golden.py OUT_DIR                                    the default cases, as OUT_DIR/<name>.safetensors
    make_golden.py OUT_DIR --name odd-deep                    one of them
    make_golden.py OUT_DIR --name mine --seed 3 --set vocab_size=24 --set lengths=9,4,1   a case of your own
    make_golden.py --advantages OUT.json                      the advantage estimators on random batches (--only: one)
    make_golden.py --check FILE...                            recomputes every expect.* of a fixture from its inputs

Everything is computed in float64 by autograd from a plain Llama/Qwen2 reference below and stored as float32. README.md
beside this file says what each tensor means. Per-token arrays are (B,T); index t speaks of token t.
"""
import argparse
import json
import math
import os
import struct
import sys

import numpy as np
import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)

PAD, PROMPT, ACTION, OBSERVATION = 0, 1, 2, 3

CONFIG = dict(vocab_size=29, hidden_size=24, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4,
              num_key_value_heads=2, head_dim=6, rms_norm_eps=1e-5, rope_theta=10000.0, attention_bias=False,
              tie_word_embeddings=True, value_head=True)
HYPER = dict(clip_low=0.2, clip_high=0.2, dual_clip=3.0, kl_estimator="k3", kl_coef=0.05, entropy_coef=0.01,
             value_coef=0.5, value_clip=0.2, loss_aggregation="token-mean", entropy_aggregation="token-mean",
             value_aggregation="token-mean", loss_mask=True, advantage_mask=True,
             learning_rate=1e-3, beta1=0.9, beta2=0.95, adam_eps=1e-8, weight_decay=0.1, max_grad_norm=1.0)
BATCH = dict(lengths=[16, 11, 16], adamw_steps=3)

# What the given fixtures leave out: q wider or narrower than the trunk, widths no multiple of four, GQA 3:1, untied with
# bias, no value head, no loss mask, rows of one and two tokens, more than two layers. Rotary turns fast where k has a
# bias: along a dimension that hardly turns, softmax cancels the bias's gradient, and AdamW makes full steps of rounding.
CASES = {
    "odd-untied-bias": (11, dict(hidden_size=22, intermediate_size=37, num_attention_heads=3, num_key_value_heads=1,
                                 rms_norm_eps=1e-6, rope_theta=50.0, attention_bias=True, tie_word_embeddings=False,
                                 value_head=False, loss_mask=False, loss_aggregation="seq-mean-token-mean",
                                 kl_estimator="k2", clip_high=0.28, dual_clip=0, lengths=[13, 9, 2, 12])),
    "odd-short-rows": (12, dict(hidden_size=18, intermediate_size=31, num_attention_heads=3, num_key_value_heads=3,
                                advantage_mask=False, kl_estimator="k1", weight_decay=0.0, max_grad_norm=0.3,
                                lengths=[17, 1, 2, 9, 1])),
    "odd-deep": (13, dict(hidden_size=30, intermediate_size=50, num_hidden_layers=3, num_attention_heads=6,
                          head_dim=4, rope_theta=50.0, attention_bias=True, loss_mask=False, advantage_mask=False,
                          loss_aggregation="seq-mean-token-sum", lengths=[23, 19, 20])),
    "odd-verl-sum-norm": (14, dict(vocab_size=17, hidden_size=12, intermediate_size=20, num_hidden_layers=1,
                                   num_attention_heads=2, num_key_value_heads=1, kl_estimator="k2", entropy_coef=0.3,
                                   loss_aggregation="seq-mean-token-sum-norm",
                                   entropy_aggregation="seq-mean-token-sum-norm",
                                   value_aggregation="seq-mean-token-sum-norm", lengths=[14, 5, 9, 12])),
    "odd-verl-token-mean-of-rows": (15, dict(vocab_size=17, hidden_size=12, intermediate_size=20, num_hidden_layers=1,
                                             num_attention_heads=2, num_key_value_heads=2, entropy_coef=0.3,
                                             loss_aggregation="seq-mean-token-mean",
                                             entropy_aggregation="seq-mean-token-mean",
                                             value_aggregation="seq-mean-token-mean", lengths=[14, 5, 9, 12])),
}


# --- safetensors, by hand: u64 length of the header, JSON header, then the tensors' bytes one after another ---------

def write_safetensors(path, tensors, metadata):
    header, blobs, at = {"__metadata__": metadata}, [], 0
    for name, value in tensors.items():
        array = value.detach().cpu().numpy() if torch.is_tensor(value) else np.asarray(value)
        kind = "I32" if array.dtype.kind == "i" else "F32"
        blob = np.ascontiguousarray(array, dtype="<i4" if kind == "I32" else "<f4").tobytes()
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # tensors start on a multiple of eight bytes
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def read_safetensors(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + size + o for o in entry["data_offsets"])
        array = np.frombuffer(data[begin:end], {"F32": "<f4", "I32": "<i4"}[entry["dtype"]]).reshape(entry["shape"])
        tensors[name] = torch.from_numpy(array.astype(np.int64 if entry["dtype"] == "I32" else np.float64))
    return tensors, metadata


# --- the model ----------------------------------------------------------------------------------------------------

def parameter_shapes(c):
    """Hugging Face names and [out, in] shapes."""
    d, f = c["hidden_size"], c["intermediate_size"]
    q, kv = c["num_attention_heads"] * c["head_dim"], c["num_key_value_heads"] * c["head_dim"]
    shapes = {"model.embed_tokens.weight": (c["vocab_size"], d)}
    for i in range(c["num_hidden_layers"]):
        at = "model.layers.%d." % i
        shapes[at + "input_layernorm.weight"] = (d,)
        for name, width in (("q", q), ("k", kv), ("v", kv)):
            shapes["%sself_attn.%s_proj.weight" % (at, name)] = (width, d)
            if c["attention_bias"]:
                shapes["%sself_attn.%s_proj.bias" % (at, name)] = (width,)
        shapes[at + "self_attn.o_proj.weight"] = (d, q)
        shapes[at + "post_attention_layernorm.weight"] = (d,)
        shapes[at + "mlp.gate_proj.weight"] = (f, d)
        shapes[at + "mlp.up_proj.weight"] = (f, d)
        shapes[at + "mlp.down_proj.weight"] = (d, f)
    shapes["model.norm.weight"] = (d,)
    if not c["tie_word_embeddings"]:
        shapes["lm_head.weight"] = (c["vocab_size"], d)
    if c["value_head"]:
        shapes["value_head.weight"] = (1, d)
        shapes["value_head.bias"] = (1,)
    return shapes


def rms_norm(x, weight, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


def rotary(x, theta):
    """x (B,heads,T,head_dim); rotate-half: dimension i pairs with i + head_dim/2."""
    length, dim = x.shape[-2:]
    frequency = theta ** (-torch.arange(0, dim, 2).double() / dim)
    angle = torch.arange(length).double()[:, None] * frequency
    cos, sin = angle.cos().repeat(1, 2), angle.sin().repeat(1, 2)
    half = torch.cat((-x[..., dim // 2:], x[..., :dim // 2]), -1)
    return x * cos + half * sin


def hidden_states(c, p, tokens):
    """(B,T) ids → (B,T,d) after the final norm. Rows are padded on the right, so causality alone hides the pads."""
    batch, length = tokens.shape
    heads, kv_heads, dim = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"]
    future = torch.ones(length, length, dtype=torch.bool).triu(1)
    x = p["model.embed_tokens.weight"][tokens]
    for i in range(c["num_hidden_layers"]):
        at = "model.layers.%d." % i
        h = rms_norm(x, p[at + "input_layernorm.weight"], c["rms_norm_eps"])

        def project(name, count):
            to = "%sself_attn.%s_proj." % (at, name)
            out = F.linear(h, p[to + "weight"], p.get(to + "bias"))
            return out.view(batch, length, count, dim).transpose(1, 2)

        q, k, v = project("q", heads), project("k", kv_heads), project("v", kv_heads)
        q, k = rotary(q, c["rope_theta"]), rotary(k, c["rope_theta"])
        k, v = (t.repeat_interleave(heads // kv_heads, 1) for t in (k, v))
        scores = (q @ k.transpose(-1, -2) / math.sqrt(dim)).masked_fill(future, -math.inf)
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, heads * dim)
        x = x + F.linear(mixed, p[at + "self_attn.o_proj.weight"])
        h = rms_norm(x, p[at + "post_attention_layernorm.weight"], c["rms_norm_eps"])
        gated = F.silu(F.linear(h, p[at + "mlp.gate_proj.weight"])) * F.linear(h, p[at + "mlp.up_proj.weight"])
        x = x + F.linear(gated, p[at + "mlp.down_proj.weight"])
    return rms_norm(x, p["model.norm.weight"], c["rms_norm_eps"])


def policy_outputs(c, p, tokens, lengths):
    """logits (B,T,V), and what was said of token t before seeing it: logprobs, entropies, values (B,T)."""
    hidden = hidden_states(c, p, tokens)
    logits = F.linear(hidden, p.get("lm_head.weight", p["model.embed_tokens.weight"]))
    real = torch.arange(tokens.shape[1])[None] < lengths[:, None]

    def shifted(x):  # row t − 1 speaks of token t
        return torch.where(real, F.pad(x[:, :-1], (1, 0)), torch.zeros(()))

    logp = logits.log_softmax(-1)
    drawn = logp[:, :-1].gather(-1, tokens[:, 1:, None])[..., 0]
    out = {
        "logits": logits * real[..., None],
        "logprobs": torch.where(real, F.pad(drawn, (1, 0)), torch.zeros(())),
        "entropies": shifted(-(logp.exp() * logp).sum(-1)),
    }
    if c["value_head"]:
        out["values"] = shifted(F.linear(hidden, p["value_head.weight"], p["value_head.bias"])[..., 0])
    return out


# --- the objective --------------------------------------------------------------------------------------------------

def masked_mean(x, mask):
    return (x * mask).sum() / mask.sum()


def aggregate(x, mask, how):
    """Token losses to one number. A row without tokens in the mask adds 0 and still counts as one of the B rows."""
    if how == "token-mean":
        return masked_mean(x, mask)
    rows = (x * mask).sum(1)
    if how == "seq-mean-token-mean":
        rows = rows / mask.sum(1).clamp(min=1)
    elif how == "seq-mean-token-sum-norm":
        rows = rows / x.shape[1]
    elif how != "seq-mean-token-sum":
        raise SystemExit("aggregation: got %r; want token-mean, seq-mean-token-sum, seq-mean-token-mean or "
                         "seq-mean-token-sum-norm" % how)
    return rows.mean()


def objective(h, out, batch):
    """The parts of the masked objective, and their total."""
    mask, advantages = batch["loss_mask"], batch["advantages"]
    log_ratio = out["logprobs"] - batch["old_logprobs"]
    ratio = log_ratio.exp()
    plain = -advantages * ratio
    clipped = -advantages * ratio.clamp(1 - h["clip_low"], 1 + h["clip_high"])
    loss = torch.maximum(plain, clipped)
    if h["dual_clip"] > 0:
        loss = torch.where(advantages < 0, torch.minimum(loss, -advantages * h["dual_clip"]), loss)
    delta = out["logprobs"] - batch["ref_logprobs"]
    kl = {"k1": delta, "k2": delta ** 2 / 2, "k3": ((-delta).exp() - 1 + delta).clamp(max=10)}[h["kl_estimator"]]
    parts = {
        "policy_loss": aggregate(loss, mask, h["loss_aggregation"]),
        "entropy": aggregate(out["entropies"], mask, h.get("entropy_aggregation", "token-mean")),
        "kl": aggregate(kl, mask, h["loss_aggregation"]),
        "clip_fraction": masked_mean((clipped > plain).double(), mask),
        "approx_kl": masked_mean(-log_ratio, mask),
    }
    total = parts["policy_loss"] - h["entropy_coef"] * parts["entropy"] + h["kl_coef"] * parts["kl"]
    if "values" in out:
        near = batch["old_values"] + (out["values"] - batch["old_values"]).clamp(-h["value_clip"], h["value_clip"])
        error = torch.maximum((out["values"] - batch["returns"]) ** 2, (near - batch["returns"]) ** 2)
        parts["value_loss"] = aggregate(error, batch["value_mask"], h.get("value_aggregation", "token-mean")) / 2
        total = total + h["value_coef"] * parts["value_loss"]
    parts["total"] = total
    return parts


def gradients(loss, p):
    found = torch.autograd.grad(loss, list(p.values()), allow_unused=True)
    return {name: g for (name, g) in zip(p, found) if g is not None}


def adamw(c, h, params, tokens, lengths, batch, steps):
    """Weights after `steps` steps on the total, gradients recomputed each step; norms before clipping."""
    p = {name: value.clone().requires_grad_() for name, value in params.items()}
    m, v = ({name: torch.zeros_like(value) for name, value in params.items()} for _ in range(2))
    norms = []
    for step in range(1, steps + 1):
        grads = gradients(objective(h, policy_outputs(c, p, tokens, lengths), batch)["total"], p)
        norm = math.sqrt(sum(float(g.pow(2).sum()) for g in grads.values()))
        norms.append(norm)
        scale = min(1.0, h["max_grad_norm"] / (norm + 1e-6))
        with torch.no_grad():
            for name, g in grads.items():
                g = g * scale
                m[name].mul_(h["beta1"]).add_(g, alpha=1 - h["beta1"])
                v[name].mul_(h["beta2"]).addcmul_(g, g, value=1 - h["beta2"])
                if p[name].dim() >= 2:
                    p[name].mul_(1 - h["learning_rate"] * h["weight_decay"])
                step_m, step_v = m[name] / (1 - h["beta1"] ** step), v[name] / (1 - h["beta2"] ** step)
                p[name].sub_(h["learning_rate"] * step_m / (step_v.sqrt() + h["adam_eps"]))
    return p, torch.tensor(norms)


def expectations(c, h, steps, params, tokens, roles, lengths, batch):
    """Every expect.* tensor of a fixture."""
    p = {name: value.clone().requires_grad_() for name, value in params.items()}
    out = policy_outputs(c, p, tokens, lengths)
    expect = dict(out)
    expect["sft.loss"] = masked_mean(-out["logprobs"], (roles == ACTION).double())
    expect.update(("sft.grad." + n, g) for n, g in gradients(expect["sft.loss"], p).items())
    parts = objective(h, policy_outputs(c, p, tokens, lengths), batch)
    expect.update(("policy." + n, value) for n, value in parts.items())
    expect.update(("policy.grad." + n, g) for n, g in gradients(parts["total"], p).items())
    after, expect["adamw.grad_norms"] = adamw(c, h, params, tokens, lengths, batch, steps)
    expect.update(("adamw.param." + n, value) for n, value in after.items())
    return {"expect." + n: value.detach().reshape(value.shape or (1,)) for n, value in expect.items()}


# --- fixtures -------------------------------------------------------------------------------------------------------

def stored(x):
    """What a float32 file keeps of x: expectations follow from exactly the inputs that are written."""
    return torch.from_numpy(np.asarray(x, dtype=np.float32).astype(np.float64))


def random_roles(draw, lengths):
    """A prompt, then spans of actions and observations; a row of one token is prompt only."""
    roles = np.zeros((len(lengths), max(lengths)), dtype=np.int64)
    for row, length in enumerate(lengths):
        at, kind = max(1, min(length - 1, 1 + draw.randint(4))), ACTION
        roles[row, :at] = PROMPT
        while at < length:
            end = min(length, at + 1 + draw.randint(5))
            roles[row, at:end] = kind
            at, kind = end, OBSERVATION if kind == ACTION else ACTION
    return roles


def make_case(seed, settings):
    """A random model, batch and everything that follows from them: (tensors, metadata)."""
    known = {**CONFIG, **HYPER, **BATCH}
    unknown = sorted(set(settings) - set(known))
    if unknown:
        raise SystemExit("--set: got %s; want one of %s" % (", ".join(unknown), ", ".join(known)))
    values = {**known, **settings}
    c, h = {k: values[k] for k in CONFIG}, {k: values[k] for k in HYPER}
    if c["num_attention_heads"] % c["num_key_value_heads"] or c["head_dim"] % 2:
        raise SystemExit("num_key_value_heads must divide num_attention_heads, and head_dim must be even")
    draw = np.random.RandomState(seed)  # its streams are the same in every numpy
    params = {}
    for name, shape in parameter_shapes(c).items():
        near = 1.0 if name.endswith("norm.weight") else 0.0
        params[name] = stored(near + 0.15 * draw.standard_normal(shape))
    lengths = torch.tensor(values["lengths"])
    roles = torch.from_numpy(random_roles(draw, values["lengths"]))
    tokens = torch.from_numpy(draw.randint(0, c["vocab_size"], roles.shape)) * (roles != PAD)
    response, action = (roles >= ACTION).double(), (roles == ACTION).double()
    before = policy_outputs(c, params, tokens, lengths)

    def noisy(center, scale):  # random, and zero outside the response
        return stored(response * (center + scale * torch.from_numpy(draw.standard_normal(roles.shape))))

    batch = {
        "loss_mask": action if h["loss_mask"] else response,
        "value_mask": action if h["advantage_mask"] else response,
        "old_logprobs": noisy(before["logprobs"], 0.3),
        "ref_logprobs": noisy(before["logprobs"], 0.5),
        "advantages": noisy(0.0, 1.0),
    }
    if c["value_head"]:
        batch["old_values"] = noisy(before["values"], 0.4)
        batch["returns"] = noisy(before["values"], 0.8)
    tensors = {"param." + name: value for name, value in params.items()}
    tensors.update(tokens=tokens, lengths=lengths, roles=roles)
    tensors.update(("batch." + name, value) for name, value in batch.items())
    tensors.update(expectations(c, h, values["adamw_steps"], params, tokens, roles, lengths, batch))
    metadata = {"kind": "policy", "config": json.dumps(c), "hyper": json.dumps(h),
                "adamw_steps": str(values["adamw_steps"])}
    return tensors, metadata


def check_fixture(path, bound):
    """Recomputes every expect.* from the file's own inputs; True when all agree."""
    tensors, metadata = read_safetensors(path)
    c, h = json.loads(metadata["config"]), json.loads(metadata["hyper"])

    def under(prefix):
        return {name[len(prefix):]: value for name, value in tensors.items() if name.startswith(prefix)}

    ours = expectations(c, h, int(metadata["adamw_steps"]), under("param."), tensors["tokens"], tensors["roles"],
                        tensors["lengths"], under("batch."))
    theirs = {name: value for name, value in tensors.items() if name.startswith("expect.")}
    worst = {}
    for name in sorted(set(ours) | set(theirs)):
        if name not in ours or name not in theirs:
            print("%s: %s is only in %s" % (path, name, "the file" if name in theirs else "the recomputation"))
            worst["names"] = (math.inf, name)
            continue
        gap, size = float((ours[name] - theirs[name]).norm()), float(theirs[name].norm())
        group = ".".join(name.split(".")[1:3])
        worst[group] = max(worst.get(group, (0.0, "")), (gap / size if size > 0 else gap, name))
    for group, (error, name) in worst.items():
        print("%s  %-20s %.2e  %s" % (os.path.basename(path), group, error, name if error > bound else ""))
    return all(error <= bound for error, _ in worst.values())


# --- advantages -----------------------------------------------------------------------------------------------------

def whiten(x, mask):
    """Mean 0 and variance 1 (n − 1) over the mask, then masked again."""
    count = mask.sum()
    mean = (x * mask).sum() / count
    variance = (((x - mean) * mask) ** 2).sum() / (count - 1)
    return (x - mean) / np.sqrt(variance + 1e-8) * mask


def gae(rewards, values, mask, gamma, lam):
    """One backward scan; registers only move where the mask is on, so credit walks over what is masked out."""
    advantages = np.zeros_like(rewards)
    for row in range(len(rewards)):
        next_value = carried = 0.0
        for t in range(rewards.shape[1] - 1, -1, -1):
            if mask[row, t]:
                carried = rewards[row, t] + gamma * next_value - values[row, t] + gamma * lam * carried
                next_value = values[row, t]
                advantages[row, t] = carried
    return advantages


def bi_level_gae(rewards, values, mask, gamma, lam, turn_gamma):
    """RAGEN: GAE over turn ends (a non-zero reward each), whose returns are the rewards of a GAE inside each turn."""
    advantages = np.zeros_like(rewards)
    for row in range(len(rewards)):
        ends = [t for t in range(rewards.shape[1]) if mask[row, t] and rewards[row, t] != 0]
        turn_return, next_value, carried = {}, 0.0, 0.0
        for t in reversed(ends):
            carried = rewards[row, t] + turn_gamma * next_value - values[row, t] + turn_gamma * lam * carried
            next_value = values[row, t]
            turn_return[t] = carried + values[row, t]
        next_value = carried = 0.0
        for t in range(rewards.shape[1] - 1, -1, -1):
            if not mask[row, t]:
                continue
            if t in turn_return:
                next_value = carried = 0.0
            delta = turn_return.get(t, 0.0) + gamma * next_value - values[row, t]
            carried = delta + gamma * lam * carried
            next_value = values[row, t]
            advantages[row, t] = carried
    return advantages


def bi_level_gae_inside_turns(rewards, values, mask, gamma, lam, turn_gamma):
    """The same where rewards also lie inside turns, whose ends are given by the mask: a turn ends where it does. Turn by
    turn from the front, every sum written out."""
    advantages = np.zeros_like(rewards)
    for row in range(len(rewards)):
        on = [t for t in range(rewards.shape[1]) if mask[row, t]]
        turns = []
        for t in on:
            if turns and turns[-1][-1] == t - 1:
                turns[-1].append(t)
            else:
                turns.append([t])
        worth = [rewards[row, turn[:-1]].sum() + values[row, turn[-1]] for turn in turns] + [0.0]  # seen from before it
        delta = [rewards[row, turn[-1]] + turn_gamma * worth[i + 1] - values[row, turn[-1]] for i, turn in enumerate(turns)]
        for i, turn in enumerate(turns):
            ahead = sum((turn_gamma * lam) ** (j - i) * delta[j] for j in range(i, len(turns)))
            paid = list(rewards[row, turn[:-1]]) + [ahead + values[row, turn[-1]]]
            after = list(values[row, turn[1:]]) + [0.0]
            step = [paid[k] + gamma * after[k] - values[row, t] for k, t in enumerate(turn)]
            for k, t in enumerate(turn):
                advantages[row, t] = sum((gamma * lam) ** (j - k) * step[j] for j in range(k, len(turn)))
    return advantages


def group_baselines(scores, groups):
    """Mean, n − 1 standard deviation and size of each row's group."""
    mean, std, size = (np.zeros_like(scores) for _ in range(3))
    for group in set(groups.tolist()):
        rows = groups == group
        mean[rows], size[rows] = scores[rows].mean(), rows.sum()
        std[rows] = scores[rows].std(ddof=1) if rows.sum() > 1 else 1.0
        if rows.sum() == 1:
            mean[rows] = 0.0
    return mean, std, size


def estimators(case, turn_rewards, turn_gamma, inside):
    """Every estimator on one batch, at its mask's tokens: the agent's, or all of the response. Zero elsewhere."""
    roles = np.array(case["roles"])
    rewards, values, groups = np.array(case["rewards"]), np.array(case["values"]), np.array(case["groups"])
    gamma, lam = case["gamma"], case["lambda"]
    agent, response = (roles == ACTION).astype(float), (roles >= ACTION).astype(float)
    result = {}

    def critic(name, raw, over):
        result[name] = {"advantages": whiten(raw, over), "returns": (raw + values) * over}

    critic("gae", gae(rewards, values, agent, gamma, lam), agent)
    critic("gae_no_advantage_mask", gae(rewards, values, response, gamma, lam), response)
    scores = (rewards * agent).sum(1)
    mean, std, size = group_baselines(scores, groups)
    centered = (scores - mean)[:, None] * agent
    result["grpo"] = {"advantages": centered / (std[:, None] + 1e-6)}
    result["grpo_no_std"] = {"advantages": centered}
    to_go = gae(rewards, np.zeros_like(values), agent, gamma, 1.0)
    result["reinforce_plus_plus"] = {"advantages": whiten(to_go, agent), "returns": to_go}
    result["reinforce_plus_plus_baseline"] = {"advantages": whiten(centered, agent)}
    others = np.where(size > 1, size / np.maximum(size - 1, 1), 1.0)
    result["rloo"] = {"advantages": centered * others[:, None]}
    turn_rewards = np.array(turn_rewards)
    critic("bi_level_gae", bi_level_gae(turn_rewards, values, agent, gamma, lam, turn_gamma), agent)
    result["bi_level_gae"].update(rewards=turn_rewards, turn_gamma=turn_gamma)
    if inside is not None:
        inside = np.array(inside)
        raw = bi_level_gae_inside_turns(inside, values, agent, gamma, lam, turn_gamma)
        critic("bi_level_gae_inside_turns", raw, agent)
        result["bi_level_gae_inside_turns"].update(rewards=inside, turn_gamma=turn_gamma)
    return result


def plain(x):
    """Arrays as lists; −0 as 0."""
    if isinstance(x, np.ndarray):
        return (np.round(x, 9) + 0.0).tolist()
    return x


def make_advantages(seed, only, count=8):
    draw = np.random.RandomState(seed)
    cases = []
    for index in range(count):
        group_size, groups = [4, 8, 2, 3][index % 4], 1 + draw.randint(4)
        rows, length = group_size * groups, 6 + draw.randint(25)
        roles = random_roles(draw, [max(3, length - draw.randint(8)) for _ in range(rows)])
        rewards, turn_rewards = (np.zeros(roles.shape) for _ in range(2))
        for row in range(rows):
            agent = np.flatnonzero(roles[row] == ACTION)
            ends = [t for t in agent if t + 1 == roles.shape[1] or roles[row, t + 1] != ACTION]
            for t in ends:
                rewards[row, t] = draw.choice([-0.1, 0.0, 0.1])
                turn_rewards[row, t] = rewards[row, t] or 0.05
            # every turn end is marked by its reward in turn_rewards, so it may not be zero
            rewards[row, ends[-1]] = turn_rewards[row, ends[-1]] = np.round(draw.standard_normal(), 6) or 0.05
        case = {
            "name": "case-%d" % index, "group_size": group_size, "gamma": float(draw.choice([1.0, 0.99, 0.9])),
            "lambda": float(draw.choice([1.0, 0.95, 0.8])), "roles": roles.tolist(), "rewards": rewards.tolist(),
            "values": plain(np.round(draw.standard_normal(roles.shape) * 0.5, 2) * (roles >= ACTION)),
            "groups": np.repeat(np.arange(groups), group_size).tolist(),
        }
        inside = np.round(draw.standard_normal(roles.shape), 2) * (roles == ACTION) * (draw.random_sample(roles.shape) < 0.5)
        found = estimators(case, turn_rewards, 0.95, inside)
        kept = {name: parts for name, parts in found.items() if only in (None, name)}
        if not kept:
            raise SystemExit("--only: got %r; want one of %s" % (only, ", ".join(found)))
        case["expect"] = {name: {k: plain(v) for k, v in parts.items()} for name, parts in kept.items()}
        cases.append(case)
    return {"kind": "advantages", "cases": cases}


def check_advantages(path, bound):
    with open(path) as file:
        cases = json.load(file)["cases"]
    worst = {}
    for case in cases:
        given = case["expect"]
        turns = given.get("bi_level_gae", {"rewards": case["rewards"]})
        inside = given.get("bi_level_gae_inside_turns", {"rewards": None})
        turn_gamma = {**turns, **inside}.get("turn_gamma", 1.0)
        for name, parts in estimators(case, turns["rewards"], turn_gamma, inside["rewards"]).items():
            for key, ours in parts.items():
                if key not in ("advantages", "returns") or name not in given:
                    continue
                theirs = np.array(given[name][key])
                size = np.linalg.norm(theirs)
                error = np.linalg.norm(ours - theirs) / (size if size > 0 else 1.0)
                group = name + "." + key
                worst[group] = max(worst.get(group, (0.0, "")), (error, case["name"]))
    for group, (error, name) in worst.items():
        print("%s  %-42s %.2e  %s" % (os.path.basename(path), group, error, name if error > bound else ""))
    return all(error <= bound for error, _ in worst.values())


# --- command line ---------------------------------------------------------------------------------------------------

def parse_setting(text):
    name, equals, value = text.partition("=")
    if not equals:
        raise SystemExit("--set: got %r; want KEY=VALUE" % text)
    if name == "lengths":
        return name, [int(n) for n in value.split(",")]
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", metavar="OUT_DIR")
    parser.add_argument("--name", help="a default case (%s), or the name of your own" % ", ".join(CASES))
    parser.add_argument("--seed", type=int)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--advantages", metavar="OUT")
    parser.add_argument("--only", metavar="ESTIMATOR", help="of --advantages: this one alone")
    parser.add_argument("--check", nargs="+", metavar="FILE")
    parser.add_argument("--bound", type=float, default=1e-6, help="relative error --check allows")
    args = parser.parse_args()
    if args.check:
        good = [(check_advantages if f.endswith(".json") else check_fixture)(f, args.bound) for f in args.check]
        print("%d of %d files agree within %g" % (sum(good), len(good), args.bound))
        sys.exit(0 if all(good) else 1)
    if args.advantages:
        with open(args.advantages, "w") as file:
            json.dump(make_advantages(args.seed or 0, args.only), file, separators=(",", ":"))
        print(args.advantages)
    elif not args.out:
        parser.error("want OUT_DIR, --advantages OUT or --check FILE...")
    if not args.out:
        return
    if (args.set or args.seed is not None) and not args.name:
        parser.error("--set and --seed make one case; give it a --name")
    os.makedirs(args.out, exist_ok=True)
    for name in [args.name] if args.name else list(CASES):
        seed, settings = CASES.get(name, (0, {}))
        settings = {**settings, **dict(parse_setting(s) for s in args.set)}
        path = os.path.join(args.out, name + ".safetensors")
        write_safetensors(path, *make_case(seed if args.seed is None else args.seed, settings))
        print("%s  %d bytes" % (path, os.path.getsize(path)))


if __name__ == "__main__":
    main()
