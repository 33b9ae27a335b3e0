"""Operators as the C library describes them (mc_describe.h): nothing here knows one by its name."""

from ._library import description


class Member:
    """A member of a problem: a size, a type, a choice. `words` are a choice's, with their numbers; None: a number."""

    def __init__(self, row):
        self.name, self.config, self.words = row["name"], row["config"], row["words"]
        self.offset, self.bytes = row["offset"], row["bytes"]

    def number(self, value: str | int | bool) -> int:
        """What C has for VALUE: one of the words, a truth or a number."""
        if isinstance(value, str):
            if not self.words or value not in self.words:
                allowed = ", ".join(self.words) if self.words else "a number"
                raise ValueError(f"{self.name} is {value!r}, must be {allowed}")
            return self.words[value]
        return int(value)

    def put(self, config: bytearray, value: str | int | bool) -> None:
        """Writes VALUE where mc_plan_config has the member."""
        if self.config is None:
            raise ValueError(f"{self.name} comes with the matrix")
        config[self.offset:self.offset + self.bytes] = self.number(value).to_bytes(self.bytes, "little", signed=True)


class Operand:
    """An operand of an operator.

    kind             "dense" (rows x cols), "sampled" (an element for each of the matrix's, in the problem's order),
                     "values" (the matrix's own elements) or "factor" (one f32, or one for each row or column)
    type, rows, cols, ld, stride, major, per, computed, only_if   names of the members that say these, or None
    row_block, col_block   rows, columns, that a dense one has one element for; 0: one
    spread           a dense one whose rows are as much longer as the member pattern says
    out, in_place    it is written; read and written"""

    def __init__(self, row):
        self.__dict__.update(row)

    def __repr__(self):
        return f"Operand({self.name!r}, {self.kind!r}{', out' if self.out else ''})"


class Operator:
    """An operator: `name`, `title`, `members` (names), `operands`, and `matrix`, a dict of what its sparse matrix is, or
    None where it takes none. `gradients`: which operators compute gradients of its operands (gradient.py), where none of the
    members `plain` is set."""

    def __init__(self, row):
        self.name, self.title, self.value, self.matrix = row["name"], row["title"], row["value"], row["matrix"]
        self.members = {name: MEMBERS[name] for name in row["members"]}
        self.operands = [Operand(o) for o in row["operands"]]
        self.out = self.operands[-1]
        self.gradients, self.plain = row["gradients"], row["plain"]

    def operand(self, name: str) -> Operand:
        """The operand NAME."""
        return next(o for o in self.operands if o.name == name)

    def member(self, name: str) -> Member:
        """The member NAME, by its own name or by that of mc_plan_config; ValueError where the operator has it not."""
        for member in self.members.values():
            if name in (member.name, member.config):
                return member
        names = ", ".join(m for m in self.members if m not in ("op", "vec"))
        raise ValueError(f"{self.name} has no member {name!r}, but {names}")

    def __repr__(self):
        return f"Operator({self.name!r}: {', '.join(o.name for o in self.operands)})"


MEMBERS = {row["name"]: Member(row) for row in description()["members"]}
OPERATORS = {row["name"]: Operator(row) for row in description()["operators"]}
"""All operators by their names."""
