"""Step 7: what has to be confirmed has been."""

from server.tools.policy.proposal import Judged, Refusal


class Confirmed:
    async def __call__(self, judged: Judged) -> Judged | Refusal:
        proposal = judged.proposal
        if (judged.template.policy.confirm or proposal.must_confirm) and not proposal.confirmed:
            what = judged.template.description or judged.template.id
            return Refusal(
                "confirmation_required",
                f"this runs only after it was confirmed, so nothing was done ({what})",
            )
        return judged
