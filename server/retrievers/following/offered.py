"""A message that chooses one of what was offered."""

from server.conversation.followups.choosing import by_place, by_words
from server.core.context import Options
from server.core.decision import AskFor
from server.library.model import Template
from server.retrievers.following.building import build
from server.retrievers.following.scene import Decided, Scene


def picked(scene: Scene) -> Decided | None:
    """What the message chooses by its place in what was offered."""
    options = scene.context.options
    if options is None:
        return None
    template = by_place(scene.message.saying, _offered(scene, options), scene.wording)
    return _chosen(scene, options, template) if template is not None else None


def picked_by_words(scene: Scene, first: Decided) -> Decided | None:
    """What the message chooses by its words, or by what it would ask for alone."""
    options = scene.context.options
    if options is None:
        return None
    offered = _offered(scene, options)
    if isinstance(first.decision, AskFor):
        meant = first.decision.match.template_id
        template = next((one for one in offered if one.id == meant), None)
    else:
        template = by_words(scene.message.saying, offered, scene.wording)
    return _chosen(scene, options, template) if template is not None else None


def _offered(scene: Scene, options: Options) -> list[Template]:
    templates = scene.library.templates
    return [templates[name] for name in options.template_ids if name in templates]


def _chosen(scene: Scene, options: Options, template: Template) -> Decided:
    """The template that was chosen, with what the question gave that led to the choice."""
    found = scene.extractor.extract(options.question, template, now=scene.message.now)
    given = {
        name: value
        for name, value in found.arguments.items()
        if found.sources[name].span is not None
    }
    problems = {missing.name: missing.problem for missing in found.missing if missing.problem}
    why = "it was chosen of what was offered"
    decision = build(template, scene.library.domain, given, {}, problems, why)
    return scene.told(decision, options.intent, "choice")
