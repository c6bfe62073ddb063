"""The typed logical plan: what Catalyst said, as our own immutable values.

Every node has a `schema`; expressions address the columns of the node's input by position (for a join, the
left columns followed by the right ones), so structurally equal plans are equal values and hash-consing is
dictionary lookup.

A node answers for itself: whatever the rest of the project has to know of it is asked here, and one that
leaves a question open can't be made. The nodes are in `nodes/`, one file a family; `families.py` has
answers that several give alike. How a node is lowered is said in `dbsp.sql.lowering.program`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Set
from typing import TYPE_CHECKING, Self

from dbsp.circuits.expressions.monotone import Bounds
from dbsp.sql.plans.calls import Change
from dbsp.sql.plans.schemas import Key, Schema

Position = dict[int, int]  # old column → new column


class Plan(ABC):
    """A relation, made of those that it reads.

    schema: its columns. A field of each node, or a property; said to the type checker only, since a property
    here would be taken for the field's default.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def schema(self) -> Schema: ...

    # -- the node and its parts ------------------------------------------------------------------------

    @property
    @abstractmethod
    def inputs(self) -> tuple[Plan, ...]:
        """The plans it reads."""

    @abstractmethod
    def over(self, *inputs: Plan) -> Self:
        """The node over other inputs, whose columns have the same types."""

    @abstractmethod
    def with_expressions(self, change: Change) -> Self:
        """`change` on every expression of the node, which must keep its type."""

    @abstractmethod
    def verify(self) -> None:
        """What is legal of it: positions exist, types agree, the schema follows from the inputs'.

        `legal.py` has what several ask. Raises AssertionError naming the node.
        """

    # -- what is true of its rows ----------------------------------------------------------------------

    @abstractmethod
    def append_only(self, relations: Mapping[str, bool]) -> bool:
        """Whether no row is ever retracted. relations: the same of each table and earlier view."""

    @abstractmethod
    def stream_key(self, relations: Mapping[str, Key]) -> Key:
        """The columns that tell its rows apart (SEMANTICS S7). () is a key: there is one row at most.

        None: no columns do, rows are told apart by all their columns and counted. relations: the key of each
        table and earlier view.
        """

    @abstractmethod
    def asked_for(self, relations: Mapping[str, Set[int]]) -> Set[int]:
        """The columns that are never NULL beyond what their types say. relations: those of earlier views."""

    def never_null(self, relations: Mapping[str, Set[int]]) -> Set[int]:
        """The columns that are never NULL: by their types, or as a filter or a join asks for them."""
        return {i for i, field in enumerate(self.schema) if not field.nullable} | self.asked_for(relations)

    @abstractmethod
    def monotonic(self, relations: Mapping[str, Bounds]) -> Bounds:
        """The columns that never decrease as a stream goes on, with what bounds them, if only by name.

        By the circuits' own algebra (`dbsp.circuits.progress.bounds`). relations: those of each relation so
        far. Both sides of a join keep theirs: that is checked for the join itself.
        """

    @abstractmethod
    def obstacle(self, growing: Set[str]) -> str | None:
        """What takes rows back when relations that it reads grow, in a user's words; None: nothing does."""

    def forgets(self, relations: Set[str]) -> bool:
        """Whether the clock alone takes rows from what it reads. relations: those of which it does."""
        return any(input_.forgets(relations) for input_ in self.inputs)

    def scanned(self) -> frozenset[str]:
        """The relations it reads."""
        return frozenset[str]().union(*(input_.scanned() for input_ in self.inputs))

    def arriving(self) -> frozenset[str]:
        """The tables whose order of arrival it reads."""
        return frozenset[str]().union(*(input_.arriving() for input_ in self.inputs))

    def timed(self) -> frozenset[str]:
        """The tables whose rows' times of arrival it reads."""
        return frozenset[str]().union(*(input_.timed() for input_ in self.inputs))

    # -- what rules make of it -------------------------------------------------------------------------

    @abstractmethod
    def named(self) -> Self:
        """The node with columns named after what they hold."""

    @abstractmethod
    def pruned(self, needed: Set[int]) -> tuple[Plan, Position]:
        """At least the needed columns, and where they are now; any column where none is needed."""

    # -- for people ------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def cost(self) -> str:
        """What one step costs, by the size of the change; '' if nothing."""

    @property
    @abstractmethod
    def spelled(self) -> str:
        """One line: what it does to its inputs."""
