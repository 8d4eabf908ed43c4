"""An OAuth authorization server, Authlib's on Flask, as a process of its own. It prints its address.

python -m tests.peers.authorization_server [CERTIFICATE AUTHORITY]     with TLS that wants a certificate

/token, with RFC 8414 metadata of its issuer. Two more are EMULATED by what their makers document: Entra
below /tenant (OpenID metadata, AADSTS errors, `.default` scopes, federated credentials), and Google below
/google (a token endpoint on another host than the issuer, a service account's assertion, an ID token alone).

It exchanges the tokens of an issuer that it trusts (RFC 8693).

The tests set it up by `/control` (what it does, who its clients are); agents ask `/introspect` for a token.
"""

from __future__ import annotations

import os
import ssl
import sys
import time
from collections.abc import Callable
from typing import Any, ClassVar

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import (
    BaseGrant,
    ClientMixin,
    InvalidClientError,
    InvalidGrantError,
    TokenEndpointMixin,
    UnauthorizedClientError,
)
from authlib.oauth2.rfc6749.grants import ClientCredentialsGrant as _ClientCredentialsGrant
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion, JWTBearerGrant
from flask import Flask, Response, jsonify, redirect, request
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from werkzeug.serving import make_server

from tests.authorization_server import ACCOUNT, CLUSTER, EXCHANGE

USUAL: dict[str, Any] = {
    "expires_in": 3600,
    "said_life": None,
    "fault": "",
    "audiences": None,
    "issuer": None,
    "clients": {},
    "trusted": {"issuer": "", "keys": {"keys": []}},
    "people": [],
}

app = Flask(__name__)
state: dict[str, Any] = dict(USUAL)
seen: list[dict[str, Any]] = []
tokens: dict[str, dict[str, Any]] = {}
used: set[str] = set()


class Client(ClientMixin):
    """One of `state["clients"]`: secret, methods, grants, scopes, keys (JWKS), federated."""

    def __init__(self, client_id: str, about: dict[str, Any]) -> None:
        self.client_id, self.about = client_id, about

    def get_client_id(self) -> str:
        return self.client_id

    def get_allowed_scope(self, scope: str) -> str:
        return " ".join(each for each in (scope or "").split() if each in self.about.get("scopes", []))

    def check_client_secret(self, client_secret: str) -> bool:
        return bool(client_secret == self.about.get("secret"))

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method in self.about.get("methods", ["client_secret_basic"])

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in self.about.get("grants", ["client_credentials"])


def query_client(client_id: str) -> Client | None:
    about = state["clients"].get(client_id)
    return None if about is None else Client(client_id, about)


def save_token(token: dict[str, Any], asked: Any) -> None:
    tokens[token["access_token"]] = {
        "client_id": asked.client.client_id,
        "scope": token.get("scope", ""),
        "aud": request.form.get("audience", ""),
        "exp": time.time() + state["expires_in"],
    }


