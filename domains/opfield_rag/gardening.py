"""The gardening corpus: eight short documents, nine questions, and the few words that mean the same here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: Documents by id.
DOCUMENTS: Final[Mapping[str, str]] = {
    "roses": (
        "Prune roses in late winter, just before tender buds swell. Cut each stem above a bud that faces "
        "outward, so that the bush stays open and air can move. Remove dead and crossing wood first. "
        "Clean sharp blades keep disease away from the wounds."
    ),
    "compost": (
        "A compost heap turns garden waste into rich food for beds. Layer green scraps with dry brown "
        "leaves, keep it damp, turn it monthly."
    ),
    "watering": (
        "Uneven watering splits fruit. Water deeply twice a week rather than lightly every day. Moist "
        "ground also holds warmth on icy nights."
    ),
    "tomatoes": (
        "Tender tomato seedlings wait indoors; their fruit needs a long season. Tie each one to a stout "
        "cane, pinch out side shoots, feed weekly, and cover the bed whenever a late frost threatens."
    ),
    "slugs": (
        "Slugs and snails feed after dark and leave silver trails. Pick them off, set beer traps, or "
        "protect young lettuce plants with grit."
    ),
    "frost": (
        "Protect tender plants from frost with fleece or an upturned pot. Cover them before dusk on clear "
        "nights and uncover them all again by morning. Blackened shoots may recover, so wait before "
        "cutting. Potted olives and figs move against a warm wall until spring."
    ),
    "bulbs": (
        "Set tulip bulbs three times as deep as they are tall, pointed end up, in autumn. Straw shields "
        "early tips from ice."
    ),
    "lawn": (
        "Mow a lawn little and often, never below three centimetres; short turf dries out. In spring, "
        "rake out moss and spike hard ground. In drought, rain or watering brings back moisture. Late "
        "seed must be netted to protect it from birds."
    ),
}

#: Questions by case id, each with the documents that answer it.
QUESTIONS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "q-prune": ("When should I prune roses?", ("roses",)),
    "q-compost": ("How do I make soil out of kitchen peelings?", ("compost",)),
    "q-water": ("How often should I water deeply?", ("watering",)),
    "q-slugs": ("What eats my salad at night?", ("slugs",)),
    "q-bulbs": ("How deep do tulip bulbs go?", ("bulbs",)),
    "q-mow": ("How short may I trim the turf?", ("lawn",)),
    "q-traps": ("Do beer traps catch snails?", ("slugs",)),
    "q-split": ("Why does tomato fruit split after uneven watering?", ("tomatoes", "watering")),
    "q-frost": (
        "How can I protect tender plants from a late frost?",
        ("frost", "tomatoes", "bulbs", "watering"),
    ),
}

#: Words that name the same thing in a garden, by what they are counted as; as incomplete as such lists are.
MEANINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "compost": ("compost", "heap", "soil"),
    "scraps": ("scraps", "waste", "peelings", "kitchen"),
    "cut": ("cut", "cutting", "prune", "trim", "mow", "pinch"),
    "grass": ("grass", "lawn", "turf"),
    "eat": ("eat", "eats", "feed", "feeds", "food"),
    "night": ("night", "nights", "dark", "dusk"),
    "lettuce": ("lettuce", "salad"),
    "water": ("water", "watering", "moisture", "moist", "rain", "drought"),
    "snail": ("slug", "slugs", "snail", "snails"),
    "cold": ("cold", "frost", "winter"),
}
