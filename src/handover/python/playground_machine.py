"""Runs this folder's environment.

The environment is TypeScript; machine/environment.js is the same program as JavaScript. It runs in the virtual machine in which the page
runs environments that people write: QuickJS, compiled to WebAssembly (machine/quickjs.wasm). So the same task and the same actions give the same episode, bit for bit, under the same limits of work and memory, without files, network
or clock. Needs only wasmtime: pip install wasmtime
"""

from __future__ import annotations

import json
import os
import re
import struct
import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import wasmtime

HERE = Path(__file__).resolve().parent
MACHINE = HERE / "machine"
RULES_TEXT = (MACHINE / "environment.json").read_text(encoding="utf-8")
RULES: dict[str, Any] = json.loads(RULES_TEXT)
TOO_LONG = "computed too long and was stopped."
LINES: int = RULES["lines"]  # of environment.ts; 0 if there is no such file
WHERE = {"open": "reset()", "call": "A tool", "answer": "answer()", "expert": "expert()", "reward": "getReward()", "close": "The end of an episode"}


class EnvironmentFault(Exception):
    """A fault of the environment itself, not of the agent. Has the place in environment.ts if it is known."""


class _Ended(Exception):
    """Raised inside a call that doesn't end, to end the machine. The machine can't be used after that."""


class _Thrown(Exception):
    """An error that the program in the machine threw: its message, and its line in the environment if known."""

    def __init__(self, words: str, line: int | None):
        super().__init__(words)
        self.words, self.line = words, line


def _engine() -> wasmtime.Engine:
    """An engine that keeps the compiled machine in wasmtime's cache folder: compiling it takes seconds, reading it some milliseconds."""
    config = wasmtime.Config()
    try:
        config.cache = True
    except wasmtime.WasmtimeError:
        pass  # a user without a folder for caches
    return wasmtime.Engine(config)


