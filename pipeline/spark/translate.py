"""A model's SQL in Spark's dialect, giving the rows that DuckDB gives.

Belongs here: where Spark means something else by the same words, or has no words for it. sqlglot
writes out stars, aliases and types and knows most functions; each rule below is about one thing
that it leaves as it is. The two dialects' names for plain things are sqlglot's task.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.simplify import simplify
from sqlglot.schema import MappingSchema

from pipeline.warehouse.models import Model, ModelFault, TableName

Columns = Mapping[str, str]
"""A table's columns in order, each with its type in Spark's dialect."""


def view_name(table: TableName) -> str:
    """Return the name of the view that stands for a table: a session's views have no schema."""
    return f"{table.schema}_{table.name}"


def translate(model: Model, tables: Mapping[TableName, Columns]) -> str:
    """Return a model's SQL for Spark, over views; ``tables`` tells the columns of what it reads.

    Raises:
        ModelFault: the SQL says something that no rule translates.
    """
    try:
        tree = sqlglot.parse_one(model.sql, dialect="duckdb")
        tree = qualify(tree, schema=_schema(model, tables, "duckdb"), dialect="duckdb")
        tree = annotate_types(tree, schema=_schema(model, tables, "spark"))
        for union in list(tree.find_all(exp.Union, bfs=False))[::-1]:
            _by_position(union)
        for select in list(tree.find_all(exp.Select)):
            _lateral_unnest(select)
        # The innermost first, so that a rule finds its operands translated.
        for node in list(tree.walk(bfs=False))[::-1]:
            rule = _RULES.get(type(node))
            if rule is not None:
                rule(node)
        return tree.sql(
            dialect="spark", pretty=True, comments=False, unsupported_level=ErrorLevel.RAISE
        )
    except SqlglotError as error:
        raise ModelFault(f"sql model {model.table} cannot be translated: {error}") from error


def _schema(model: Model, tables: Mapping[TableName, Columns], dialect: str) -> MappingSchema:
    """Return the columns of what a model reads, for a dialect's own names and functions."""
    schema = MappingSchema(dialect=dialect, normalize=False)
    for table in model.reads:
        types = {
            name: exp.DataType.build(type, dialect="spark") for name, type in tables[table].items()
        }
        schema.add_table(exp.table_(table.name, db=table.schema), types)
    return schema


# -- queries ----------------------------------------------------------------------------------


def _by_position(union: exp.Union) -> None:
    """Spark's SQL has no ``union by name``: give both sides the same columns in the same order."""
    if not union.args.pop("by_name", False):
        return
    sides = (union.this, union.expression)
    names = list(dict.fromkeys(name for side in sides for name in side.named_selects))
    for side in sides:
        for select in _selects(side):
            said = {column.alias_or_name: column for column in select.selects}
            select.set(
                "expressions",
                [said.get(name) or exp.alias_(exp.null(), name, quoted=True) for name in names],
            )


def _selects(side: exp.Expr) -> list[exp.Select]:
    """Return the selects that a side of a union is made of, none of those inside them."""
    if isinstance(side, exp.Union):
        return [*_selects(side.this), *_selects(side.expression)]
    if isinstance(side, exp.Select):
        return [side]
    raise SqlglotError(f"a union of {side.sql('duckdb')[:60]}")


def _table(node: exp.Table) -> None:
    if node.db:
        name = view_name(TableName(node.db, node.name))
        node.set("this", exp.to_identifier(name, quoted=True))
        node.set("db", None)


def _lateral_unnest(select: exp.Select) -> None:
    """Spark takes one ``explode`` a select, on its own: unnest lists in step, beside the rows."""
    unnested = [
        node
        for column in select.selects
        for node in column.find_all(exp.Explode)
        if node.find_ancestor(exp.Select) is select
    ]
    if not unnested:
        return
    lists = [node.this for node in unnested]
    names = [f"item_{number}" for number in range(len(lists))]
    for node, name in zip(unnested, names, strict=True):
        item = exp.column(name, table="unnested", quoted=True)
        item.type = node.type
        node.replace(item)
    zipped = _call("arrays_zip", *lists)
    select.append(
        "laterals",
        exp.Lateral(
            this=_call("inline", zipped) if lists[1:] else _call("explode", *lists),
            view=True,
            alias=exp.TableAlias(
                this=exp.to_identifier("unnested"),
                columns=[exp.to_identifier(name) for name in names],
            ),
        ),
    )


# -- aggregates -------------------------------------------------------------------------------


def _list(node: exp.Expr) -> None:
    """``collect_list`` has no order, drops nulls, and is empty where ``list`` is null."""
    _replace_aggregate(node, lambda lists: _call("nullif", lists, exp.array()))


def _joined(node: exp.Expr) -> None:
    """``listagg`` takes no filter beside ``distinct``: join the list of what is not null."""
    separator = node.args["separator"]
    template = "array_join(nullif(filter(lists, item -> item is not null), array()), separator)"
    _replace_aggregate(node, lambda lists: _spark(template, lists=lists, separator=separator))


