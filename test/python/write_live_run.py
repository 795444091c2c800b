"""Writes a run into a folder as verl does, step by step, beside a page that watches it.

    python test/python/write_live_run.py --verl DIR FOLDER [--steps 20] [--rollouts 8] [--repeat 1] [--pause 1]

verl: the wheel of PyPI, unpacked into DIR (`pip download --no-deps verl==0.9.1`). Its modules need a cluster to import, so its file logger and
its function that dumps rollouts are taken out of the source and run as they stand. Prints the time after each step, in ms since 1970.
"""

import argparse
import ast
import os
import time
from pathlib import Path

import numpy as np
import orjson
from write_fixtures import OUTPUT, PROMPT, functions


def file_logger(source):
    """verl's class FileLogger."""
    [found] = [node for node in ast.parse(source.read_text()).body if isinstance(node, ast.ClassDef) and node.name == "FileLogger"]
    scope = {"os": os, "orjson": orjson}
    exec(compile(ast.Module(body=[found], type_ignores=[]), str(source), "exec"), scope)  # noqa: S102
    return scope["FileLogger"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--verl", type=Path, required=True)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--steps", type=int, default=20)
    arguments.add_argument("--rollouts", type=int, default=8)
    arguments.add_argument("--repeat", type=int, default=1, help="of what the tool returned")
    arguments.add_argument("--pause", type=float, default=1)
    given = arguments.parse_args()
    [dump] = functions(given.verl / "verl/trainer/ppo/v1/trainer_base.py", ["_write_generations"], {"os": os, "json": __import__("json"), "np": np})
    os.environ["VERL_FILE_LOGGER_ROOT"] = str(given.folder)
    logger = file_logger(given.verl / "verl/utils/tracking.py")("search", "grpo")
    draw = np.random.default_rng(7)
    for step in range(1, given.steps + 1):
        scores = draw.binomial(1, min(0.9, 0.2 + step / 100), given.rollouts).astype(np.float32)
        uids = [f"{step}_{i // 4}_{i % 4}_0" for i in range(given.rollouts)]
        dump([PROMPT] * given.rollouts, [OUTPUT.replace("Nabokov wrote it.", "Nabokov wrote it. " * given.repeat)] * given.rollouts, ["Nabokov"] * given.rollouts, list(scores), {"uid": uids}, str(given.folder / "rollouts"), step)
        # names of metrics as in verl/trainer/ppo/metric_utils.py
        metrics = {"critic/score/mean": scores.mean(), "critic/score/max": scores.max(), "critic/score/min": scores.min(), "actor/entropy": np.float64(1 / step)}
        logger.log({**metrics, "actor/grad_norm": draw.random(), "timing_s/gen": draw.random()}, step)
        print(step, int(time.time() * 1000), flush=True)
        time.sleep(given.pause)
    logger.finish()


if __name__ == "__main__":
    main()
