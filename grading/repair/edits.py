"""Small changes of a student's own code, each of which undoes one kind of slip.

A change replaces a stretch of the source by another text. The search for a repair believes a change
that exchanges or removes something before one that adds something, such as a factor, since that
may make up for a slip in another line.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import accumulate, combinations
from keyword import iskeyword

OPERATORS = {
    "<": ("<=", ">"), "<=": ("<", ">"), ">": (">=", "<"), ">=": (">", "<"),
    "==": ("!=", ">=", "<="),
    "!=": ("==",), "in": ("not in",), "not in": ("in",), "is": ("is not",), "is not": ("is",),
    "+": ("-", "*"), "-": ("+",), "*": ("/", "+"), "/": ("*", "//"), "//": ("/",), "%": ("//",),
    "**": ("*",), "@": ("*",), "&": ("|",), "|": ("&",), "and": ("or",), "or": ("and",),
}  # fmt: skip
"""For each operator, those that it is taken for."""
SIGNS = {"Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Eq": "==", "NotEq": "!=", "In": "in",
         "NotIn": "not in", "Is": "is", "IsNot": "is not", "Add": "+", "Sub": "-", "Mult": "*",
         "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**", "MatMult": "@", "BitAnd": "&",
         "BitOr": "|", "And": "and", "Or": "or"}  # fmt: skip
FUNCTIONS = (
    {"sum", "mean", "max"}, {"min", "max"}, {"amin", "amax"}, {"argmin", "argmax"}, {"any", "all"},
    {"minimum", "maximum"}, {"repeat", "repeat_interleave", "tile"}, {"triu", "tril"},
    {"append", "extend"}, {"stack", "cat", "concatenate"}, {"floor", "ceil", "round"},
    {"log", "log2", "log10"}, {"sin", "cos"}, {"zeros", "ones"}, {"zeros_like", "ones_like"},
    {"var", "std"}, {"softmax", "log_softmax", "sigmoid"}, {"squeeze", "unsqueeze"},
    {"transpose", "view"}, {"cumsum", "cumprod"}, {"masked_fill_", "masked_fill"},
)  # fmt: skip
"""Functions and methods that are taken for one another."""
DTYPES = ("float16", "float32", "float64", "int64", "bool", "uint8")
"""Dtypes that are taken for one another."""
OTHERS = ("half", "bfloat16", "float", "double", "int8", "int16", "short", "int32", "int", "long")
"""Other names of dtypes, which are not tried."""
CREATE = {"zeros", "ones", "full", "empty", "arange", "tensor"}
"""Functions of PyTorch that make a tensor of a default dtype."""
OPTIONS = {
    "sort": ("descending=True",), "argsort": ("descending=True",), "topk": ("largest=False",),
    "sorted": ("reverse=True",), "tril": ("diagonal=1", "diagonal=-1"),
    "triu": ("diagonal=1", "diagonal=-1"), "Linear": ("bias=False",), "var": ("correction=0",
    "ddof=1"), "std": ("correction=0", "ddof=1"),
    "cross_entropy": ("ignore_index=0", 'reduction="sum"'),
}  # fmt: skip
"""Keywords that may be missing, by the name of the function."""
REDUCE = {"sum", "mean", "max", "min", "amax", "amin", "any", "all", "var", "std", "prod", "norm"}
LATER = 3
"""How many statements later the loop may begin into which a statement is moved."""
NAMES = 8
"""How many variables of a function are tried as a new argument."""
SHOWN = 80
"""How many characters of a line are quoted."""


class Rank(IntEnum):
    """How far a change is believed; the first ones first."""

    INSTEAD = 0
    COPY = 1
    MORE = 2


@dataclass(frozen=True)
class Change:
    """Another text in place of a stretch of the source; `node` is what it is about."""

    start: int
    end: int
    text: str
    node: ast.AST
    rank: Rank = Rank.INSTEAD


class Source:
    """The text of a cell in which everything is blank that must not change, and its changes."""

    def __init__(self, text: str) -> None:
        self.raw = text.encode()
        self.starts = [0, *accumulate(len(line) for line in self.raw.splitlines(keepends=True))]
        self.tree = ast.parse(text)
        nodes = list(ast.walk(self.tree))
        self.parent = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
        self.attributes = sorted(
            {
                node.attr
                for node in nodes
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
            }
        )

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node begins and ends, in bytes."""
        start = self.starts[node.lineno - 1] + node.col_offset
        return start, self.starts[node.end_lineno - 1] + node.end_col_offset

    def between(self, start: int, end: int | None = None) -> str:
        """The text of a stretch."""
        return self.raw[start:end].decode()

    def of(self, node: ast.AST | None) -> str:
        """The text of a node; in parentheses, if it needs them as a part of an expression."""
        if node is None:
            return ""
        text = self.between(*self.span(node))
        loose = ast.BinOp | ast.UnaryOp | ast.Compare | ast.BoolOp | ast.IfExp | ast.Lambda
        return f"({text})" if isinstance(node, loose) else text

    def changed(self, change: Change) -> str:
        """The whole text after a change."""
        return self.between(0, change.start) + change.text + self.between(change.end)

    def part(self, node: ast.AST) -> str:
        """What a student is shown of a place: an expression, the end of it, or the line."""
        small = (ast.Constant, ast.Name, ast.UnaryOp, ast.Slice, ast.keyword, ast.Tuple)
        while isinstance(node, small) and isinstance(self.parent[node], ast.expr | ast.keyword):
            node = self.parent[node]
        start, end = self.span(node)
        texts = [] if isinstance(node, small) else [self.between(start, end)]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            texts.append(self.between(self.span(node.func.value)[1], end).strip().lstrip("."))
        line = self.between(*self.starts[node.lineno - 1 : node.lineno + 1]).strip()
        line = line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"
        return next((text for text in texts if len(text) <= SHOWN and "\n" not in text), line)

    def changes(self) -> list[Change]:
        """Every small change, by its rank, and line by line."""
        fixed = {child for root in self._fixed() if root for child in ast.walk(root)}
        found: dict[tuple, Change] = {}
        for node in ast.walk(self.tree):
            if node in fixed:
                continue
            made: list[Change] = []
            if isinstance(node, ast.expr | ast.Slice):
                span, added = self.span(node), _added(self, node)
                made = [Change(*span, text, node) for text in _instead(self, node)]
                made += [Change(*span, text, node, rank) for rank, text in added]
            elif isinstance(node, ast.stmt):
                made = list(_moved(self, node))
            for change in made:
                same = change.text == self.between(change.start, change.end)
                if not same and not self._grows(node, change.text):
                    found.setdefault((change.start, change.end, change.text), change)
        return sorted(found.values(), key=lambda change: (change.rank, change.node.lineno))

    def set_by(self, statement: ast.AST | None) -> set[str]:
        """The names that a statement sets, or sets an entry of."""
        targets = getattr(statement, "targets", [getattr(statement, "target", None)])
        names = [n for target in targets if target for n in ast.walk(target)]
        return {self.of(n) for n in names if isinstance(n, ast.Name | ast.Attribute)}

    def _grows(self, node: ast.AST, text: str) -> bool:
        """Whether a list might come to hold itself, or double with each step of a loop."""
        if iskeyword(text) or not text.replace(".", "").isidentifier():
            return False
        statement = self.around(node, ast.stmt)
        return isinstance(statement, ast.Expr) or text in self.set_by(statement)

    def _fixed(self) -> Iterator[ast.AST | None]:
        """Where no slip is: annotations, decorators, formatted texts, errors that are raised."""
        for node in ast.walk(self.tree):
            yield from (getattr(node, "annotation", None), getattr(node, "returns", None))
            yield from (*getattr(node, "decorator_list", ()), *getattr(node, "bases", ()))
            if isinstance(node, ast.JoinedStr | ast.Raise | ast.Assert):
                yield node

    def around(self, node: ast.AST | None, kind: type) -> ast.AST | None:
        """The innermost node of a kind that holds this one."""
        while node is not None and not isinstance(node, kind):
            node = self.parent.get(node)
        return node


