"""Settings of what is remembered between questions, and of what waits for a yes."""

from typing import Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, model_validator

from server.settings.fields import Seconds, Strict


class WebhookSettings(Strict):
    """A service that is told of every commit."""

    url: str | None = None
    """Where events are sent to, with `POST`; without one, none are."""
    secret: SecretStr | None = Field(default=None, min_length=32)
    """Shared with the receiver, at least 32 characters; it signs what is sent."""
    timeout_s: Seconds = 10.0
    """Seconds that one delivery may take."""
    first_retry_s: Seconds = 1.0
    """Seconds before the second attempt; each further pause is twice as long."""
    longest_retry_s: Seconds = 300.0
    """Longest pause between two attempts."""
    give_up_after_h: float = Field(default=72.0, gt=0, le=8760)
    """Hours after which an event that nobody took is given up."""

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.url is None:
            return self
        if urlsplit(self.url).scheme not in ("http", "https") or not urlsplit(self.url).netloc:
            raise ValueError("the url of a webhook is of the form https://host/path")
        if self.secret is None:
            raise ValueError("a webhook needs a secret, which signs what is sent")
        return self


class CommitsSettings(Strict):
    """Who is told that something was confirmed and is about to run."""

    log: bool = True
    """Whether events are written to the log."""
    outbox: bool = True
    """Whether events stay in the table `commit_events` after they were delivered."""
    keep_days: int = Field(default=90, ge=1, le=36_500)
    """Days for which they stay there."""
    webhook: WebhookSettings = WebhookSettings()
    """A service that is told of every commit."""


class ConversationSettings(Strict):
    """What is remembered of a conversation, and what waits for a yes in it."""

    max_turns: int = Field(default=10, ge=1, le=1000)
    """Turns that are remembered; one turn is a question and its answer."""
    expires_after_h: float = Field(default=24.0, gt=0, le=8760)
    """Hours after its last turn at which a conversation is forgotten."""
    max_sessions_per_key: int = Field(default=10_000, ge=1, le=10_000_000)
    """Conversations that are kept for one key; beyond it, those that rested longest go."""
    proposal_expires_after_s: Seconds = 900.0
    """Seconds in which a call that waits for a yes can be confirmed."""
    max_held_per_key: int = Field(default=1000, ge=1, le=1_000_000)
    """Calls of one key that wait for a yes; beyond it, the oldest expire."""
    commits: CommitsSettings = CommitsSettings()
    """Who is told that something was confirmed and is about to run."""
