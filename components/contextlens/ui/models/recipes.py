"""A model's own recipe for sentence vectors, in words."""

from __future__ import annotations

from contextlens.content.language import say
from contextlens.content.wording import shortened
from contextlens.core.recipe import DenseStep, SentenceRecipe
from contextlens.core.schema import ModelCard
from contextlens.maps.vectors import RECIPE


def recipe_of(card: ModelCard) -> str:
    """The steps of a model's recipe as one sentence, or why it has none and what is used then."""
    if card.recipe is not None:
        return say("recipe.own", steps=", ".join(_steps(card.recipe)))
    note = card.recipe_note
    return say("recipe.refused", reason=note) if note else say("recipe.none")


def _steps(recipe: SentenceRecipe) -> list[str]:
    prompt = recipe.prompt(None)
    steps = [say("recipe.prompt", prompt=shortened(prompt, 60))] if prompt else []
    if recipe.lower_case:
        steps.append(say("recipe.lower_case"))
    steps += [say(f"recipe.pooling.{mode}") for mode in recipe.poolings]
    if recipe.prompts and not recipe.include_prompt:
        steps.append(say("recipe.prompt_left_out"))
    steps.append(say("recipe.longest", n=recipe.max_length))
    for step in recipe.steps:
        if isinstance(step, DenseStep):
            kind = "linear" if step.folder else "projected"
            steps.append(say(f"recipe.{kind}", n=step.n_out, activation=step.activation))
        else:
            steps.append(say("recipe.normalized"))
    return steps


def recipe_poolings(card: ModelCard | None) -> dict[str, str]:
    """The poolings by a model's own recipe, with their titles; {} if it has none.

    The first puts the recipe's default prompt before each text, the others another one.
    """
    if card is None or card.recipe is None:
        return {}
    default = card.recipe.prompt(None)
    title = recipe_title(default) if default else say("recipe.title")
    return {RECIPE: title} | {
        f"{RECIPE}:{name}": recipe_title(text)
        for name, text in card.recipe.prompts
        if text != default and len(name) <= 30
    }


def recipe_title(prompt: str) -> str:
    """The title of a model's own recipe after a prompt; "" for none."""
    if not prompt:
        return say("recipe.title_bare")
    return say("recipe.title_prompt", prompt=shortened(prompt, 20))