def _instead(source: Source, node: ast.AST) -> Iterator[str]:
    """What an expression may have been meant to be."""
    of, parent = source.of, source.parent[node]
    match node:
        case ast.Constant(value=bool(value)):
            yield str(not value)
        case ast.Constant(value=int(n)) | ast.UnaryOp(ast.USub(), ast.Constant(value=int(n))):
            n = -n if isinstance(node, ast.UnaryOp) else n
            yield from (f"({k})" for k in (n + 1, n - 1, -n, 0, 1, -1, -2) if k != n)
        case ast.Constant(value=float(value)):
            yield from (f"({-value})", "0.0", "1.0", 'float("-inf")')
        case ast.UnaryOp(operand=operand):
            yield of(operand)
        case ast.Compare(left, ops, values):
            for i, op in enumerate(ops):
                for sign in OPERATORS[_sign(op)]:
                    signs = [*map(_sign, ops[:i]), sign, *map(_sign, ops[i + 1 :])]
                    pairs = zip(signs, map(of, values), strict=True)
                    yield " ".join([of(left), *(f"{sign} {value}" for sign, value in pairs)])
        case ast.BinOp(left, op, right) if _sign(op):
            a, sign, b = of(left), _sign(op), of(right)
            yield from (a, b, *(f"({a} {other} {b})" for other in OPERATORS[sign]))
            if sign in ("-", "/", "//", "**", "@"):
                yield f"({b} {sign} {a})"
        case ast.BoolOp(op, values):
            yield from (
                f"({f' {OPERATORS[_sign(op)][0]} '.join(map(of, values))})",
                *map(of, values),
            )
        case ast.IfExp(test, body, other):
            yield from (of(body), of(other), f"({of(other)} if {of(test)} else {of(body)})")
        case ast.Tuple(elts=[_, *_] as items) | ast.List(elts=[_, *_] as items):
            begin, end = source.span(node)
            first, last = source.span(items[0])[0], source.span(items[-1])[1]
            texts = [of(item) for item in items]
            fewer = [texts[:i] + texts[i + 1 :] for i in range(len(texts))]
            for new in (*_exchanged(texts), *(fewer if isinstance(node, ast.List) else ())):
                inside = ", ".join(new)
                yield source.between(begin, first) + inside + source.between(last, end)
        case ast.Call():
            yield from _calls(source, node)
        case ast.Attribute(value, name, ast.Load()):
            if name in ("T", "mT"):
                yield from (of(value), f"{of(value)}.{'mT' if name == 'T' else 'T'}")
            if isinstance(value, ast.Name) and name in source.attributes:
                yield from (f"{of(value)}.{other}" for other in source.attributes)
            if of(value) in ("torch", "np") and name in DTYPES + OTHERS:
                yield from (f"{of(value)}.{other}" for other in DTYPES)
            if isinstance(parent, ast.Attribute):
                yield of(value)
        case ast.Subscript(value, index, ast.Load()):
            yield of(value)
            if not isinstance(index, ast.Slice | ast.Tuple):
                yield from (f"{of(value)}[:, {of(index)}]", f"{of(value)}[..., {of(index)}]")
            if isinstance(index, ast.Name):
                yield from (f"{of(value)}[{of(index)} {one}]" for one in ("+ 1", "- 1"))
            if isinstance(index, ast.Tuple) and len(index.elts) > 1:
                texts = [of(item) for item in index.elts]
                if texts[0] == ":" and "..." not in texts:
                    yield f"{of(value)}[..., {', '.join(texts[1:])}]"
                for i in range(len(texts)):
                    yield f"{of(value)}[{', '.join(texts[:i] + texts[i + 1 :])}]"
        case ast.Slice(lower, upper, step):
            a, b, end = of(lower), of(upper), f":{of(step)}" if step else ""
            ends = [(a, ""), ("", b), (b, ""), ("", a), (a or "1", b), (a, b or "-1")]
            ends += [(f"{a} {one}", b) for one in ("+ 1", "- 1") if a]
            ends += [(a, f"{b} {one}") for one in ("+ 1", "- 1") if b]
            yield from (f"{low}:{up}{end}" for low, up in ends)
        case ast.Name(name, ast.Load()) if getattr(parent, "func", None) is not node:
            names = _variables(source, node)
            yield from names if name in names else ()


