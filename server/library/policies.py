"""What a template says of who may run it, how often, and what must not be shown."""

from collections.abc import Sequence

from server.core.tools import Effect
from server.library.findings import Findings
from server.library.model import CallPolicy, Parameter
from server.library.template_yaml import TemplateYaml
from server.settings.source import Document, Keys
from server.settings.wording import instead


def build_policy(
    written: TemplateYaml,
    effect: Effect,
    parameters: Sequence[Parameter],
    document: Document,
    at: Keys,
    findings: Findings,
) -> CallPolicy:
    """Return the policy of the template at `at`, reporting what is wrong with it.

    What changes something has to be confirmed, unless the template says otherwise.

    A name among `sensitive_params` that fits no parameter would protect nothing.
    """
    known = [parameter.name for parameter in parameters]
    holds_parts = any(parameter.type in {"object", "array"} for parameter in parameters)
    for name in written.sensitive_params:
        if name.split(".")[0] in known or (holds_parts and "." not in name):
            continue
        what = f"sensitive_params: there is no parameter {name!r}; {instead(name, known)}"
        findings.add("unknown-value", what, document.where((*at, "sensitive_params")))
    return CallPolicy(
        requires_auth=written.requires_auth,
        allowed_roles=written.allowed_roles,
        rate_limit=written.rate_limit,
        sensitive_params=written.sensitive_params,
        confirm=effect == "write" if written.confirm is None else written.confirm,
        log_invocations=written.log_invocations,
    )
