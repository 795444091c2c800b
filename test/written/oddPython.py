"""A class of everything that an environment may have, for the tests."""

import random
from dataclasses import dataclass, field
from typing import Literal

PLACES = ("north", "south", "east", "west")


@dataclass
class Bag:
    """What is carried."""

    things: dict[str, int] = field(default_factory=dict)


class Walker:
    """What others inherit from."""

    def look(self) -> str:
        """Says where one is.

        Returns:
            The place and a number by chance.
        """
        return f"{self.place} {random.randrange(100)}"


class Odd(Walker):
    """Find the place, „carry” things there."""

    tasks = {
        "train": [
            {"prompt": [{"role": "user", "content": f"Go {PLACES[at % 4]} é 💥. "}], "goal": PLACES[at % 4], "steps": at % 5}
            for at in range(300)
        ],
        "test": [{"prompt": [{"role": "user", "content": f"Test {at}."}], "goal": PLACES[at % 3], "steps": 1} for at in range(60)],
    }
    max_turns = 4

    def reset(self, goal, steps, **row) -> str | None:
        self.goal, self.steps, self.place, self.bag, self.done = goal, steps, "start", Bag(), False
        self.luck = random.random()
        return None if steps == 0 else f"{steps} steps, {sorted({'b', 'a', 'c'})} {self.luck:.3f} {hash('odd') % 7 >= 0}"

    def go(self, where: Literal["north", "south", "east", "west"], far: int, slowly: bool) -> str:
        """Goes to a place.

        Args:
            where: one of the four
            far: how far to go
            slowly: whether there is time
        """
        if far < 0:
            raise ValueError(f"{far} is too near: „{where}” <b>")
        self.place = where
        self.done = where == self.goal and not slowly
        return f"{where} by {far / 3:.4f}, {random.choice(PLACES)}"

    def carry(self, thing: str, weight: float):
        """Carries a thing.

        Args:
            thing: its name
            weight: in kilos
        """
        self.bag.things[thing] = self.bag.things[thing] + 1 if random.random() < 0.2 else round(weight * 3)
        return {"carried": self.bag.things, "weight": weight, "none": None}

    def get_reward(self) -> float:
        return (self.place == self.goal) + 0.1 * len(self.bag.things) + self.luck / 10

    def _expert(self):
        if random.random() < 0.3:
            return "carry", {"thing": f"tea{len(self.bag.things)}", "weight": 0.5}
        return "go", {"where": self.goal, "far": 1, "slowly": False}