def _calls(source: Source, node: ast.Call) -> Iterator[str]:
    """Other arguments of a call, another function, or what it is called on."""
    function, args = source.of(node.func), [source.of(arg) for arg in node.args]
    keywords = [source.of(keyword) for keyword in node.keywords]
    owner, dot, name = function.rpartition(".")
    given = ", ".join([*args, *keywords])
    for i in range(len(args) + len(keywords)):
        yield f"{function}({', '.join((args + keywords)[:i] + (args + keywords)[i + 1 :])})"
    yield from (f"{function}({', '.join(texts + keywords)})" for texts in _exchanged(args))
    if len(args) == 1 and not keywords:
        yield source.of(node.args[0])
    if isinstance(node.func, ast.Attribute):
        yield source.of(node.func.value)
    for other in sorted(set().union(*(group for group in FUNCTIONS if name in group))):
        yield f"{owner}{dot}{other}({given})"
    has_axis = "dim=" in given or "axis=" in given
    more = ["keepdims=True"] * (has_axis or name in REDUCE)
    more += [one for one in OPTIONS.get(name, ()) if one.split("=")[0] + "=" not in given]
    names = _variables(source, node)
    if name in CREATE and owner == "torch" and "dtype=" not in given:
        more += [f"dtype={one}.dtype" for one in names[:NAMES]] + ["dtype=torch.long"]
    if name == "bincount" and "minlength=" not in given:
        more += [f"minlength={one}{end}" for one in names[:NAMES] for end in ("", " + 1")]
    if not given:
        more += names[:NAMES]
    if name in REDUCE and not has_axis:
        more += [
            f"axis={axis}{keep}" for axis in (-1, 0, -2, 1) for keep in ("", ", keepdims=True")
        ]
    yield from (f"{function}({given}{', ' if given else ''}{one})" for one in more)
    if function == "range":
        for i, arg in enumerate(args):
            for one in ("+ 1", "- 1"):
                yield f"range({', '.join([*args[:i], f'{arg} {one}', *args[i + 1 :]])})"
        yield from (f"range(1, {arg} {one})" for arg in args for one in ("", "+ 1"))
    if name in ("view", "reshape"):
        for i in range(len(args) - 1):
            order = ", ".join([*args[:i], args[i + 1], args[i], *args[i + 2 :]])
            yield f"{function}({order}).transpose({i}, {i + 1})"


