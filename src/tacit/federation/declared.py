"""What the run of a manifest will tell, from the shapes that the manifest declares."""

from __future__ import annotations

from tacit.coverage import Coverage
from tacit.errors import InputError
from tacit.federation.manifest import Manifest, Model
from tacit.solving import CostsSection
from tacit.solving.cost_files import example
from tacit.solving.declared import Declared, declared

UNCOUNTED = (
    "What the answer tells was not counted: the manifest does not say how many records every member holds at least "
    "([model] records)."
)


def section_of(model: Model) -> CostsSection:
    """Return what all members fit, as a problem file would say it."""
    return CostsSection(
        model.family,
        target=model.target,
        intercept=model.intercept,
        l1=model.l1,
        l2=model.l2,
        delta=model.delta,
    )


def refuse_nothing_hidden(manifest: Manifest) -> None:
    """Refuse masks that hide nothing of what all members fit, before anybody publishes anything."""
    coverage = coverage_of(manifest)
    if coverage is not None and not coverage.keeps_a_secret:
        raise InputError(
            f"of a {manifest.model.family if manifest.model else ''} cost, {manifest.privacy.level} masks hide "
            f"{coverage}: use --level sums, or another --cost."
        )


def coverage_of(manifest: Manifest) -> Coverage | None:
    """Return what the masks hide of every member; None without masks, or where everybody chooses what to fit."""
    privacy = manifest.privacy.mechanism()
    if manifest.model is None or privacy is None:
        return None
    return privacy.coverage(example(section_of(manifest.model), unknowns=manifest.unknowns))


def told_by(manifest: Manifest) -> Declared | None:
    """Return what the run tells; None where nothing is hidden, or the manifest declares too little."""
    model, privacy = manifest.model, manifest.privacy.mechanism()
    if model is None or model.records is None or privacy is None or len(manifest.members) < 3:
        return None
    job = manifest.job()
    return declared(
        manifest.network(),
        section_of(model),
        records=model.records,
        unknowns=manifest.unknowns,
        privacy=privacy,
        algorithm=job.algorithm,  # type: ignore[arg-type]
        x0=job.x0,
    )
