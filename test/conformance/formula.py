# Part of attn-mlir, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Formulas of case files and of manifests: a small subset of Python, evaluated
over whole numpy arrays. A case file is data, so nothing here calls eval."""

import ast
import functools
import operator

import numpy as np

CONSTANTS = {"inf": np.inf, "neg_inf": -np.inf, "nan": np.nan, "always": True}
FUNCTIONS = {
    "min": lambda *a: functools.reduce(np.minimum, a),
    "max": lambda *a: functools.reduce(np.maximum, a),
    "abs": np.abs,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
    "where": np.where,
    "ceildiv": lambda a, b: -(-a // b),
    "rsqrt": lambda a: 1 / np.sqrt(a),
}
BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
COMPARE = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: np.isin(a, b),
}


class FormulaError(ValueError):
    pass


def evaluate(text, variables, floor_division=False):
    """The value of `text`, a formula or a plain number. Manifests, being
    integer formulas, write floor division as `/`."""
    if not isinstance(text, str):
        return text
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise FormulaError(f"expected a formula, but got {text!r}") from error
    binary = dict(BINARY)
    if floor_division:
        binary[ast.Div] = operator.floordiv
    with np.errstate(all="ignore"):
        return _Evaluator(text, variables, binary).visit(tree)


class _Evaluator(ast.NodeVisitor):
    def __init__(self, text, variables, binary):
        self.text = text
        self.variables = variables
        self.binary = binary

    def generic_visit(self, node):
        raise FormulaError(f"{self.text!r} uses {type(node).__name__}")

    def visit_Constant(self, node):
        if type(node.value) not in (int, float, bool):
            self.generic_visit(node)
        return node.value

    def visit_Name(self, node):
        for table in (self.variables, CONSTANTS):
            if node.id in table:
                return table[node.id]
        raise FormulaError(f"{self.text!r} uses the unknown name {node.id!r}")

    def visit_Tuple(self, node):
        return [self.visit(element) for element in node.elts]

    def visit_BinOp(self, node):
        function = self.binary.get(type(node.op)) or self.generic_visit(node.op)
        return function(self.visit(node.left), self.visit(node.right))

    def visit_UnaryOp(self, node):
        value = self.visit(node.operand)
        if isinstance(node.op, ast.USub):
            return -value
        if isinstance(node.op, ast.Not):
            return np.logical_not(value)
        return self.generic_visit(node.op)

    def visit_BoolOp(self, node):
        join = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
        return functools.reduce(join, [self.visit(value) for value in node.values])

    def visit_Compare(self, node):
        terms = [self.visit(term) for term in [node.left, *node.comparators]]
        results = []
        for op, left, right in zip(node.ops, terms, terms[1:]):
            function = COMPARE.get(type(op)) or self.generic_visit(op)
            results.append(function(left, right))
        return functools.reduce(np.logical_and, results)

    def visit_IfExp(self, node):
        return np.where(
            self.visit(node.test), self.visit(node.body), self.visit(node.orelse)
        )

    def visit_Call(self, node):
        name = getattr(node.func, "id", None)
        if name not in FUNCTIONS or node.keywords:
            raise FormulaError(f"{self.text!r} calls something unknown")
        return FUNCTIONS[name](*(self.visit(argument) for argument in node.args))
