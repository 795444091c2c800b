import random
from typing import Literal

ROWS = 6
COLUMNS = 7


class Catch:
    """A ball falls. Move the paddle so that it is below the ball when it lands."""

    tasks = {"train": 2000, "test": 100}
    max_turns = ROWS - 1

    def reset(self, **kwargs) -> str:
        self.ball = random.randint(1, COLUMNS)
        self.paddle = random.choice([c for c in range(1, COLUMNS + 1) if abs(c - self.ball) < ROWS])
        self.row = ROWS
        self.done = False
        return self._text()

    def move(self, direction: Literal["left", "right"]) -> str:
        """Moves the paddle one column, while the ball falls one row.

        Args:
            direction: where to move

        Returns:
            Where ball and paddle are.
        """
        step = -1 if direction == "left" else 1
        self.paddle = min(COLUMNS, max(1, self.paddle + step))
        return self._fall()

    def stay(self) -> str:
        """Leaves the paddle where it is, while the ball falls one row.

        Returns:
            Where ball and paddle are.
        """
        return self._fall()

    def get_reward(self) -> float:
        return 1.0 if self.done and self.ball == self.paddle else 0.0

    def _fall(self):
        self.row -= 1
        self.done = self.row == 1
        return self._text()

    def _text(self):
        return f"ball row {self.row} column {self.ball} paddle column {self.paddle}"

    def _expert(self):
        if self.paddle == self.ball:
            return "stay", {}
        return "move", {"direction": "left" if self.ball < self.paddle else "right"}

    def _view(self):
        rows = [["." for _ in range(COLUMNS)] for _ in range(ROWS)]
        rows[ROWS - 1][self.paddle - 1] = "="
        rows[ROWS - self.row][self.ball - 1] = "o"
        return {"grid": rows}
