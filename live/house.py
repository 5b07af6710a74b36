"""What the tabs of one web process share: the hub, the watch, the people who are here."""

import asyncio
import gc
from weakref import WeakKeyDictionary

from live.hub import Hub
from live.people import People
from live.tab import Tab
from live.watch import Watch


class House:
    def __init__(self) -> None:
        _collect_seldom()
        self.watch = Watch(lambda: self.hub.tabs)
        self.hub = Hub(on_recheck=self.watch.ask)
        self.people = People()

    def enter(self, tab: Tab) -> None:
        self.hub.enter(tab)
        self.watch.start()
        self.people.start()

    def tabs_of(self, user_id: str) -> int:
        return sum(tab.user_id == user_id for tab in self.hub.tabs)


def _collect_seldom() -> None:
    """A full garbage collection stops everything for 0.1 to 0.2 s in a process with a thousand
    tabs, and the default has several a minute. What is there at the first tab (mostly what was
    imported) is never looked at again, and the rest after 50 times as many allocations."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 50)


_houses: WeakKeyDictionary[asyncio.AbstractEventLoop, House] = WeakKeyDictionary()


def house() -> House:
    """The one of this event loop; Daphne and uvicorn both run one in a process."""
    loop = asyncio.get_running_loop()
    if loop not in _houses:
        _houses[loop] = House()
    return _houses[loop]
