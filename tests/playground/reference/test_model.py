from slack_bot.playground.reference.endpoint import EndpointModel, endpoint_client
from slack_bot.playground.reference.local import LocalModel
from slack_bot.playground.reference.model import Model, Prompt
from slack_bot.playground.reference.scenarios import think
from slack_bot.playground.reference.search import Library
from slack_bot.settings.models import ReferenceSettings


async def test_both_models_are_models() -> None:
    settings = ReferenceSettings()
    async with endpoint_client(settings) as http:
        models: list[Model] = [
            LocalModel(think("hello", Library({})), settings),
            EndpointModel(http, settings, Prompt("hello")),
        ]
        assert all(callable(model.turn) for model in models)
