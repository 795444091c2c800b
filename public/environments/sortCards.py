import random

LETTERS = "abcdefghijklmnop"


class SortCards:
    """Put four cards into alphabetical order by swapping two at a time."""

    tasks = {"train": 100_000, "test": 100}
    max_turns = 4
    weights = {"sorted": 1, "in_place": 0.2}

    def reset(self, **kwargs) -> str:
        self.goal = sorted(random.sample(LETTERS, 4))
        self.cards = self.goal
        while self.cards == self.goal:
            self.cards = random.sample(self.goal, 4)
        self.done = False
        return " ".join(self.cards)

    def swap(self, first: str, second: str) -> str:
        """Swaps two cards.

        Args:
            first: one of the cards
            second: the card to swap it with

        Returns:
            the cards in their new order
        """
        if first == second or not {first, second} <= set(self.cards):
            raise ValueError("choose two cards")
        self.cards = [{first: second, second: first}.get(card, card) for card in self.cards]
        self.done = self.cards == self.goal
        return " ".join(self.cards)

    def get_reward(self) -> dict:
        in_place = sum(card == wanted for card, wanted in zip(self.cards, self.goal))
        return {"sorted": 1.0 if self.done else 0.0, "in_place": in_place / 4}

    def _expert(self):
        """Swaps the first card that is out of place with the one that belongs there."""
        card, wanted = next((card, wanted) for card, wanted in zip(self.cards, self.goal) if card != wanted)
        return "swap", {"first": card, "second": wanted}

    def _view(self):
        """The cards, which the page draws beside the calls."""
        return {"grid": [self.cards]}
