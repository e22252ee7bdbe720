"""Minimal subsets against all subsets, and dependences put end to end."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from core.explain.chains import chains
from core.explain.minimal import minimal_subset
from core.graph.model import Dependence


def test_minimal_subsets_of_random_families() -> None:
    """A set excludes if it contains one of a few random sets: the answer is one that has no smaller one inside."""
    for seed in range(300):
        chance = random.Random(seed)
        items = list(range(chance.randint(1, 9)))
        reasons = [frozenset(chance.sample(items, chance.randint(1, len(items)))) for _ in range(chance.randint(1, 4))]
        kept = chance.sample(items, chance.randint(0, 1))
        asked: list[frozenset[int]] = []

        def excludes(chosen: Sequence[int], reasons=reasons, asked=asked) -> bool:
            asked.append(frozenset(chosen))
            return any(reason <= set(chosen) for reason in reasons)

        candidates = [item for item in items if item not in kept]
        found = minimal_subset(kept, candidates, excludes)
        assert excludes([*kept, *found])
        assert found == [item for item in candidates if item in found]
        for size in range(len(found)):
            assert not any(excludes([*kept, *part]) for part in combinations(found, size))


def test_who_does_not_know_gets_more_than_needed() -> None:
    """An answer of no where yes would be right leaves a larger set, which still excludes."""
    for seed in range(200):
        chance = random.Random(seed)
        items = list(range(8))
        reason = set(chance.sample(items, 3))

        def excludes(chosen: Sequence[int], chance=chance, reason=reason) -> bool:
            return reason <= set(chosen) and chance.random() < 0.6

        assert reason <= set(minimal_subset([], items, excludes))


def test_chains_use_every_dependence_once() -> None:
    for seed in range(300):
        chance = random.Random(seed)
        ops = "abcdef"[: chance.randint(1, 6)]
        given = [
            Dependence(chance.choice(ops), chance.choice(ops), chance.randint(0, 9), chance.randint(0, 2))
            for _ in range(chance.randint(1, 10))
        ]
        found = chains(given, ops)
        assert Counter(d for chain in found for d in chain.dependences) == Counter(given)
        for chain in found:
            for one, other in zip(chain.dependences, chain.dependences[1:], strict=False):
                assert one.target == other.source
            visited = [d.source for d in chain.dependences]
            assert len(set(visited)) == len(visited)
            assert chain.closed == (chain.dependences[-1].target in visited)
            assert chain.latency == sum(d.latency for d in chain.dependences)


def test_chains_of_an_attention_tile() -> None:
    given = [Dependence(*pair, 1) for pair in (("qk", "max"), ("max", "exp"), ("exp", "pv"), ("qk", "exp"))]
    carried = [Dependence("pv", "scale", 1, 1), Dependence("scale", "pv", 1)]
    texts = {chain.text for chain in chains([*given, *carried], ["qk", "max", "exp", "scale", "pv"])}
    assert "qk -> exp" in texts
    assert texts & {"scale -> pv -> scale", "pv -> scale -> pv"}
    assert "qk -> max -> exp -> pv" in texts
