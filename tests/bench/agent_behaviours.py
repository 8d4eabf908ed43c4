"""PURE. What agents do besides answering: they ask back, rewrite, narrate and plan, say it all three times.

Each gives what is sent and, from that alone, what a reader must find in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from slack_bot.testing.tape.tape import Recording, Tape
from slack_bot.text.compare import equivalent
from slack_bot.text.sanitize import sanitize

from .answers import answer, how_long, passage, pieces, words
from .stream import MIXED, PLAIN, Json, Stream, artifact, data, file, holding, message, status, task
from .stream import words as text_part
from .verdict import Truth

ANSWERING = {"is_final_answer": True}
NARRATING = {"is_narration": True}
_MOST_SNAPSHOTS = 40  # each says everything again
MADE = "made-{}.bin"
_WIRES = (*PLAIN, *PLAIN, *PLAIN, *MIXED)


@dataclass(frozen=True, slots=True)
class Said:
    """What an agent sends in answer to one question, and what must be read of it. `about` names it.

    `asks` is how that question is put; `fills`: or by the form that stands there. `files` come with the
    answer, named `MADE`. `can_cut`: the agent keeps a task that can be asked for.
    """

    about: str
    source: Tape | Recording
    truth: Truth
    asks: str = "go"
    files: tuple[bytes, ...] = ()
    can_cut: bool = True
    fills: bool = False


# -- files


def with_files(random: Random) -> Said:
    """An answer and files."""
    stream, text = Stream(random, "0.3"), answer(random)
    made = [random.randbytes(random.choice((1, 900, 70_000))) for _ in range(random.choice((1, 2, 12)))]
    stream.say(task())
    stream.chunks("answer", pieces(random, text), how_long(random))
    for number, content in enumerate(made):
        stream.say(holding("answer", file(MADE.format(number), content), append=True))
    stream.say(status("completed"))
    about = f"{len(text)} characters and {len(made)} files"
    return Said(about, stream.tape(), Truth(sanitize(text)), files=tuple(made))


# -- questions back


def asked(random: Random) -> tuple[Said, Said]:
    """The agent asks something back; what is replied goes to the same task, which is then answered."""
    wire = random.choice(_WIRES)
    stream = Stream(random, wire)
    stream.say(task())
    before = passage(random, random.choice((150, 3_000, 15_000))) if random.random() < 0.5 else ""
    if random.random() < 0.5:
        stream.say(status("working", text_part(words(random, 6)), key="narrated"))
    if before:
        stream.chunks("streaming_result", pieces(random, before), random.uniform(0.5, 60.0), ANSWERING)
    stream.wait(random.uniform(0.0, 5.0))
    kind = random.choice(("words", "words", "form", "fields", "schema", "sign-in"))
    question = _QUESTIONS[kind](random, stream)
    # a link that cannot be given in private below the question comes in a direct message
    directs = int(kind == "sign-in")
    truth = Truth(sanitize(_joined(before, question)), frozenset({"asked"}), told_directly=directs)
    about = f"asks by {kind} behind {len(before)} characters, wire {wire}"
    fills = kind in ("form", "fields", "schema") and random.random() < 0.7
    then = _resumed(random, wire, before)
    told = replace(then.truth, told_directly=directs)
    return Said(about, stream.tape(), truth), replace(then, truth=told, fills=fills)


def _resumed(random: Random, wire: str, before: str) -> Said:
    """The same task goes on. Its first event is the task as it stood."""
    text = answer(random)
    stream = Stream(random, wire)
    parts = [text_part(before)]
    stood = {"artifactId": "streaming_result-1", "name": "streaming_result", "parts": parts}
    stream.say(task("working", [{**stood, "metadata": ANSWERING}] if before else []))
    key = random.choice(("streaming_result-1", "streaming_result-2"))
    stream.chunks("streaming_result", pieces(random, text), how_long(random), ANSWERING, key=key)
    stream.say(status("completed"))
    about = f"then {len(text)} characters as {key}"
    return Said(about, stream.tape(), Truth(sanitize(text)), asks="the second one, please")


def _prompt(random: Random) -> str:
    lines = [f"Which {words(random, random.randint(1, 8))}?"]
    if random.random() < 0.4:
        lines.append("\n".join(f"- {words(random, random.randint(1, 5))}" for _ in range(3)))
    return "\n\n".join(lines)


def _by_words(random: Random, stream: Stream) -> str:
    prompt = _prompt(random)
    stream.say(status("input-required", text_part(prompt)))
    return prompt


def _by_sign_in(random: Random, stream: Stream) -> str:
    code = f"{random.randrange(10**6):06d}"
    prompt = f"Please sign in at https://login.example.org/device?code={code}&from=bot and come back."
    stream.say(status("auth-required", text_part(prompt)))
    return "Please sign in at the link and come back."


def _by_form(random: Random, stream: Stream) -> str:
    """A form as an artifact of its own, then the state, with or without words."""
    prompt, names = _prompt(random), _names(random)
    rows = [
        {"field_name": name, "field_description": f"What {name} is", "required": True, "field_values": values}
        for name, values in names
    ]
    form = {"user_input": True, "input_title": "A few details", "input_fields": rows}
    stream.say(holding("UserInputMetaData", data(form)))
    stream.say(status("input-required", text_part(prompt)))
    return f"**A few details**\n\n{prompt}"


def _by_fields(random: Random, stream: Stream) -> str:
    """The fields stand in the message that asks."""
    prompt, names = _prompt(random), _names(random)
    rows = [{"id": name, "label": f"The {name}", "options": values} for name, values in names]
    stream.say(status("input-required", text_part(prompt), data({"fields": rows})))
    return prompt


def _by_schema(random: Random, stream: Stream) -> str:
    """A JSON schema of the reply."""
    prompt, names = _prompt(random), _names(random)
    about: Json = {
        name: {"type": "string", "title": f"Your {name}", **({"enum": values} if values else {})}
        for name, values in names
    }
    schema = {"type": "object", "properties": about, "required": [name for name, _ in names]}
    stream.say(status("input-required", text_part(prompt), data(schema)))
    return prompt


def _names(random: Random) -> list[tuple[str, list[str]]]:
    names = random.sample(("region", "account", "bucket", "size", "owner"), random.randint(1, 4))
    return [(name, random.choice(([], ["small", "large"], ["eu-1", "us-2", "ap-3"]))) for name in names]


_QUESTIONS = {
    "words": _by_words,
    "form": _by_form,
    "fields": _by_fields,
    "schema": _by_schema,
    "sign-in": _by_sign_in,
}


def _joined(before: str, after: str) -> str:
    return f"{before}\n\n{after}" if before else after


# -- rewriting


def rewritten(random: Random) -> Said:
    """The agent takes back what it wrote, and says something else: shorter, longer, or another thing."""
    wire = random.choice(_WIRES)
    stream = Stream(random, wire)
    stream.say(task())
    manner = random.choice(("replaced", "replaced", "result", "snapshots", "task"))
    first = answer(random)
    final = _REWRITING[manner](random, stream, first)
    about = f"{len(first)} characters become {len(final)}, {manner}, wire {wire}"
    return Said(about, stream.tape(), Truth(sanitize(final)))


def _replaced(random: Random, stream: Stream, text: str) -> str:
    """An artifact is replaced, once or several times, and may go on."""
    stream.chunks("answer", pieces(random, text), how_long(random), goes_on=False)
    for _ in range(random.choice((1, 1, 2, 4))):
        text = _another(random, text)
        whole = pieces(random, text) if random.random() < 0.3 else [text]
        stream.chunks("answer", whole, random.uniform(0.0, 30.0), goes_on=False)
    stream.say(status("completed"))
    return text


def _other_result(random: Random, stream: Stream, text: str) -> str:
    """The final result is not what was streamed as the answer."""
    stream.chunks("streaming_result", pieces(random, text), how_long(random), ANSWERING)
    final = _another(random, text)
    stream.say(artifact("final_result", final, append=False))
    stream.say(status("completed"))
    return final


def _snapshots(random: Random, stream: Stream, text: str) -> str:
    """All of the answer each time, and in between it is another one."""
    seconds = how_long(random)
    final = _another(random, text)
    for whole in (text, final):
        for so_far in _growing(random, whole):
            stream.say(artifact("answer", so_far, append=False))
            stream.wait(seconds / _MOST_SNAPSHOTS)
    stream.say(status("completed"))
    return final


def _other_task(random: Random, stream: Stream, text: str) -> str:
    """The task at the end holds another answer than its stream gave."""
    stream.chunks("answer", pieces(random, text), how_long(random), goes_on=False)
    final = _another(random, text)
    stands = {"artifactId": "answer-1", "name": "answer", "parts": [text_part(final)]}
    stream.say(task("completed", [stands]))
    return final


_REWRITING = {
    "replaced": _replaced,
    "result": _other_result,
    "snapshots": _snapshots,
    "task": _other_task,
}


def _another(random: Random, text: str) -> str:
    """`text`, changed: at its beginning, in the middle, cut short, gone on with; or something else."""
    parts = text.split("\n\n")
    at = random.randrange(len(parts))
    changed = random.choice(
        (
            f"{words(random, 3)}: {text}",
            "\n\n".join([*parts[:at], words(random, 12), *parts[at + 1 :]]),
            "\n\n".join(parts[:at] or [words(random, 9)]),
            f"{text}\n\n{words(random, 30)}",
            answer(random),
        )
    )
    # told apart by white space alone, it would be the same answer
    return changed if changed.strip() and not equivalent(changed, text) else f"Rather: {text}"


def _growing(random: Random, text: str) -> list[str]:
    """`text` as it grows, all of it each time."""
    found = pieces(random, text)
    step = -(-len(found) // _MOST_SNAPSHOTS)
    return ["".join(found[:end]) for end in [*range(step, len(found), step), len(found)]]


# -- narration, plans, tools


def planned(random: Random) -> Said:
    """Narration, a plan whose steps run tools, some of which fail; then the answer, or the task's failure."""
    wire = random.choice(PLAIN)
    stream = Stream(random, wire)
    stream.say(task())
    failing, standing = _work(random, stream)
    text = answer(random)
    parts = pieces(random, text)
    breaks = random.random() < 0.15
    parts = parts[: random.randint(1, len(parts))] if breaks else parts
    stream.chunks("streaming_result", parts, how_long(random), ANSWERING)
    has_result = not breaks and random.random() < 0.5
    if has_result:
        stream.say(artifact("final_result", text, append=False))
    if breaks:
        text = "".join(parts)
        stream.say(status("failed", text_part("The cluster is gone.")))
    else:
        stream.say(status("completed"))
    outcomes = frozenset({"failed" if breaks else "answered"})
    truth = Truth(sanitize(text), outcomes, failing=failing, standing=standing - failing)
    about = f"{len(text)} characters after a plan, {len(failing)} cards failed, wire {wire}"
    # narration and answer share an artifact: in the task, nobody can tell them apart without a result
    return Said(about, stream.tape(), truth, can_cut=has_result)


