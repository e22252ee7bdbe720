# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""YAML text with positions: read into pydantic models, faults told with file:line:column and a suggestion."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar

import yaml
from pydantic import BaseModel, Field, ValidationError
from pydantic_core import ErrorDetails

from core.diagnostics import Diagnostic, InputError, Severity, error

Key = str | int
KeyPath = tuple[Key, ...]
ModelT = TypeVar("ModelT", bound=BaseModel)

Count = Annotated[int, Field(strict=True, ge=0, le=10**9)]
"""A number of a file: far above any machine's, and few enough that sums of products fit the solver's 64 bits."""
PositiveCount = Annotated[int, Field(strict=True, ge=1, le=10**9)]

MAX_BYTES = 64 << 20
MAX_DEPTH = 64
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UNBROKEN = 2**31 - 1
_MOST_SHOWN = 40
"""Characters of a bad value that a message repeats."""

_MAPPING = "input should be a mapping of keys to values"
_TOLD = {"model_type": _MAPPING, "dict_type": _MAPPING}
"""Faults that pydantic tells in words of Python."""


class _Mark(Protocol):
    """A place in a YAML text, 0-based, of the C or the Python parser."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class YamlSource:
    """A YAML document as plain data, and where each key path of it stands in the file."""

    file: str
    data: Any
    keys: dict[KeyPath, tuple[int, int]]
    values: dict[KeyPath, tuple[int, int]]

    def position(self, path: Sequence[Key], *, of_key: bool = False) -> tuple[int, int]:
        """1-based line and column of the value (or its key) at `path`, or of the nearest enclosing one."""
        table = self.keys if of_key else self.values
        for length in range(len(path), -1, -1):
            place = table.get(tuple(path[:length])) or self.values.get(tuple(path[:length]))
            if place:
                return place
        return (1, 1)

    def error(
        self,
        code: str,
        message: str,
        path: Sequence[Key] = (),
        *,
        hint: str | None = None,
        of_key: bool = False,
    ) -> InputError:
        """An InputError at `path`."""
        line, column = self.position(path, of_key=of_key)
        return error(code, message, file=self.file, line=line, column=column, hint=hint)


def read_text(path: Path) -> str:
    """The file's text (UTF-8, with or without byte order mark). Raises InputError if it cannot be read as such."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise error("file-too-large", f"the file is larger than {MAX_BYTES >> 20} MiB", file=str(path))
        return path.read_bytes().decode("utf-8-sig")
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise error("cannot-read", f"cannot read the file: {reason}", file=str(path)) from None
    except UnicodeDecodeError as fault:
        raise error("not-text", f"the file is not UTF-8 text (byte {fault.start})", file=str(path), line=1) from None


def parse_yaml(text: str, file: str) -> YamlSource:
    """Reads one YAML (or JSON) document. Raises InputError for bad syntax, duplicate keys, and deep nesting."""
    try:
        _check_depth(text, file)
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as fault:
        problem = fault.problem or "bad YAML"
        raise _error_at(
            fault.problem_mark or fault.context_mark, file, "yaml-syntax", f"not valid YAML: {problem}"
        ) from None
    except yaml.YAMLError as fault:
        raise error("yaml-syntax", f"not valid YAML: {fault}", file=file, line=1) from None
    if node is None:
        raise error("empty-file", "the file is empty", file=file, line=1, hint="a document with a key 'schema'")
    source = YamlSource(file, None, {}, {})
    data = _convert(node, (), source)
    return YamlSource(file, data, source.keys, source.values)


def _check_depth(text: str, file: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.AliasEvent):
            raise _error_at(event.start_mark, file, "yaml-alias", "YAML aliases are not supported")
        if depth > MAX_DEPTH:
            raise _error_at(event.start_mark, file, "too-deep", f"nested more than {MAX_DEPTH} levels")


def _error_at(mark: _Mark | None, file: str, code: str, message: str) -> InputError:
    if mark is None:
        return error(code, message, file=file)
    return error(code, message, file=file, line=mark.line + 1, column=mark.column + 1)


def _convert(node: yaml.Node, path: KeyPath, source: YamlSource) -> Any:
    source.values[path] = (node.start_mark.line + 1, node.start_mark.column + 1)
    if isinstance(node, yaml.MappingNode):
        data: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = _key(key_node, source.file)
            place = (key_node.start_mark.line + 1, key_node.start_mark.column + 1)
            if key in data:
                line, column = place
                raise error("duplicate-key", f"'{key}' is given twice", file=source.file, line=line, column=column)
            source.keys[(*path, key)] = place
            data[key] = _convert(value_node, (*path, key), source)
        return data
    if isinstance(node, yaml.SequenceNode):
        return [_convert(item, (*path, index), source) for index, item in enumerate(node.value)]
    return _scalar(node, source.file)


