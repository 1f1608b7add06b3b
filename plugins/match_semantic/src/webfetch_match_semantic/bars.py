"""How sure a verifier must be: less where every word has its counterpart, more where a guard doubts.

The numbers were chosen on our development pairs and held-out made pairs (``evals/matcher.py --choose``): what
is accepted there, taken together, has a precision of 0.99 with the paraphrase model and 0.98 with features.
For entailment no weights were to be had, and nothing was measured.
"""

from __future__ import annotations

from .rules import Ruling

ALIKE = {"entailment": 1.0, "paraphrase": 1.0, "features": 0.96}
"""What the threshold is multiplied by where no word of content is without its counterpart."""
UNSURE = {"entailment": 0.97, "paraphrase": 0.94, "features": 2.0}
"""What is enough where a guard has small doubts. Features know no more than a guard does."""
DOUBTFUL = {"entailment": 0.97, "paraphrase": 0.97, "features": 2.0}
"""What is enough where a guard has great ones."""
SMALL = frozenset(("more", "place"))
"""Guards whose doubts are small: a word more on one side."""


def bar(verifier: str, threshold: float, ruling: Ruling) -> float:
    """Return how sure ``verifier`` must be of the pair that ``ruling`` leaves open."""
    if ruling.guard:
        return max(threshold, (UNSURE if ruling.guard in SMALL else DOUBTFUL)[verifier])
    return threshold * ALIKE[verifier] if ruling.alike else threshold
