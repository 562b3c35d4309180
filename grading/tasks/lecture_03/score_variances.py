"""What a divisor does to the variance of the scores."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=5,
    minutes=6,
    section="Why scores are divided by √d_k",
    outcome="say what dividing by √d_k does to the scores, to the softmax and to the gradient",
    rtol=5e-3,
    hints=(
        "The product of one entry of a query and one entry of a key has the variance 1 × 9. How "
        "many of these products are added?",
        "Divide a list of numbers by 10, and see what happens to its variance.",
    ),
)

# %% the cell
score_variances = ...  # a list of four numbers
# BEGIN SOLUTION
score_variances = [324.0, 9.0, 2.25, 0.25]
# END SOLUTION
# %%

task.mistake(
    "These are the standard deviations. The variance is the square.", [18.0, 3.0, 1.5, 0.5]
)
task.mistake(
    "The keys have variance 9, not 1. A product of independent numbers with mean 0 has the "
    "product of their variances.",
    [36.0, 1.0, 0.25, 0.02778],
    [36.0, 1.0, 0.25, 1.0],
)
task.mistake(
    "The variance was divided by the divisor. Dividing numbers by c divides their variance by c².",
    [324.0, 54.0, 27.0, 9.0],
)
task.mistake(
    "The variance of the keys is already 9, but it was squared. The variance of a product is 1 × "
    "9.",
    [2916.0, 81.0, 20.25, 2.25],
)
task.mistake(
    "Here the keys enter with 3, their standard deviation. For a product of independent numbers, "
    "the variances are multiplied: 1 × 9.",
    [108.0, 3.0, 0.75, 0.08333],
)
task.mistake(
    "144 products were summed. A score is a sum of d_k products, however wide the words are.",
    [1296.0, 36.0, 9.0, 1.0],
)
task.mistake(
    "This is the variance of one product. A score is a sum of d_k of them, and variances of "
    "independent numbers add up.",
    [9.0, 0.25, 0.0625, 0.006944],
)
task.mistake(
    "The variances of query and key were added. For a product of independent numbers with mean 0 "
    "they are multiplied.",
    [360.0, 10.0, 2.5, 0.2778],
)
task.mistake(
    "The second: dividing by √d_k undoes the growth from adding 36 products. What remains is the "
    "variance of one product, and here that is not 1.",
    [324.0, 1.0, 2.25, 0.25],
)

task.mistake(
    "The variance of a sum of n independent numbers is n times that of one. Here it grew with n².",
    [11664.0, 324.0, 81.0, 9.0],
)
task.mistake(
    "The last one was divided by d_k only. Dividing numbers by c divides their variance by c².",
    [324.0, 9.0, 2.25, 9.0],
)
task.mistake(
    "This is the variance of one product, divided by the divisor. A score is a sum of d_k "
    "products, and dividing numbers by c divides their variance by c².",
    [9.0, 1.5, 0.75, 0.25],
)
task.mistake(
    "The third is rounded too far. Give it exactly, or to three significant digits.",
    [324.0, 9.0, 2.2, 0.25],
    [324.0, 9.0, 2.3, 0.25],
)
task.mistake(
    "In the third, the scores were divided by d_model. The question asks for √d_model.",
    [324.0, 9.0, 0.015625, 0.25],
)
