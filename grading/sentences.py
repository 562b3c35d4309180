"""What is said of a mistake that stands in more tasks than one."""

AXIS_LOST = (
    "The maxima or the sums of the rows lost their axis, so NumPy lays them along the rows "
    "instead of down the columns, or cannot fit them at all. Write keepdims=True."
)
MASK_UNUSED = "The mask comes in and is not used."
NORMS_SWAPPED = "The two norms of a block have changed places."
NOT_SCALED = "The scores are not divided by √d_k."
SCALED_BY_D_K = "The scores are divided by d_k. It should be its root."
TRUTH_SWAPPED = "True and False have changed places. In this course True means “may attend”."
WEIGHTS_FIRST = (
    "Both results are right, but they come back in the wrong order: first the context vectors, "
    "then the weights."
)
WHOLE_ARRAY = (
    "One sum was taken over the whole array. Each row needs its own: axis=-1 with keepdims=True."
)