def _added(source: Source, node: ast.AST) -> Iterator[tuple[Rank, str]]:
    """An expression and something more: a copy, a sign, exchanged axes, a factor."""
    parent, text = source.parent[node], source.of(node)
    values = ast.Name | ast.Attribute | ast.Subscript
    if not isinstance(node, values | ast.BinOp | ast.Call):
        return
    if isinstance(parent, ast.Attribute) or node in (
        getattr(parent, "func", None),
        parent.value if isinstance(parent, ast.Subscript) else None,
    ):
        return
    if isinstance(node, values):
        if not isinstance(node.ctx, ast.Load):
            return
        yield from ((Rank.COPY, f"{text}.{copy}()") for copy in ("clone", "copy"))
    axes = (f"{text}.swapaxes(-1, -2)", f"{text}.swapaxes(0, 1)")
    yield from ((Rank.MORE, more) for more in (f"-{text}", f"~{text}", *axes))
    if isinstance(node, ast.Name):
        yield Rank.MORE, f"set({text})"
    if isinstance(node, ast.Name) and isinstance(parent, ast.Call):
        yield from ((Rank.MORE, f"{text} {one}") for one in ("+ 1", "- 1"))
    if isinstance(parent, ast.Return):
        yield Rank.MORE, f"sorted({text})"
    if source.set_by(source.around(node, ast.stmt)) & _texts(source, node):
        return
    products = [
        other
        for other in ast.walk(source.around(node, ast.FunctionDef) or node)
        if isinstance(other, ast.BinOp) and isinstance(other.op, ast.Mult | ast.Div)
    ]
    factors = {source.of(side): None for other in products for side in (other.right, other.left)}
    for factor in [factor for factor in factors if len(factor) <= 25 and factor != text][:6]:
        yield from ((Rank.MORE, f"({text} {sign} {factor})") for sign in "*/")