def _first(node: exp.Expr) -> None:
    """``first`` has no order."""
    _replace_aggregate(node, lambda lists: _spark("try_element_at(lists, 1)", lists=lists))


def _replace_aggregate(node: exp.Expr, shape: Callable[[exp.Expr], exp.Expr]) -> None:
    """Put what ``shape`` makes of the ordered list in place of an aggregate of values.

    A filter or window is the list's own and stays with it.
    """
    values, order = node.this, []
    if isinstance(values, exp.Order):
        values, order = values.this, values.expressions
    collect = "collect_list"
    if isinstance(values, exp.Distinct):
        values, collect = values.expressions[0], "collect_set"
    keys = [key for ordered in order for key in _sort_keys(_ascending(ordered))]
    item = exp.PropertyEQ(this=exp.to_identifier("item"), expression=values.copy())
    rows = _call(collect, exp.Struct(expressions=[*keys, item]))
    whole = node
    while isinstance(whole.parent, exp.Filter | exp.Window) and whole.arg_key == "this":
        whole = whole.parent
    node.replace(rows)
    whole = rows if whole is node else whole
    place = exp.null()
    whole.replace(place)
    template = f"transform({'array_sort(rows)' if keys else 'rows'}, row -> row.item)"
    shaped = shape(_spark(template, rows=whole))
    shaped.type = node.type
    place.replace(shaped)


def _ascending(ordered: exp.Expr) -> exp.Expr:
    """Return what to sort by upwards; only a truth value can be turned round."""
    value: exp.Expr = ordered.this
    if not ordered.args.get("desc"):
        return value
    if not value.is_type("boolean"):
        raise SqlglotError(f"a list ordered by {ordered.sql('duckdb')}")
    turned = exp.not_(value)
    turned.type = value.type
    return turned


def _sort_keys(value: exp.Expr) -> list[exp.Expr]:
    """Return what to compare by so that nulls come last, inside structs too."""
    keys = [_spark("value is null", value=value)]
    if not value.is_type("struct"):
        return [*keys, value.copy()]
    for field in value.type.expressions if value.type else []:
        part = exp.Dot(this=exp.paren(value.copy()), expression=field.this.copy())
        part.type = field.args["kind"]
        keys += _sort_keys(part)
    return keys


def _extreme(node: exp.Expr) -> None:
    """In a struct, Spark takes null for less than all values, DuckDB for more."""
    if node.this.is_type("struct"):
        name = "min_by" if isinstance(node, exp.Min) else "max_by"
        _replace(
            node,
            f"{name}(value, if(value is null, null, keys))",
            value=node.this,
            keys=_call("struct", *_sort_keys(node.this)),
        )


def _ordered(node: exp.Expr) -> None:
    """The same as of ``min`` is true of an order."""
    if node.this.is_type("struct"):
        node.set("this", _call("struct", *_sort_keys(_ascending(node))))


def _at_extreme(node: exp.Expr) -> None:
    """``arg_min`` leaves out rows without a value, ``min_by`` only those without an order."""
    name = "min_by" if isinstance(node, exp.ArgMin) else "max_by"
    _replace(
        node,
        f"{name}(value, if(value is null, null, place))",
        value=node.this,
        place=node.expression,
    )


def _median(node: exp.Expr) -> None:
    """Of two middle values DuckDB adds the halves, which ends otherwise in the last bit."""
    template = """
    get(
        transform(
            array(array_sort(filter(lists, item -> item is not null))),
            sorted -> 0.5d * get(sorted, cast((size(sorted) - 1) div 2 as int))
                + 0.5d * get(sorted, cast(size(sorted) div 2 as int))
        ),
        0
    )
    """
    _replace_aggregate(node, lambda lists: _spark(template, lists=lists))


def _histogram(values: exp.Expr) -> exp.Expr:
    template = """
    map_from_entries(
        transform(
            array_distinct(collect_list(value)),
            one -> struct(
                one as key,
                cast(size(filter(collect_list(value), other -> other = one)) as bigint) as value
            )
        )
    )
    """
    return _spark(template, value=values)


# -- values -----------------------------------------------------------------------------------


def _element(node: exp.Expr) -> None:
    """Outside a list there is null in DuckDB and an error in Spark; slices are a function."""
    (place,) = node.expressions
    if isinstance(place, exp.Slice):
        if place.expression or place.args.get("step"):
            raise SqlglotError(f"a slice with an end: {node.sql('duckdb')}")
        _replace(node, "slice(lists, start, size(lists))", lists=node.this, start=place.this)
    else:
        # sqlglot counts from 0.
        place = simplify(exp.Add(this=place.copy(), expression=exp.Literal.number(1)))
        _replace(node, "try_element_at(lists, cast(place as int))", lists=node.this, place=place)


def _length(node: exp.Expr) -> None:
    """``len`` is of lists and of texts; Spark refuses the size of a text."""
    if not node.this.is_type(*exp.DataType.TEXT_TYPES):
        _replace(node, "size(lists)", lists=node.this)


def _null_free(name: str) -> Callable[[exp.Expr], None]:
    """A null in a list makes Spark doubt whether a value is in it."""

    def rule(node: exp.Expr) -> None:
        template = f"coalesce({name}(a, b), if(a is null or b is null, null, false))"
        _replace(node, template, a=node.this, b=node.expression)

    return rule


