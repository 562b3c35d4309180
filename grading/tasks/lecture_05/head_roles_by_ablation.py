"""Ablate heads one by one, and find the question that each of them serves."""

import torch

from grading.author import Case, TaskFile
from grading.tasks.lecture_05.ablate_head import ablate_head

task = TaskFile(
    "implement",
    points=10,
    minutes=25,
    section="Ablating a head",
    outcome="say what a trained head does, by its map and by ablation, and what n heads cost",
    hints=(
        "`weight = model.heads.W_out.weight` is the parameter, and `weight.data = …` puts another "
        "tensor into it. Keep a copy of the old tensor, and put it back before the next head.",
        "The logits have the shape (batch, 3 · T, symbols): after `argmax(dim=-1)`, `unflatten(1, "
        "(3, -1))` gives an axis for the questions.",
        "Do you leave out positions whose target is −100, from both the number of "
        "right answers and the total?",
        "Measure the three accuracies once with the intact model. For each head, subtract the "
        "three accuracies after its ablation: the largest difference shows its question.",
    ),
)


# %% the cell
def head_roles_by_ablation(model, tokens, targets):
    """A list with the question (0, 1, 2 or None) that each head serves."""

    def accuracies():
        """The accuracy on each question, (3,)."""
        # BEGIN SOLUTION
        with torch.no_grad():
            found = model(tokens).argmax(dim=-1).unflatten(1, (3, -1))  # (batch, 3, T)
        wanted = targets.unflatten(1, (3, -1))  # (batch, 3, T)
        asked = wanted != -100  # (batch, 3, T)
        right = (found == wanted) & asked
        return right.double().sum(dim=(0, 2)) / asked.double().sum(dim=(0, 2))

    weight = model.heads.W_out.weight
    whole, before, roles = weight.detach().clone(), accuracies(), []
    for head in range(model.heads.n_heads):
        weight.data = ablate_head(whole, head, model.heads.n_heads)
        falls = before - accuracies()  # (3,)
        roles.append(int(falls.argmax()) if falls.max() > 0.1 else None)
        weight.data = whole
    return roles
    # END SOLUTION


# %%


@task.alternative
def by_copies(model, tokens, targets):
    """Copies of the model, and a loop over questions."""
    import copy

    def right(some, question):
        T = tokens.shape[1]
        place = slice(question * T, (question + 1) * T)
        with torch.no_grad():
            found = some(tokens)[:, place].argmax(dim=-1)
        asked = targets[:, place] >= 0
        return (found[asked] == targets[:, place][asked]).double().mean().item()

    n, roles = model.heads.n_heads, []
    for head in range(n):
        without = copy.deepcopy(model)
        cut = ablate_head(model.heads.W_out.weight.detach(), head, n)
        without.heads.W_out.weight = torch.nn.Parameter(cut)
        falls = [right(model, q) - right(without, q) for q in range(3)]
        roles.append(falls.index(max(falls)) if max(falls) > 0.1 else None)
    return roles