def _moved(source: Source, node: ast.stmt) -> Iterator[Change]:
    """A statement left out, written otherwise, exchanged with the next one, or after the loop."""
    parent, of = source.parent[node], source.of
    (start, end), text = source.span(node), source.of(node)
    definition = isinstance(node, ast.FunctionDef | ast.ClassDef)
    if definition or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return
    if not isinstance(node, ast.Return):
        yield Change(start, end, "pass", node)
    match node:
        case ast.AugAssign(target, op, value) if _sign(op):
            yield Change(start, end, f"{of(target)} = {of(target)} {_sign(op)} {of(value)}", node)
            for sign in ("", *OPERATORS[_sign(op)]):
                yield Change(start, end, f"{of(target)} {sign}= {of(value)}", node)
        case ast.Assign([ast.Name() | ast.Subscript() as target], value):
            if not source.set_by(node) & _texts(source, value):
                yield Change(start, end, f"{of(target)} += {of(value)}", node)
        case ast.If(test):
            for other in (f"not {of(test)}", "True", "False"):
                yield Change(*source.span(test), other, test)
    blocks = [getattr(parent, name, ()) for name in ("body", "orelse")]
    block = next((block for block in blocks if node in block), [node])
    if node is not block[-1]:
        following = block[block.index(node) + 1]
        first, last = source.span(following)
        if not isinstance(following, ast.Return):
            swapped = source.between(first, last) + source.between(end, first) + text
            yield Change(start, last, swapped, following)
    if node.lineno != node.end_lineno:
        return
    if isinstance(parent, ast.For) and len(block) > 1:
        loop, after = source.span(parent)
        rest = source.between(loop, source.starts[node.lineno - 1])
        rest += source.between(min(source.starts[node.lineno], after), after)
        yield Change(loop, after, f"{rest.rstrip()}\n{' ' * parent.col_offset}{text}", node)
        if not isinstance(node, ast.Return):
            yield Change(loop, after, f"{text}\n{' ' * parent.col_offset}{rest.rstrip()}", node)
    if not isinstance(node, ast.Assign) or source.set_by(node) & _texts(source, node.value):
        return
    for later in block[block.index(node) + 1 :][:LATER]:
        if isinstance(later, ast.For) and later.body[0].lineno > later.lineno:
            into = source.starts[later.body[0].lineno - 1]
            indent = " " * later.body[0].col_offset
            yield Change(start, into, f"pass{source.between(end, into)}{indent}{text}\n", node)


def _sign(op: ast.AST) -> str:
    """How an operator is written; empty for one that is not changed."""
    return SIGNS.get(type(op).__name__, "")


def _texts(source: Source, node: ast.AST) -> set[str]:
    """The names that a node holds, with attributes."""
    return {source.of(n) for n in ast.walk(node) if isinstance(n, ast.Name | ast.Attribute)}


def _exchanged(texts: list[str]) -> Iterator[list[str]]:
    """The texts with any two of the first five exchanged."""
    for i, j in combinations(range(min(len(texts), 5)), 2):
        new = list(texts)
        new[i], new[j] = new[j], new[i]
        yield new


def _variables(source: Source, node: ast.AST) -> list[str]:
    """The variables of the function around a node."""
    nodes = list(ast.walk(source.around(node, ast.FunctionDef) or node))
    names = [n.arg for n in nodes if isinstance(n, ast.arg)]
    names += [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return [name for name in dict.fromkeys(names) if name not in ("self", "_")]
