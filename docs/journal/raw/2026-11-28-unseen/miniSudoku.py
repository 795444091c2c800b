import random

DIGITS = [1, 2, 3, 4]
EMPTY = 5


class MiniSudoku:
    """Fill a board of four by four, so that each row, each column and each box of two by two has 1, 2, 3 and 4."""

    tasks = {"train": 20_000, "test": 100}
    max_turns = 7
    weights = {"solved": 1, "filled": 0.2}

    def reset(self, **kwargs) -> str:
        self.solution = self._full_board()
        self.board = [row[:] for row in self.solution]
        cells = [(r, c) for r in range(4) for c in range(4)]
        for r, c in random.sample(cells, EMPTY):
            self.board[r][c] = 0
        self.done = False
        return self._text()

    def place(self, row: int, column: int, digit: int) -> str:
        """Writes a digit into an empty cell.

        Args:
            row: the row, from 1 to 4
            column: the column, from 1 to 4
            digit: the digit, from 1 to 4

        Returns:
            The board.
        """
        if row not in DIGITS or column not in DIGITS or digit not in DIGITS:
            raise ValueError("use numbers from 1 to 4")
        if self.board[row - 1][column - 1] != 0:
            raise ValueError("the cell is not empty")
        if digit not in self._candidates(row - 1, column - 1):
            raise ValueError("the digit is there already")
        self.board[row - 1][column - 1] = digit
        self.done = all(0 not in line for line in self.board)
        return self._text()

    def get_reward(self) -> dict:
        left = sum(line.count(0) for line in self.board)
        return {"solved": 1.0 if self.done else 0.0, "filled": 1 - left / EMPTY}

    def _full_board(self):
        first = random.sample(DIGITS, 4)
        second = first[2:] + first[:2]
        upper = [first, second]
        # the lower half has the same pairs in the other columns
        third = [first[1], first[0], first[3], first[2]]
        fourth = [second[1], second[0], second[3], second[2]]
        lower = [third, fourth]
        random.shuffle(upper)
        random.shuffle(lower)
        board = random.choice([upper + lower, lower + upper])
        if random.random() < 0.5:
            board = [list(column) for column in zip(*board)]
        return board

    def _candidates(self, r, c):
        seen = set(self.board[r]) | {self.board[i][c] for i in range(4)}
        top, left = r // 2 * 2, c // 2 * 2
        seen |= {self.board[i][j] for i in (top, top + 1) for j in (left, left + 1)}
        return [d for d in DIGITS if d not in seen]

    def _text(self):
        return " / ".join(" ".join(str(d) if d else "_" for d in line) for line in self.board)

    def _expert(self):
        """Fills the empty cell that has the fewest candidates, the first of them if several have as few."""
        empty = [(r, c) for r in range(4) for c in range(4) if self.board[r][c] == 0]
        r, c = min(empty, key=lambda cell: len(self._candidates(*cell)))
        options = self._candidates(r, c)
        if not options:
            return "stuck"
        digit = self.solution[r][c] if self.solution[r][c] in options else options[0]
        return "place", {"row": r + 1, "column": c + 1, "digit": digit}

    def _view(self):
        return {"grid": [[d or "." for d in line] for line in self.board]}
