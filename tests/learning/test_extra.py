"""Where scikit-learn is not installed, a regression ends in a sentence that says what to install."""

import sys

import pytest

from tacit.cli import main


def test_fit_without_scikit_learn_ends_in_a_sentence(tmp_path, monkeypatch, capsys):
    for name in [
        name for name in sys.modules if name.partition(".")[0] == "sklearn" or name.startswith("tacit.learning.")
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    file = tmp_path / "north.csv"
    file.write_text("age,stay\n61,3\n70,9\n55,4\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["tacit", "fit", str(file), "--target", "stay"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert capsys.readouterr().err == "tacit: regressions need scikit-learn: pip install 'tacit[learning]'.\n"