class ClientCredentialsGrant(_ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS: ClassVar = [
        "client_secret_basic",
        "client_secret_post",
        JWTBearerClientAssertion.CLIENT_AUTH_METHOD,
        "federated",
        "none",
    ]


class Assertions(JWTBearerClientAssertion):
    def get_audiences(self) -> list[str]:
        return [request.base_url]

    def validate_jti(self, claims: Any, jti: str) -> bool:
        is_new = jti not in used
        used.add(jti)
        return is_new

    def resolve_client_public_key(self, client: Client) -> KeySet:
        return KeySet.import_key_set(client.about["keys"])

    def __call__(self, find: Any, asked: Any) -> Any:
        client = find(request.form.get("client_id", ""))
        if client is None or "keys" not in client.about or "federated" in client.about:
            return None
        return super().__call__(find, asked)


def federated(find: Any, asked: Any) -> Client | None:
    """Entra's federated credential: a token of the cluster's issuer stands for the secret."""
    client = find(request.form.get("client_id", ""))
    if client is None or not client.about.get("federated") or "client_assertion" not in request.form:
        return None
    try:
        keys = KeySet.import_key_set(client.about["keys"])
        claims = jwt.decode(request.form["client_assertion"], keys).claims
    except JoseError as error:
        raise InvalidClientError(description=str(error), status_code=401) from error
    if (claims["iss"], claims["sub"], claims["aud"]) != (CLUSTER, ACCOUNT, EXCHANGE):
        raise InvalidClientError(description="AADSTS700213: No matching federated identity record found")
    return client


class ServiceAccountGrant(JWTBearerGrant):
    def get_audiences(self) -> list[str]:
        return [request.base_url]

    def resolve_issuer_client(self, issuer: str) -> Client | None:
        return query_client(issuer)

    def resolve_client_public_key(self, client: Client) -> KeySet:
        return KeySet.import_key_set(client.about["keys"])

    def authenticate_user(self, subject: str) -> None:
        return None

    def create_token_response(self) -> tuple[int, dict[str, Any], list[tuple[str, str]]]:
        status, token, headers = super().create_token_response()
        claims = self.process_assertion_claims(request.form["assertion"])
        if audience := claims.get("target_audience"):
            tokens[token["access_token"]]["aud"] = audience
            return status, {"id_token": token["access_token"]}, headers
        return status, token, headers


class TokenExchangeGrant(TokenEndpointMixin, BaseGrant):
    """RFC 8693, for subject tokens of the issuer that `state["trusted"]` names. `state["people"]`: whom it
    knows, by the subject of their tokens.
    """

    GRANT_TYPE = "urn:ietf:params:oauth:grant-type:token-exchange"
    TOKEN_ENDPOINT_AUTH_METHODS: ClassVar = ["client_secret_basic", "client_secret_post", "none"]

    def validate_token_request(self) -> None:
        self.request.client = self.authenticate_token_endpoint_client()
        if not self.request.client.check_grant_type(self.GRANT_TYPE):
            raise UnauthorizedClientError
        trusted, form = state["trusted"], request.form
        try:
            assert form["subject_token_type"] == "urn:ietf:params:oauth:token-type:jwt"
            claims = jwt.decode(form["subject_token"], KeySet.import_key_set(trusted["keys"])).claims
            assert claims["iss"] == trusted["issuer"] and claims["aud"] in (request.base_url, root())
            assert claims["exp"] > time.time() and claims["jti"] not in used
            assert claims["sub"] in state["people"]
        except (AssertionError, JoseError, KeyError) as error:
            raise InvalidGrantError(description=f"not {form.get('subject_token')}") from error
        used.add(claims["jti"])
        self.person = claims["sub"]

    def create_token_response(self) -> tuple[int, dict[str, Any], list[tuple[str, str]]]:
        token = self.generate_token(grant_type=self.GRANT_TYPE, scope=request.form.get("scope"))
        self.save_token(token)
        about = {"sub": self.person, "aud": request.form.get("audience") or request.form.get("resource", "")}
        tokens[token["access_token"]] |= about
        kind = "urn:ietf:params:oauth:token-type:access_token"
        return 200, {**token, "issued_token_type": kind}, self.TOKEN_RESPONSE_HEADER


app.config["OAUTH2_TOKEN_EXPIRES_IN"] = {}
server = AuthorizationServer(app, query_client=query_client, save_token=save_token)
server.register_grant(ClientCredentialsGrant)
server.register_grant(ServiceAccountGrant)
server.register_grant(TokenExchangeGrant)
server.register_client_auth_method(JWTBearerClientAssertion.CLIENT_AUTH_METHOD, Assertions())
server.register_client_auth_method("federated", federated)
server.scopes_supported = ["ask", "tell", "api://agent/.default"]


def root() -> str:
    return request.url_root.rstrip("/")


FAULTS: dict[str, Callable[[], Any]] = {
    "hang": lambda: time.sleep(60),
    "slow": lambda: time.sleep(0.5),
    "redirect": lambda: redirect("/elsewhere", 307),
    "down": lambda: Response("try later", status=503),
    "missing": lambda: Response(status=404),
    "html": lambda: Response("<html>Sign in</html>", content_type="text/html"),
    "large": lambda: Response(b"[" + b" " * 2_000_000, content_type="application/json"),
    "no token": lambda: jsonify(token_type="Bearer", expires_in=3600),
    "list": lambda: jsonify(["access_token"]),
    "control characters": lambda: jsonify(access_token="a\r\nX: y", token_type="Bearer"),
    "other kind": lambda: jsonify(access_token="t", token_type="DPoP"),
    "echo": lambda: (jsonify(error="invalid_client", error_description=f"not {request.form}"), 401),
}
"""What the server does in place of its work, or before it."""


@app.post("/token")
def token() -> Any:
    header = request.headers.get("Authorization", "")
    about = {"form": request.form.to_dict(), "authorization": header.partition(" ")[0], "path": request.path}
    seen.append(about)
    if (fault := FAULTS.get(state["fault"], lambda: None)()) is not None:
        return fault
    audience = request.form.get("audience")
    if state["audiences"] is not None and audience not in state["audiences"]:
        return jsonify(error="invalid_target", error_description="Unknown audience"), 400
    answer = server.create_token_response()
    if answer.status_code == 200 and "expires_in" in answer.json:
        answer.data = app.json.dumps({**answer.json, "expires_in": state["said_life"] or state["expires_in"]})
    return answer


@app.post("/tenant/oauth2/v2.0/token")
def entra() -> Any:
    scope = request.form.get("scope", "")
    if not scope.endswith("/.default"):
        return aadsts(400, "invalid_scope", 1002012, f"The provided value for scope {scope} is not valid.")
    answer = token()
    if answer.status_code == 200:
        found = answer.json
        return jsonify(
            token_type="Bearer", expires_in=3599, ext_expires_in=3599, access_token=found["access_token"]
        )
    if answer.json["error"] == "invalid_client":
        return aadsts(401, "invalid_client", 7000215, "Invalid client secret provided.")
    return answer


def aadsts(status: int, error: str, code: int, said: str) -> Any:
    stamp = time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime())
    description = f"AADSTS{code}: {said} Trace ID: 1-2 Correlation ID: 3-4 Timestamp: {stamp}"
    about = {"error_codes": [code], "timestamp": stamp, "trace_id": "1-2", "correlation_id": "3-4"}
    return jsonify(error=error, error_description=description, **about), status


