"""PURE. What people read who sign in, so that an agent acts with their rights: a part of the catalogue in
`text/words.py`.
"""

from collections.abc import Mapping

SIGN_IN_ASKED = (
    "{} shows only what you may see, so it must know who you are. Sign in at {} once. Your question waits for"
    " ten minutes, and goes on by itself. The link is for you alone: do not pass it on."
)
SIGN_IN_WITH_YOURS = (
    "The account that signed in at {} is not yours, because its e-mail address is not the one that you have"
    " in Slack: nothing of it was kept, please sign in with your own. If that was not you, write to your"
    " security team."
)
"""Before `SIGN_IN_ASKED`, with a new link."""
SIGN_IN_IS_DONE = "You are signed in at {}. Your question goes on."
"""In the place of the private message with the link."""
SIGN_IN_ASKED_AGAIN = (
    "{} wants you to sign in at {} again before it goes on. It waits for ten minutes, and then goes on by"
    " itself. The link is for you alone: do not pass it on."
)
SIGN_IN_REPLY = "I have signed in."
"""To the agent that wanted it in the middle of a task."""
SIGN_IN_CODE_ASKED = (
    "{} shows only what you may see, so it must know who you are. Open the page at {} and type in the code"
    " {}. Your question waits for ten minutes, and goes on by itself. The code is for you alone: do not pass"
    " it on."
)
SIGN_IN_CODE_OF_ANOTHER = (
    "You typed in a code that was another person's: with it I would have acted with your rights for that"
    " person. Nothing was kept. If you got the code from another person, write to your security team."
)
SIGN_IN_TOO_LATE = "You did not sign in at {1} within ten minutes, so {0} was not asked. Please ask again."
SIGN_IN_NOT_POSSIBLE = "{} shows only what the asker may see, and you cannot sign in, so it was not asked."
SIGN_IN_UNTRUSTED = (
    "{} shows only what the asker may see, so I must know who you are. Slack gives me no verified e-mail"
    " address of yours, so it was not asked. Ask whoever runs me."
)
SIGN_IN_STORE_AWAY = "I have a problem and could not have you sign in. Please ask again in a few minutes."
SIGN_IN_HAS_ENDED = "Your sign-in at {} has ended. Ask again, and I will ask you to sign in."
SIGN_IN_REFUSALS: Mapping[str, str] = {
    "other person": (
        "The account that signed in at {1} is not yours: its e-mail address is not the one that you have in"
        " Slack. Nothing of it was kept, and {0} was not asked. If that was not you, write to your security"
        " team."
    ),
    "no email": "{1} does not say which verified e-mail address signed in, so {0} was not asked.",
    "untrusted": "Slack gives me no verified e-mail address of yours any more, so {0} was not asked.",
    "other issuer": "The answer to your sign-in did not come from {1}, so {0} was not asked.",
    "denied": "You were not signed in at {1}, so {0} was not asked.",
    "no token": "{1} did not complete your sign-in, so {0} was not asked. Please ask again in a few minutes.",
    "expired": "Your sign-in at {1} took too long, so {0} was not asked. Please ask again.",
}
"""To the asker whose question waited, by what went wrong: the agent, and the host of the server."""
SIGN_IN_PAGE_DONE = (
    "You are signed in. You can close this page and go back to Slack, where your question goes on by itself."
)
SIGN_IN_PAGE_AWAY = "I cannot reach what I need to sign you in. Please try the link again in a minute."
SIGN_IN_PAGES: Mapping[str, str] = {
    "unknown": "I do not know this sign-in. Ask again in Slack.",
    "expired": "This sign-in took too long. Ask again in Slack.",
    "used": (
        "This link was used already. It works once: if you have signed in, nothing is left to do here. If"
        " not, ask again in Slack, and you get a new one."
    ),
    "other browser": "This sign-in was begun in another browser. Ask again in Slack.",
    "other issuer": "This answer is not from the server that was asked. Nothing was kept.",
    "denied": "You were not signed in. Nothing was kept.",
    "no token": "The server did not complete the sign-in. Nothing was kept. Ask again in Slack.",
    "no email": "The server does not say which verified e-mail address signed in. Nothing was kept.",
    "other person": (
        "You are not the person who asked in Slack: your e-mail address is another one. Nothing was kept. If"
        " you got this link from another person, write to your security team."
    ),
    "untrusted": "Slack gives no verified e-mail address of the person who asked. Nothing was kept.",
}
"""In a browser, by what went wrong."""
SIGNED_OUT = "You are signed out of {}. What they gave me is deleted."
SIGNED_OUT_HERE_ONLY = " {} did not say that it revoked what it gave: you can do that in your account there."
NOT_SIGNED_IN = "You are not signed in for any agent."
