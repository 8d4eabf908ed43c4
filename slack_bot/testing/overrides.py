"""Settings with some replaced: for tests, tools and the playground."""

from collections.abc import Iterable, Mapping

from ..errors import SettingsError
from ..settings.load import FIELDS, Settings, validated
from ..settings.names import SettingPath, dotted, nearest


def with_overrides(settings: Settings, overrides: Mapping[str, object]) -> Settings:
    """`settings` with some replaced: `{"rotate_after": 240, "store.url": "memory"}`. Raises SettingsError."""
    given = {_path_of(name): (name, value) for name, value in overrides.items()}
    changed, problems, _ = validated(given, settings)
    if problems:
        raise SettingsError("\n".join(problems))
    return changed


def _path_of(name: str) -> SettingPath:
    """A name that only one section has needs no section; a section within another gives way."""
    found = [path for path in FIELDS if name in (path[1], dotted(path))]
    found = [path for path in found if dotted(path).count(".") == 1] or found
    if len(found) == 1:
        return found[0]
    if found:
        raise SettingsError(f"{name} is a setting of several sections; write one of {_named(found)}")
    guess = nearest(name, (leaf for _, leaf in FIELDS))
    raise SettingsError(f"{name} is not a setting{f'; did you mean {guess}?' if guess else ''}")


def _named(paths: Iterable[SettingPath]) -> str:
    return " or ".join(map(dotted, paths))