app.add_url_rule("/google/token", "google", token, methods=["POST"])


@app.post("/elsewhere")
def elsewhere() -> Any:
    seen.append({"form": request.form.to_dict(), "path": request.path})
    return jsonify(access_token="stolen", token_type="Bearer")


@app.get("/.well-known/oauth-authorization-server")
def metadata() -> Any:
    if state["fault"] == "no metadata":
        return Response(status=404)
    return jsonify(issuer=state["issuer"] or root(), token_endpoint=f"{root()}/token")


@app.get("/tenant/v2.0/.well-known/openid-configuration")
def entra_metadata() -> Any:
    return jsonify(issuer=f"{root()}/tenant/v2.0", token_endpoint=f"{root()}/tenant/oauth2/v2.0/token")


@app.get("/google/.well-known/openid-configuration")
def google_metadata() -> Any:
    other = root().replace("127.0.0.1", "localhost")
    return jsonify(issuer=f"{root()}/google", token_endpoint=f"{other}/google/token")


@app.get("/remote/.well-known/openid-configuration")
def remote_metadata() -> Any:
    return jsonify(issuer=f"{root()}/remote", token_endpoint="http://tokens.example/token")


@app.post("/control")
def control() -> Any:
    """Sets what is named, and forgets the rest and what was seen, unless `keep`."""
    given = request.get_json()
    if not given.pop("keep", False):
        state.update(USUAL)
        for each in (seen, tokens, used):
            each.clear()
    for gone in given.pop("revoke", []):
        tokens.pop(gone, None)
    if given.pop("revoke_all", False):
        tokens.clear()
    state.update(given)
    return jsonify({})


@app.get("/seen")
def list_seen() -> Any:
    return jsonify(seen=seen, tokens=list(tokens))


@app.post("/introspect")
def introspect() -> Any:
    found = tokens.get(request.form["token"])
    is_active = found is not None and found["exp"] > time.time()
    return jsonify({"active": True, **(found or {})} if is_active else {"active": False})


if __name__ == "__main__":
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
    context = None
    if len(sys.argv) > 1:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=sys.argv[2])
        context.load_cert_chain(sys.argv[1])
        context.verify_mode = ssl.CERT_REQUIRED
    running = make_server("127.0.0.1", 0, app, threaded=True, ssl_context=context)
    scheme, host = ("http", "127.0.0.1") if context is None else ("https", "localhost")
    print(f"{scheme}://{host}:{running.server_port}", flush=True)
    running.serve_forever()
