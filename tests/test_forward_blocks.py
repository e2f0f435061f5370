"""Forward selection of blocks: the order of refits, no repetition, no noise."""

import numpy as np
import pytest

from rankwise.ridge.forward_blocks import forward_blocks


def blocks_of(m=400):
    """A first block, noise, two blocks that matter, and one that spans the same as the first of these."""
    rng = np.random.default_rng(0)
    first, noise, strong, weak = (rng.normal(size=(m, width)) for width in (3, 2, 2, 4))
    y = first.sum(axis=1) + 2.0 * strong.sum(axis=1) + weak[:, 0] + rng.normal(size=m)
    return [first, noise, strong, weak, strong @ np.array([[1.0, 0.3], [0.0, 2.0]])], y


def chosen_by(blocks, y):
    X = np.hstack(blocks)
    return forward_blocks(X.T @ X, X.T @ y, float(y @ y), [block.shape[1] for block in blocks], len(y))


def chosen_by_refits(blocks, y):
    def error(numbers):
        X = np.hstack([blocks[number] for number in numbers])
        return float(np.square(y - X @ np.linalg.lstsq(X, y, rcond=1e-9)[0]).sum())

    model, chosen = [0], []
    while len(chosen) < len(blocks) - 1:
        now = error(model)
        gain = {
            number: now - error([*model, number]) - 2.0 * blocks[number].shape[1] * now / len(y)
            for number in range(1, len(blocks))
            if number not in model
        }
        best = max(gain, key=gain.get)
        if gain[best] <= 0.0:
            return chosen
        model.append(best)
        chosen.append(best - 1)
    return chosen


@pytest.mark.parametrize("seed", range(5))
def test_blocks_are_chosen_as_by_refits(seed):
    rng = np.random.default_rng(seed)
    blocks = [rng.normal(size=(200, width)) @ rng.normal(size=(width, width)) for width in (2, 3, 1, 2, 4)]
    y = sum(block @ rng.normal(size=block.shape[1]) for block in blocks) + 4.0 * rng.normal(size=200)
    assert chosen_by(blocks, y) == chosen_by_refits(blocks, y)


def test_of_blocks_that_span_the_same_one_is_chosen_and_noise_is_not():
    strong, weak = chosen_by(*blocks_of())
    assert strong in (1, 3)
    assert weak == 2


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_of_features_and_labels_do_not_matter(unit):
    *blocks, _ = blocks_of()[0]
    y = blocks_of()[1]
    rescaled = [blocks[0], *(unit * block for block in blocks[1:])]
    assert chosen_by(rescaled, y / unit) == chosen_by(blocks, y) == [1, 2]


def test_nothing_is_chosen_where_nothing_is_left():
    blocks, y = blocks_of()
    first = blocks[0]
    assert chosen_by([first, 2.0 * first[:, :2], np.zeros((len(y), 3))], y) == []
    assert chosen_by([np.zeros((len(y), 2)), np.zeros((len(y), 1))], y) == []
