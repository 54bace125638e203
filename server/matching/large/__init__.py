"""Libraries of many thousand templates: `index.LargeIndex`, then `learning.BackgroundHead`.

What other libraries hold in memory and in Chroma stands in files here, and the head is learnt
while questions are answered.
"""
