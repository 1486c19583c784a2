"""A model's own recipe for sentence vectors, in words."""

from __future__ import annotations

from components.content.language import say
from components.content.wording import shortened
from components.core.recipe import DenseStep, SentenceRecipe
from components.core.schema import ModelCard
from components.maps.vectors import RECIPE

__all__ = ["recipe_of", "recipe_poolings"]


def recipe_of(card: ModelCard) -> str:
    """The steps of a model's recipe as one sentence, or why it has none and what is used then."""
    if card.recipe is not None:
        return say("recipe.own", steps=", ".join(_steps(card.recipe)))
    note = card.recipe_note
    return say("recipe.refused", reason=note) if note else say("recipe.none")


def _steps(recipe: SentenceRecipe) -> list[str]:
    poolings = [say(f"recipe.pooling.{mode}") for mode in recipe.poolings]
    steps = [*poolings, say("recipe.longest", n=recipe.max_length)]
    for step in recipe.steps:
        if isinstance(step, DenseStep):
            steps.append(say("recipe.linear", n=step.n_out, activation=step.activation))
        else:
            steps.append(say("recipe.normalized"))
    return steps


def recipe_poolings(card: ModelCard | None) -> dict[str, str]:
    """The poolings by a model's own recipe, with their titles; {} if it has none."""
    if card is None or card.recipe is None:
        return {}
    return {RECIPE: say("recipe.title")} | {
        f"{RECIPE}:{name}": say("recipe.title_prompt", prompt=shortened(text, 20))
        for name, text in card.recipe.prompts
        if text and len(name) <= 30
    }
