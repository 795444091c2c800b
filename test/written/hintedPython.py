"""What TRL 1.16 documents for `environment_factory`, in one class: type hints of every kind, async methods, a reward function outside of it."""

import asyncio
import enum
import random
from typing import Annotated, Any, Dict, List, Literal, Optional, Tuple, Union


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(int, enum.Enum):
    LOW = 1
    HIGH = enum.auto()


Way = Literal["up", "down"]


class Hinted:
    """Put the numbers into order, then say which colour they have."""

    tasks = {"train": [{"prompt": [{"role": "user", "content": "Sort. "}], "bonus": n / 8} for n in range(40)], "test": 10}
    tasks["test"] = tasks["train"][:10]
    max_turns = 4

    def __init__(self):
        self.right = 0

    def reset(self, bonus: float, **row) -> list:
        self.numbers = [random.randint(1, 4) for _ in range(3)]
        self.colour = random.choice(list(Colour))
        self.bonus, self.right, self.done, self.ended = bonus, 0, [], False
        return [{"type": "text", "text": f"numbers {self.numbers} colour {self.colour.value}"}]

    async def arrange(self, order: List[int], weight: float = 1.5, note: Optional[str] = None) -> str:
        """Gives the order.

        Args:
            order: the numbers
            weight: how sure
            note: anything
        """
        await asyncio.sleep(60)
        self.right = int(order == sorted(self.numbers))
        return f"{order} {weight!r} {note!r}"

    def paint(self, colour: Colour, level: Level = Level.LOW, way: Optional[Way] = None) -> list:
        """Says the colour.

        Args:
            colour: the colour
            level: how much
            way: where
        """
        if colour == "red" and level == 2:
            raise ValueError("too much red")
        self.done = [colour]
        self.ended = colour == self.colour.value
        return [{"type": "text", "text": f"painted {colour} "}, {"type": "text", "text": f"{int(level)} {way}"}]

    def mix(self, a: Union[int, str], b: Annotated[int, "second"] = 3, c: Literal[1, 2] = 1) -> list:
        """Mixes.

        Args:
            a: one
            b: two
            c: three
        """
        return [a, b * c, self.bonus]

    def note(self, what: Any, where: Dict[str, float], pair: Tuple[int, str], size: float | list[int] = 1.0) -> None:
        """Notes.

        Args:
            what: anything
            where: named numbers
            pair: two
            size: a number or some
        """
        self.right = 0

    async def get_reward(self) -> float | None:
        return float(self.right) if self.ended else None

    def _expert(self):
        if not self.right:
            return "arrange", {"order": sorted(self.numbers), "weight": 2.0}
        return "paint", {"colour": self.colour}


async def kept(completions, environments, bonus, **kwargs):
    """Reads the state of the environments, as TRL's reward functions do."""
    calls = [sum("tool_calls" in message for message in messages) for messages in completions]
    return [None if count == 0 else b / 4 + env.bonus / 4 + count / 16 for env, b, count in zip(environments, bonus, calls)]
