"""Nests are flattened as dm-tree does."""

import collections

import attr
import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from reverb_tf._native import _reverb

tree = pytest.importorskip("tree")

Pair = collections.namedtuple("Pair", "z a")


@attr.s(auto_attribs=True)
class Attributes:
    second: object
    first: object


leaves = st.one_of(
    st.none(),
    st.integers(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.just(np.zeros(3)),
    st.just(np.float32(1)),
    st.just({1, 2}),
)


def containers(children):
    return st.one_of(
        st.lists(children, max_size=3),
        st.lists(children, max_size=3).map(tuple),
        st.dictionaries(st.text(max_size=3), children, max_size=3),
        st.dictionaries(st.integers(), children, max_size=3).map(collections.OrderedDict),
        st.builds(Pair, children, children),
        st.builds(Attributes, children, children),
        st.lists(children, max_size=2).map(collections.deque),
    )


nests = st.recursive(leaves, containers, max_leaves=12)


def same(a, b):
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


@hypothesis.settings(deadline=None)
@hypothesis.given(nests)
def test_flatten(nest):
    assert same(_reverb.flatten(nest), tree.flatten(nest))


@hypothesis.settings(deadline=None)
@hypothesis.given(nests)
def test_flatten_with_path(nest):
    got, expected = _reverb.flatten_with_path(nest), tree.flatten_with_path(nest)
    assert [path for path, _ in got] == [path for path, _ in expected]
    assert same([leaf for _, leaf in got], [leaf for _, leaf in expected])


@hypothesis.settings(deadline=None)
@hypothesis.given(nests)
def test_rebuild(nest):
    structure = _reverb.Structure(nest)
    values = list(range(len(structure)))
    assert structure.rebuild(values) == tree.unflatten_as(nest, values)
    with pytest.raises(ValueError, match="leaves"):
        structure.rebuild([*values, 0])


def test_keys_that_cannot_be_sorted():
    with pytest.raises(TypeError, match="sort"):
        _reverb.flatten({1: 2, "a": 3})


def test_a_nest_that_contains_itself():
    nest = []
    nest.append(nest)
    with pytest.raises(RecursionError):
        _reverb.flatten(nest)


def test_errors_of_user_code_come_out():
    class Broken(collections.abc.Mapping):
        def __getitem__(self, key):
            raise ZeroDivisionError

        def __iter__(self):
            return iter(["a"])

        def __len__(self):
            return 1

    with pytest.raises(ZeroDivisionError):
        _reverb.flatten({"x": Broken()})