task.edit(
    "Only head 0 is ablated, again and again. Give `ablate_head` the number of the head whose turn "
    "it is.",
    "ablate_head(whole, head, model.heads.n_heads)",
    "ablate_head(whole, 0, model.heads.n_heads)",
)
task.edit(
    "The number of heads is fixed at 4. A model may have fewer or more: `model.heads.n_heads` "
    "says how many.",
    "range(model.heads.n_heads)",
    "range(4)",
    "head, model.heads.n_heads)",
    "head, 4)",
)
task.edit(
    "The ablations add up: from the second head on, several heads are ablated at once. Put the "
    "whole weight back before you ablate the next head.",
    "ablate_head(whole, head, model.heads.n_heads)",
    "ablate_head(weight.data, head, model.heads.n_heads)",
    "        weight.data = whole\n    return roles",
    "    weight.data = whole\n    return roles",
)
task.edit(
    "The ablations add up, and at the end the model is not restored. Did you put the old weight "
    "back, and was it a copy? `detach()`, `.data` and `state_dict()` share memory with the weight, "
    "so they change with it. `.clone()` makes a copy.",
    "ablate_head(whole, head, model.heads.n_heads)",
    "ablate_head(weight.data, head, model.heads.n_heads)",
    "        weight.data = whole\n    return roles",
    "    return roles",
)
task.edit(
    "A head that serves question 0 gets None. Python treats 0 as False in `or`, in `and` and after "
    "`if`. Compare with None (`is None`), or test how far the accuracy falls.",
    "int(falls.argmax()) if falls.max() > 0.1 else None",
    "(int(falls.argmax()) if falls.max() > 0.1 else None) or None",
)
task.edit(
    "The differences have the wrong sign: where an accuracy falls, yours is below 0. So a "
    "necessary head gets None, and only a head that does harm gets a question. Subtract the "
    "accuracy after the ablation from the accuracy before.",
    "before - accuracies()",
    "accuracies() - before",
)
task.edit(
    "You took the first question whose accuracy falls by more than 0.1. A head may help with "
    "several questions: take the one whose accuracy falls most.",
    "int(falls.argmax()) if",
    "int((falls > 0.1).int().argmax()) if",
)
task.edit(
    "A head that is not necessary gets a question, too. If no accuracy falls by more than 0.1, the "
    "entry of this head is None.",
    "int(falls.argmax()) if falls.max() > 0.1 else None",
    "int(falls.argmax())",
)
task.edit(
    "You return the question with the *highest* accuracy after the ablation. Return the question "
    "whose accuracy falls most.",
    "int(falls.argmax()) if",
    "int((before - falls).argmax()) if",
)
task.edit(
    "You return the question with the lowest accuracy after the ablation, even if the intact model "
    "is no better at it. Compare with the accuracies before the ablation.",
    "int(falls.argmax()) if",
    "int((before - falls).argmin()) if",
)
task.edit(
    "Positions without a question (target −100) are counted as wrong answers, so all differences "
    "are too small. Divide by the number of positions that have a question.",
    "asked.double().sum(dim=(0, 2))",
    "asked.double().numel() * 3",
)
task.edit(
    "Positions and questions are mixed up. The first T logits belong to question 0, the next T to "
    "question 1: split that axis as (3, T).",
    "argmax(dim=-1).unflatten(1, (3, -1))",
    "argmax(dim=-1).unflatten(1, (-1, 3)).transpose(1, 2)",
    "targets.unflatten(1, (3, -1))",
    "targets.unflatten(1, (-1, 3)).transpose(1, 2)",
)
task.edit(
    "The *batch* was cut into three parts: `view(3, …)` and `reshape(3, …)` read all numbers in "
    "order. The questions are in the second axis: `unflatten(1, (3, -1))`.",
    "argmax(dim=-1).unflatten(1, (3, -1))",
    "argmax(dim=-1).reshape(3, len(tokens), -1).transpose(0, 1)",
    "targets.unflatten(1, (3, -1))",
    "targets.reshape(3, len(tokens), -1).transpose(0, 1)",
)
task.edit(
    "One accuracy was computed over all three questions, so every necessary head gets question 0. "
    "Compute one accuracy for each question.",
    "return right.double().sum(dim=(0, 2)) / asked.double().sum(dim=(0, 2))",
    "return (right.double().sum() / asked.double().sum()).expand(3)",
)


@task.mistake(
    "Rows of `W_out` were set to zero. A head owns columns, because its context vector is a part "
    "of the input of `W_out`."
)
def rows_cut(model, tokens, targets):
    weight = model.heads.W_out.weight
    whole, n = weight.detach().clone(), model.heads.n_heads

    def accuracies():
        found = model(tokens).argmax(dim=-1).unflatten(1, (3, -1))
        wanted = targets.unflatten(1, (3, -1))
        right = ((found == wanted) & (wanted != -100)).double().sum(dim=(0, 2))
        return right / (wanted != -100).double().sum(dim=(0, 2))

    before, roles = accuracies(), []
    for head in range(n):
        weight.data = ablate_head(whole.T, head, n).T
        falls = before - accuracies()
        roles.append(int(falls.argmax()) if falls.max() > 0.1 else None)
        weight.data = whole
    return roles


@task.mistake(
    "The roles are right. But after your function has returned, a head of the model is still "
    "ablated. Put the weight of `W_out` back before you return."
)
def left_off(model, tokens, targets):
    roles = head_roles_by_ablation(model, tokens, targets)
    weight = model.heads.W_out.weight
    weight.data = ablate_head(weight.detach(), model.heads.n_heads - 1, model.heads.n_heads)
    return roles


task.edit(
    "What counts is the difference, the accuracy before minus that after. The question with the "
    "lowest accuracy after the ablation, or with the largest relative fall, may be another one.",
    "roles.append(int(falls.argmax()) if falls.max() > 0.1 else None)",
    "low = int((before - falls).argmin())\n        roles.append(low if falls[low] > 0.1 else None)",
)


