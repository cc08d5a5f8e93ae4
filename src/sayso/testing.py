"""Public doubles: what stands in for the world in tests, with the behaviour of the real thing.

`ScriptedModel` says what it is told to. `CrashingStore` ends the process's work before or after a chosen write, as a
power cut would; `Crash` is what it raises, a BaseException, so that nothing handles it by accident.
"""

from sayso.model.scripted import ScriptedModel
from sayso.store.faulty import Crash, CrashingStore

__all__ = ["Crash", "CrashingStore", "ScriptedModel"]