class Machine:
    """A virtual machine with the environment loaded. It serves lists of requests. Many episodes share one machine."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._work, self._work_inside = 0, 0
        self._served = -1  # index of the current request in its list
        self._stack = ""  # the environment's stack when the machine was ended
        self.ended: str | None = None
        self._closing: deque[int] = deque()  # ids of episodes that are no longer used and have to be closed
        self._count = 0
        engine = _engine()
        self._store = wasmtime.Store(engine)
        module = wasmtime.Module(engine, (MACHINE / "quickjs.wasm").read_bytes())
        linker = wasmtime.Linker(engine)
        hosts = self._hosts()
        for wanted in module.imports:
            linker.define_func(wanted.module, wanted.name, wanted.type, hosts.get(wanted.name, lambda *_: 0))
        self._exports = linker.instantiate(self._store, module).exports(self._store)
        self._memory = self._exports["memory"]
        limits = RULES["limits"]
        self._do("_initialize")
        if self._do("qjs_init") != 0:
            raise RuntimeError("The virtual machine could not be started.")
        self._do("qjs_set_memory_limit", limits["memoryBytes"])
        self._do("qjs_set_max_stack_size", limits["stackBytes"])
        self._do("qjs_set_interrupt_handler", 1)
        self._undefined, self._null = self._do("qjs_get_undefined"), self._do("qjs_get_null")
        self._load()

    def _hosts(self) -> dict[str, Any]:
        """The functions that the machine imports. They give it no real clock and no real random numbers, so it works the same everywhere."""

        def clock_time_get(_id: int, _precision: int, at: int) -> int:
            self._memory.write(self._store, bytes(8), at)
            return 0

        def random_get(at: int, length: int) -> int:
            self._memory.write(self._store, b"\1" * length, at)
            return 0

        most = RULES["limits"]["work"]

        def host_interrupt() -> int:  # called after every ten thousand calls and loop turns of the program
            self._work += 1
            return int(self._work > most or self._work_inside > most)

        def fd_close(_: int) -> int:  # called after every million loop turns inside the machine, which has no files to close
            self._work_inside += 1
            if self._work_inside <= 2 * most:
                return 0
            self._start()
            if not self._stack:
                self._stack = "unknown"
                self._stack = self._text(self._evaluate("new Error().stack", "playground.js"))
            raise _Ended(TOO_LONG)

        def host_call(*_: int) -> int:  # `begin`, the only function that the program can call in the host: the next request begins
            self._start()
            self._served += 1
            return self._do("qjs_dup_value", self._undefined)

        return {
            "clock_time_get": clock_time_get,
            "random_get": random_get,
            "fd_close": fd_close,
            "host_interrupt": host_interrupt,
            "host_call": host_call,
        }

    def _start(self) -> None:
        self._work, self._work_inside = 0, 0

    def _do(self, name: str, *arguments: int) -> int:
        return self._exports[name](self._store, *arguments)

    def _bytes(self, text: str) -> tuple[int, int]:
        """Copies a text into the machine's memory. Returns its address and its number of bytes."""
        data = text.encode("utf-8")
        at = self._do("wasm_malloc", len(data) + 1)
        if at == 0:
            raise MemoryError("The virtual machine has no memory left.")
        self._memory.write(self._store, data + b"\0", at)
        return at, len(data)

    def _text(self, value: int) -> str:
        """Converts a value of the machine to text and frees the value."""
        size = self._do("wasm_malloc", 4)
        at = self._do("qjs_get_string_len", value, size)
        if at == 0:
            return ""
        (length,) = struct.unpack("<I", self._memory.read(self._store, size, size + 4))
        text = bytes(self._memory.read(self._store, at, at + length)).decode("utf-8", "replace")
        self._do("qjs_free_cstring", at)
        self._do("wasm_free", size)
        self._do("qjs_free_value", value)
        return text

    def _string(self, text: str) -> int:
        at, length = self._bytes(text)
        value = self._do("qjs_new_string", at, length)
        self._do("wasm_free", at)
        return value

    def _property(self, value: int, name: str) -> int:
        at, _ = self._bytes(name)
        found = self._do("qjs_get_prop_string", value, at)
        self._do("wasm_free", at)
        return found

    def _checked(self, value: int) -> int:
        """Returns a value that the machine returned. If the program threw an error, raises it."""
        if not self._do("qjs_is_exception", value):
            return value
        error = self._do("qjs_get_exception")
        words, stack = (self._text(self._property(error, name)) for name in ("message", "stack"))
        self._do("qjs_free_value", error)
        raise _Thrown(words, line_in(stack))

    def _evaluate(self, program: str, name: str, strict: bool = False) -> int:
        (code, length), (called, _) = self._bytes(program), self._bytes(name)
        value = self._do("qjs_eval", code, length, called, 8 if strict else 0)
        self._do("wasm_free", code)
        self._do("wasm_free", called)
        return self._checked(value)

    def _call(self, function: int, *arguments: int) -> int:
        at = self._do("wasm_malloc", 4 * max(1, len(arguments)))
        self._memory.write(self._store, struct.pack(f"<{len(arguments)}I", *arguments), at)
        value = self._do("qjs_call", function, self._undefined, len(arguments), at)
        self._do("wasm_free", at)
        return self._checked(value)

    def _load(self) -> None:
        def program(name: str, strict: bool = False) -> int:
            return self._evaluate((MACHINE / name).read_text(encoding="utf-8"), name, strict)

        rng = self._do("qjs_new_object")
        self._call(program("rng.js"), rng)
        rules = []
        if "config" not in RULES:  # a class; built-in environments check their own turns
            rules = [self._call(self._property(self._call(program("rules.js")), "classRulesOf"), self._string(RULES_TEXT))]
        program_exports = self._call(program("playground.js"), rng, *rules)
        close, take, self._serve = (self._property(program_exports, name) for name in ("close", "take", "serve"))
        at, length = self._bytes("begin")
        self._begin = self._do("qjs_new_host_function", at, length, 0)
        try:
            self._start()
            self._call(close, self._do("qjs_get_global"))
            self._start()
            exported = self._do("qjs_new_object")
            code = (MACHINE / "environment.js").read_text(encoding="utf-8")
            program_of = self._evaluate(code, "environment.ts", strict=True)
            self._call(program_of, exported, *([self._string(RULES_TEXT)] if "config" in RULES else []))
            self._call(take, exported, self._string("environment.ts"))
        except _Thrown as thrown:
            raise EnvironmentFault(f"environment.ts:{thrown.line}: {thrown.words}") from None

    def serve(self, requests: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Serves requests in order, with one reply for each. If the machine had to be ended, this and every later reply says why."""
        with self._lock:
            closing = [{"op": "close", "id": self._closing.popleft()} for _ in range(len(self._closing))]
            all_requests = [*closing, *requests]
            if self.ended is None:
                try:
                    return self._answers(all_requests)[len(closing) :]
                except (_Ended, _Thrown, wasmtime.Trap, wasmtime.WasmtimeError) as error:
                    where = WHERE[all_requests[self._served]["op"]] if 0 <= self._served < len(all_requests) else WHERE["call"]
                    why = TOO_LONG if isinstance(error, _Ended) else f"was stopped: {str(error).splitlines()[0]}."
                    self.ended = f"{where} {why} The whole virtual machine was ended, with every episode in it."
            return [{"problem": self.ended, "line": line_in(self._stack)} for _ in requests]

    def _answers(self, all_requests: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        self._served = -1
        answer = self._crossing(json.dumps(all_requests, allow_nan=False), None)
        for _ in range(len(all_requests) + 1):  # each round finishes at least one more request, so this ends
            if not isinstance(answer, _Thrown):
                return json.loads(answer)
            answer = self._crossing(None, answer)
        if isinstance(answer, _Thrown):
            raise answer
        return json.loads(answer)

    def _crossing(self, text: str | None, stopped: _Thrown | None) -> str | _Thrown:
        """Passes requests to the program, or lets it continue after the request that was stopped."""
        self._start()
        values = [self._undefined, self._undefined, self._null]
        if text is not None:
            values[0] = self._string(text)
        if stopped is not None:
            values[1] = self._string(TOO_LONG if "interrupted" in stopped.words else f"was stopped: {stopped.words}.")
            values[2] = self._null if stopped.line is None else self._do("qjs_new_number", float(stopped.line))
        try:
            answer: str | _Thrown = self._text(self._call(self._serve, *values, self._begin))
        except _Thrown as thrown:
            answer = thrown
        for value in values:
            if value not in (self._undefined, self._null):
                self._do("qjs_free_value", value)
        return answer

    def open(self) -> tuple[int, Callable[[], None]]:
        """The id of a new episode, and a function that frees its memory. It may be called at any time, also by the garbage collector."""
        with self._lock:
            self._count += 1
            number = self._count
        return number, lambda: self._closing.append(number)


def line_in(stack: str) -> int | None:
    """The first line of the environment's file in a stack; None if there is none."""
    digits = re.search(r"environment\.ts:(\d+)", stack)
    line = int(digits[1]) if digits else 0
    return line if 1 <= line <= LINES else None


_machines: dict[int, Machine] = {}
_opening = threading.Lock()


def machine() -> Machine:
    """The machine of this process. A machine doesn't survive a fork, so each process opens its own. A machine that was ended is replaced."""
    with _opening:
        existing = _machines.get(os.getpid())
        if existing is None or existing.ended is not None:
            _machines.clear()
            _machines[os.getpid()] = Machine()
        return _machines[os.getpid()]


class MachineEpisode:
    """An episode in the machine of this process.

    Raises EnvironmentFault if the environment itself fails, and raises it again at each later call, because a framework may treat the first
    exception as the tool's answer.
    """

    def __init__(self, task: str) -> None:
        self.over = False
        self._task = task  # which one, for errors
        self._fault: EnvironmentFault | None = None
        self._machine = machine()
        self._id, close = self._machine.open()
        weakref.finalize(self, close)

    def _ask(self, turn: int, **request: Any) -> dict[str, Any]:
        if self._fault is not None:
            raise self._fault
        (reply,) = self._machine.serve([{**request, "id": self._id}])
        if "problem" in reply:
            raise self._faulty(turn, f"{reply['line']}: " if reply.get("line") else "", reply["problem"])
        return reply

    def _faulty(self, turn: int, line: str, problem: str) -> EnvironmentFault:
        self._fault = EnvironmentFault(f"environment.ts:{line}{problem} ({self._task}, turn {turn})")
        return self._fault
