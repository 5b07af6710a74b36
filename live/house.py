"""What the tabs of one web process share: the hub, the watch, the people who are here."""

import asyncio
from weakref import WeakKeyDictionary

from live.hub import Hub
from live.people import People
from live.tab import Tab
from live.watch import Watch


class House:
    def __init__(self) -> None:
        self.watch = Watch(lambda: self.hub.tabs)
        self.hub = Hub(on_recheck=self.watch.ask)
        self.people = People()

    def enter(self, tab: Tab) -> None:
        self.hub.enter(tab)
        self.watch.start()
        self.people.start()

    def tabs_of(self, user_id: str) -> int:
        return sum(tab.user_id == user_id for tab in self.hub.tabs)


_houses: WeakKeyDictionary[asyncio.AbstractEventLoop, House] = WeakKeyDictionary()


def house() -> House:
    """The one of this event loop; Daphne and uvicorn both run one in a process."""
    loop = asyncio.get_running_loop()
    if loop not in _houses:
        _houses[loop] = House()
    return _houses[loop]
