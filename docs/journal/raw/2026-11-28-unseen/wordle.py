import random

WORDS = (
    "bake bark bean bear boat bold cake calm camp cart clay coat cold crab dark dart deal dear drum duck "
    "farm fast film fish fork frog gate goat gold hand harp horn lake lamp leaf lion milk moon nest rain"
).split()


class Wordle:
    """Find a word of four letters in six guesses. After each guess every letter gets a colour."""

    tasks = {"train": 5000, "test": 100}
    max_turns = 6

    def reset(self, **kwargs) -> str:
        self.secret = random.choice(WORDS)
        self.guesses = []
        self.done = False
        return "Guess the word."

    def guess(self, word: str) -> str:
        """Guesses the word.

        Args:
            word: a word of four letters

        Returns:
            A colour for each letter: green (right place), yellow (another place) or gray (not in the word).
        """
        if word not in WORDS:
            raise ValueError("not a word")
        self.guesses.append(word)
        self.done = word == self.secret
        return " ".join(self._colours(word, self.secret))

    def get_reward(self) -> float:
        return 1.0 if self.done else 0.0

    @staticmethod
    def _colours(guess, secret):
        left = [b for a, b in zip(guess, secret) if a != b]
        colours = []
        for a, b in zip(guess, secret):
            if a == b:
                colours.append("green")
            elif a in left:
                left.remove(a)
                colours.append("yellow")
            else:
                colours.append("gray")
        return colours

    def _expert(self):
        """Guesses the first word that fits all colours so far."""
        for word in WORDS:
            if all(self._colours(g, word) == self._colours(g, self.secret) for g in self.guesses):
                return "guess", {"word": word}
