from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from webfetch_extract_html.classifier.assembly import Leaf, Split, assemble

COLUMNS = 3
numbers = st.floats(-4, 4, width=32)
leaves = st.builds(Leaf, st.floats(-2, 2, width=32))
trees = st.recursive(
    leaves, lambda inner: st.builds(Split, st.integers(0, COLUMNS - 1), st.floats(-4, 4), inner, inner)
)


def by_hand(node: Split | Leaf, row: np.ndarray) -> float:
    while isinstance(node, Split):
        node = node.left if float(row[node.column]) <= node.threshold else node.right
    return node.value


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 1), trees), min_size=1, max_size=4),
    st.lists(st.lists(numbers, min_size=COLUMNS, max_size=COLUMNS), min_size=1, max_size=9),
)
def test_all_trees_at_once_say_what_each_says_alone(forest, rows):
    matrix = np.array(rows, dtype=np.float32)
    sums = assemble(forest, COLUMNS).sums(matrix, outputs=2)
    for row, found in zip(matrix, sums, strict=True):
        for output in (0, 1):
            assert found[output] == pytest.approx(sum(by_hand(t, row) for o, t in forest if o == output))


@settings(deadline=None)
@given(st.lists(st.tuples(st.just(0), trees), min_size=1, max_size=4))
def test_what_is_assembled_is_sound(forest):
    assert assemble(forest, COLUMNS).fault() == ""


def test_a_value_on_the_threshold_goes_left_also_where_float32_cannot_hold_it():
    value = np.float32(0.1)  # a little above 0.1
    tree = assemble([(0, Split(0, 0.1, Leaf(1.0), Leaf(2.0)))], 1)
    below = np.nextafter(value, np.float32(0))
    assert tree.sums(np.array([[below], [value]], dtype=np.float32))[:, 0].tolist() == [1.0, 2.0]
    exact = assemble([(0, Split(0, float(value), Leaf(1.0), Leaf(2.0)))], 1)
    assert exact.sums(np.array([[value]], dtype=np.float32))[0, 0] == 1.0


def test_more_rows_than_are_taken_at_once():
    tree = assemble([(0, Split(0, 0.5, Leaf(-1.0), Leaf(1.0)))], 1)
    rows = np.linspace(0, 1, 1_001, dtype=np.float32)[:, None]
    assert (tree.sums(rows)[:, 0] == np.where(rows[:, 0] <= 0.5, -1.0, 1.0)).all()


def test_no_trees_and_too_many_thresholds_are_refused():
    with pytest.raises(ValueError, match="at least one"):
        assemble([], 1)
    with pytest.raises(ValueError, match="255"):
        assemble([(0, Split(0, float(n), Leaf(0.0), Leaf(1.0))) for n in range(256)], 1)


SOUND = assemble([(0, Split(1, 0.5, Leaf(-1.0), Leaf(1.0)))], 2)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"cut": SOUND.cut[:-1]}, "lengths"),
        ({"output": SOUND.output[:0]}, "roots"),
        ({"column": SOUND.column + np.uint16(9)}, "column"),
        ({"child": SOUND.child + np.int32(5)}, "child"),
        ({"roots": np.array([-1], dtype=np.int32)}, "child or root"),
        ({"edge_start": SOUND.edge_start[::-1]}, "edges"),
        ({"depth": 0}, "depth"),
        ({"value": SOUND.value * np.float32("nan")}, "value"),
    ],
)
def test_unsound_trees_are_told_from_sound_ones(change, told):
    assert told in evolve(SOUND, **change).fault()


def test_the_library_that_trained_them_says_the_same():
    lightgbm = pytest.importorskip("lightgbm", reason="needed for training only")
    random = np.random.default_rng(4)
    rows = random.normal(size=(600, 8)).astype(np.float32)
    target = 1 / (1 + np.exp(-(rows[:, 0] * rows[:, 1] + rows[:, 2])))
    settings = {"objective": "cross_entropy", "verbose": -1, "num_threads": 1, "max_bin": 63}
    booster = lightgbm.train(settings, lightgbm.Dataset(rows, target), num_boost_round=40)

    def read(node):
        if "leaf_value" in node:
            return Leaf(node["leaf_value"])
        left, right = read(node["left_child"]), read(node["right_child"])
        return Split(node["split_feature"], node["threshold"], left, right)

    forest = [(0, read(tree["tree_structure"])) for tree in booster.dump_model()["tree_info"]]
    ours = 1 / (1 + np.exp(-assemble(forest, 8).sums(rows)[:, 0]))
    assert np.abs(ours - booster.predict(rows)).max() < 1e-5