def _cast(node: exp.Expr) -> None:
    if node.args["to"].is_type("text", "varchar") and node.this.is_type("double"):
        _replace(node, _TEXT_OF_DOUBLE, x=node.this)


def _concatenated(node: exp.Expr) -> None:
    for operand in (node.this, node.expression):
        if operand.is_type("double"):
            _replace(operand, _TEXT_OF_DOUBLE, x=operand)


def _format(node: exp.Expr) -> None:
    """The same formats by other names; Spark writes ``null`` for null."""
    if node.name not in _FORMATS:
        raise SqlglotError(f"the format {node.name!r}")
    template = f"if(x is null, null, {_FORMATS[node.name]})"
    _replace(node, template, x=node.expressions[0])


def _regexp_replace(node: exp.Expr) -> None:
    """Spark replaces all that match, DuckDB the first unless told ``g``."""
    pattern, modifiers = node.args["expression"].name, node.args.get("modifiers")
    if modifiers is None and not (pattern.startswith("^") or pattern.endswith("$")):
        raise SqlglotError(f"regexp_replace of the first match only: {pattern!r}")
    node.set("modifiers", None)


def _anonymous(node: exp.Expr) -> None:
    """Functions that sqlglot does not know."""
    made = _FUNCTIONS.get(node.name.lower())
    if made is not None:
        node.replace(made(*node.expressions))


_TEXT_OF_DOUBLE = """
case
    when x = 0 or abs(x) >= 1e-4 and abs(x) < 1e16
        then regexp_replace(cast(cast(x as decimal(38, 20)) as string), '([.][0-9]+?)0+$', '$1')
    else
        regexp_replace(
            regexp_replace(regexp_replace(cast(x as string), '([.]0)?E', 'e'), 'e([0-9])', 'e+$1'),
            'e(.)([0-9])$', 'e$10$2'
        )
end
"""
"""Java writes 1.0E-4 and 1.0E7, DuckDB 0.0001, 10000000.0 and 1e+16."""

# Java rounds the decimal that it would write, DuckDB the number itself: 1.0005, which is a little
# less, becomes 1.001 on Spark and 1.000 on DuckDB.
_FORMATS: Mapping[str, str] = {
    "{:,}": "format_string('%,d', x)",
    "{:.3f}": "format_string('%.3f', x)",
    "{:+.1f}%": "format_string('%+.1f%%', x)",
    # Java's %g keeps zeros: the number of six digits, written as a decimal. Below 1e6 that is it.
    "{:.6g}": """
        regexp_replace(
            cast(cast(format_string('%.5e', x) as decimal(38, 10)) as string), '[.]?0+$', ''
        )
    """,
}

_FUNCTIONS: Mapping[str, Callable[..., exp.Expr]] = {
    "row": lambda *values: _call("struct", *values),
    "histogram": _histogram,
    "list_intersect": lambda a, b: _spark("array_compact(array_intersect(a, b))", a=a, b=b),
}

_RULES: Mapping[type[exp.Expr], Callable[[Any], None]] = {
    exp.Anonymous: _anonymous,
    exp.ArgMax: _at_extreme,
    exp.ArgMin: _at_extreme,
    exp.ArrayAgg: _list,
    exp.ArrayContains: _null_free("array_contains"),
    exp.ArrayOverlaps: _null_free("arrays_overlap"),
    exp.Bracket: _element,
    exp.Cast: _cast,
    exp.DPipe: _concatenated,
    exp.First: _first,
    exp.Format: _format,
    exp.GroupConcat: _joined,
    exp.Length: _length,
    exp.Max: _extreme,
    exp.Median: _median,
    exp.Min: _extreme,
    exp.Ordered: _ordered,
    exp.RegexpReplace: _regexp_replace,
    exp.Table: _table,
    # In DuckDB a table's name is its whole row.
    exp.TableColumn: lambda node: _replace(node, f"struct(`{node.name}`.*)"),
    # Null lists inside a list: Spark makes the whole null, DuckDB passes over them.
    exp.Flatten: lambda node: _replace(
        node, "flatten(filter(lists, part -> part is not null))", lists=node.this
    ),
    exp.CTE: lambda node: node.set("materialized", None),
}


# -- building blocks --------------------------------------------------------------------------


def _replace(node: exp.Expr, template: str, **parts: exp.Expr) -> None:
    made = _spark(template, **parts)
    made.type = node.type
    node.replace(made)


def _spark(template: str, **parts: exp.Expr) -> exp.Expr:
    """Return an expression written in Spark's dialect, the parts put in place of their names."""
    made = _parsed(template).copy()
    for column in list(made.find_all(exp.Column)):
        if column.name in parts:
            part = parts[column.name].copy()
            bare = not isinstance(part, exp.Binary | exp.Unary) or isinstance(part, exp.Dot)
            column.replace(part if bare else exp.paren(part, copy=False))
    return made


@cache
def _parsed(template: str) -> exp.Expr:
    return sqlglot.parse_one(template, dialect="spark")


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])
