from slack_bot.playground.reference.endpoint import EndpointModel
from slack_bot.playground.reference.local import LocalModel
from slack_bot.playground.reference.model import Mode, Model
from slack_bot.playground.reference.search import Library
from slack_bot.settings.models import ReferenceSettings


def test_the_modes_are_those_of_the_settings() -> None:
    for mode in Mode:
        assert ReferenceSettings(response_mode=mode.value).response_mode == mode


async def test_both_models_are_models() -> None:
    models: list[Model] = [LocalModel(Library({}), 0), EndpointModel(ReferenceSettings())]
    assert all(callable(model.converse) for model in models)
