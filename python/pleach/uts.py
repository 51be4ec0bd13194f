"""Unbalanced Tree Search: count the nodes of a tree that hashing generates, to measure how work is shared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

from pleach import _numbers, _pleach, _run
from pleach._result import Counted, View, counted

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["count"]


@overload
def count(tree: str, *, blocking: Literal[True] = True, **options: Unpack[_run.Options]) -> Counted: ...


@overload
def count(tree: str, *, blocking: Literal[False], **options: Unpack[_run.Options]) -> _run.Run[Counted]: ...


def count(
    tree: str, *, blocking: bool = True, **options: Unpack[_run.Options]
) -> Counted | _run.Run[Counted]:
    """Count the nodes of a tree.

    tree: the name of a sample tree such as "T1", or parameters such as "type=binomial,b0=2000,q=0.19,m=5,seed=7".
    blocking: whether to wait for the result; if not, a Run is returned at once.
    **options: when to stop, how many threads, and functions to call; see `pleach.Options`.
    """
    if not isinstance(tree, str):
        _numbers.wrong(TypeError, "tree", tree, "the name or the parameters of a tree")
    return _run.start("uts", (tree,), counted, View(), options, blocking)
