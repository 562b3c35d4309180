"""Messages about mistakes that occur in more than one task."""

AXIS_LOST = (
    "The maxima or the sums of the rows lost their axis, so NumPy broadcasts them along the rows "
    "instead of down the columns, or raises an error. Write keepdims=True."
)
MASK_UNUSED = "The mask is passed in but not used."
NORMS_SWAPPED = "The two norms of a block are swapped."
NOT_SCALED = "The scores are not divided by √d_k."
SCALED_BY_D_K = "The scores are divided by d_k. Divide by its root."
TRUTH_SWAPPED = "True and False are swapped. In this course True means “may attend”."
WEIGHTS_FIRST = (
    "Both results are right, but they come back in the wrong order: first the context vectors, "
    "then the weights."
)
WHOLE_ARRAY = (
    "One sum was taken over the whole array. Each row needs its own: axis=-1 with keepdims=True."
)