@task.harness
def harness(answer, plan, symbols, asked):
    """A model whose heads fetch what the plan says; the roles, and whether it came back whole."""
    import torch

    T = symbols.shape[1]
    before = symbols.roll(1, 1)
    wanted = torch.stack(
        [before, symbols[:, :1].expand(-1, T), symbols.amax(1, True).expand(-1, T)]
    )
    targets = torch.where(asked, wanted, -100).permute(1, 0, 2).flatten(1)  # (n, 3 · T)

    class Heads(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.n_heads = len(plan)
            width = 7 * len(plan)
            self.W_out = torch.nn.Linear(width, 21, bias=False)
            weight = torch.zeros(21, width)
            for head, pairs in enumerate(plan):
                for question, strength in pairs:
                    rows = slice(7 * question, 7 * question + 7)
                    weight[rows, 7 * head : 7 * head + 7] = strength * torch.eye(7)
            self.W_out.weight.data = weight

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.heads = Heads()

        def forward(self, tokens):
            places = tokens.roll(1, 1), tokens[:, :1].expand(-1, T), tokens.amax(1, True)
            found = []
            for pairs in plan:
                question = pairs[0][0] if pairs else 0
                found.append(torch.nn.functional.one_hot(places[question].expand(-1, T), 7))
            context = torch.cat(found, dim=-1).float()  # (n, T, heads · 7)
            out = self.heads.W_out(context).unflatten(-1, (3, 7))  # (n, T, 3, 7)
            return out.transpose(1, 2).flatten(1, 2)  # (n, 3 · T, 7)

    model = Model()
    start = model.heads.W_out.weight.detach().clone()
    roles = answer(model, symbols, targets)
    if roles is None:
        return None
    return {
        "roles": [None if role is None else int(role) for role in roles],
        "model as it was": bool(model.heads.W_out.weight.equal(start)),
    }


@task.cases
def cases(seed):
    """A head for each question, in another order, spare, doubled, in the way, for two questions."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for plan_of, note in (
        ([[(0, 1.0)], [(2, 1.0)], [(1, 1.0)]], "a head for each question"),
        ([[(2, 1.0)], [], [(0, 1.0)], [(1, 1.0)]], "a head that does nothing"),
        ([[(1, 1.0)], [(0, 1.0)], [(1, 1.0)], [(2, 1.0)]], "two heads for one question"),
        ([[(1, 1.0)], [(2, 1.0)]], "nobody serves question 0"),
        ([[(2, 1.0)], [(1, 1.0)], [(1, -0.6)], [(0, 1.0)]], "a head that does a little harm"),
        ([[], [(0, 1.0)], [(2, 0.5)], [(2, 0.7)], [(1, 2.0)]], "five heads"),
        ([[(1, 1.0)], [(2, 1.0), (0, 1.0)]], "a head that helps a little with another question"),
    ):
        # Where nothing is found the answer is 0: wrong for sure where no symbol is 0.
        least = int(len(plan_of) == 2)
        while True:
            symbols = torch.randint(least, 7, (40, 6), generator=generator)
            share = 0.08 if len(plan_of) in (3, 5) else 0.5  # of the places that are asked
            asked = torch.rand(3, 40, 6, generator=generator) < share
            roles = harness(head_roles_by_ablation, plan_of, symbols, asked)["roles"]
            if any(role is not None for role in roles):
                break
        kind = "edge cases" if len(found) in (2, 3, 4) else "ordinary cases"
        found.append(Case((plan_of, symbols, asked), note, kind=kind))
    return found


@task.diagnostic
def which_head(args, result):
    """The first head with a wrong role."""
    right = harness(head_roles_by_ablation, *args)["roles"]
    if len(result["roles"]) != len(right):
        return (
            f"The list has {len(result['roles'])} entries, but this model has {len(right)} heads."
        )
    for head, (came, want) in enumerate(zip(result["roles"], right, strict=True)):
        if came != want:
            serves = "no question" if want is None else f"question {want}"
            said = f"Head {head} serves {serves}, so its entry is {want}, but yours is {came}."
            if not result["model as it was"]:
                said += " And `W_out` is not restored: the call has changed its weight."
            return said
    if not result["model as it was"]:
        return "The roles are right. But `W_out` is not restored: the call has changed its weight."
    return None