def _work(random: Random, stream: Stream) -> tuple[frozenset[str], frozenset[str]]:
    """The plan is carried out. The titles of the cards that failed, and of all of them."""
    count = random.randint(1, 6)
    states = ["pending"] * count
    failing, standing = set[str](), set[str]()
    _narrate(random, stream)
    if random.random() < 0.5:
        _plan(stream, states)
    for number in range(count):
        states[number] = "in_progress"
        _plan(stream, states)
        standing.add(_title(number))
        for call in range(random.choice((0, 0, 1, 2, 4))):
            name, fails = f"tool_{number}_{call}", random.random() < 0.3
            is_of_step = random.random() < 0.5
            stream.tool(name, fails=fails, step=f"step-{number}" if is_of_step else "")
            if not is_of_step:
                standing.add(name)
                failing.update([name] if fails else [])
            if random.random() < 0.4:
                _narrate(random, stream)
        states[number] = "failed" if random.random() < 0.2 else "completed"
        failing.update([_title(number)] if states[number] == "failed" else [])
    _plan(stream, states)
    return frozenset(failing), frozenset(standing)


def _plan(stream: Stream, states: Sequence[str]) -> None:
    steps = [
        {"step_id": f"step-{number}", "title": _title(number), "status": state, "order": number}
        for number, state in enumerate(states)
    ]
    stream.say(holding("execution_plan_update", data({"steps": steps}), append=False))
    stream.wait(stream.random.uniform(0.0, 3.0))


