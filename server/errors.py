"""Every failure that the server can name.

Messages are written for the person who has to act on them: they say what is wrong,
where, and what would be right. They never hold a key or a secret.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal


class OrbitError(Exception):
    """Base of every error that the server raises on purpose."""

    code = "internal_error"
    """Stable machine-readable name, as it appears in `error.code` over HTTP."""

    @property
    def public(self) -> str:
        """What a client may read of it; the log has all of it."""
        return str(self)


class ConfigurationInvalid(OrbitError):
    """Raised once, with all problems of a configuration or library."""

    code = "configuration_invalid"

    def __init__(self, problems: "Sequence[Problem]") -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class ReloadRefused(OrbitError):
    """Nothing was changed; `details` has a row for each problem: what, where, kind."""

    code = "reload_refused"

    def __init__(self, message: str, details: Sequence[dict[str, str]] = ()) -> None:
        super().__init__(message)
        self.details = list(details)


class PluginInvalid(OrbitError):
    code = "plugin_invalid"  # a dotted path that names nothing usable


class AdapterUnknown(OrbitError):
    code = "adapter_unknown"  # no adapter has that name


class AdapterUnavailable(OrbitError):
    """`why` may name files and addresses, and is for the log and the command line."""

    code = "adapter_unavailable"  # the adapter is configured but could not be opened

    def __init__(self, message: str, why: str = "") -> None:
        self._public = f"{message}; the log of the server says why" if why else message
        super().__init__(f"{message}: {why}" if why else message)

    @property
    def public(self) -> str:
        return self._public


class IntentsUndefined(OrbitError):
    code = "intents_undefined"  # the adapter has no rule pack to detect intents


class AuditOff(OrbitError):
    code = "audit_off"  # there is no audit to look into


class UsageOff(OrbitError):
    code = "usage_off"  # turns are not counted by key


class RequestInvalid(OrbitError):
    code = "request_invalid"  # the request itself is wrong (empty, too large, not JSON)


class OriginForeign(RequestInvalid):
    code = "origin_foreign"  # a web page of another site sends it


class ExtraMissing(OrbitError):
    code = "extra_missing"  # what it needs is an extra of the installation, and is not there


class TurnUnknown(OrbitError):
    code = "turn_unknown"  # nothing is known of a turn that an opinion is about


class ClusterUnknown(OrbitError):
    code = "cluster_unknown"  # the inbox has no cluster of that number


class ConversationUnknown(OrbitError):
    code = "conversation_unknown"  # what was said before is not remembered, or not any more


class ProposalUnknown(OrbitError):
    code = "proposal_unknown"  # the conversation has no proposal of that id


class DownloadUnknown(OrbitError):
    code = "download_unknown"  # the key has no download of that id, or not any more


class DownloadRefused(OrbitError):
    code = "download_refused"  # the caller may not run what is behind the link


class DownloadFailed(OrbitError):
    code = "download_failed"  # the database could not give the rows


class ProposalRefused(OrbitError):
    code = "proposal_refused"  # the proposal cannot run


class ProposalSettled(ProposalRefused):
    code = "proposal_settled"  # it was confirmed or declined before


class ProposalExpired(ProposalRefused):
    code = "proposal_expired"  # it was confirmed too late


class ProposalAltered(ProposalRefused):
    code = "proposal_altered"  # it differs from what was shown


class TurnTimedOut(OrbitError):
    code = "turn_timed_out"  # the deadline of one turn passed


class RateLimited(OrbitError):
    """`retry_after_s` is how long to wait until it is allowed again."""

    code = "rate_limited"

    def __init__(self, message: str, *, retry_after_s: float = 0.0) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class AccessDenied(OrbitError):
    code = "access_denied"


class KeyMissing(AccessDenied):
    code = "key_missing"  # no key came with the request


class KeyUnknown(AccessDenied):
    code = "key_unknown"  # the key was never issued, or is misspelt


class KeyExpired(AccessDenied):
    code = "key_expired"


class KeyRevoked(AccessDenied):
    code = "key_revoked"


class KeyForeign(AccessDenied):
    code = "key_foreign"  # a valid key, but not for what was asked


class GatewayRefused(AccessDenied):
    code = "gateway_refused"  # the headers that name an end user cannot be trusted


class AuthoringOff(AccessDenied):
    code = "authoring_off"  # files may not be looked at or changed from where this came


class LinkInvalid(AccessDenied):
    code = "link_invalid"  # a one-time link that signs nobody in: wrong, used, or too old


class EvaluationRunning(OrbitError):
    code = "evaluation_running"  # a key evaluates one adapter at a time


class FileUnknown(OrbitError):
    code = "file_unknown"  # the adapter has no file of that id


class FilesRefused(OrbitError):
    """Nothing was written; `details` has a row for each problem."""

    code = "files_refused"  # the files would not be right, or the server could not use them

    def __init__(self, message: str, details: Sequence[Mapping[str, Any]] = ()) -> None:
        super().__init__(message)
        self.details = [dict(row) for row in details]


class FileChanged(FilesRefused):
    code = "file_changed"  # the file is not what was edited any more


class FileFixed(FilesRefused):
    code = "file_not_writable"  # the file is there, and not for writing


class EditRefused(FilesRefused):
    code = "edit_refused"  # a change cannot be made safely, or there is nothing to change


class DraftBusy(OrbitError):
    code = "draft_busy"  # another draft is being tried, and there is room for one


class DraftTimedOut(OrbitError):
    code = "draft_timed_out"  # looking at a draft took too long


class KeyNotFound(OrbitError):
    code = "key_not_found"  # no key has the id that was named, to revoke or to rotate


class KeyUnchangeable(OrbitError):
    code = "key_unchangeable"  # the key cannot be changed like this; the message says why


class KeyIsOwn(KeyUnchangeable):
    code = "key_is_own"  # it is the key of the request itself


class StoreUnavailable(OrbitError):
    """The message may say where things are kept, unless it is made to be `shown`."""

    code = "store_unavailable"  # the database of keys or sessions cannot be used

    def __init__(self, message: str, *, shown: bool = False) -> None:
        hidden = "what the server keeps cannot be reached at the moment; its log says why"
        self._public = message if shown else hidden
        super().__init__(message)

    @property
    def public(self) -> str:
        return self._public


class FilesUnwritable(StoreUnavailable):
    code = "files_unwritable"  # the disk did not take what was to be saved


class ValueRefused(StoreUnavailable):
    code = "value_refused"  # the database works, and does not take this value


class IndexUnavailable(StoreUnavailable):
    code = "index_unavailable"  # the vector store cannot be reached, read or written


class IndexEmpty(OrbitError):
    code = "index_empty"  # no template has been indexed for the adapter


class ProviderError(OrbitError):
    code = "provider_error"  # a model or embedding provider, named in the message


class ProviderUnavailable(ProviderError):
    code = "provider_unavailable"  # refused, unreachable, or not installed


class ProviderTimedOut(ProviderError):
    code = "provider_timed_out"


class ProviderRejected(ProviderError):
    code = "provider_rejected"  # its answer cannot be used


class ToolError(OrbitError):
    code = "tool_error"


class ToolUnknown(ToolError):
    code = "tool_unknown"  # no tool or operation has that name


class ArgumentsInvalid(ToolError):
    code = "arguments_invalid"  # an argument is missing, of the wrong type or out of range


class ToolFailed(ToolError):
    """`rejection` is why a service does not take the arguments, in its own words."""

    code = "tool_failed"  # the tool ran and could not do it

    def __init__(self, message: str, rejection: str | None = None) -> None:
        super().__init__(message)
        self.rejection = rejection


class ToolTimedOut(ToolError):
    code = "tool_timed_out"


Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file; `line` counts from 1, and is 0 when only the file is known."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Fix:
    """What mends a problem by itself: a change of the text at its line.

    `rename`: the key `old` becomes `new`. `remove`: the entry of a list goes that is the same as
    one before it; `old` is its text, or its question. `indent`: tabs become spaces.
    """

    action: Literal["rename", "remove", "indent"]
    old: str = ""
    new: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding, read as `what @ file:line`.

    What has an `error` cannot be used; a `warning` does not prevent it.
    `kind` is a stable short name (`duplicate-id`, `unknown-key` …) for tools and tests.
    `template` is the id of the template that has the problem: empty where the id cannot be
    read, as in a file that is not YAML; None when it concerns more than templates.
    `fix` is there where it is certain what was meant.
    """

    what: str
    where: Location
    kind: str
    severity: Severity = "error"
    template: str | None = None
    fix: Fix | None = None

    @property
    def is_error(self) -> bool:
        return self.severity == "error"

    def __str__(self) -> str:
        prefix = "warning: " if self.severity == "warning" else ""
        return f"{prefix}{self.what} @ {self.where}"


def first_of(problems: Iterable[Problem]) -> str:
    """Return the first error, and how many more there are."""
    errors = [problem for problem in problems if problem.is_error]
    more = f" (and {len(errors) - 1} more; see check)" if len(errors) > 1 else ""
    return f"{errors[0]}{more}"
