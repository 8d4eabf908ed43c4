"""An OpenID provider, Authlib's on Flask, as a process of its own. It prints its address.

A browser is signed in by its cookie `account`, which names one of `people`. Tokens of refresh rotate: one
that comes a second time ends all that was given for that sign-in, as RFC 9700 2.2.2 has it. The tests set it
up by `/control`; agents ask `/introspect` for a token.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from typing import Any, ClassVar

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import ClientMixin
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant, RefreshTokenGrant
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc8628 import DeviceAuthorizationEndpoint, DeviceCodeGrant, DeviceCredentialDict
from authlib.oidc.core import UserInfo
from authlib.oidc.core.grants import OpenIDCode
from flask import Flask, jsonify, redirect, request
from joserfc.jwk import RSAKey
from werkzeug.serving import make_server

USUAL: dict[str, Any] = {
    "people": {},
    "secret": "the-secret-of-the-bot",
    "expires_in": 3600,
    "audience": "",
    "fault": "",
    "id_tokens": True,
    "names_issuer": None,
    "claims": {},
    "audience_of_id": "",
    "methods": ["client_secret_basic"],
    "initial_token": "",
    "registered": {},
}
METHODS = ["client_secret_basic", "client_secret_post", "none"]
KEY = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})
OTHER_KEY = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})

app = Flask(__name__)
app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
state: dict[str, Any] = dict(USUAL)
seen: list[dict[str, Any]] = []
codes: dict[str, Code] = {}
tokens: list[Token] = []
devices: dict[str, dict[str, Any]] = {}
clients: dict[str, Client] = {}
registrations: list[dict[str, Any]] = []
busy = threading.RLock()


def root() -> str:
    return request.url_root.rstrip("/")


class Account:
    def __init__(self, name: str) -> None:
        self.name = name

    def get_user_id(self) -> str:
        return self.name

    @property
    def about(self) -> dict[str, Any]:
        known: dict[str, Any] = state["people"][self.name]
        return known


class Client(ClientMixin):
    """The client `bot`, or one that registered itself."""

    def __init__(self, client_id: str = "bot", secret: str = "", method: str = "client_secret_basic") -> None:
        self.client_id, self.secret, self.method = client_id, secret, method
        self.client_metadata = {"id_token_signed_response_alg": "RS256"}

    def get_client_id(self) -> str:
        return self.client_id

    def get_default_redirect_uri(self) -> str | None:
        return None

    def get_allowed_scope(self, scope: str) -> str:
        return scope

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return redirect_uri.endswith("/oauth/callback")

    def check_client_secret(self, client_secret: str) -> bool:
        return bool(client_secret == (self.secret or state["secret"]))

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == self.method

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return True


def client_named(name: str) -> Client | None:
    return Client() if name == "bot" else clients.get(name)


class Code:
    """What a code stands for."""

    def __init__(self, code: str, asked: Any) -> None:
        data: dict[str, str] = asked.payload.data
        self.code, self.account, self.client = code, asked.user, asked.client.client_id
        self.redirect_uri, self.scope = asked.payload.redirect_uri, asked.payload.scope
        self.nonce = data.get("nonce")
        self.code_challenge, self.code_challenge_method = (
            data["code_challenge"],
            data["code_challenge_method"],
        )

    def get_redirect_uri(self) -> str:
        return str(self.redirect_uri)

    def get_scope(self) -> str:
        return str(self.scope)

    def get_nonce(self) -> str | None:
        return self.nonce

    def get_auth_time(self) -> None:
        return None

    def get_acr(self) -> None:
        return None

    def get_amr(self) -> None:
        return None


class Token:
    """A pair of tokens. `sign_in` is the same for all that came from one."""

    def __init__(self, token: dict[str, Any], account: Account, sign_in: str, client: str) -> None:
        self.client = client
        self.access, self.refresh = token["access_token"], token.get("refresh_token", "")
        self.scope, self.account, self.sign_in = token.get("scope", ""), account, sign_in
        self.audience = request.form.get("audience", "") or state["audience"]
        self.ends_at = time.time() + state["expires_in"]
        self.is_revoked = self.is_used = False

    def get_scope(self) -> str:
        return str(self.scope)

    def check_client(self, client: Client) -> bool:
        return client.client_id == self.client

    @property
    def is_active(self) -> bool:
        return not self.is_revoked and time.time() < self.ends_at


class CodeGrant(AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS: ClassVar = METHODS

    def save_authorization_code(self, code: str, asked: Any) -> None:
        codes[code] = Code(code, asked)

    def query_authorization_code(self, code: str, client: Client) -> Code | None:
        found = codes.get(code)
        return found if found is not None and found.client == client.client_id else None

    def delete_authorization_code(self, authorization_code: Code) -> None:
        del codes[authorization_code.code]

    def authenticate_user(self, authorization_code: Code) -> Account:
        return authorization_code.account


class OpenID(OpenIDCode):
    def exists_nonce(self, nonce: str, asked: Any) -> bool:
        return False

    def resolve_client_private_key(self, client: Client) -> Any:
        return OTHER_KEY if state["fault"] == "other key" else KEY

    def get_client_algorithm(self, client: Client) -> str:
        return "RS256"

    def get_client_claims(self, client: Client) -> dict[str, Any]:
        return {"iss": root(), "aud": state["audience_of_id"] or client.client_id}

    def get_encode_header(self, client: Client) -> dict[str, Any]:
        return {"alg": "RS256", "kid": "one"}

    def generate_user_info(self, user: Account, scope: str) -> UserInfo:
        return UserInfo(sub=user.name, **user.about, **state["claims"])

    def process_token(self, grant: Any, response: Any) -> Any:
        return super().process_token(grant, response) if state["id_tokens"] else response[1]


class Refresh(RefreshTokenGrant):
    INCLUDE_NEW_REFRESH_TOKEN = True
    TOKEN_ENDPOINT_AUTH_METHODS: ClassVar = METHODS

    def authenticate_refresh_token(self, refresh_token: str) -> Token | None:
        found = next((each for each in tokens if each.refresh == refresh_token), None)
        if found is None or found.is_revoked:
            return None
        if found.is_used:
            for each in tokens:
                each.is_revoked |= each.sign_in == found.sign_in
            return None
        found.is_used = True
        return found

    def authenticate_user(self, refresh_token: Token) -> Account:
        return refresh_token.account

    def revoke_old_credential(self, refresh_token: Token) -> None:
        """The old access token goes on to its end."""


class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS: ClassVar = METHODS

    def query_token(self, token_string: str, token_type_hint: str) -> Token | None:
        return next((each for each in tokens if token_string in (each.access, each.refresh)), None)

    def revoke_token(self, token: Token, asked: Any) -> None:
        for each in tokens:
            each.is_revoked |= each.sign_in == token.sign_in


class Devices(DeviceAuthorizationEndpoint):
    CLIENT_AUTH_METHODS: ClassVar = METHODS
    INTERVAL = 1

    def get_verification_uri(self) -> str:
        return f"{root()}/device"

    def save_device_credential(self, client_id: str, scope: str, data: dict[str, Any]) -> None:
        devices[data["device_code"]] = {**data, "client_id": client_id, "scope": scope, "account": None}


class DeviceGrant(DeviceCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS: ClassVar = METHODS

    def query_device_credential(self, device_code: str) -> DeviceCredentialDict | None:
        found = devices.get(device_code)
        if found is None:
            return None
        return DeviceCredentialDict({**found, "expires_at": time.time() + 600})

    def query_user_grant(self, user_code: str) -> tuple[Account, bool] | None:
        found = next((each for each in devices.values() if each["user_code"] == user_code), None)
        if found is None or found["account"] is None:
            return None
        return Account(found["account"]), True

    def should_slow_down(self, credential: Any) -> bool:
        return False


def save_token(token: dict[str, Any], asked: Any) -> None:
    old = next((each for each in tokens if each.refresh == request.form.get("refresh_token", "?")), None)
    sign_in = secrets.token_hex(4) if old is None else old.sign_in
    tokens.append(Token(token, asked.user, sign_in, asked.client.client_id))


def new_token(*_: Any, **__: Any) -> str:
    return f"token-{secrets.token_urlsafe(24)}"


server = AuthorizationServer(app, query_client=client_named, save_token=save_token)
server.register_token_generator(
    "default", BearerTokenGenerator(new_token, new_token, lambda *_: state["expires_in"])
)
server.register_grant(CodeGrant, [CodeChallenge(required=True), OpenID()])
server.register_grant(Refresh)
server.register_grant(DeviceGrant)
server.register_endpoint(Revocation)
server.register_endpoint(Devices)


@app.get("/authorize")
def authorize() -> Any:
    account = request.cookies.get("account", "")
    if state["fault"] == "denied" or account not in state["people"]:
        back = f"{request.args['redirect_uri']}?error=access_denied&state={request.args['state']}"
        return redirect(f"{back}&iss={root()}")
    answer = server.create_authorization_response(request, grant_user=Account(account))
    if (named := state["names_issuer"]) != "":
        answer.headers["Location"] += f"&iss={named or root()}"
    return answer


@app.post("/token")
def token() -> Any:
    with busy:
        seen.append({"form": request.form.to_dict()})
        if state["fault"] == "down":
            return jsonify(error="temporarily_unavailable"), 503
        if state["fault"] == "echo":
            return jsonify(error="invalid_grant", error_description=f"not {request.form}"), 400
        return server.create_token_response()


@app.post("/register")
def register() -> Any:
    """RFC 7591. `fault` is what it refuses with; `registered` is put into its answers."""
    with busy:
        about = request.get_json()
        registrations.append(about)
        fault = str(state["fault"])
        if fault.startswith("register "):
            word = fault.removeprefix("register ")
            return (jsonify({}), int(word)) if word.isdecimal() else (jsonify(error=word), 400)
        if (
            state["initial_token"]
            and request.headers.get("Authorization") != f"Bearer {state['initial_token']}"
        ):
            return jsonify(error="invalid_token"), 401
        method = about["token_endpoint_auth_method"]
        client = Client(f"client-{secrets.token_hex(4)}", f"secret-{secrets.token_urlsafe(16)}", method)
        clients[client.client_id] = client
        given = {**about, "client_id": client.client_id}
        if method != "none":
            given.update(client_secret=client.secret, client_secret_expires_at=0)
        return jsonify({**given, **state["registered"]}), 201


@app.post("/revoke")
def revoke() -> Any:
    with busy:
        return server.create_endpoint_response(Revocation.ENDPOINT_NAME)


@app.post("/device_authorization")
def device_authorization() -> Any:
    return server.create_endpoint_response(Devices.ENDPOINT_NAME)


@app.post("/device")
def device() -> Any:
    """A person types the code in."""
    for each in devices.values():
        if each["user_code"] == request.form["user_code"]:
            each["account"] = request.cookies["account"]
            return "Done: go back to your device."
    return "Unknown code", 404


@app.get("/userinfo")
def userinfo() -> Any:
    value = request.headers.get("Authorization", "").removeprefix("Bearer ")
    found = next((each for each in tokens if each.access == value and each.is_active), None)
    if found is None:
        return jsonify(error="invalid_token"), 401
    return jsonify(sub=found.account.name, **found.account.about)


@app.get("/jwks")
def jwks() -> Any:
    return jsonify(keys=[KEY.as_dict(private=False)])


@app.get("/.well-known/openid-configuration")
def metadata() -> Any:
    issuer = "https://other.example" if state["fault"] == "other issuer" else root()
    names = {
        "authorization_endpoint": "authorize",
        "token_endpoint": "token",
        "userinfo_endpoint": "userinfo",
        "revocation_endpoint": "revoke",
        "jwks_uri": "jwks",
        "device_authorization_endpoint": "device_authorization",
        "registration_endpoint": "register",
    }
    if state["fault"] == "no registration":
        del names["registration_endpoint"]
    if state["fault"] == "no devices":
        del names["device_authorization_endpoint"]
    if state["fault"] == "no revocation":
        del names["revocation_endpoint"]
    return jsonify(
        issuer=issuer,
        code_challenge_methods_supported=["S256"],
        authorization_response_iss_parameter_supported=True,
        token_endpoint_auth_methods_supported=state["methods"],
        **{name: f"{root()}/{path}" for name, path in names.items()},
    )


@app.post("/control")
def control() -> Any:
    """Sets what is named, and forgets the rest and what was seen, unless `keep`."""
    given = request.get_json()
    if not given.pop("keep", False):
        state.update(USUAL)
        for each in (seen, codes, tokens, devices, clients, registrations):
            each.clear()
    if given.pop("forget_clients", False):
        clients.clear()
    if given.pop("revoke_all", False):
        for each in tokens:
            each.is_revoked = True
    state.update(given)
    return jsonify({})


@app.get("/seen")
def list_seen() -> Any:
    kept = [(each.access, each.refresh, each.account.name, each.is_active) for each in tokens]
    return jsonify(seen=seen, tokens=kept, registrations=registrations)


@app.post("/introspect")
def introspect() -> Any:
    found = next((each for each in tokens if each.access == request.form["token"]), None)
    if found is None or not found.is_active:
        return jsonify({"active": False})
    about = {"aud": found.audience, "scope": found.scope, "sub": found.account.name}
    return jsonify({"active": True, **about})


if __name__ == "__main__":
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
    running = make_server("127.0.0.1", 0, app, threaded=True)
    print(f"http://127.0.0.1:{running.server_port}", flush=True)
    running.serve_forever()
