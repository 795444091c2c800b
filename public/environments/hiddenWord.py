import random

WORDS = "ant bat bee cat cod cow dog elk emu fox hen owl pig ram rat yak".split()


class HiddenWord:
    """Guess which of six words is hidden. After a wrong guess you hear whether it comes earlier or later in a dictionary."""

    tasks = {"train": 100_000, "test": 100}
    max_turns = 3

    def reset(self, **kwargs) -> str:
        self.words = sorted(random.sample(WORDS, 6))
        self.secret = random.choice(self.words)
        self.guesses = []
        self.done = False
        return " ".join(self.words)

    def guess(self, word: str) -> str:
        """Compares a guess with the hidden word.

        Args:
            word: one of the six words

        Returns:
            right, earlier or later
        """
        if word not in self.words:
            raise ValueError("not in the list")
        self.guesses.append(word)
        self.done = word == self.secret
        if self.done:
            return "right"
        return "later" if word < self.secret else "earlier"

    def get_reward(self) -> float:
        return 1.0 if self.done else 0.0

    def _expert(self):
        """Guesses the middle one of the words that are still possible."""

        def fits(word):
            return all(word != guess and (word < guess) == (self.secret < guess) for guess in self.guesses)

        left = [word for word in self.words if fits(word)]
        return "guess", {"word": left[len(left) // 2]}
