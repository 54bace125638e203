"""Step 7: what has to be confirmed has been."""

from server.library.model import Template
from server.tools.policy.proposal import Check, Proposal, Refusal


def confirmation_check(template: Template) -> Check:
    must_confirm = template.policy.confirm

    def check(proposal: Proposal) -> Refusal | None:
        if proposal.confirmed or not (must_confirm or proposal.must_confirm):
            return None
        what = template.description or template.id
        return Refusal(
            "confirmation_required",
            f"this runs only after it was confirmed, so nothing was done ({what})",
        )

    return check
