"""The stages in their order, and the policy between them."""