def _key(node: yaml.Node, file: str) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise _error_at(node.start_mark, file, "bad-key", "a key must be a word")
    key = _scalar(node, file)
    if not isinstance(key, str):
        message = f"the key '{_shown(node.value)}' is not read as text; put it in quotes"
        raise _error_at(node.start_mark, file, "bad-key", message)
    return key


def _scalar(node: yaml.Node, file: str) -> Any:
    try:
        return yaml.constructor.SafeConstructor().construct_object(node)
    except (yaml.YAMLError, ValueError):
        raise _error_at(node.start_mark, file, "bad-value", f"'{_shown(node.value)}' cannot be read") from None


def _shown(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


def written_schema(source: YamlSource) -> str | None:
    """What the document's key `schema` says, if it is a mapping with that key."""
    return str(source.data["schema"]) if isinstance(source.data, dict) and "schema" in source.data else None


def require_schema(source: YamlSource, schema: str) -> None:
    """Raises InputError unless the document says `schema`, a name and a version; a newer version is named as such."""
    family, _, version = schema.partition("/")
    written = written_schema(source)
    if written == schema:
        return
    found_family, _, found = str(written).partition("/")
    if found_family == family and found.isdecimal() and int(found) > int(version):
        message = f"the file has schema {written}, newer than this program reads ({schema})"
        raise source.error("newer-schema", message, ("schema",), hint="update the program")
    message = "the key 'schema' is missing" if written is None else f"unknown schema '{written}'"
    raise source.error("bad-schema", message, ("schema",), hint=f"schema: {schema}")


def validate(model: type[ModelT], source: YamlSource) -> ModelT:
    """The document as `model`. Raises InputError with one diagnostic per fault, unknown keys with a suggestion."""
    try:
        return model.model_validate(source.data)
    except ValidationError as fault:
        raise InputError(list(_diagnostics(fault.errors(), model, source))) from None


def _diagnostics(faults: list[ErrorDetails], model: type[BaseModel], source: YamlSource) -> Iterator[Diagnostic]:
    for fault in faults:
        path = _known_path(fault["loc"], source)
        unknown = fault["type"] == "extra_forbidden"
        line, column = source.position(path, of_key=unknown)
        where = ".".join(str(part) for part in path) or "the document"
        hint = None
        if unknown:
            code, message = "unknown-key", f"unknown key '{path[-1]}'"
            hint = _suggestion(str(path[-1]), _field_names(model))
        elif fault["type"] == "missing":
            code, message = "missing-key", f"{where}: the key '{fault['loc'][-1]}' is missing"
        else:
            told = _TOLD.get(fault["type"], fault["msg"][:1].lower() + fault["msg"][1:])
            code, message = "bad-value", f"{where}: {told}"
        yield Diagnostic(Severity.ERROR, code, message, source.file, line, column, hint)


def _known_path(location: Sequence[Key], source: YamlSource) -> KeyPath:
    """Pydantic's location without the names of union members and validators that are not in the document."""
    path: KeyPath = ()
    for part in location:
        if (*path, part) in source.values:
            path = (*path, part)
    return path


def _field_names(model: type[BaseModel]) -> set[str]:
    names: set[str] = set()
    pending, seen = [model.model_json_schema(by_alias=True)], 0
    while pending and seen < 10_000:
        schema = pending.pop()
        seen += 1
        names.update(schema.get("properties", {}))
        pending += list(schema.get("$defs", {}).values())
    return names


def _suggestion(word: str, known: set[str]) -> str | None:
    close = difflib.get_close_matches(word, sorted(known), n=1, cutoff=0.6)
    return f"did you mean '{close[0]}'?" if close else f"known keys: {', '.join(sorted(known))}"


if TYPE_CHECKING:
    _Dumper = yaml.SafeDumper
else:
    _Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _OneLineDumper(_Dumper):
    """Strings with line ends or control characters are escaped, not folded."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if text.isprintable() else '"')


_OneLineDumper.add_representer(str, _represent_text)


def flow_text(value: Any) -> str:
    """Plain data as YAML on one line, in flow style, keys in their order: `{start: 0, group: load}`."""
    listed: str = yaml.dump(
        [value], Dumper=_OneLineDumper, default_flow_style=True, sort_keys=False, allow_unicode=True, width=_UNBROKEN
    )
    return listed[1:-2]
