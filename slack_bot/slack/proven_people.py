"""Vouches at agents for the members of the bot's own organisation, as Slack knows them."""

from collections.abc import Mapping
from typing import Any

from ..errors import AskerRefused, AskerUnavailable, BotError
from ..settings.identity import IdentitySettings
from ..text.words import ASKER_NOT_A_MEMBER, ASKER_NOT_FOUND
from ..turn.json_values import object_of, text_of
from ..turn.people import AskingPerson, Organisation, PersonKind, ProvenPerson, kind_of
from .workspaces import Workspaces

_PATIENCE = 10.0  # seconds: a question, or somebody who has just signed in, waits for the answer


class ProvenPeople:
    """Looks people up in Slack. What an event said of them counts for nothing here."""

    def __init__(self, workspaces: Workspaces, settings: IdentitySettings) -> None:
        self.workspaces = workspaces
        self._trusted = settings.trusted_teams

    async def proven(self, person: AskingPerson) -> ProvenPerson:
        """This person, if the bot can vouch for them. Raises AskerRefused and AskerUnavailable."""
        try:
            own = await self.workspaces.of(person.team).api.identity()
        except BotError as error:
            raise AskerUnavailable(f"Slack does not say who the bot is ({error})") from error
        user = await self.workspaces.people(person.team).user(person.user, _PATIENCE)
        if user is None:
            why = f"Slack does not say who {person.user} is (users:read)"
            raise AskerUnavailable(why, safe=ASKER_NOT_FOUND)
        ours = Organisation(person.team, text_of(own.get("enterprise_id")))
        kind = kind_of(user, ours)
        if kind is not PersonKind.MEMBER or user.get("deleted"):
            why = f"{person.user} is no member of the workspace ({kind})"
            raise AskerRefused(why, safe=ASKER_NOT_A_MEMBER)
        team = text_of(user.get("team_id")) or person.team
        email = self._verified_email(user, team, ours)
        bot = AskingPerson(person.team, text_of(own.get("bot_user_id")))
        return ProvenPerson(AskingPerson(team, person.user), email, bot)

    def _verified_email(self, user: Mapping[str, Any], team: str, ours: Organisation) -> str:
        teams = {team, text_of(object_of(user.get("enterprise_user")).get("enterprise_id"))}
        is_trusted = bool(teams.intersection(self._trusted)) if self._trusted else ours.has(*teams)
        email = text_of(object_of(user.get("profile")).get("email"))
        return email if is_trusted and user.get("is_email_confirmed") is True else ""
