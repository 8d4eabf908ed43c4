"""Security schemes of an agent's card."""

from __future__ import annotations

from collections.abc import Callable

from a2a.types import (
    AgentCard,
    AuthorizationCodeOAuthFlow,
    OAuth2SecurityScheme,
    OAuthFlows,
    OpenIdConnectSecurityScheme,
    SecurityScheme,
)

ELSEWHERE = "https://login.example"


def by_code(url: str) -> SecurityScheme:
    flow = AuthorizationCodeOAuthFlow(authorization_url=f"{url}/authorize", token_url=f"{url}/token")
    return SecurityScheme(
        oauth2_security_scheme=OAuth2SecurityScheme(flows=OAuthFlows(authorization_code=flow))
    )


def by_metadata(url: str) -> SecurityScheme:
    return SecurityScheme(
        oauth2_security_scheme=OAuth2SecurityScheme(
            oauth2_metadata_url=f"{url}/.well-known/oauth-authorization-server"
        )
    )


def by_openid(url: str) -> SecurityScheme:
    address = f"{url}/.well-known/openid-configuration"
    return SecurityScheme(
        open_id_connect_security_scheme=OpenIdConnectSecurityScheme(open_id_connect_url=address)
    )


def with_scheme(scheme: SecurityScheme) -> Callable[[AgentCard], AgentCard]:
    """A card that has it, by the name `files`."""

    def publish(card: AgentCard) -> AgentCard:
        card.security_schemes["files"].CopyFrom(scheme)
        return card

    return publish