def _title(number: int) -> str:
    return f"Look at part {number} of it"


def _narrate(random: Random, stream: Stream) -> None:
    said = f"NARRATION {words(random, random.randint(2, 30))}"
    if random.random() < 0.7:
        for part in pieces(random, said):
            stream.say(artifact("streaming_result", part, NARRATING, append=True))
    else:
        stream.say(status("working", text_part(said), key=f"narrated-{random.randrange(10**9)}"))
    stream.wait(random.uniform(0.0, 2.0))


# -- the same, several times


def repeated(random: Random) -> Said:
    """The answer comes in several ways, one after the other; a reader wants it once."""
    manner = random.choice(list(_REPEATING))
    wire = random.choice(PLAIN if manner == "messages" else _WIRES)
    stream = Stream(random, wire)
    text = answer(random)
    _REPEATING[manner](random, stream, text)
    about = f"{len(text)} characters, {manner}, wire {wire}"
    return Said(about, stream.tape(), Truth(sanitize(text)), can_cut=manner != "messages")


def _three_times(random: Random, stream: Stream, text: str) -> None:
    """In chunks, in the last status, in the task after it and in a message."""
    stream.say(task())
    stream.chunks("answer", pieces(random, text), how_long(random), goes_on=False)
    stream.say(status("completed", text_part(text)))
    stands = {"artifactId": "answer-1", "name": "answer", "parts": [text_part(text)]}
    said = message(text_part(text), key="said-completed")
    stream.say(task("completed", [stands], [said]))
    if random.random() < 0.5:
        stream.say(message(text_part(text), key="once-more"))


