"""A page as a browser holds it: takes in fragments by out-of-band swaps, can be compared."""

from typing import Any

from lxml import html  # type: ignore[import-untyped]

LISTENING = {"data-live-topic", "data-live-after", "data-live-backfill"}


class Page:
    """The tree of a fragment; `take` does what htmx does with an out-of-band swap."""

    def __init__(self, text: str) -> None:
        self.root = html.fragment_fromstring(text, create_parent="main")

    def take(self, text: str) -> None:
        for element in html.fragments_fromstring(text):
            if isinstance(element, str):
                assert not element.strip(), element
                continue
            how = element.attrib.pop("hx-swap-oob")
            if how == "true":
                [known] = self.root.xpath(f'//*[@id="{element.get("id")}"]')
                element.tail = known.tail
                known.getparent().replace(known, element)
            else:
                way, _, target = how.partition(":#")
                assert way == "beforeend", how
                [place] = self.root.xpath(f'//*[@id="{target}"]')
                for child in element:
                    place.append(child)

    @property
    def canonical(self) -> list[Any]:
        """What a person would see of it, and what scripts act upon."""
        return [_plain(element) for element in self.root]


def _plain(element: Any) -> Any:
    # Where and how far a tab listens is its own: what has ended is not followed anew.
    attributes = {k: v for k, v in sorted(element.attrib.items()) if k not in LISTENING}
    text = " ".join((element.text or "").split())
    children = [(_plain(child), " ".join((child.tail or "").split())) for child in element]
    return element.tag, attributes, text, children


def skeleton(element: Any) -> Any:
    """Tags and attribute names without the words: what a browser would act upon."""
    children = [skeleton(child) for child in element if isinstance(child.tag, str)]
    return element.tag, sorted(element.attrib), children


def difference(one: Any, other: Any, path: str = "") -> str:
    """Where two canonical trees differ first, for whoever reads a failure."""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
        for number, (mine, theirs) in enumerate(zip(one, other, strict=True)):
            if mine != theirs:
                return difference(mine, theirs, f"{path}/{number}")
    return "" if one == other else f"{path}: {str(one)[:400]}\n{str(other)[:400]}"
