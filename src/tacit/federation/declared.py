"""What the run of a manifest will tell, from the shapes that the manifest declares."""

from __future__ import annotations

from tacit.federation.manifest import Manifest
from tacit.solving.declared import Declared, declared

UNCOUNTED = (
    "What the answer tells was not counted: the manifest does not say how many records every member holds at least "
    "([model] records)."
)


def telling_of(manifest: Manifest) -> Declared | None:
    """Return what the run tells; None where nothing is hidden, or the manifest declares too little."""
    model, privacy = manifest.model, manifest.privacy.mechanism()
    if model is None or model.records is None or privacy is None or len(manifest.members) < 3:
        return None
    job = manifest.job()
    return declared(
        manifest.network(),
        model,
        records=model.records,
        unknowns=manifest.unknowns,
        privacy=privacy,
        algorithm=job.algorithm,  # type: ignore[arg-type]
        x0=job.x0,
    )