def _cumulative(random: Random, stream: Stream, text: str) -> None:
    """The artifact is replaced by itself and a little more."""
    stream.say(task())
    seconds, wholes = how_long(random), _growing(random, text)
    for whole in wholes:
        stream.say(artifact("answer", whole, append=False))
        stream.wait(seconds / len(wholes))
    stream.say(status("completed"))


def _messages(random: Random, stream: Stream, text: str) -> None:
    """There is no task, only a message in pieces, and perhaps the whole of it at the end."""
    seconds, parts = how_long(random), pieces(random, text)
    for part in parts:
        stream.say(message(text_part(part), key="m-1", of_task=False))
        stream.wait(seconds / len(parts))
    if random.random() < 0.5:
        stream.say(message(text_part(text), key="m-1", of_task=False))


def _statuses(random: Random, stream: Stream, text: str) -> None:
    """The working status grows, and is the answer in the end."""
    stream.say(task())
    seconds, wholes = how_long(random), _growing(random, text)
    for number, whole in enumerate(wholes):
        stream.say(status("working", text_part(whole), key=f"working-{number}"))
        stream.wait(seconds / len(wholes))
    match random.choice(("", "status", "artifact")):
        case "status":
            stream.say(status("completed", text_part(text)))
        case "artifact":
            stream.say(artifact("answer", text, append=False))
            stream.say(status("completed"))
        case _:
            stream.say(status("completed"))


def _at_once(random: Random, stream: Stream, text: str) -> None:
    """One event: the finished task."""
    stream.wait(random.uniform(0.0, 100.0))
    stands = {"artifactId": "answer-1", "name": "answer", "parts": [text_part(text)]}
    stream.say(task("completed", [stands], [message(text_part(text), key="m-1")]))


_REPEATING = {
    "three times": _three_times,
    "cumulative": _cumulative,
    "messages": _messages,
    "statuses": _statuses,
    "at once": _at_once,
}
