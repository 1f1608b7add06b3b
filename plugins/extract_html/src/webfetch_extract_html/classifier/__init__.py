"""The content classifier: which blocks of a page are its content, and what type of page it is.

numpy is imported by these modules: import them where they are used.
"""
