"""JSON Schema of a plan, for completion and checking in editors."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from netdyno import modifiers
from netdyno.plan import Tables
from netdyno.plan.goals import goal_kinds
from netdyno.plan.models import DIRECTIONS, TESTER, PlanFile
from netdyno.plan.parameters import scalars
from netdyno.plan.patterns import PATTERNS
from netdyno.plan.sizes import MOST_SIZES
from netdyno.plan.suites import SUITES
from netdyno.values.load import SERVICE_SETTING
from netdyno.values.situation import GROUP_AXIS

NAMELESS = {"required": ["size"], "properties": {"size": {"type": ["array", "string"]}}}
"""A profile without a name, in place of profiles by name."""


def schema(tables: Tables) -> dict[str, Any]:
    """The schema of `PlanFile`, with kinds, methods and axes spelled out from the tables."""
    top = PlanFile.model_json_schema()
    definitions = top["$defs"]
    definitions["Node"]["properties"]["kind"] = {
        "description": "What the box is.",
        "oneOf": [
            {"const": TESTER, "description": "the tester itself"},
            *({"const": kind.name, "description": kind.title} for kind in tables.kinds.values()),
        ],
    }
    definitions["Node"]["properties"]["driver"] = {
        "description": "How a device is reached beside the traffic.",
        "oneOf": [{"const": one.name, "description": one.title} for one in tables.drivers.values()],
    }
    top["properties"]["lab"] = {
        "description": "The lab, or the name of a file that holds it.",
        "anyOf": [{"$ref": "#/$defs/Lab"}, {"type": "string", "pattern": r"\.ya?ml$"}],
    }
    top["properties"]["method"] = {
        "description": "One method and its parameters.",
        **_one_of({name: _method(method, definitions) for name, method in tables.methods.items()}),
    }
    top["properties"]["goals"]["items"]["examples"] = [
        kinds[0].goal for kinds in goal_kinds(tables.methods).values()
    ]
    top["properties"]["tester"] = {
        "description": "What sends and counts the traffic.",
        "default": TESTER,
        "enum": list(tables.testers),
    }
    names = [name for name in SUITES if SUITES[name].method in tables.methods]
    with_parameters = {name: _method(tables.methods[SUITES[name].method], definitions) for name in names}
    top["properties"]["suite"] = {
        "description": "All tests of a standard, in place of `method`; what is not said is the standard's.",
        "oneOf": [
            *({"const": name, "description": SUITES[name].doc} for name in names),
            _one_of(with_parameters),
        ],
    }
    top["required"] = ["lab"]
    # With a suite all but the lab may be left to it, sizes of profiles as well.
    profile = definitions["Profile"]
    profile["required"].remove("size")
    size = profile["properties"]["size"]
    one = {"anyOf": [kind for kind in size["anyOf"] if kind.get("type") != "object"]}
    several = {"type": "array", "items": one, "minItems": 1, "maxItems": MOST_SIZES, "uniqueItems": True}
    size["anyOf"] = [*size["anyOf"], {**several, "description": "A profile of each size."}]
    # The only profile may stand there itself; one that is called `size` is a mapping.
    sized = {"traffic": {"anyOf": [NAMELESS, {"additionalProperties": {"required": ["size"]}}]}}
    top["properties"]["traffic"] = {
        "description": top["properties"]["traffic"].pop("description"),
        "anyOf": [top["properties"]["traffic"], {"$ref": "#/$defs/Profile", **NAMELESS}],
    }
    top["oneOf"] = [
        {"required": ["title", "traffic", "method"], "properties": sized},
        {"required": ["suite"]},
    ]
    settings: dict[str, set[str]] = {}
    for kind in tables.kinds.values():
        for setting, values in kind.settings.items():
            settings.setdefault(setting, set()).update(values)
    values_of = {
        "direction": list(DIRECTIONS),
        "pattern": list(PATTERNS),
        modifiers.AXIS: list(modifiers.MODIFIERS),
        GROUP_AXIS: [],
        **{name: sorted(values) for name, values in settings.items()},
    }
    items: dict[str, list[Any]] = {"profile": [{"type": "string"}]}
    items |= {name: [{"enum": values} if values else {}] for name, values in values_of.items()}
    # A setting that takes any value on one kind, and some on another.
    for name in {
        name for kind in tables.kinds.values() for name, values in kind.settings.items() if not values
    }:
        items[name] += [{}] if {} not in items[name] else []
    # Of a device with templates it is the name of one, ready or the user's own.
    items[SERVICE_SETTING].append({"type": "string"})
    for method in tables.methods.values():
        for name, kinds in _values_of_axes(method.parameters).items():
            own = items.setdefault(name, [])
            own += [kind for kind in kinds if kind not in own]
    axes = {
        name: {
            "type": "array",
            "items": of[0] if len(of) == 1 else {"anyOf": of},
            "minItems": 1,
            "uniqueItems": True,
        }
        for name, of in items.items()
    }
    top["properties"]["matrix"] = {
        "description": "Axes in order: profile, direction, pattern, modifier, settings of the device, and"
        " parameters of the method.",
        "type": "object",
        "properties": axes,
        "additionalProperties": False,
    }
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **top, "title": "netdyno plan"}


def _values_of_axes(model: type[BaseModel]) -> dict[str, list[Any]]:
    """The parameters of a method that may be axes, and what each of their values is."""
    fields = model.model_json_schema()["properties"]
    found = {}
    for name in scalars(model):
        kinds = fields[name].get("anyOf", [fields[name]])
        plain = ({key: of for key, of in kind.items() if key not in _ABOUT} for kind in kinds)
        found[name] = [kind for kind in plain if kind.get("type") in _SCALAR]
    return found


_ABOUT = ("title", "description", "default", "examples")
_SCALAR = ("string", "integer", "boolean")


def _one_of(named: dict[str, Any]) -> dict[str, Any]:
    """A mapping with exactly one of these names."""
    return {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
        "properties": named,
    }


def _method(method: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """A method's parameters; what they refer to moves to the top, where references look for it."""
    inner: dict[str, Any] = method.parameters.model_json_schema()
    definitions.update(inner.pop("$defs", {}))
    return {"description": method.title, "anyOf": [inner, {"type": "null"}]}
